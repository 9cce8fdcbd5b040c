#include "comm/comm_options.hpp"

#include "core/parameters.hpp"

namespace octant {

void declare(ParameterSchema& schema, CommOptions& options) {
  schema.add("comm.exchange", options.exchange,
             {.meaning = "How ranks exchange data; auto measures and takes the fastest"});
  schema.add("comm.trial_calls", options.trial_calls,
             {.meaning = "Exchanges per backend before the first choice; the first is not timed",
              .min = 2});
  schema.add("comm.probe_interval", options.probe_interval,
             {.meaning = "Exchanges between two probes of the other backends", .min = 1});
  schema.add("comm.probe_calls", options.probe_calls,
             {.meaning = "Exchanges per probe; the first is not timed", .min = 2});
  schema.add(
      "comm.overlap", options.overlap,
      {.meaning = "Work while messages travel; false waits for each at once, to measure what "
                  "that brings"});
  schema.add("comm.staging", options.staging,
             {.meaning = "Messages of a GPU pass through memory of the host: where the MPI library "
                         "cannot read the GPU's (auto), or always"});
  schema.add("debug.late_rank", options.late_rank,
             {.meaning = "Rank that posts its sends late in every exchange; -1: none", .min = -1});
  schema.add("debug.late_seconds", options.late_seconds,
             {.unit = "s", .meaning = "How late", .min = 0.0});
}

}  // namespace octant
