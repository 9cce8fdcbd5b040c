#include "telemetry/telemetry_options.hpp"

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
             {.meaning = "Level of detail; full: also every single scope and message, as events"});
  schema.add(
      "telemetry.trigger", options.trigger,
      {.meaning = "Condition that switches on full detail for some steps, such as \"wait > 5 * "
                  "median\" or \"step > 0.5 s\": the longest time of a phase over all ranks is "
                  "compared with its median over the last 64 steps, or with seconds"});
  schema.add("telemetry.trigger_steps", options.trigger_steps,
             {.unit = "steps",
              .meaning = "Number of steps that are recorded in full detail after telemetry.trigger",
              .min = 1});
}

}  // namespace octant::telemetry
