// `octant bench particles`: particles per second in deposit, kick and drift.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Case of the benchmark.
struct ParticleCase {
  std::string name = "uniform";  // or "clustered": refined levels around one dense clump
  std::int64_t particles = 1'000'000;
  int cells = 64;  // on level 0 along each axis
  int block_size = 8;
  int levels = 3;  // refined levels, for clustered
};

// Phases of a particle step.
enum ParticlePhase { k_deposit, k_kick, k_drift, k_synchronise, k_phases };
inline constexpr const char* k_phase_names[k_phases] = {"deposit", "kick", "drift", "synchronise"};

// Times of one step of all particles, each the minimum over all repeats: wall-clock time of the
// slowest rank, and CPU time of all ranks.
struct ParticleResult {
  ParticleCase particle_case;
  int ranks = 1, threads = 1;
  std::vector<std::int64_t> by_level;
  double seconds[k_phases], cpu_seconds[k_phases];
};

// Collective; every rank gets the result.
ParticleResult measure_particles(const Communicator& communicator,
                                 const ParticleCase& particle_case, int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int particle_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
