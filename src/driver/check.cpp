#include "driver/check.hpp"

#include <fmt/format.h>

#include "core/memory.hpp"
#include "driver/amr_simulation.hpp"
#include "driver/command_line.hpp"
#include "driver/rehearsal.hpp"

namespace octant::driver {

namespace {

// Wall time that the rehearsals may take, in seconds.
constexpr double k_rehearsal_seconds = 30.0;
// What the rank that writes telemetry for a node needs for that, which rehearsals do not do.
constexpr double k_recorder_bytes = 10e6;

std::string size_of_mesh(const AmrSimulation& simulation) {
  std::string text = "# initial mesh\n";
  const Totals& totals = simulation.totals();
  for (std::size_t l = 0; l < totals.blocks.size(); ++l)
    text += fmt::format("# level {}: {} blocks, {} leaf cells\n", l, totals.blocks[l],
                        totals.leaf_cells[l]);
  return text;
}

std::string describe(const Rehearsal& rehearsal, double end) {
  std::string text = fmt::format(
      "# rehearsed with {} times larger cells to time {:.4g} of {:.4g}: {:.3g} cell updates\n",
      rehearsal.coarsening, rehearsal.time, end, rehearsal.size.updates);
  if (!rehearsal.failure.empty()) text += fmt::format("# where it ended: {}\n", rehearsal.failure);
  return text;
}

std::string describe(const RunSize& size, double start_bytes) {
  std::string text = "# expected of the whole run\n";
  double blocks = 0.0;
  for (std::size_t l = 0; l < size.blocks.size(); ++l) {
    text += fmt::format("# level {}: {:.0f} blocks at most\n", l, size.blocks[l]);
    blocks += size.blocks[l];
  }
  text += fmt::format("# {:.3g} cell updates, {:.2g} s at the rate of the rehearsal\n",
                      size.updates, size.updates / size.updates_per_second);
  text += fmt::format(
      "# peak memory of the largest rank: {:.0f} MB, of which {:.0f} MB are the "
      "program's own\n",
      1e-6 * (start_bytes + blocks * size.bytes_per_block), 1e-6 * start_bytes);
  return text;
}

}  // namespace

int check(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  const auto bytes_at_start = communicator.max(static_cast<double>(memory_use().current));
  AmrOptions options;
  communicator.agree([&] { options = AmrOptions::from_file(request.file, request.overrides); });
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  std::string report = options.resolved() + "\n" + size_of_mesh(simulation);
  const double initial_bytes = communicator.max(static_cast<double>(memory_use().peak));
  report += fmt::format("# memory of the largest rank with it: {:.0f} MB\n", 1e-6 * initial_bytes);
  const auto rehearsals =
      rehearse(communicator, request.file, request.overrides, k_rehearsal_seconds);
  for (const Rehearsal& rehearsal : rehearsals) report += describe(rehearsal, options.end_time());
  const double program_bytes = bytes_at_start + (options.telemetry.enabled ? k_recorder_bytes : 0);
  const auto base_blocks = static_cast<double>(simulation.totals().blocks[0]);
  report += rehearsals.empty() ? "# the base grid is too small to rehearse the growth of the mesh\n"
                               : describe(extrapolate(rehearsals, base_blocks), program_bytes);
  if (communicator.is_root()) fmt::print("{}", report);
  return k_done;
}

}  // namespace octant::driver
