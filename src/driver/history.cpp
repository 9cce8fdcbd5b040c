#include "driver/history.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::driver {

namespace {

std::string header(int max_level) {
  std::string line =
      "step,time,a,dt,mass,momentum_x,momentum_y,momentum_z,kinetic,internal,potential,total_"
      "energy,"
      "absolute_momentum,floored_cells,floored_mass,floored_energy";
  for (int l = 0; l <= max_level; ++l) line += fmt::format(",blocks_{}", l);
  for (int l = 0; l <= max_level; ++l) line += fmt::format(",leaf_cells_{}", l);
  return line + "\n";
}

std::string row(const AmrSimulation& s, double dt) {
  const Totals& t = s.totals();
  const Floored& f = s.floored();
  std::string line = fmt::format("{},{},1,{},{},{},{},{},{},{},0,{},{},{},{},{}", s.step_count(),
                                 s.time(), dt, t.mass, t.momentum[0], t.momentum[1], t.momentum[2],
                                 t.kinetic_energy, t.total_energy - t.kinetic_energy,
                                 t.total_energy, t.absolute_momentum, f.cells, f.mass, f.energy);
  for (const auto blocks : t.blocks) line += fmt::format(",{}", blocks);
  for (const auto cells : t.leaf_cells) line += fmt::format(",{}", cells);
  return line + "\n";
}

// The rows of an earlier run before `step`.
std::string rows_before(const std::string& path, std::int64_t step) {
  std::ifstream earlier(path);
  std::string kept, line;
  std::getline(earlier, line);  // the header is written anew
  while (std::getline(earlier, line))
    if (std::strtoll(line.c_str(), nullptr, 10) < step) kept += line + "\n";
  return kept;
}

}  // namespace

History::History(const AmrSimulation& simulation, const std::string& directory, bool restarted)
    : path_(directory + "/history.csv") {
  const Communicator& communicator = simulation.mesh().communicator();
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const std::string kept = restarted ? rows_before(path_, simulation.step_count()) : "";
    file_.reset(std::fopen(path_.c_str(), "w"));
    if (!file_) throw InputError("{}: cannot be written: {}", path_, std::strerror(errno));
    const std::string begin = header(simulation.mesh().geometry().max_level()) + kept;
    if (std::fputs(begin.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
      throw InputError("{}: cannot be written: {}", path_, std::strerror(errno));
  });
}

void History::append(const AmrSimulation& simulation, double dt) {
  simulation.mesh().communicator().agree([&] {
    if (!file_) return;
    if (std::fputs(row(simulation, dt).c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
      throw RunError("{}: cannot be written: {}", path_, std::strerror(errno));
  });
}

}  // namespace octant::driver
