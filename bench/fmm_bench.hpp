// `octant bench fmm`: speed of the fast multipole method, its conservation errors, and the fraction
// of a core's multiply-add throughput that its kernels reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Two stars on a rarefied background: on 64^3 cells, or on levels of 32^3 to 128^3.
struct FmmCase {
  std::string name = "uniform";  // or "refined"
  int block_size = 8;
  double theta = 0.5;
};

// Result of one case: the minimum over several solves, in CPU time of all ranks.
struct FmmResult {
  FmmCase fmm_case;
  std::int64_t cells = 0;  // leaf cells over all ranks
  double seconds = 0.0;
  double force_sum = 0.0, torque_sum = 0.0;  // |sum m a| / sum |m a|, and of r x m a
  std::map<std::string, double> parts{};     // seconds by part of the solve, on this rank
  // Operations for pairs of points, and for cells with moments on refined cells, on this rank.
  double point_operations = 0.0, refined_operations = 0.0;
};

// Solves a case `repeats` times. Collective.
FmmResult measure_fmm(const Communicator& communicator, const FmmCase& fmm_case, int repeats);

// Operations per second of independent multiply-adds on one core, in the widest registers.
double multiply_add_peak();

// Number of additions and multiplications for a pair of bodies with moments (a fused multiply-add
// counts as two); close pairs include hexadecapoles.
int operations_per_interaction(bool is_close);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int fmm_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
