// Names that expressions of the gas in a cell may use.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/expression.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant::subgrid {

// Gas of one cell as variables of expressions: x, y, z, r, t, pi, density, velocity_x, velocity_y,
// velocity_z, pressure, gamma, and scalars by their names in snapshots. The object must not be
// moved while its names are in use.
class CellNames {
 public:
  // Constructor. `scalars` are in the order of storage, and r is the distance from `centre`. Cell
  // centres are computed from the domain's `lower` corner, with the same bits for any block size.
  CellNames(const hydro::Gas& gas, std::vector<std::string> scalars,
            const std::array<double, 3>& lower, const std::array<double, 3>& centre);
  CellNames(const CellNames&) = delete;

  // Returns names that are bound to members of this object, for compiling expressions.
  ExpressionNames names();
  // Sets all variables to the values of a cell whose centre is `place`.
  void set(const hydro::GasCell& cell, const std::array<double, 3>& place, double time);

  // Calls visit(cell) for the leaf cells of a level's own blocks, sequentially on the host, with
  // the variables set to the cell. Changes that visit() makes to the cell are stored.
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

// Definition of for_leaf_cells(); see its declaration in CellNames.
template <class Visit>
void CellNames::for_leaf_cells(const GasLevel& level, const Visit& visit) {
  const mesh::CellRange& range = level.cells;
  const double dx = range.cell_size;
  const auto blocks = on_host(TransferKind::tables, range.blocks);
  for (int place = 0; place < range.count(); ++place) {
    const mesh::OwnBlock& block = blocks(place);
    const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> stored(
        level.blocks + block.slot * level.layout.stride_slot, level.layout.stride_slot);
    const auto here = on_host(TransferKind::fields, stored);
    for (int index = 0; index < range.cells_per_block(); ++index) {
      if (block.refined >> range.octant_of(index) & 1) continue;
      std::array<double, 3> centre;
      for (int d = 0; d < 3; ++d) {
        const double first = std::round((block.corner[d] - lower_[d]) / dx);
        centre[d] = lower_[d] + (first + range.coordinate(index, d) + 0.5) * dx;
      }
      const hydro::GasCell cell(here.data() + index, level.layout.stride_variable, level.gas);
      set(cell, centre, level.step_time.time);
      visit(cell);
    }
    copy_to_device(TransferKind::fields, stored, here);
  }
}

}  // namespace octant::subgrid

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

class CellNames;

// Volume integrals of expressions over the gas: the columns of history.csv that the table
// `output.integrals` defines.
class Integrals {
 public:
  Integrals();
  Integrals(Integrals&&) noexcept;
  Integrals& operator=(Integrals&&) noexcept;
  ~Integrals();

  // Declares `output.integrals`. This object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);

  // Compiles the expressions, once before add(). Throws InputError if one is invalid.
  void compile(const mesh::Geometry& geometry, const hydro::Gas& gas,
               const std::vector<std::string>& scalars);

  // Names of the integrals.
  const std::vector<std::string>& names() const { return names_; }

  // Adds the volume integrals over the leaf cells of a level's own blocks to `sums`, one per name.
  void add(const GasLevel& level, std::vector<ReproducibleSum>& sums) const;

 private:
  std::vector<std::string> definitions_, names_;
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace octant::subgrid
