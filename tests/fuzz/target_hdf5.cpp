// HDF5 files with damaged bytes and with checksums, and checkpoints.
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "fuzz.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/mesh.hpp"
#include "output/file_header.hpp"
#include "output/octant_format.hpp"

namespace octant {

using fuzz::attempt;

namespace {

// Reads all attributes and datasets of a file, each on its own.
void read_everything(const Hdf5Reader& file, const std::string& object) {
  attempt([&] {
    for (const std::string& name : file.attribute_names(object))
      attempt([&] { file.attribute_value(object, name); });
  });
  attempt([&] {
    const std::int64_t rows = file.shape(object).at(0);
    attempt([&] { file.read<double>(object, {0, rows}); });
    attempt([&] { file.read<std::int32_t>(object, {rows / 2, rows - rows / 2}); });
  });
  attempt([&] {
    for (const std::string& name : file.children(object))
      read_everything(file, (object == "/" ? "" : object) + "/" + name);
  });
}

mesh::FieldSetup one_field() { return {.variables = {{"density"}}, .ghosts = {}}; }

constexpr const char* k_parameters = "[mesh]\nmax_level = 3\n";

void restart(const Hdf5Reader& file) {
  const Communicator world = Communicator::world();
  attempt([&] { describe_origin(file); });
  attempt([&] { require_checkpoint(file, k_parameters, "problem.path = \"1 2\"\n"); });
  attempt([&] { read_progress(file); });
  mesh::MeshOptions options;
  options.base_cells = {16, 16, 16};
  options.max_level = 3;
  mesh::Mesh mesh(mesh::Geometry(options), world, CommOptions{}, one_field(),
                  std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>());
  restore_blocks(file, mesh);
}

}  // namespace

OCTANT_FUZZ(hdf5, files) {
  fuzz::write_files(input);
  const Communicator world = Communicator::world();
  const std::string path = fuzz::folder() + "/file.h5";
  attempt([&] { check_file(world, path); });
  const Hdf5Reader file(world, path);
  attempt([&] { file.require_unchanged(); });
  read_everything(file, "/");
}

OCTANT_FUZZ(checkpoint, files) {
  fuzz::write_files(input);
  const Hdf5Reader file(Communicator::world(), fuzz::folder() + "/file.h5");
  read_everything(file, "/");
  restart(file);
}

}  // namespace octant
