#include "gravity/block_kernels.hpp"

#include "mesh/add_totals.hpp"
#include "mesh/cell_range.hpp"

namespace octant::gravity {

using mesh::Cell;
using mesh::for_cells;
using mesh::record_cells;

void copy_blocks(const CellRange& cells, const BlockField& from, const BlockField& to) {
  record_cells("gravity: copy blocks", cells, {16.0, 0.0});
  for_cells(
      "gravity: copy blocks", cells,
      KOKKOS_LAMBDA(const Cell& cell) { *to.at(cell) = *from.at(cell); });
}

void clear_blocks(const CellRange& cells, const BlockField& field) {
  record_cells("gravity: clear blocks", cells, {8.0, 0.0});
  for_cells(
      "gravity: clear blocks", cells, KOKKOS_LAMBDA(const Cell& cell) { *field.at(cell) = 0.0; });
}

void predict_blocks(const CellRange& cells, const Combination& prediction, bool shift) {
  record_cells("gravity: predict", cells, {shift ? 32.0 : 24.0, 4.0});
  for_cells(
      "gravity: predict", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double now = *prediction.x.at(cell);
        *prediction.x.at(cell) = prediction.at(cell.slot, cell.index);
        if (shift) *prediction.y.at(cell) = now;
      });
}

double strongest_of(const CellRange& cells, const VectorField& acceleration) {
  record_cells("gravity: maximum acceleration", cells, {24.0, 2.0});
  const double strongest = mesh::largest(
      "gravity: maximum acceleration", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double* g = acceleration.at(cell);
        const std::int64_t y = acceleration.stride_component, z = 2 * y;
        return (absolute(g[0]) + absolute(g[y])) + absolute(g[z]);
      });
  return max(strongest, 0.0);
}

namespace {

struct Value {
  static constexpr int count = 1, sums = 1, parts = 1;
  BlockField field;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Cell& cell, double* term) const {
    *term = *field.at(cell);
  }
};

struct Binding {
  static constexpr int count = 1, sums = 1, parts = 1;
  BlockField density, potential;
  double mean;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Cell& cell, double* term) const {
    *term = ((density.data ? *density.at(cell) : 0.0) - mean) * *potential.at(cell);
  }
};

}  // namespace

void add_sum(const CellRange& cells, const BlockField& field, double scale, ReproducibleSum& sum) {
  record_cells("gravity: sum", cells, {8.0, 1.0});
  mesh::add_totals("gravity: sum", cells, Value{field}, scale, {&sum, 1});
}

void add_binding(const CellRange& cells, const BlockField& density, double mean,
                 const BlockField& potential, double scale, ReproducibleSum& sum) {
  record_cells("gravity: binding energy", cells, {16.0, 3.0});
  mesh::add_totals("gravity: binding energy", cells.leaves(), Binding{density, potential, mean},
                   scale, {&sum, 1});
}

}  // namespace octant::gravity
