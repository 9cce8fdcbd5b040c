#include "driver/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace octant::driver {

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

}  // namespace octant::driver
