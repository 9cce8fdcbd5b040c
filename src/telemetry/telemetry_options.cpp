#include "telemetry/telemetry_options.hpp"

#include "core/parameters.hpp"

namespace octant::telemetry {

void declare(ParameterSchema& schema, TelemetryOptions& options) {
  schema.add("telemetry.enabled", options.enabled,
             {.meaning = "Record where the time goes, as Parquet files in DIR/telemetry"});
  schema.add("telemetry.window", options.window,
             {.unit = "steps",
              .meaning = "Steps whose records go to a file together; a run that is killed loses at "
                         "most so many",
              .min = 1});
  schema.add("telemetry.window_seconds", options.window_seconds,
             {.unit = "s", .meaning = "Write them earlier if they took so long", .above = 0.0});
  schema.add("telemetry.detail", options.detail,
             {.meaning = "full: also every single scope and message, as events"});
  schema.add("telemetry.trigger", options.trigger,
             {.meaning = "When to record in full detail for some steps, such as \"wait > 5 * "
                         "median\" or \"step > 0.5 s\": a phase's longest time of all ranks "
                         "against its median over the last 64 steps, or against seconds"});
  schema.add("telemetry.trigger_steps", options.trigger_steps,
             {.unit = "steps", .meaning = "For how many steps", .min = 1});
}

}  // namespace octant::telemetry
