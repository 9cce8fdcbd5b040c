#include "driver/check.hpp"

#include <fmt/format.h>

#include "core/clock.hpp"
#include "driver/amr_simulation.hpp"
#include "driver/command_line.hpp"

namespace octant::driver {

namespace {

// Updates of leaf cells per second and core, for the estimate of time: a cautious round number.
constexpr double k_updates_per_second = 5e6;

std::string size_of_mesh(const AmrSimulation& simulation) {
  std::string text;
  const Totals& totals = simulation.totals();
  for (std::size_t l = 0; l < totals.blocks.size(); ++l)
    text += fmt::format("# level {}: {} blocks, {} leaf cells\n", l, totals.blocks[l],
                        totals.leaf_cells[l]);
  return text;
}

}  // namespace

int check(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  AmrOptions options;
  communicator.agree([&] { options = AmrOptions::from_file(request.file, request.overrides); });
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  const double step = simulation.stable_dt();
  double updates = 0.0;
  for (std::size_t l = 0; l < simulation.totals().leaf_cells.size(); ++l)
    updates += static_cast<double>(simulation.totals().leaf_cells[l]) *
               (options.time.subcycle ? 1 << l : 1);
  const double steps = options.time.end / step;
  const double memory = communicator.max(static_cast<double>(memory_use().peak));
  const double seconds = steps * updates / (k_updates_per_second * communicator.size());
  if (communicator.is_root()) {
    fmt::print("{}\n# initial mesh\n{}", options.resolved(), size_of_mesh(simulation));
    fmt::print("# memory of the largest rank with this mesh: {:.0f} MB\n", 1e-6 * memory);
    fmt::print(
        "# about {:.0f} coarse steps with this mesh and these signals, {:.2g} cell updates, "
        "{:.2g} s\n",
        steps, steps * updates, seconds);
  }
  return k_done;
}

}  // namespace octant::driver
