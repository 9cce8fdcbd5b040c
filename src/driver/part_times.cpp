#include "driver/part_times.hpp"

#include <numeric>

#include <Kokkos_Core.hpp>

#include "core/cpu_time.hpp"

namespace octant::driver {

PartTimer::PartTimer(double& nanoseconds) : nanoseconds_(nanoseconds), begun_(thread_cpu_ns()) {}

PartTimer::~PartTimer() {
  Kokkos::fence();  // what this part's kernels take is not to be the next one's
  nanoseconds_ += static_cast<double>(thread_cpu_ns() - begun_ - mpi_.cpu_ns());
}

std::vector<std::vector<double>> share_out(std::span<const PartTimes> levels,
                                           const ParticleCounts& particles) {
  std::vector<std::int64_t> here, onwards(levels.size(), 0);  // particles of each level
  for (const auto& blocks : particles)
    here.push_back(std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}));
  std::partial_sum(here.rbegin(), here.rend(), onwards.rbegin());

  std::vector<std::vector<double>> shares;
  double per_particle_onwards = 0.0;  // of this level and all coarser ones
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto [gravity, own, with_finer] = levels[l];
    double per_particle = 0.0, level = gravity;
    if (here[l] > 0) per_particle = own / static_cast<double>(here[l]);
    else level += own;
    if (onwards[l] > 0) per_particle_onwards += with_finer / static_cast<double>(onwards[l]);
    else level += with_finer;
    const auto blocks = static_cast<double>(particles[l].size());
    std::vector<double>& shares_of_level = shares.emplace_back();
    for (const std::int32_t count : particles[l])
      shares_of_level.push_back(level / blocks + count * (per_particle + per_particle_onwards));
  }
  return shares;
}

}  // namespace octant::driver
