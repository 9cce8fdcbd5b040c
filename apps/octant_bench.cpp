// The program `octant-bench`: what `octant bench` becomes.
#include "bench/bench.hpp"
#include "comm/runtime.hpp"
#include "driver/command_line.hpp"

int main(int argc, char** argv) {
  octant::Runtime runtime(argc, argv);
  return octant::driver::command_line(argc, argv, octant::bench::run);
}
