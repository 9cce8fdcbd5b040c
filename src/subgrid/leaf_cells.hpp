// Loops of a process over the gas in the leaf cells of a level's own blocks, on the device.
#pragma once

#include "comm/reproducible_sum.hpp"
#include "hydro/gas_cell.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/mesh.hpp"
#include "subgrid/cooling/floor.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::subgrid {

// The gas of a level, on this rank.
struct GasLevel {
  int number;             // of the level
  mesh::CellRange cells;  // the leaf cells
  mesh::BlockLayout layout;
  double* blocks;
  double cell_volume;
  hydro::Gas gas;
  Moment moment;
  cooling::PressureFloor floor{};  // what of the gas's energy is not thermal: Process::floor()

  // The present state.
  GasLevel(mesh::Mesh& mesh, int level, const hydro::Gas& of_run, const Moment& at = {})
      : number(level),
        cells(mesh.leaf_cells(level)),
        layout(mesh.layout()),
        blocks(mesh.fields(level).blocks(mesh::LevelFields::k_now)),
        cell_volume(mesh.geometry().cell_volume(level)),
        gas(of_run),
        moment(at) {}

  KOKKOS_INLINE_FUNCTION hydro::GasCell at(const mesh::Cell& cell) const {
    return {blocks + layout.offset(cell), layout.stride_variable, gas};
  }
  // As many cells as V holds.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION hydro::GasCells<V> from(const mesh::Cell& first) const {
    return {blocks + layout.offset(first), layout.stride_variable, gas};
  }
};

// The term of a block's total that changes the cell it belongs to.
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
// volume integral of what it returned, on this rank: the sum over a block has one order.
template <class Change>
ReproducibleSum change_leaf_cells(const GasLevel& level, const Change& change) {
  ReproducibleSum sum;
  mesh::add_totals("change leaf cells", level.cells, ChangeOfCell<Change>{level, change},
                   level.cell_volume, {&sum, 1});
  return sum;
}

// The largest of what rate(cell) returns for any leaf cell, or 0; on this rank.
template <class Rate>
double largest_of_leaf_cells(const GasLevel& level, const Rate& rate) {
  const double largest = mesh::largest(
      "largest of leaf cells", level.cells,
      KOKKOS_LAMBDA(const mesh::Cell& cell) { return rate(level.at(cell)); });
  return largest > 0.0 ? largest : 0.0;
}

}  // namespace octant::subgrid
