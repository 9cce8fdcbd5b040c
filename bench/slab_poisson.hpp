// Three iterative Poisson solvers on a periodic grid in slabs along z (cuRAMSES paper, section
// 8.6.4), for comparison in `octant bench poisson` with the solvers of runs.
#pragma once

#include <array>
#include <cstdint>

#include "comm/communicator.hpp"
#include "core/named.hpp"

namespace octant::bench {

// Jacobi, red-black Gauss-Seidel, and conjugate gradients without a preconditioner.
enum class IterativeMethod { jacobi, red_black, cg };
// Names of the methods.
constexpr auto names_of(IterativeMethod) { return std::array{"jacobi", "red-black", "cg"}; }

// First approximation: 0, or random numbers whose means over the red and over the black cells
// vanish. The source is an eigenvector of the discrete Laplacian: from 0, conjugate gradients
// converge in one iteration. Random numbers contain all modes except the constant one, which the
// periodic problem leaves open, and the alternating one, which Jacobi does not damp.
enum class Guess { zero, random };
// Names of the first approximations.
constexpr auto names_of(Guess) { return std::array{"zero", "random"}; }

// Problem with the exact solution sin(2 pi x) sin(2 pi y) sin(2 pi z) on the unit cube.
struct SlabCase {
  IterativeMethod method = IterativeMethod::cg;
  Guess guess = Guess::zero;
  int cells = 64;           // along each axis; even
  double tolerance = 1e-4;  // residual relative to the source
  int max_iterations = 1'000'000;
};

// Result of one solve. Seconds are those of the slowest rank, each on its own.
struct SlabResult {
  int iterations = 0;
  double residual = 0.0;  // relative to the source
  double error = 0.0;     // maximum difference from the exact solution
  double seconds = 0.0;
  double compute_seconds = 0.0;    // stencils, vector operations, periodic copies along x and y
  double exchange_seconds = 0.0;   // ghost planes, including packing
  double reduction_seconds = 0.0;  // global sums
  std::int64_t bytes_sent = 0;     // by the busiest rank
};

// Throws InputError for an odd number of cells, or fewer planes than ranks.
void check_slabs(const SlabCase& slab_case, int ranks);

// Solves with one thread per rank. Every rank gets the result, which, apart from seconds and bytes,
// has the same bits on any number of ranks. Throws InputError as check_slabs does. Collective.
SlabResult solve_slabs(const Communicator& communicator, const SlabCase& slab_case);

}  // namespace octant::bench
