// Sums and extremes of a flow, computed in the memory of its fields, so that only a few numbers are
// copied. Same bits in any memory, with any number of threads or ranks.
#pragma once

#include <array>

#include "comm/parallel_sums.hpp"
#include "comm/reproducible_sum.hpp"
#include "dns/kernel_launch.hpp"

namespace octant::dns {

// Sums over a rank's cells, times their heights: velocities, their squares, and the scalar. Sums
// over the columns: du/dz and the scalar's derivative at both sides along z.
enum FlowSum {
  k_sum_mean = 0,
  k_sum_squares = 3,
  k_sum_shear = 6,
  k_sum_scalar = 8,
  k_sum_flux = 9,
  k_flow_sums = 11
};

// Sums and extremes of a flow on this rank.
struct FlowFigures {
  std::array<ReproducibleSum, k_flow_sums> sums;
  Vector largest{};                     // absolute values of the components
  double divergence = 0.0;              // largest absolute value
  double rate = 0.0;                    // largest |u|/dx + |v|/dy + |w|/dz of a cell
  double warmest = 0.0, coldest = 0.0;  // of the scalar, if there is one
};

// Sums of the rows j = -1 .. ny of the planes k = -1 .. nz.
struct RowSums {
  const double* first;
  int ny;
  double operator()(int k, int j) const {
    return first[std::ptrdiff_t{k + 1} * (ny + 2) + (j + 1)];
  }
};

// Heights of the cells of a plane and of the faces of w above it; reciprocal of the former.
struct PlaneHeights {
  double cell, face, reciprocal;
};

// Measurement with reusable memory for partial sums.
template <Place place>
class FlowMeter {
 public:
  explicit FlowMeter(const Domain& domain);

  // Measures the flow on this rank. A scalar view without memory is ignored.
  FlowFigures measure(const VelocityViews& velocity, const FieldView& scalar);
  // Returns the sum over this rank's cells of u, or v, times the height of the cell.
  ReproducibleSum sum(const FieldView& field);
  // Returns the sums of all rows, valid until the next call.
  RowSums row_sums(const FieldView& field);

 private:
  using Space = SpaceOf<place>;
  template <class Value>
  using View = Kokkos::View<Value*, typename Space::memory_space>;

  const Domain& domain_;
  View<PlaneHeights> heights_;
  ParallelSums<Space> sums_, one_sum_;
  View<double> row_sums_;
  typename View<double>::HostMirror row_sums_on_host_;
};

extern template class FlowMeter<Place::host>;
extern template class FlowMeter<Place::device>;

}  // namespace octant::dns
