#include "driver/restart_parameters.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameter_differences.hpp"

namespace octant::driver {

namespace {

// A name that ends in a dot stands for its whole section.
constexpr std::string_view k_may_change[] = {
    // who computes, and what is written of it
    "balance.", "comm.", "debug.", "execution.", "output.", "run.", "telemetry.",
    "statistics.interval", "statistics.start", "cosmology.snapshots", "grid.process_grid",
    "grid.transpose", "events.method",
    // how long and how finely
    "time.", "cosmology.end", "cosmology.largest_growth", "refine.", "mesh.max_level",
    // by which numerical method
    "hydro.scheme", "hydro.reconstruction", "hydro.limiter", "hydro.riemann", "hydro.density_floor",
    "hydro.pressure_floor", "hydro.dual_energy_threshold", "gravity.base", "gravity.gradient_order",
    "gravity.laplacian", "gravity.max_cycles", "gravity.solver", "gravity.tolerance",
    "gravity.theta", "gravity.transfer", "dns.diffusion", "dns.poisson", "dns.schedule",
    // where a file lies that only time 0 is made from
    "initial.path", "initial.table"};

bool may_change(std::string_view name) {
  return std::any_of(std::begin(k_may_change), std::end(k_may_change), [&](std::string_view free) {
    return free.ends_with('.') ? name.starts_with(free) : name == free;
  });
}

}  // namespace

void require_same_run(const std::string& path, const std::string& stored,
                      const std::string& given) {
  std::vector<std::string> forbidden, changed;
  bool other_grid = false;
  for (const auto& [name, before, now] : parameter_differences(stored, path, given)) {
    auto& list = may_change(name) ? changed : forbidden;
    other_grid |= !may_change(name) && name.starts_with("grid.");
    list.push_back(fmt::format("{} = {}, but this run has {}", name, before, now));
  }
  if (!forbidden.empty())
    throw InputError(
        "{}: the checkpoint was written with {}; use the parameters of the run that wrote it "
        "(octant info prints them), or start a new one{}",
        path, fmt::join(forbidden, "; "),
        other_grid
            ? " with problem.name = \"stored_flow\", which interpolates the flow of a snapshot "
              "to another grid"
            : "");
  for (const std::string& line : changed) log::info("the checkpoint was written with {}", line);
}

}  // namespace octant::driver
