// Parameters of load balancing: section [balance] of a parameter file.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/named.hpp"

namespace octant {

class ParameterSchema;

// How space is divided among ranks.
enum class Decomposition { ksection, hilbert, morton };
constexpr auto names_of(Decomposition) { return std::array{"ksection", "hilbert", "morton"}; }

// What ranks share evenly.
enum class BalanceCost { memory, time, measured };
constexpr auto names_of(BalanceCost) { return std::array{"memory", "time", "measured"}; }

struct BalanceOptions {
  Decomposition decomposition = Decomposition::ksection;
  std::string policy = "contiguous";
  double cplx_x = 25.0;
  BalanceCost cost = BalanceCost::time;
  double time_alpha = 0.0;
  double rank_memory = 0.0;      // MB; 0: any
  std::int64_t most_blocks = 0;  // 0: any number
  int interval = 10;

  // How often a block of this level is updated in one coarse step, as far as its cost shall know.
  double substeps(int level, bool subcycle) const;
  // Whether the levels are balanced each by itself, for equal time, or all together, for memory.
  bool by_level() const { return cost != BalanceCost::memory; }
  // Whether a planner decides (decomp/planner.hpp).
  bool is_planned() const { return policy != "contiguous"; }
  // Whether a rank's blocks are limited, and to how many of so many bytes.
  bool is_limited() const { return rank_memory > 0.0 || most_blocks > 0; }
  std::int64_t block_limit(double bytes_of_block) const;
  // Throws InputError where options contradict each other.
  void check() const;
};

void declare(ParameterSchema& schema, BalanceOptions& options);

}  // namespace octant
