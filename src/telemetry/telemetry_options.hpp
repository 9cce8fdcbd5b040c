// Parameters of the recorder: section [telemetry] of a parameter file.
#pragma once

#include <array>
#include <string>

#include "core/named.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::telemetry {

// Whether every single scope and message is recorded, too.
enum class Detail { normal, full };
constexpr auto names_of(Detail) { return std::array{"normal", "full"}; }

struct TelemetryOptions {
  bool enabled = true;
  int window = 16;
  double window_seconds = 60.0;
  Detail detail = Detail::normal;
  std::string trigger;
  int trigger_steps = 3;
};

void declare(ParameterSchema& schema, TelemetryOptions& options);

}  // namespace octant::telemetry
