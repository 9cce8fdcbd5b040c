// The program `octant`: everything that it can do is in driver/ and bench/.
#include "bench/bench.hpp"
#include "comm/runtime.hpp"
#include "driver/command_line.hpp"

int main(int argc, char** argv) {
  octant::Runtime runtime(argc, argv);
  return octant::driver::command_line(argc, argv, octant::bench::run);
}
