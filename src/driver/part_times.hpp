// What blocks cost beside their sweeps: processor time of gravity and particles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/mpi_stopwatch.hpp"

namespace octant::driver {

enum class Part {
  gravity,           // treats all cells of a level alike
  particles,         // costs where a level's particles are
  particles_onwards  // the same, those of finer levels included
};
inline constexpr int k_parts = 3;

// Nanoseconds of a level, by part.
using PartTimes = std::array<double, k_parts>;

// Adds the main thread's processor time until the end of the scope, less that inside of MPI.
class PartTimer {
 public:
  explicit PartTimer(double& nanoseconds);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  double& nanoseconds_;
  std::int64_t begun_;
  MpiStopwatch mpi_;
};

// By level and block: who has how many particles.
using ParticleCounts = std::vector<std::vector<std::int32_t>>;

// By level and block, the nanoseconds of all parts. Particles' times are shared by numbers of
// particles, or by blocks of the level alone where there are none; what no block can take is lost.
std::vector<std::vector<double>> share_out(std::span<const PartTimes> levels,
                                           const ParticleCounts& particles);

}  // namespace octant::driver
