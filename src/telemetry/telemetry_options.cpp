#include "telemetry/telemetry_options.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::telemetry {

void declare(ParameterSchema& schema, TelemetryOptions& options) {
  schema.add(
      "telemetry.enabled", options.enabled,
      {.meaning = "Performance telemetry of the run, written as Parquet files to DIR/telemetry"});
  schema.add("telemetry.window", options.window,
             {.unit = "steps",
              .meaning = "Number of steps whose telemetry is written together; a killed run loses "
                         "at most one window",
              .min = 1});
  schema.add(
      "telemetry.window_seconds", options.window_seconds,
      {.unit = "s",
       .meaning =
           "Maximum wall-clock duration of a telemetry window; longer windows are written early",
       .above = 0.0});
  schema.add("telemetry.detail", options.detail,
             {.meaning = "Level of detail; full: also records every timed code region and every "
                         "message as an event"});
  schema.add(
      "telemetry.trigger", options.trigger,
      {.meaning =
           "Condition that triggers recording in full detail for a few steps, such as \"wait > 5 * "
           "median\" or \"step > 0.5 s\": the maximum time of a phase over all ranks is "
           "compared with its median over the last 64 steps, or with a time in seconds"});
  schema.add("telemetry.trigger_steps", options.trigger_steps,
             {.unit = "steps",
              .meaning = "Number of steps recorded in full detail once telemetry.trigger is met",
              .min = 1});
}

namespace {

constexpr std::size_t k_remembered = 64;
constexpr std::size_t k_min_steps = 4;  // minimum number of steps for a median

[[noreturn]] void refuse(const std::string& text) {
  throw InputError(
      "telemetry.trigger = \"{}\": expected \"PHASE > NUMBER * median\" or \"PHASE > NUMBER s\", "
      "where PHASE is step, compute, pack, send, wait, unpack, collective, regrid, rebalance, io "
      "or other",
      text);
}

}  // namespace

Trigger::Trigger(const std::string& text) {
  if (text.empty()) return;
  std::istringstream words(text);
  std::string quantity, sign, unit, rest;
  words >> quantity >> sign >> factor_ >> unit;
  if (!words || sign != ">" || !(factor_ > 0.0)) refuse(text);
  for (int n = 0; n < k_phases; ++n)
    if (quantity == to_string(static_cast<Phase>(n))) phase_ = static_cast<Phase>(n);
  if (!phase_ && quantity != "step") refuse(text);
  if (unit == "*") {
    words >> rest;
    if (rest != "median") refuse(text);
    by_median_ = true;
  } else if (unit == "ms") {
    factor_ *= 1e-3;
  } else if (unit != "s") {
    refuse(text);
  }
  if (words >> rest) refuse(text);
}

bool Trigger::fires(double seconds) {
  if (!is_set()) return false;
  if (!by_median_) return seconds > factor_;
  std::vector<double> sorted(before_.begin(), before_.end());
  before_.push_back(seconds);
  if (before_.size() > k_remembered) before_.pop_front();
  if (sorted.size() < k_min_steps) return false;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return seconds > factor_ * *middle;
}

}  // namespace octant::telemetry
