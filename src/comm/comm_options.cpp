#include "comm/comm_options.hpp"

#include "core/parameters.hpp"

namespace octant {

void declare(ParameterSchema& schema, CommOptions& options) {
  schema.add("comm.exchange", options.exchange,
             {.meaning = "Communication backend of exchanges between ranks; auto measures all and "
                         "takes the fastest"});
  schema.add("comm.trial_calls", options.trial_calls,
             {.meaning = "Number of exchanges per backend before the first choice of comm.exchange "
                         "= \"auto\"; the first one is not timed",
              .min = 2});
  schema.add("comm.probe_interval", options.probe_interval,
             {.meaning = "Number of exchanges between two probes of the other backends by "
                         "comm.exchange = \"auto\"",
              .min = 1});
  schema.add("comm.probe_calls", options.probe_calls,
             {.meaning = "Number of exchanges per probe of a backend by comm.exchange = \"auto\"; "
                         "the first one is not timed",
              .min = 2});
  schema.add("comm.overlap", options.overlap,
             {.meaning = "Overlap of communication with computation; false: wait for every message "
                         "at once, to measure the benefit"});
  schema.add("comm.staging", options.staging,
             {.meaning = "Staging of GPU messages through host memory: only where the MPI library "
                         "cannot access GPU memory (auto), or always"});
  schema.add(
      "debug.late_rank", options.late_rank,
      {.meaning = "Rank that delays its sends by debug.late_seconds in every exchange; -1: none",
       .min = -1});
  schema.add("debug.late_seconds", options.late_seconds,
             {.unit = "s",
              .meaning = "Delay of the sends of debug.late_rank in every exchange",
              .min = 0.0});
}

}  // namespace octant
