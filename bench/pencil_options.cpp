#include "bench/pencil_options.hpp"

#include <algorithm>
#include <limits>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/field.hpp"
#include "pencil/tuning.hpp"

namespace octant::bench {

std::vector<pencil::ProcessGrid> PencilChoice::grids(int ranks, int least_planes) const {
  pencil::PencilOptions forced;
  forced.process_grid = process_grid == "all" ? "auto" : process_grid;
  if (const auto grid = forced.forced_grid()) {
    pencil::check_process_grid(*grid, ranks, shape());
    return {*grid};
  }
  std::vector<pencil::ProcessGrid> grids;
  for (int y = 1; y <= ranks; ++y)
    if (ranks % y == 0 && cells[1] >= y && cells[2] / (ranks / y) >= least_planes)
      grids.push_back({y, ranks / y});
  if (grids.empty())
    throw InputError(
        "no process grid of {} ranks is compatible with {} x {} x {} cells; use fewer ranks", ranks,
        cells[0], cells[1], cells[2]);
  return grids;
}

void declare(Options& options, PencilChoice& choice) {
  options.shape("--cells", choice.cells);
  options.text("--process-grid", choice.process_grid,
               "Number of ranks along y and z, such as 2x4, or all");
}

double least_of_slowest(const Communicator& communicator, int repeats,
                        const std::function<double()>& seconds_of_one) {
  double least = std::numeric_limits<double>::max();
  for (int n = 0; n <= repeats; ++n) {
    communicator.barrier();
    const double slowest = communicator.max(seconds_of_one());
    if (n > 0) least = std::min(least, slowest);
  }
  return least;
}

double copy_bytes_per_second(const Communicator& communicator, std::int64_t entries) {
  constexpr int k_passes = 10;
  pencil::Buffer from(entries), to(entries);
  double fastest = 0.0;
  for (int pass = 0; pass <= k_passes; ++pass) {
    communicator.barrier();
    const Clock clock;
    std::copy_n(from.data(), entries, to.data());
    const double seconds = communicator.max(clock.seconds());
    const double bytes = 16.0 * static_cast<double>(communicator.sum(entries));
    if (pass > 0) fastest = std::max(fastest, bytes / seconds);
  }
  return fastest;
}

}  // namespace octant::bench
