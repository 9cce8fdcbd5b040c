// What a block costs its owner: memory, time, and the blend of both that the decompositions divide
// (curamses.txt, eq. 4-6 and 12, adapted from octs to blocks).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/reduction.hpp"

namespace octant {

// Bytes that a rank holds for each thing it owns.
struct MemoryWeights {
  double block;
  double particle;
  double sink;
};

// Eq. 5 for blocks of block_size^3 cells with `variables` conserved variables: two states of 8-byte
// numbers per cell, and the block's share of tables. Particles hold position, velocity, mass and
// id. A sink counts as much as eight particles: it is rare, but its feedback and accretion visit
// many cells.
MemoryWeights memory_weights(int block_size, int variables);

// The bytes of one block with what lies in it (eq. 4).
double memory_cost(const MemoryWeights& weights, std::int64_t particles = 0,
                   std::int64_t sinks = 0);
// The same of the average one of `blocks` blocks that hold `particles` particles together.
double mean_memory_cost(const MemoryWeights& weights, std::int64_t blocks, std::int64_t particles);

// What a rank spent on one level since the last balancing, in the parts whose time depends on how
// much it owns.
struct LevelTime {
  std::int64_t nanoseconds = 0;
  std::int64_t cells = 0;  // updates, or any measure of the work that all ranks share
};

// The correction 1 + alpha (t_local / t_mean - 1), clamped to [0.5, 2], of eq. 6 and 12. 1 where
// nothing was measured.
double time_factor(double alpha, const LevelTime& local, const LevelTime& total);

// That factor for each level on this rank. Collective; all ranks give the same number of levels.
std::vector<double> time_factors(double alpha, std::span<const LevelTime> local_levels,
                                 const Reduction& reduction);

}  // namespace octant
