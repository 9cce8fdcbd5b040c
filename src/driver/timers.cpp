#include "driver/timers.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace octant::driver {

int Timers::enter(const char* name) {
  const double elapsed = clock_.restart();
  if (current_ >= 0) parts_[current_].seconds += elapsed;
  const int outer = current_;
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [name](const Part& part) { return part.name == name; });
  current_ = static_cast<int>(found - parts_.begin());
  if (found == parts_.end()) parts_.push_back({name, 0.0, 0});
  ++parts_[current_].calls;
  return outer;
}

void Timers::leave(int outer) {
  parts_[current_].seconds += clock_.restart();
  current_ = outer;
}

double Timers::seconds(const std::string& name) const {
  for (const Part& part : parts_)
    if (part.name == name) return part.seconds;
  return 0.0;
}

double Timers::total_seconds() const {
  double total = 0.0;
  for (const Part& part : parts_) total += part.seconds;
  return total;
}

void Timers::reset() {
  for (Part& part : parts_) part.seconds = 0.0, part.calls = 0;
}

std::string timing_table(const Timers& timers, const Communicator& communicator) {
  std::vector<double> mine;
  for (const Timers::Part& part : timers.parts()) mine.push_back(part.seconds);
  std::vector<double> least = mine, most = mine;
  communicator.min_in_place(std::span<double>(least));
  communicator.max_in_place(std::span<double>(most));
  double whole = 0.0;
  for (const double seconds : most) whole += seconds;
  std::string table =
      fmt::format("{:<20}{:>10}{:>10}{:>8}{:>10}\n", "part", "least s", "most s", "share", "calls");
  for (std::size_t n = 0; n < mine.size(); ++n)
    table +=
        fmt::format("{:<20}{:>10.3f}{:>10.3f}{:>7.1f}%{:>10}\n", timers.parts()[n].name, least[n],
                    most[n], whole > 0 ? 100 * most[n] / whole : 0.0, timers.parts()[n].calls);
  return table;
}

}  // namespace octant::driver
