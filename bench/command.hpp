// Common frame of all benchmarks before and after the measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/bench_options.hpp"
#include "bench/report.hpp"
#include "comm/communicator.hpp"

namespace octant::bench {

struct Command {
  const char* name;
  const char* meaning;
  std::function<void(Options&)> declare;  // all options except --json
  std::function<void(const Communicator&, Report&)> measure;
};

// Reads the options, measures unless help was requested, and writes the report. Returns an exit
// code; throws InputError for bad options. Collective.
int run_command(const Command& command, const std::vector<std::string>& words);

// Variant for a benchmark that stores its options in a Request.
template <class Request>
int run_command(const char* name, const char* meaning, void (*declare)(Options&, Request&),
                void (*measure)(const Request&, const Communicator&, Report&),
                const std::vector<std::string>& words) {
  Request request;
  return run_command(
      Command{name, meaning, [&](Options& options) { declare(options, request); },
              [&](const Communicator& ranks, Report& report) { measure(request, ranks, report); }},
      words);
}

}  // namespace octant::bench
