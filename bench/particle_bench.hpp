// `octant bench particles`: how many particles per second are deposited, kicked and moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

struct ParticleCase {
  std::string name = "uniform";  // or "clustered": refined levels around one dense clump
  std::int64_t particles = 1'000'000;
  int cells = 64;  // of level 0 along each axis
  int block_size = 8;
  int levels = 3;  // refined ones, where clustered
};

// What each particle goes through in a step.
enum ParticlePhase { k_deposit, k_kick, k_drift, k_synchronise, k_phases };
inline constexpr const char* k_phase_names[k_phases] = {"deposit", "kick", "drift", "synchronise"};

// Times of one step of all particles, each the least of all repeats: of the slowest rank, and of
// the processors of all ranks together.
struct ParticleResult {
  ParticleCase particle_case;
  int ranks = 1, threads = 1;
  std::vector<std::int64_t> by_level;
  double seconds[k_phases], cpu_seconds[k_phases];
};

// Collective; every rank gets the result.
ParticleResult measure_particles(const Communicator& communicator,
                                 const ParticleCase& particle_case, int repeats);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int particle_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
