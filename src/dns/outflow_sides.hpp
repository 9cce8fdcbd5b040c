// Directional do-nothing condition of outflow sides (Braack & Mucha, J. Comput. Math. 32 (2014)
// 507).
//
// The pressure on the side is 0, and the velocity there satisfies the momentum equation of half a
// cell, without a normal derivative. Backflow carries only half of its momentum flux, for all
// components, so that it adds no kinetic energy to the flow.
//
// The difference between the normal velocities on the side and on the next interior face is
// advanced by the difference of their right-hand sides. Common terms cancel: forces, and diffusion
// along the side. Implicit diffusion therefore needs no unknowns on the side.
#pragma once

#include <array>

#include "dns/flow_meter.hpp"
#include "dns/kernels.hpp"

namespace octant::dns {

// Interpolation weights of the values in a plane and in the next one.
struct FaceWeights {
  double here, beyond;
};

// Outflow condition on all outflow sides of this rank, with its state.
template <Place place>
class Outflow {
 public:
  Outflow(const Domain& domain, double viscosity);

  // Computes the offsets and source terms of a stage from velocity and pressure at its beginning,
  // including ghosts. Must be called for all stages of a step in order.
  void predict(const VelocityViews& velocity, const FieldView& pressure, const Stage& stage);

  // Returns the predicted normal velocity on this rank's faces of a side minus that on the next
  // interior faces; one cell thick along `axis`. Without memory if the rank has no such faces.
  const FieldView& offset(int axis, int end) const { return sides_[axis][end].offset; }
  // Returns the source term of the stage for the predicted component `tangential` in the cells
  // adjacent to the side.
  const FieldView& added(int axis, int end, int tangential) const {
    return sides_[axis][end].added[tangential];
  }

 private:
  using Space = SpaceOf<place>;
  template <class Value>
  using View = Kokkos::View<Value*, typename Space::memory_space>;

  struct Side {
    FieldView offset{}, rate{};
    std::array<FieldView, 3> added{}, added_rate{};  // by component; rates are kept between stages
    View<double> memory;
  };

  const Domain& domain_;
  double viscosity_;
  std::array<std::array<Side, 2>, 3> sides_;
  // Per plane: reciprocal cell height, and weights that interpolate values of this plane and the
  // next one to the face between them.
  View<double> per_height_;
  View<FaceWeights> weights_;
};

extern template class Outflow<Place::host>;
extern template class Outflow<Place::device>;

// Returns the cells adjacent to a side, as indices along `axis`.
inline Range cells_beside(const Domain& domain, int axis, int end) {
  const int cells[] = {domain.nx, domain.ny, domain.nz};
  const int at = end == 0 ? 0 : cells[axis] - 1;
  return {at, at + 1};
}

}  // namespace octant::dns
