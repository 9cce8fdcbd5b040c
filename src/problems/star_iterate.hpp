// Star during the iterations of the self-consistent field method.
#pragma once

#include <functional>
#include <vector>

#include "problems/even_harmonics.hpp"
#include "problems/self_consistent_field.hpp"

namespace octant::problems {

// Enthalpy, density and potential of a star in polar coordinates about its centre: values at radii
// and in directions of the nodes of spherical harmonics, or coefficients of harmonics.
class StarIterate {
 public:
  // `harmonics` must outlive this. Coordinates end at the radius `reach`; `centre` is the x of the
  // star's centre, measured from the axis of rotation.
  StarIterate(const EvenHarmonics& harmonics, int radii, double reach, double centre,
              const StarMatter& matter, double mass, double G);

  double radius(int i) const { return reach_ * i / radii_; }
  double centre() const { return centre_; }
  void move(double along_x) { centre_ += along_x; }
  // Factor of the density that gives the star its mass, as of the last attract().
  double scale() const { return matter_.scale; }
  const StarMatter& matter() const { return matter_; }

  // Sets the initial guess: an oblate or spherical ellipsoid, with the enthalpy `central` in its
  // centre.
  void begin(double equator, double pole, double central);
  // Sets the initial guess: the enthalpy as a function of the position relative to the centre.
  void begin(const std::function<double(double x, double y, double z)>& enthalpy);
  // Stretches the star with its coordinates, at a constant mass.
  void stretch(double reach);

  // Computes density and self-potential from the present enthalpy, for the given mass of the star.
  void attract();
  // Adds the potential of a companion. The companion lies outside this star's coordinates, so its
  // potential follows from the values at their outer boundary.
  void add_potential_of(const StarIterate& other);

  // Returns the potential at a radius in a direction.
  double potential(double r, double colatitude, double azimuth) const;
  // Returns the derivative of the potential along x at the centre.
  double slope_at_centre() const;

  // Computes the enthalpy from the present potential. Returns its maximum.
  double balance(double constant, double squared_rotation);

  // Removes all gas beyond a radius.
  void cut(double radius_of_cut);
  // Returns the volume of all gas.
  double enclosed_volume() const;

  // Adds the energies of the star to those of a model.
  void add_energies(double squared_rotation, StarModel& model) const;
  // Returns the star with its enthalpy on a grid of radii, colatitudes and azimuths.
  ModelStar finished(double constant, double squared_rotation, int colatitudes, int azimuths) const;

 private:
  template <class Visit>
  void for_nodes(const Visit& visit);
  double weight(int i) const;  // weight of r^2 dr
  double squared_distance(int i, const EvenHarmonics::Node& node) const;
  void attract(int n);
  double outer_potential(double x, double y, double z) const;
  double volume() const;

  const EvenHarmonics& harmonics_;
  int radii_;
  double reach_, centre_;
  StarMatter matter_;
  double mass_, G_;
  std::vector<double> enthalpy_;             // [radius][node]
  std::vector<double> density_, potential_;  // [radius][harmonic]
  std::vector<double> at_end_;               // [harmonic], self-potential at `reach`
};

}  // namespace octant::problems
