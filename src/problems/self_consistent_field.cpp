#include "problems/self_consistent_field.hpp"

#include <cmath>

#include "core/error.hpp"
#include "problems/scale_search.hpp"
#include "problems/spherical_star.hpp"
#include "problems/star_iterate.hpp"

namespace octant::problems {

namespace {

constexpr int k_degree = 32;             // maximum degree of harmonics
constexpr int k_radial_intervals = 512;  // intervals of radius
constexpr int k_colatitudes = 128;       // polar angles of the stored tables

InputError no_figure(const RotatingStar& star) {
  return InputError(
      "problem.axis_ratio = {}: no equilibrium of a uniformly rotating star with {} was found; "
      "expected an axis ratio closer to 1",
      star.axis_ratio, star.matter.text());
}

// Iteration for one star. Conditions at points of the equator and the pole of the surface:
//   C = phi(pole),  Omega^2 = 2 (phi(equator) - phi(pole)) / radius^2.
class RotatingIterate {
 public:
  // `central` is the initial guess of the central enthalpy.
  RotatingIterate(const RotatingStar& star, double radius, double central, double G)
      : star_(star),
        G_(G),
        radius_(radius),
        iterate_(harmonics_, k_radial_intervals, radius, 0.0, star.matter, star.mass, G) {
    iterate_.begin(radius, star.axis_ratio * radius, central);
  }

  // Sets the equatorial radius.
  void stretch(double radius) {
    iterate_.stretch(radius);
    radius_ = radius;
  }
  // Interface of ScaleSearch: the size is the radius.
  double size() const { return radius_; }
  // Factor of the density.
  double scale() const { return iterate_.scale(); }

  // Iterates until convergence at the present radius. Throws InputError if there is no star.
  void converge() {
    const double unit = G_ * star_.mass / radius_;
    Convergence convergence;
    for (int n = 1; n <= k_max_scf_iterations; ++n) {
      ++iterations_;
      iterate_.attract();
      at_pole_ = iterate_.potential(star_.axis_ratio * radius_, 0.0, 0.0);
      const double at_equator = iterate_.potential(radius_, 0.5 * M_PI, 0.0);
      rotation2_ =
          star_.axis_ratio < 1.0 ? 2.0 * (at_equator - at_pole_) / (radius_ * radius_) : 0.0;
      const double largest = iterate_.balance(at_pole_, rotation2_);
      if (!(largest > 0.0) || !(rotation2_ >= 0.0)) throw unbound();
      if (convergence.reached(
              {rotation2_ * radius_ * radius_ / unit, at_pole_ / unit, largest / unit}))
        return;
    }
    throw no_figure(star_);
  }

  // Returns the model after convergence. Throws InputError if the star is not bound.
  StarModel finished() const {
    const double inner = radius_ * (1.0 - 2.0 / k_radial_intervals);
    if (at_pole_ - iterate_.potential(inner, 0.5 * M_PI, 0.0) + 0.5 * rotation2_ * inner * inner <=
        0.0)
      throw unbound();
    StarModel model;
    model.angular_velocity = std::sqrt(rotation2_);
    model.iterations = iterations_;
    iterate_.add_energies(rotation2_, model);
    model.stars.push_back(iterate_.finished(at_pole_, rotation2_, k_colatitudes, 0));
    return model;
  }

 private:
  InputError unbound() const {
    return InputError(
        "problem.axis_ratio = {}: a uniformly rotating star with {} would shed mass at its "
        "equator; expected an axis ratio closer to 1",
        star_.axis_ratio, star_.matter.text());
  }

  const RotatingStar& star_;
  const EvenHarmonics harmonics_{k_degree, true};
  double G_, radius_;
  StarIterate iterate_;
  double at_pole_ = 0.0, rotation2_ = 0.0;
  int iterations_ = 0;
};

}  // namespace

StarModel solve_star(const RotatingStar& star, double G) {
  if (!star.matter.is_given()) {
    RotatingIterate iterate(star, star.radius, 1.0, G);
    iterate.converge();
    return iterate.finished();
  }
  // Uniform rotation supports up to a few per cent more mass (James 1964, ApJ 140, 552).
  constexpr double k_excess_of_rotation = 0.1;
  const SphericalStar guess =
      stable_star(star.matter, star.mass, G, star.axis_ratio < 1.0 ? k_excess_of_rotation : 0.0,
                  "problem.mass");
  RotatingIterate iterate(star, guess.radius, guess.central_enthalpy, G);
  if (!ScaleSearch(iterate).find_root()) {
    // The guess has the mass of the star if it exists at rest; rotation then prevents it.
    if (!(guess.mass < star.mass)) throw no_figure(star);
    throw InputError(
        "problem.mass = {}, problem.axis_ratio = {}: no star of this mass was found with {}; "
        "decrease the mass",
        star.matter.text_of_mass(star.mass), star.axis_ratio, star.matter.text());
  }
  return iterate.finished();
}

}  // namespace octant::problems
