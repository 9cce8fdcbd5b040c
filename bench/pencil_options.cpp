#include "bench/pencil_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/field.hpp"
#include "pencil/tuning.hpp"

namespace octant::bench {

std::vector<pencil::ProcessGrid> PencilChoice::grids(int ranks, int min_planes) const {
  pencil::PencilOptions forced;
  forced.process_grid = process_grid == "all" ? "auto" : process_grid;
  if (const auto grid = forced.forced_grid()) {
    pencil::check_process_grid(*grid, ranks, shape());
    return {*grid};
  }
  std::vector<pencil::ProcessGrid> grids;
  for (int y = 1; y <= ranks; ++y)
    if (ranks % y == 0 && cells[1] >= y && cells[2] / (ranks / y) >= min_planes)
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

namespace {

// Reads "2", or "*" as 0. Returns nothing for other texts.
std::optional<int> number_or_star(const std::string& text) {
  if (text == "*") return 0;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && value > 0 ? std::optional(value) : std::nullopt;
}

// Replaces a star by the number that gives all ranks; returns nothing if none does.
std::optional<pencil::ProcessGrid> fitting_grid(const std::string& pattern, int ranks) {
  const std::size_t cross = std::min(pattern.find('x'), pattern.size());
  const auto y = number_or_star(pattern.substr(0, cross));
  const auto z = number_or_star(pattern.substr(std::min(cross + 1, pattern.size())));
  if (!y || !z || *y + *z == 0)
    throw InputError(
        "--process-grid {}: expected auto, all, or ranks along y and z such as 2x4, *x2 or 1x*",
        pattern);
  const pencil::ProcessGrid grid{*y > 0 ? *y : ranks / *z, *z > 0 ? *z : ranks / *y};
  return grid.ranks() == ranks ? std::optional(grid) : std::nullopt;
}

GridChoice choice_of(const std::string& pattern, int ranks, const pencil::Cells& cells) {
  GridChoice choice{pattern, fitting_grid(pattern, ranks), ""};
  if (!choice.grid) {
    choice.reason = "the numbers along y and z do not give all ranks";
  } else if (choice.grid->y > cells[1] || choice.grid->z > cells[2]) {
    choice.reason = fmt::format("{} has more ranks than {} x {} cells along y and z",
                                pencil::to_string(*choice.grid), cells[1], cells[2]);
    choice.grid.reset();
  }
  return choice;
}

}  // namespace

std::vector<GridChoice> grid_choices(const std::string& list, int ranks,
                                     const pencil::Cells& cells) {
  std::vector<GridChoice> choices;
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry == "auto") choices.push_back({entry, std::nullopt, ""});
    else if (entry == "all") {
      for (int y = 1; y <= ranks; ++y)
        if (ranks % y == 0 && y <= cells[1] && ranks / y <= cells[2])
          choices.push_back({entry, pencil::ProcessGrid{y, ranks / y}, ""});
    } else {
      choices.push_back(choice_of(entry, ranks, cells));
    }
  }
  return choices;
}

double min_of_slowest(const Communicator& communicator, int repeats,
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
