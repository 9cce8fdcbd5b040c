// What all benchmarks do before and after they measure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/report.hpp"
#include "comm/communicator.hpp"

namespace octant::bench {

// Declares an option that takes a number above 0, and shows its default.
template <class Number>
CLI::Option* add_count(CLI::App& app, const std::string& option, Number& value,
                       const std::string& meaning) {
  return app.add_option(option, value, meaning)->capture_default_str()->check(CLI::PositiveNumber);
}

struct Command {
  const char* title;
  const char* name;  // as it is called
  std::function<void(CLI::App&)> declare;
  std::function<void(const Communicator&, Report&)> measure;
};

// Reads the options that the command declares, and --json; measures, unless help was asked for, and
// writes the report. Returns an exit code; throws InputError for bad options. Collective.
int run_command(const Command& command, const std::vector<std::string>& options);

// The same, of functions that declare the options of a Request and measure what it asks for.
template <class Request>
int run_command(const char* title, const char* name, void (*declare)(CLI::App&, Request&),
                void (*measure)(const Request&, const Communicator&, Report&),
                const std::vector<std::string>& options) {
  Request request;
  return run_command(
      Command{title, name, [&](CLI::App& app) { declare(app, request); },
              [&](const Communicator& ranks, Report& report) { measure(request, ranks, report); }},
      options);
}

}  // namespace octant::bench
