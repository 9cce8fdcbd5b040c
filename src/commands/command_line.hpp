// The `octant` command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace octant {

// Runs a benchmark by name with the remaining arguments; returns an exit code.
using BenchRunner = std::function<int(const std::string& name, const std::vector<std::string>&)>;

// Parses and executes a command. Errors print one message on the root and give the same exit code
// on all ranks.
int command_line(int argc, char** argv, const BenchRunner& bench);

}  // namespace octant
