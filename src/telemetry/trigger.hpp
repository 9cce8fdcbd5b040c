// Decides after which steps the recorder looks more closely.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/observer.hpp"

namespace octant::telemetry {

// "QUANTITY > NUMBER * median" or "QUANTITY > NUMBER s" (or ms), where QUANTITY is a phase or
// "step"; the median is that of the last 64 steps before.
class Trigger {
 public:
  // An empty text never fires. Throws InputError for one that cannot be understood.
  explicit Trigger(const std::string& text);

  bool is_set() const { return factor_ > 0.0; }
  // The phase that is looked at; none: the whole step.
  std::optional<Phase> phase() const { return phase_; }
  // Whether a step fires in which the quantity was this long, as the longest of all ranks.
  bool fires(double seconds);

 private:
  std::optional<Phase> phase_;
  double factor_ = 0.0;
  bool by_median_ = false;
  std::deque<double> before_;
};

}  // namespace octant::telemetry
