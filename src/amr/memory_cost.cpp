#include "amr/memory_cost.hpp"

#include <algorithm>
#include <cmath>

#include "gravity/stored_potential.hpp"

namespace octant {

namespace {

constexpr const char* k_sinks = "sinks";  // kind of black holes

// 8-byte numbers per cell for the work of gravity: mass flows, work, and for some methods heat.
int numbers_of_work(const AmrOptions& options) {
  if (options.gravity.work == gravity::Work::potential) return 6 + 1 + 1;
  const bool counts_withheld = options.universe && !options.processes.empty();
  return options.universe && !counts_withheld ? 0 : 3 + 1;
}

}  // namespace

int gas_states(const AmrOptions& options) {
  const bool has_one_stage = options.hydro.integrator == hydro::Integrator::muscl_hancock;
  const bool can_refine = options.mesh.max_level > 0;  // see RadiationStep::state_between_stages()
  return has_one_stage && !(options.radiation.is_active() && can_refine) ? 2 : 3;
}

int numbers_per_cell(const AmrOptions& options) {
  const int variables = static_cast<int>(options.hydro.variables().size());
  int numbers = options.hydro.enabled ? variables * gas_states(options) : 0;
  if (!options.gravity.enabled) return numbers;
  numbers += gravity::k_fields;
  return options.hydro.enabled ? numbers + numbers_of_work(options) : numbers;
}

int MemoryCost::numbers() const {
  const auto kinds = matter_.kinds();
  return numbers_per_cell(options_) +
         static_cast<int>(std::count_if(kinds.begin(), kinds.end(), [](const auto& particles) {
           return particles.kind().has_mass;
         }));
}

double MemoryCost::weight_of(const particles::Kind& kind, int words) const {
  const MemoryWeights& weights = options_.balance.weights;
  const double particle = weights.particle > 0.0 ? weights.particle : particle_bytes(words);
  if (kind.name != k_sinks) return particle;
  return weights.sink > 0.0 ? weights.sink : k_sink_weight * particle;
}

ByBlock<double> MemoryCost::by_block() const {
  const double given = options_.balance.weights.block;
  const double block = given > 0.0 ? given : block_bytes(mesh_.geometry().block_size(), numbers());
  ByBlock<double> bytes;
  for (int level = 0; level <= mesh_.geometry().max_level(); ++level) {
    const auto own = mesh_.blocks(level).own();
    auto& of_level = bytes.emplace_back(own.size(), block);
    for (const particles::Particles& kind : matter_.kinds()) {
      const double weight = weight_of(kind.kind(), kind.row_words());
      const auto counts = kind.counts_by_slot(level);
      for (std::size_t n = 0; n < own.size(); ++n) of_level[n] += weight * counts[own[n]];
    }
  }
  return bytes;
}

double MemoryCost::stored_bytes() const {
  double stored = 0.0;  // in 8-byte numbers
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    stored += std::pow(mesh_.geometry().block_size(), 3) * numbers() * mesh_.blocks(level).count();
  for (const particles::Particles& kind : matter_.kinds())
    stored += static_cast<double>(kind.count()) * kind.row_words();
  return sizeof(double) * stored;
}

}  // namespace octant
