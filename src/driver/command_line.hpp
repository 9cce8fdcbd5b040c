// The `octant` command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace octant::driver {

// Exit codes that scripts rely on.
enum ExitCode { k_done = 0, k_failed_run = 1, k_bad_input = 2, k_stopped_early = 3 };

// Runs a benchmark by name with the rest of the command line; returns an exit code.
using BenchRunner = std::function<int(const std::string& name, const std::vector<std::string>&)>;

// Parses and carries out a command. Errors end with one message on the root and the same exit code
// on all ranks.
int command_line(int argc, char** argv, const BenchRunner& bench);

}  // namespace octant::driver
