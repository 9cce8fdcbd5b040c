// What expressions of the gas in a cell may use.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant::subgrid {

// x, y, z, r, t and pi; density, velocity_x, velocity_y, velocity_z, pressure and scalars by their
// names in snapshots; gamma. Must stay where it is as long as its names are used.
class CellNames {
 public:
  // `scalars` in the order of storage; r is the distance from `centre`, and cells are counted from
  // the domain's `lower` corner, so that their centres have the same bits in blocks of any size.
  CellNames(const hydro::Gas& gas, std::vector<std::string> scalars,
            const std::array<double, 3>& lower, const std::array<double, 3>& centre);
  CellNames(const CellNames&) = delete;

  ExpressionNames names();
  void set(const hydro::GasCell& cell, const std::array<double, 3>& place, double time);

  // Calls visit(cell) for the leaf cells of a level's own blocks, one after the other on the host,
  // when the names stand for the cell. What visit changes of it is stored.
  template <class Visit>
  void for_leaf_cells(const GasLevel& level, const Visit& visit);

 private:
  std::array<double, 3> lower_, centre_;
  hydro::Gas gas_;
  std::vector<std::string> scalars_;
  ExpressionPoint point_;
  double density_ = 1.0, velocity_[3] = {0.0, 0.0, 0.0}, pressure_ = 1.0;
  std::vector<double> concentrations_;
};

template <class Visit>
void CellNames::for_leaf_cells(const GasLevel& level, const Visit& visit) {
  const mesh::CellRange& range = level.cells;
  const double dx = range.cell_size;
  const auto blocks = on_host(Cargo::tables, range.blocks);
  for (int place = 0; place < range.count(); ++place) {
    const mesh::OwnBlock& block = blocks(place);
    const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> stored(
        level.blocks + block.slot * level.layout.stride_slot, level.layout.stride_slot);
    const auto here = on_host(Cargo::fields, stored);
    for (int index = 0; index < range.cells_per_block(); ++index) {
      if (block.refined >> range.octant_of(index) & 1) continue;
      std::array<double, 3> centre;
      for (int d = 0; d < 3; ++d) {
        const double first = std::round((block.corner[d] - lower_[d]) / dx);
        centre[d] = lower_[d] + (first + range.coordinate(index, d) + 0.5) * dx;
      }
      const hydro::GasCell cell(here.data() + index, level.layout.stride_variable, level.gas);
      set(cell, centre, level.moment.time);
      visit(cell);
    }
    copy_to_device(Cargo::fields, stored, here);
  }
}

}  // namespace octant::subgrid
