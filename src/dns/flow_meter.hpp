// Sums and extrema of a flow, computed in the memory space of the fields, so that only a few
// numbers are copied. Results do not depend on the memory space or on the number of threads or
// ranks.
#pragma once

#include <array>

#include "comm/parallel_sums.hpp"
#include "comm/reproducible_sum.hpp"
#include "dns/kernel_launch.hpp"

namespace octant::dns {

// Indices of sums. Sums over a rank's cells, weighted by the heights of control volumes:
// velocities, squares of velocities, and the scalar. Sums over columns: du/dz and the z derivative
// of the scalar, each at the lower and upper side along z.
enum FlowSum {
  k_sum_mean = 0,
  k_sum_squares = 3,
  k_sum_shear = 6,
  k_sum_scalar = 8,
  k_sum_flux = 9,
  k_flow_sums = 11
};

// Sums and extrema of a flow on this rank.
struct FlowMeasures {
  std::array<ReproducibleSum, k_flow_sums> sums;
  Vector largest{};                           // largest absolute value of each component
  double divergence = 0.0;                    // largest absolute value of div u
  double rate = 0.0;                          // largest |u|/dx + |v|/dy + |w|/dz of a cell
  double scalar_max = 0.0, scalar_min = 0.0;  // maximum and minimum of the scalar, if there is one
};

// Sums of the rows j = -1 .. ny of the planes k = -1 .. nz.
struct RowSums {
  const double* first;
  int ny;
  double operator()(int k, int j) const {
    return first[std::ptrdiff_t{k + 1} * (ny + 2) + (j + 1)];
  }
};

// Height of the cells of a plane, distance of cell centres across the w faces above it, and
// reciprocal of the cell height.
struct PlaneHeights {
  double cell, face, reciprocal;
};

// Computes sums and extrema with reusable memory for partial sums.
template <Place place>
class FlowMeter {
 public:
  explicit FlowMeter(const Domain& domain);

  // Returns the sums and extrema on this rank. A scalar view without memory is ignored.
  FlowMeasures measure(const VelocityViews& velocity, const FieldView& scalar);
  // Returns the sum over this rank's cells of u or v, weighted by cell height.
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
