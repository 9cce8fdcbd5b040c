// Gas stored on uniform grids, one per level, for meshes of any cell sizes (private to problems/).
//
//   /gas/level_L       lower, upper: the box that the grid fills. Level 0 fills the domain, each
//                      finer level a box of whole cells of the next coarser level
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

// Axis of a grid with cells begin .. end - 1 of the `cells` of the whole domain.
struct GridAxis {
  std::int64_t cells, begin, end;
};

// Uniform grid in a file.
struct StoredGrid {
  std::string group;
  std::array<GridAxis, 3> axes;

  std::vector<std::int64_t> shape() const;  // [k][j][i]
};

// Grids of a file, and the gas that they contain.
class StoredGas {
 public:
  // Quantities of a file cell, in this order.
  enum Quantity { k_density, k_pressure, k_velocity, k_scalars = k_velocity + 3 };

  // Reads the list of grids. `units` are those of the file in units of the run, `run_units` those
  // of the run in cgs. Throws InputError on every rank for boxes that are not nested in whole
  // cells, datasets that are missing or of another shape, and unknown scalars. Collective.
  StoredGas(const Hdf5Reader& file, const mesh::Geometry& geometry,
            const hydro::HydroOptions& hydro, const CodeUnits& units, const CodeUnits& run_units);

  // Grids, coarsest first.
  const std::vector<StoredGrid>& grids() const { return grids_; }

  // Sets the cells of a level's own blocks from the file: the state of the file cell that coincides
  // with the mesh cell, or else the mean of mass, momentum, energy and scalars over overlapping
  // cells of the finest grid at each position. Results are bitwise independent of the distribution
  // of blocks. A rank reads the planes of its blocks in pieces. Throws InputError on every rank for
  // invalid gas states. Collective.
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
  std::vector<std::string> names_;  // names of the quantities in files
  std::vector<double> factors_;     // factors from units of the file to those of the run
  std::vector<int> places_;         // indices of the scalars among the variables of a cell
  bool is_hot_ = false;             // true if the file has the temperature
  double per_pressure_;             // internal energy density over pressure
};

}  // namespace octant::problems
