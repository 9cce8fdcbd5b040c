// The frame of reference in which the mesh rests: one that turns about an axis along z, or does
// not.
//
// Momenta and energies are those against the stars, along axes that turn with the mesh (the choice
// of Octo-Tiger, Marcello et al. 2021). Then fluxes through cells that move conserve mass, total
// energy and angular momentum as they are, and no source but the turning of the axes is left:
//   d_t rho     + div(rho u)             = 0                 u = v - w x r
//   d_t (rho v) + div(rho v u + p)       = -w x (rho v)
//   d_t E       + div(E u + p v)         = 0
#pragma once

#include <array>
#include <vector>

#include <Kokkos_Core.hpp>

namespace octant {
class ParameterSchema;
}

namespace octant::mesh {

class Geometry;

// What kernels need of it. Copied by value.
struct Frame {
  double angular_velocity = 0.0;  // about z, counter-clockwise; 0: an inertial frame
  double centre[2] = {0.0, 0.0};  // x and y of the axis

  KOKKOS_FORCEINLINE_FUNCTION bool turns() const { return angular_velocity != 0.0; }
  // The velocity of a place that rests in the frame, along x and y; it has none along z.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V velocity_x(const V& y) const {
    return V(-angular_velocity) * (y - V(centre[1]));
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V velocity_y(const V& x) const {
    return V(angular_velocity) * (x - V(centre[0]));
  }
};

// Section [frame].
struct FrameOptions {
  double angular_velocity = 0.0;
  std::vector<double> centre;  // empty: the middle of the domain

  void declare(ParameterSchema& schema);
  // Throws InputError where the domain has boundaries along x or y that cannot turn with it.
  Frame frame(const Geometry& geometry) const;
};

}  // namespace octant::mesh
