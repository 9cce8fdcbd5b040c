// `octant bench fmm`: how fast the fast multipole method is, what it conserves, and which share of
// a core's multiply-adds its kernels reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Two stars on a thin background: on 64^3 cells, or on levels of 32^3 to 128^3.
struct FmmCase {
  std::string name = "uniform";  // or "refined"
  int block_size = 8;
  double theta = 0.5;
};

// One case, measured: the least of several solves, in processor time of all ranks.
struct FmmResult {
  FmmCase fmm_case;
  std::int64_t cells = 0;  // leaf cells, over all ranks
  double seconds = 0.0;
  double force_sum = 0.0, torque_sum = 0.0;  // |sum m a| / sum |m a|, and of r x m a
  std::map<std::string, double> parts{};     // seconds by part of the solve, on this rank
  // Operations of pairs of points, and of a cell with moments on a refined one, on this rank.
  double point_operations = 0.0, refined_operations = 0.0;
};

FmmResult measure_fmm(const Communicator& communicator, const FmmCase& fmm_case, int repeats);

// Operations per second of independent multiply-adds on one core, in the widest registers.
double multiply_add_peak();

// Additions and multiplications of a pair of bodies with moments (a fused pair counts two); close
// ones have hexadecapoles.
int operations_per_interaction(bool is_close);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int fmm_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
