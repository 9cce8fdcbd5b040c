// Frame of reference of the mesh: inertial, or rotating about an axis parallel to z.
//
// Momenta and energies are those in the inertial frame, with components along axes that rotate with
// the mesh (as in Octo-Tiger, Marcello et al. 2021). Fluxes through the faces of moving cells
// conserve mass and total energy, and the rotation of the axes is the only source term:
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

// Frame parameters for kernels. Copied by value.
struct Frame {
  double angular_velocity = 0.0;  // angular velocity about z, counter-clockwise; 0: inertial frame
  double centre[2] = {0.0, 0.0};  // x and y of the rotation axis

  // True for a rotating frame.
  KOKKOS_FORCEINLINE_FUNCTION bool turns() const { return angular_velocity != 0.0; }
  // Velocity along x, in the inertial frame, of a point at rest in the rotating frame. The velocity
  // along z is zero.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V velocity_x(const V& y) const {
    return V(-angular_velocity) * (y - V(centre[1]));
  }
  // Velocity along y, in the inertial frame, of a point at rest in the rotating frame.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V velocity_y(const V& x) const {
    return V(angular_velocity) * (x - V(centre[0]));
  }
};

// Parameters of the section [frame].
struct FrameOptions {
  double angular_velocity = 0.0;
  std::vector<double> centre;  // empty: centre of the domain

  // Declares the parameters; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Returns the frame of reference. Throws InputError if boundaries of the domain along x or y are
  // incompatible with rotation.
  Frame frame(const Geometry& geometry) const;
};

}  // namespace octant::mesh
