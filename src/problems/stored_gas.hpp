// Gas that a file describes on uniform grids, one per level, for meshes of any cells (private to
// problems/).
//
//   /gas/level_L       lower, upper: the box that the grid fills, level 0 the whole domain, each
//                      further one a box within the one before, in whole cells of that
//   /gas/level_L/...   density, velocity_x, velocity_y, velocity_z, pressure or temperature, and
//                      concentrations of scalars by their names: [k][j][i], each uniform in a cell
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_file.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

// One axis of a grid. Cells of the whole domain, of which the grid has begin .. end - 1.
struct GridAxis {
  std::int64_t cells, begin, end;
};

struct StoredGrid {
  std::string group;
  std::array<GridAxis, 3> axes;

  std::vector<std::int64_t> shape() const;  // [k][j][i]
};

class StoredGas {
 public:
  // Of a cell of the file, in this order.
  enum Quantity { k_density, k_pressure, k_velocity, k_scalars = k_velocity + 3 };

  // Reads what grids there are. `units` are those of the file in the run's, `run_units` the latter
  // in cgs. Throws InputError on every rank: boxes that are not nested in whole cells, datasets
  // that are missing or of another shape, scalars that the run does not know. Collective.
  StoredGas(const Hdf5Reader& file, const mesh::Geometry& geometry,
            const hydro::HydroOptions& hydro, const CodeUnits& units, const CodeUnits& run_units);

  const std::vector<StoredGrid>& grids() const { return grids_; }

  // Gives the cells of a level's own blocks what the file holds of them: the state of the file's
  // cell that is that cell, or else the mean of mass, momentum, energy and scalars over those that
  // overlap with it, of the finest grid at each place. A function of the cell alone, to the bit.
  // A rank reads the planes that its blocks lie in, some at a time. Throws InputError on every rank
  // for numbers that are no gas. Collective.
  void give(const mesh::Mesh& mesh, int level, const Problem::StateReceiver& receive) const;

 private:
  StoredGrid read_grid(const mesh::Geometry& geometry, const std::string& group) const;
  void check_levels() const;
  void check_nesting(const StoredGrid& grid) const;
  void find_quantities(const hydro::HydroOptions& hydro);
  void set_factors(const CodeUnits& run_units);
  std::vector<std::vector<double>> read(const StoredGrid& grid, RowRange planes) const;

  const Hdf5Reader& file_;
  CodeUnits units_;
  std::vector<StoredGrid> grids_;
  std::vector<std::string> names_;  // of the quantities
  std::vector<double> factors_;     // from the file's units to the run's
  std::vector<int> places_;         // of the scalars, among the variables of a cell
  bool is_hot_ = false;             // the temperature is given
  double per_pressure_;             // internal energy
};

}  // namespace octant::problems
