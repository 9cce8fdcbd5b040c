// Parameters of the recorder: section [telemetry] of a parameter file.
#pragma once

#include <string>

namespace octant {
class ParameterSchema;
}

namespace octant::telemetry {

struct TelemetryOptions {
  bool enabled = true;
  int window = 16;
  double window_seconds = 60.0;
  std::string detail = "normal";
  std::string trigger;
  int trigger_steps = 3;
};

void declare(ParameterSchema& schema, TelemetryOptions& options);

}  // namespace octant::telemetry
