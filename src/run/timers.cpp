#include "run/timers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace octant {

int Timers::enter(const char* name) {
  const double elapsed = clock_.restart();
  (current_ >= 0 ? parts_[current_].seconds : untimed_) += elapsed;
  const int outer = current_;
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [name](const Part& part) { return part.name == name; });
  current_ = static_cast<int>(found - parts_.begin());
  if (found == parts_.end()) parts_.push_back({name, 0.0});
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

double Timers::untimed_seconds() const {
  return current_ >= 0 ? untimed_ : untimed_ + clock_.seconds();
}

void Timers::reset() {
  for (Part& part : parts_) part.seconds = 0.0;
  untimed_ = 0.0;
  clock_.restart();
}

namespace {

// Broadcasts the root's names of parts, because a rank without blocks may not have timed some of
// them.
std::vector<std::string> common_parts(const Timers& timers, const Communicator& communicator) {
  std::string names;
  for (const Timers::Part& part : timers.parts()) names += part.name + "\n";
  communicator.broadcast(names);
  std::vector<std::string> parts;
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) parts.push_back(name);
  return parts;
}

}  // namespace

std::string timing_table(const Timers& timers, const Communicator& communicator) {
  std::vector<std::string> parts = common_parts(timers, communicator);
  std::vector<double> least;
  for (const std::string& part : parts) least.push_back(timers.seconds(part));
  parts.push_back("other");
  least.push_back(timers.untimed_seconds());
  std::vector<double> most = least;
  communicator.min_in_place(std::span<double>(least));
  communicator.max_in_place(std::span<double>(most));
  double whole = 0.0;
  for (const double seconds : most) whole += seconds;
  std::string table =
      fmt::format("{:<20}{:>10}{:>10}{:>8}\n", "part", "least s", "most s", "share");
  for (std::size_t n = 0; n < parts.size(); ++n)
    table += fmt::format("{:<20}{:>10.3f}{:>10.3f}{:>7.1f}%\n", parts[n], least[n], most[n],
                         whole > 0 ? 100 * most[n] / whole : 0.0);
  return table;
}

void TimeLeft::add(double progress, double seconds) {
  constexpr double k_memory = 60.0, k_steps = 10.0;
  const double faded = std::exp(-std::min(seconds / k_memory, 1.0 / k_steps));
  progress_ = faded * progress_ + progress;
  seconds_ = faded * seconds_ + seconds;
}

double TimeLeft::seconds(double share) const {
  if (!(progress_ > 0.0)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, share) * seconds_ / progress_;
}

std::string in_words(double seconds) {
  constexpr double k_longest = 1e9;
  if (!(seconds < k_longest)) return "years";
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  const std::int64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{} d {} h", days, hours % 24);
  if (hours > 0) return fmt::format("{} h {} min", hours, minutes % 60);
  if (minutes > 0) return fmt::format("{} min {} s", minutes, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace octant
