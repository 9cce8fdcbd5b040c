// Stars in equilibrium by the self-consistent field method (Hachisu 1986, ApJS 61, 479; two stars:
// ApJS 62, 461): polytropes, p = K rho^(1 + 1/n), that rotate uniformly, alone or about each other.
//
// Where gas at rest in the rotating frame is in equilibrium, its enthalpy H = (n + 1) p / rho is
//   H = C - phi + Omega^2 R^2 / 2,   rho ~ H^n where H is positive,
// with R the distance from the axis. Points at which surfaces are asked for give C and Omega from
// the potential phi; a density follows, from it a new potential, and so on until nothing changes.
// Potentials are found on polar coordinates about each star's centre, in real spherical harmonics
// that are even in y and z.
#pragma once

#include <array>
#include <vector>

#include <Kokkos_Core.hpp>

namespace octant::problems {

// A star as kernels see it. Its coordinates begin on the axis, where z is 0; the companion, if
// there is one, lies on the x axis.
struct PolytropeProfile {
  const double* enthalpy = nullptr;              // [radius][colatitude][azimuth], ends of intervals
  int radii = 0, colatitudes = 0, azimuths = 0;  // intervals to `reach`, pi / 2 and pi; none: alike
  double reach = 0.0;                            // nothing of the star lies beyond
  double index = 1.5, scale = 1.0;               // rho = scale H^n
  double centre = 0.0;                           // its x

  // Linear between what is known; 0 outside.
  KOKKOS_INLINE_FUNCTION double enthalpy_at(double x, double y, double z) const {
    const double dx = x - centre, r = Kokkos::sqrt(dx * dx + y * y + z * z);
    if (r >= reach) return 0.0;
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
  KOKKOS_INLINE_FUNCTION double density(double h) const {
    return h > 0.0 ? scale * Kokkos::pow(h, index) : 0.0;
  }
  KOKKOS_INLINE_FUNCTION double pressure(double h) const { return density(h) * h / (index + 1.0); }

 private:
  KOKKOS_INLINE_FUNCTION static int floor_below(double place, int intervals) {
    const int below = static_cast<int>(place);
    return below < intervals ? below : (intervals > 0 ? intervals - 1 : 0);
  }
};

struct PolytropeStar {
  PolytropeProfile profile;  // without its table
  std::vector<double> enthalpy;
  double mass = 0.0, volume = 0.0;
  double central_density = 0.0, polytropic_constant = 0.0;  // rho at its centre; K

  // With the table on the host, as long as this lives.
  PolytropeProfile on_host() const;
};

// One star, or two of which the first has the smaller x; at rest in a frame that rotates about z.
struct StarModel {
  std::vector<PolytropeStar> stars;
  double angular_velocity = 0.0;
  double kinetic_energy = 0.0, potential_energy = 0.0, pressure_integral = 0.0;
  int iterations = 0;

  // |2 T + W + 3 Pi| / |W|, which is 0 in equilibrium.
  double virial_error() const;
};

struct RotatingStar {
  double index, mass;
  double radius;      // of the equator
  double axis_ratio;  // of the polar to the equatorial radius
};

// Throws InputError where no such star is bound, or none is found.
StarModel solve_star(const RotatingStar& star, double G);

// Two stars on a circle about their centre of mass, which turn with it.
struct SynchronousBinary {
  std::array<double, 2> index;
  double mass;        // of both
  double mass_ratio;  // of the second to the first star
  double separation;  // of the places of largest density
  // Where the surface lies towards the companion, from the star's centre to the inner Lagrangian
  // point of two point masses.
  std::array<double, 2> filling;
};

// Throws InputError where the stars would overlap, or none are found.
StarModel solve_binary(const SynchronousBinary& binary, double G);

// The distance of the inner Lagrangian point from the first of two point masses on a circle, in
// units of their separation.
double inner_lagrangian_point(double mass_ratio);

}  // namespace octant::problems
