#include "gravity/block_kernels.hpp"

#include "mesh/cell_loop.hpp"

namespace octant::gravity {

using mesh::Cell;
using mesh::for_cells;

void copy_blocks(const CellRange& cells, const BlockField& from, const BlockField& to) {
  for_cells(
      "gravity: copy blocks", cells,
      KOKKOS_LAMBDA(const Cell& cell) { *to.at(cell) = *from.at(cell); });
}

void clear_blocks(const CellRange& cells, const BlockField& field) {
  for_cells(
      "gravity: clear blocks", cells, KOKKOS_LAMBDA(const Cell& cell) { *field.at(cell) = 0.0; });
}

namespace {

// What a cell's energy may change by beyond its kinetic energy: a share of its internal energy; and
// nothing where less than another share of its energy is internal. The flow through a cell and its
// momentum differ by the error of the scheme, which would overwhelm the temperature of cold gas.
constexpr double k_largest_change = 0.5, k_cold = 0.02;

KOKKOS_FORCEINLINE_FUNCTION double dot(const VectorField& a, const VectorField& b,
                                       const Cell& cell) {
  const double *x = a.at(cell), *y = b.at(cell);
  const std::int64_t m = a.stride_component, n = b.stride_component;
  return (x[0] * y[0] + x[m] * y[n]) + x[2 * m] * y[2 * n];
}

// Returns what kinetic energy gains.
KOKKOS_FORCEINLINE_FUNCTION double kick(double dt, const VectorField& acceleration,
                                        const GasFields& gas, const Cell& cell) {
  const double rho = *gas.density.at(cell);
  const double* g = acceleration.at(cell);
  double* m = gas.momentum.at(cell);
  double gain = 0.0;  // times rho
  for (int d = 0; d < 3;
       ++d, g += acceleration.stride_component, m += gas.momentum.stride_component) {
    const double change = dt * rho * *g;
    gain += change * (*m + 0.5 * change);
    *m += change;
  }
  return gain / rho;
}

}  // namespace

void kick_blocks(const CellRange& cells, double dt, const VectorField& acceleration,
                 const GasFields& gas) {
  for_cells(
      "gravity: kick", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *gas.energy.at(cell) += kick(dt, acceleration, gas, cell);
      });
}

void begin_work(const CellRange& cells, double dt, const VectorField& acceleration,
                const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: begin work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double gain = kick(dt, acceleration, gas, cell);
        *gas.energy.at(cell) += gain;
        *work.owed.at(cell) = -gain;
        for (int d = 0; d < 3; ++d) work.flow.at(cell)[d * work.flow.stride_component] = 0.0;
      });
}

void add_half_of_work(const CellRange& cells, const VectorField& acceleration,
                      const WorkFields& work) {
  for_cells(
      "gravity: work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *work.owed.at(cell) += 0.5 * dot(work.flow, acceleration, cell);
      });
}

void finish_work(const CellRange& cells, double dt, const VectorField& acceleration,
                 const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: finish work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        double& energy = *gas.energy.at(cell);
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        const double gain = kick(dt, acceleration, gas, cell);
        const double due = *work.owed.at(cell) + 0.5 * dot(work.flow, acceleration, cell) - gain;
        const double internal = energy - kinetic;
        const double most = internal > k_cold * energy ? k_largest_change * internal : 0.0;
        energy += gain + min(max(due, -most), most);
      });
}

double strongest_of(const CellRange& cells, const VectorField& acceleration) {
  const double strongest = mesh::largest(
      "gravity: strongest", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double* g = acceleration.at(cell);
        const std::int64_t y = acceleration.stride_component, z = 2 * y;
        return (absolute(g[0]) + absolute(g[y])) + absolute(g[z]);
      });
  return max(strongest, 0.0);
}

namespace {

struct Binding {
  static constexpr int count = 1, sums = 1, parts = 1;
  BlockField density, potential;
  double mean;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Cell& cell, double* term) const {
    *term = ((density.data ? *density.at(cell) : 0.0) - mean) * *potential.at(cell);
  }
};

}  // namespace

std::vector<double> binding_of(const CellRange& cells, const BlockField& density, double mean,
                               const BlockField& potential) {
  std::vector<double> sums;
  for (const auto& [sum] : mesh::block_totals("gravity: binding energy", cells.leaves(),
                                              Binding{density, potential, mean}))
    sums.push_back(sum);
  return sums;
}

}  // namespace octant::gravity
