// Parameters of the recorder: section [telemetry] of a parameter file.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/named.hpp"
#include "core/observer.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::telemetry {

// Level of detail: `full` also records every single scope and message.
enum class Detail { normal, full };
// Names of the values in telemetry.detail.
constexpr auto names_of(Detail) { return std::array{"normal", "full"}; }

// Parameters of the section [telemetry].
struct TelemetryOptions {
  bool enabled = true;
  int window = 16;
  double window_seconds = 60.0;
  Detail detail = Detail::normal;
  std::string trigger;
  int trigger_steps = 3;
};

// Declares the section [telemetry]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, TelemetryOptions& options);

// Conditions on steps after which the recorder records in detail.

// Condition "QUANTITY > NUMBER * median" or "QUANTITY > NUMBER s" (or ms), where QUANTITY is a
// phase or "step"; the median is that of the previous 64 steps.
class Trigger {
 public:
  // Parses a condition; an empty text never fires. Throws InputError for invalid text.
  explicit Trigger(const std::string& text);

  // True if the condition may fire.
  bool is_set() const { return factor_ > 0.0; }
  // Observed phase; none: the whole step.
  std::optional<Phase> phase() const { return phase_; }
  // Returns true if the step fires; `seconds` is the maximum of the quantity over all ranks.
  bool fires(double seconds);

 private:
  std::optional<Phase> phase_;
  double factor_ = 0.0;
  bool by_median_ = false;
  std::deque<double> before_;
};

}  // namespace octant::telemetry
