// The program `octant`: everything that it can do is in driver/, but for `octant bench`, which is a
// program of its own beside this one.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/runtime.hpp"
#include "core/error.hpp"
#include "driver/command_line.hpp"
#include "driver/stop_signals.hpp"

namespace {

std::filesystem::path bench_program() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("octant-bench");
}

// Returns only where that program cannot be started.
int become_bench_program(char** argv) {
  const std::filesystem::path program = bench_program();
  execv(program.c_str(), argv);
  std::fprintf(stderr, "octant bench: %s: %s; to build it: ninja octant-bench\n", program.c_str(),
               std::strerror(errno));
  return octant::driver::k_bad_input;
}

int no_bench(const std::string& name, const std::vector<std::string>&) {
  throw octant::InputError("bench {}: \"bench\" must be the first word", name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "bench") == 0) return become_bench_program(argv);
  // Open MPI gives ranks the default actions back, and takes a while to start.
  if (argc > 1 && std::strcmp(argv[1], "run") == 0) octant::driver::ignore_signals_of_writes();
  octant::Runtime runtime(argc, argv, octant::Kernels::if_there_are);
  return octant::driver::command_line(argc, argv, no_bench);
}
