#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "comm/runtime.hpp"
#include "driver/amr_simulation.hpp"
#include "driver/command_line.hpp"
#include "driver/commands.hpp"
#include "driver/memory_need.hpp"
#include "driver/memory_table.hpp"
#include "driver/rehearsal.hpp"

namespace octant::driver {

namespace {

// Processor time that the rehearsals may take, in seconds.
constexpr double k_rehearsal_seconds = 20.0;
// A base grid of so many cells is no burden where it cannot be rehearsed with fewer.
constexpr double k_small_base_cells = 64.0 * 64 * 64;

double product(const std::array<int, 3>& factors) {
  return 1.0 * factors[0] * factors[1] * factors[2];
}

std::string describe(const Rehearsal& rehearsal, double end) {
  std::string text = fmt::format(
      "# rehearsed with {} times larger cells to time {:.4g} of {:.4g}: {:.3g} cell updates\n",
      rehearsal.coarsening, rehearsal.time, end, rehearsal.size.updates);
  if (!rehearsal.failure.empty()) text += fmt::format("# where it ended: {}\n", rehearsal.failure);
  return text;
}

std::string describe(const RunSize& size) {
  std::string text = "# expected of the whole run\n";
  for (std::size_t l = 0; l < size.blocks.size(); ++l)
    text += fmt::format("# level {}: {:.0f} blocks at most\n", l, size.blocks[l]);
  text += fmt::format("# {:.3g} cell updates, {:.2g} s at the rate of the rehearsal\n",
                      size.updates, size.updates / size.updates_per_second);
  return text +
         fmt::format("# peak memory of the largest rank: {:.0f} MB\n", 1e-6 * size.peak_bytes);
}

// Cells of all blocks but those under finer ones.
double leaf_cells(const std::vector<double>& blocks, int block_size) {
  if (blocks.empty()) return 0.0;
  const double all = std::accumulate(blocks.begin(), blocks.end(), 0.0);
  return std::pow(block_size, 3) * (all - (all - blocks[0]) / 8.0);
}

// Makes the mesh as the run begins with it.
std::string describe_beginning(const Communicator& communicator, AmrOptions& options,
                               double& bytes) {
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  std::string text = "# initial mesh\n";
  const Totals& totals = simulation.totals();
  for (std::size_t l = 0; l < totals.blocks.size(); ++l)
    text += fmt::format("# level {}: {} blocks, {} leaf cells\n", l, totals.blocks[l],
                        totals.leaf_cells[l]);
  bytes = communicator.max(static_cast<double>(scarce_memory_use().peak));
  const double leaves = static_cast<double>(
      std::accumulate(totals.leaf_cells.begin(), totals.leaf_cells.end(), std::int64_t{0}));
  return text + fmt::format("# memory of the largest rank with it: {:.0f} MB\n", 1e-6 * bytes) +
         memory_table(communicator, leaves, "# ");
}

// What is known of the growth of a mesh that no rehearsal shows: its beginning, or less. `bytes` is
// the memory of the largest rank with that.
std::string describe_base(const Communicator& communicator, AmrOptions& options, double& bytes) {
  if (product(options.mesh.base_cells) <= k_small_base_cells)
    return "# the base grid cannot be coarsened to rehearse the growth of the mesh\n" +
           describe_beginning(communicator, options, bytes);
  bytes = AmrSimulation::least_bytes(options) / communicator.size();
  return fmt::format(
      "# the base grid cannot be coarsened to rehearse the growth of the mesh\n"
      "# its fields alone need {:.0f} MB per rank\n",
      1e-6 * bytes);
}

// Where no kernels run, neither do rehearsals.
std::string describe_fields(double bytes) {
  return fmt::format(
      "# {}\n# rehearsed where there is one, a check says more; the fields of the base grid alone "
      "need {:.0f} MB per rank\n",
      why_no_kernels(), 1e-6 * bytes);
}

}  // namespace

int check_amr(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  AmrOptions options;
  communicator.agree([&] { options = AmrOptions::from_file(request.file, request.overrides); });
  std::string report = options.resolved() + "\n";
  if (const std::string about = options.about_dimensions(); !about.empty())
    report += fmt::format("# {}\n", about);
  if (!why_no_kernels().empty()) {
    report += describe_fields(AmrSimulation::least_bytes(options) / communicator.size());
    if (communicator.is_root()) fmt::print("{}", report);
    return k_done;
  }
  double bytes = 0.0;
  const auto rehearsals =
      rehearse(communicator, request.file, request.overrides, k_rehearsal_seconds);
  for (const Rehearsal& rehearsal : rehearsals) report += describe(rehearsal, options.end_time());
  if (rehearsals.empty()) {
    report += describe_base(communicator, options, bytes);
  } else {
    const double blocks = product(options.mesh.base_cells) / std::pow(options.mesh.block_size, 3);
    const RunSize size = extrapolate(rehearsals, blocks);
    report += describe(size);
    const RunSize& rehearsed = rehearsals.back().size;
    report +=
        "# in the finest rehearsal\n" +
        memory_table(communicator, leaf_cells(rehearsed.blocks, options.mesh.block_size), "# ");
    bytes = size.peak_bytes;
  }
  if (communicator.is_root()) fmt::print("{}", report);
  require_memory(communicator, bytes, "the run", "mesh.base_cells or mesh.max_level");
  return k_done;
}

}  // namespace octant::driver
