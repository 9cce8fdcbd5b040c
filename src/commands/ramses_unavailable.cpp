// Stubs for builds without RAMSES outputs, which are recognised and rejected.
#ifndef OCTANT_RAMSES

#include <filesystem>

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "output/format.hpp"
#include "ramses/ramses.hpp"

namespace octant {

// RAMSES outputs are directories, whereas checkpoints are files.
bool is_ramses_output(const Communicator& communicator, const std::string& path) {
  return communicator.any(communicator.is_root() && std::filesystem::is_directory(path));
}

std::vector<particles::Kind> ramses_kinds(const Communicator&, const std::string&) { return {}; }

RamsesRestart read_ramses(AmrSimulation&, const std::string& path, int) {
  throw InputError(
      "--restart {}: this program was built without support for RAMSES outputs: configure it with "
      "-DOCTANT_RAMSES=ON",
      path);
}

template <>
std::unique_ptr<MeshFormat> make_mesh_format<class RamsesMesh>() {
  return nullptr;
}

}  // namespace octant

#endif
