// Program `octant-bench`, executed by `octant bench`.
#include "bench/bench.hpp"
#include "comm/runtime.hpp"
#include "commands/command_line.hpp"

int main(int argc, char** argv) {
  octant::Runtime runtime(argc, argv);
  return octant::command_line(argc, argv, octant::bench::run);
}
