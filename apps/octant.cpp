// Program `octant`. All commands are in src/commands/, except `octant bench`, which executes the
// separate program octant-bench.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/runtime.hpp"
#include "commands/command_line.hpp"
#include "core/error.hpp"
#include "run/run_control.hpp"
#include "run/run_request.hpp"

namespace {

std::filesystem::path bench_program() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("octant-bench");
}

// Replaces this process by octant-bench; returns only on failure.
int become_bench_program(char** argv) {
  const std::filesystem::path program = bench_program();
  execv(program.c_str(), argv);
  std::fprintf(stderr, "octant bench: %s: %s; to build it: ninja octant-bench\n", program.c_str(),
               std::strerror(errno));
  return octant::k_bad_input;
}

int no_bench(const std::string& name, const std::vector<std::string>&) {
  throw octant::InputError("bench {}: \"bench\" must be the first argument", name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "bench") == 0) return become_bench_program(argv);
  // Open MPI resets signal actions and takes a while to start.
  if (argc > 1 && std::strcmp(argv[1], "run") == 0) octant::ignore_signals_of_writes();
  octant::Runtime runtime(argc, argv, octant::Kernels::if_there_are);
  return octant::command_line(argc, argv, no_bench);
}
