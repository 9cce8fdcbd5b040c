// Device loops of a process over the gas in the leaf cells of a level's own blocks.
#pragma once

#include <array>

#include "comm/reproducible_sum.hpp"
#include "core/simd.hpp"
#include "hydro/gas_cell.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/mesh.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::subgrid::cooling {

// Pressure floor in addition to the thermal pressure: prevents artificial fragmentation (Truelove
// et al. 1997, ApJ 489, L179) or models the support by unresolved motions.
enum class FloorKind { none, jeans, polytrope };
// Names of the pressure floors in floor.kind.
constexpr auto names_of(FloorKind) { return std::array{"none", "jeans", "polytrope"}; }

// Pressure floor as internal energy per mass, factor rho^exponent, in code units. No floor by
// default.
struct PressureFloor {
  double factor = 0.0, exponent = 1.0;

  // Returns the internal energy per mass at a density.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V energy(const V& density) const {
    if (factor == 0.0) return V(0.0);
    if (exponent == 1.0) return V(factor) * density;
    return V(factor) * SimdTraits<V>::generate([&](int lane) {
             return Kokkos::pow(SimdTraits<V>::lane(density, lane), exponent);
           });
  }
};

// Returns the pressure floor that keeps the Jeans length c sqrt(pi / (G rho)), with c^2 = P / rho,
// at `length` or above: P / rho = G rho length^2 / pi.
inline PressureFloor jeans_floor(double newton_constant, double length, double gamma) {
  constexpr double pi = 3.14159265358979323846;
  return {newton_constant * length * length / (pi * (gamma - 1.0)), 1.0};
}

// Returns the polytropic floor P / rho = at_density (rho / density)^(index - 1).
inline PressureFloor polytropic_floor(double at_density, double density, double index,
                                      double gamma) {
  return {at_density / (gamma - 1.0) * Kokkos::pow(density, 1.0 - index), index - 1.0};
}

}  // namespace octant::subgrid::cooling

namespace octant::subgrid {

// Gas of a level on this rank.
struct GasLevel {
  int number;             // level number
  mesh::CellRange cells;  // leaf cells
  mesh::BlockLayout layout;
  double* blocks;
  double cell_volume;
  hydro::Gas gas;
  StepTime step_time;
  cooling::PressureFloor floor{};  // non-thermal part of the energy, see Process::floor()

  // Gas of a level in its present state.
  GasLevel(mesh::Mesh& mesh, int level, const hydro::Gas& run_gas, const StepTime& time = {})
      : number(level),
        cells(mesh.leaf_cells(level)),
        layout(mesh.layout()),
        blocks(mesh.fields(level).blocks(mesh::LevelFields::k_now)),
        cell_volume(mesh.geometry().cell_volume(level)),
        gas(run_gas),
        step_time(time) {}

  // Access to a cell.
  KOKKOS_INLINE_FUNCTION hydro::GasCell at(const mesh::Cell& cell) const {
    return {blocks + layout.offset(cell), layout.stride_variable, gas};
  }
  // Access to as many consecutive cells as V has lanes, from `first` on.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION hydro::GasCells<V> from(const mesh::Cell& first) const {
    return {blocks + layout.offset(first), layout.stride_variable, gas};
  }
};

// Calls change() for a cell and stores the result as the cell's term in the sum over the block.
template <class Change>
struct ChangeOfCell {
  static constexpr int count = 1, sums = 1, parts = 1;
  GasLevel level;
  Change change;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* term) const {
    *term = change(level.at(cell));
  }
};

// Calls change(cell), a KOKKOS_LAMBDA that may change the gas, for every leaf cell. Returns the
// volume integral of the results on this rank, with a fixed order of summation in each block.
template <class Change>
ReproducibleSum change_leaf_cells(const GasLevel& level, const Change& change) {
  ReproducibleSum sum;
  mesh::add_totals("change leaf cells", level.cells, ChangeOfCell<Change>{level, change},
                   level.cell_volume, {&sum, 1});
  return sum;
}

// Returns the maximum of rate(cell) over the leaf cells of this rank, or 0 if it is negative.
template <class Rate>
double largest_of_leaf_cells(const GasLevel& level, const Rate& rate) {
  const double largest = mesh::largest(
      "largest of leaf cells", level.cells,
      KOKKOS_LAMBDA(const mesh::Cell& cell) { return rate(level.at(cell)); });
  return largest > 0.0 ? largest : 0.0;
}

}  // namespace octant::subgrid
