// Problems that are set up from a TOML text, and sums of their initial state over a grid.
#pragma once

#include <functional>

#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems::test {

// A problem that is ready to be asked, in a domain and a gas.
struct ReadyProblem {
  ReadyProblem(const std::string& name, const mesh::MeshOptions& mesh, const std::string& toml = "",
               const hydro::HydroOptions& gas = {})
      : geometry(mesh),
        universe({.enabled = true, .box = 1.0, .start = "z = 30"}),
        problem(make_problem(name)) {
    ParameterSchema schema;
    problem->declare(schema);
    schema.read_text("[problem]\n" + toml, "test.toml");
    // About one parsec, one atom per cubic centimetre, and the time that makes G one.
    problem->prepare({.geometry = geometry,
                      .hydro = gas,
                      .G = 1.0,
                      .universe = &universe,
                      .units = {3.1e18, 6.8e31, 2.562e15}});
  }

  // Calls visit(state, cell volume) for all cells of a level as if it covered the domain.
  void for_each_cell(int level,
                     const std::function<void(const GasState&, const Position&)>& visit) const {
    const double cell = geometry.cell_size(level);
    const auto blocks = geometry.extent(level);
    const int size = geometry.block_size();
    for (int k = 0; k < blocks[2] * size; ++k)
      for (int j = 0; j < blocks[1] * size; ++j)
        for (int i = 0; i < blocks[0] * size; ++i) {
          const Position centre{geometry.lower()[0] + (i + 0.5) * cell,
                                geometry.lower()[1] + (j + 0.5) * cell,
                                geometry.lower()[2] + (k + 0.5) * cell};
          visit(problem->initial_state(centre, cell), centre);
        }
  }

  mesh::Geometry geometry;
  cosmology::Universe universe;
  std::unique_ptr<Problem> problem;
};

inline mesh::MeshOptions box(int cells, int max_level,
                             mesh::Boundary below = mesh::Boundary::periodic,
                             mesh::Boundary above = mesh::Boundary::periodic) {
  mesh::MeshOptions options;
  options.base_cells = {cells, cells, cells};
  options.block_size = 4;
  options.max_level = max_level;
  options.boundary.fill({below, above});
  return options;
}

}  // namespace octant::problems::test
