// Equilibrium stars from the self-consistent field method (Hachisu 1986, ApJS 61, 479; binaries:
// ApJS 62, 461): barotropic matter in uniform rotation, alone or in a binary.
//
// Gas at rest in the rotating frame is in equilibrium if its enthalpy H = int dp / rho is
//   H = C - phi + Omega^2 R^2 / 2,
// with R the distance from the axis; the density is a function of H where H is positive
// (star_matter.hpp). Prescribed points of the surfaces give C and Omega from the potential phi; a
// density follows, from it a new potential, and so on until convergence. Potentials are computed in
// polar coordinates about each star's centre, in real spherical harmonics that are even in y and z.
//
// In each iteration the density is multiplied by the factor s that gives the star its mass. The
// factor determines K of a polytrope. Matter whose constants are given requires s = 1, which
// determines the radius: an outer iteration varies it.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include <Kokkos_Core.hpp>

#include "problems/star_matter.hpp"

namespace octant::problems {

// Star profile for use in kernels. The origin of its coordinates is on the axis at z = 0; the
// companion, if any, is on the x axis.
struct StarProfile {
  const double* enthalpy = nullptr;              // [radius][colatitude][azimuth], ends of intervals
  int radii = 0, colatitudes = 0, azimuths = 0;  // intervals to `reach`, pi / 2, pi; 0: symmetric
  double reach = 0.0;                            // end of the table
  StarMatter matter = {};
  double origin = 0.0;  // x of the origin of the table
  double centre = 0.0;  // x of the star's centre
  double size = 0.0;    // maximum distance of the surface from the centre
  int side = 0;         // sign of the x of a star in contact with its companion; 0: detached

  // Linear interpolation of the table; 0 outside.
  KOKKOS_INLINE_FUNCTION double enthalpy_at(double x, double y, double z) const {
    const double dx = x - origin, r = Kokkos::sqrt(dx * dx + y * y + z * z);
    if (r >= reach || x * side < 0.0) return 0.0;
    const double cosine = r > 0.0 ? Kokkos::abs(z) / r : 0.0;
    const double u = r / reach * radii;
    const double v = Kokkos::acos(cosine < 1.0 ? cosine : 1.0) * (2.0 / M_PI) * colatitudes;
    const double w = azimuths ? Kokkos::atan2(Kokkos::abs(y), dx) / M_PI * azimuths : 0.0;
    const int i = floor_below(u, radii), j = floor_below(v, colatitudes);
    const int k = floor_below(w, azimuths);
    const double along_u = u - i, along_v = v - j, along_w = w - k;
    double value = 0.0;
    for (int corner = 0; corner < (azimuths ? 8 : 4); ++corner) {
      const int di = corner & 1, dj = corner >> 1 & 1, dk = corner >> 2;
      value += (di ? along_u : 1.0 - along_u) * (dj ? along_v : 1.0 - along_v) *
               (dk ? along_w : 1.0 - along_w) *
               enthalpy[((i + di) * (colatitudes + 1) + j + dj) * (azimuths + 1) + k + dk];
    }
    return value > 0.0 ? value : 0.0;
  }

 private:
  KOKKOS_INLINE_FUNCTION static int floor_below(double place, int intervals) {
    const int below = static_cast<int>(place);
    return below < intervals ? below : (intervals > 0 ? intervals - 1 : 0);
  }
};

// Star with its table.
struct ModelStar {
  StarProfile profile;  // without its table
  std::vector<double> enthalpy;
  double mass = 0.0, volume = 0.0;
  double central_density = 0.0, central_enthalpy = 0.0;
  double polytropic_constant = 0.0;  // K of a polytrope

  // Profile with the table on the host; valid during the lifetime of this.
  StarProfile on_host() const {
    StarProfile whole = profile;
    whole.enthalpy = enthalpy.data();
    return whole;
  }
};

// One star, or two with the first at smaller x; at rest in a frame that rotates about z.
struct StarModel {
  std::vector<ModelStar> stars;
  double angular_velocity = 0.0;
  double separation = 0.0;                  // between the density maxima of two stars
  std::array<double, 2> filling{0.0, 0.0};  // extents towards the companion, as SynchronousBinary's
  double kinetic_energy = 0.0, potential_energy = 0.0, pressure_integral = 0.0;
  int iterations = 0;

  // Virial error |2 T + W + 3 Pi| / |W|, which is 0 in equilibrium.
  double virial_error() const {
    return std::abs(2.0 * kinetic_energy + potential_energy + 3.0 * pressure_integral) /
           std::abs(potential_energy);
  }
};

// Parameters of a rotating star.
struct RotatingStar {
  StarMatter matter;
  double mass;
  double radius;      // equatorial; given matter determines it
  double axis_ratio;  // polar over equatorial radius
};

// Computes the star. Throws InputError if no such star is bound or the iteration fails.
StarModel solve_star(const RotatingStar& star, double G);

// Two synchronously rotating stars on a circular orbit. Both are polytropes, or both of given
// matter.
struct SynchronousBinary {
  std::array<StarMatter, 2> matter;
  double mass;        // total
  double mass_ratio;  // second over first star
  // Distance between the density maxima; 0: determined by given matter and one filling factor.
  double separation;
  // Position of the surface towards the companion, in units of the distance from the star's centre
  // to the inner Lagrangian point of two point masses; 0: determined by given matter.
  std::array<double, 2> filling;
};

// Computes the binary. Filling factors of both stars above 1 give a contact binary. Throws
// InputError if the stars would overlap or the iteration fails.
StarModel solve_binary(const SynchronousBinary& binary, double G);

// Computes a contact binary of equal stars of the same matter. The filling factors are 1 + f: the
// surface has the effective potential of the inner Lagrangian point plus f times its difference to
// that of the outer one, 0 < f <= 1. Throws InputError if the stars are unequal or the iteration
// fails.
StarModel solve_contact_binary(const SynchronousBinary& binary, double G);

// Distance of the inner Lagrangian point from the first of two point masses on a circular orbit, in
// units of their separation.
double inner_lagrangian_point(double mass_ratio);

}  // namespace octant::problems
