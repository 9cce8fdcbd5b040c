// Files of initial conditions (problem.name = "file"): gas on nested grids, and particles.
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "core/parameters.hpp"
#include "fuzz.hpp"
#include "problems/problem.hpp"

namespace octant {

namespace problems {
std::unique_ptr<Problem> make_file();
}

OCTANT_FUZZ(initial, files) {
  fuzz::write_files(input);
  const Communicator world = Communicator::world();
  mesh::MeshOptions options;
  options.base_cells = {8, 8, 8};
  const mesh::Geometry geometry(options);
  hydro::HydroOptions hydro;
  hydro.scalars = hydro::passive_scalars(1);
  const auto problem = problems::make_file();
  ParameterSchema schema;
  problem->declare(schema);
  schema.read_text(
      "[problem]\npath = \"" + fuzz::folder() + "/file.h5\"\nparticles = [\"dark\", \"stars\"]\n",
      "run.toml");
  problem->prepare({.geometry = geometry, .hydro = hydro});
  problem->begin(world);
  mesh::Mesh mesh(geometry, world, CommOptions{}, {.variables = {{"density"}}, .ghosts = {}},
                  std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>());
  problem->initial_level(mesh, 0, [](int, int, const problems::GasState&) {});
  problem->initial_particles("dark", world);
  problem->initial_particles("stars", world);
}

}  // namespace octant
