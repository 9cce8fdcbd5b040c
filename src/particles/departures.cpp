// Particles that leave the domain through open boundaries: their mass, momentum and energy.
#include <algorithm>
#include <bit>
#include <cmath>

#include "particles/particles.hpp"

namespace octant::particles {

// Records a particle beyond an open boundary, which is still in the list of its level. Its
// potential is that of the last cells before the boundary.
void Particles::note_departure(int level, std::span<const Word> row, std::int32_t home,
                               bool served_by_coarser) {
  const auto real = [&](int column) { return std::bit_cast<double>(row[column]); };
  ++leaving_.count;
  if (!kind_.has_mass) return;
  const double m = real(k_mass);
  MassChange particle = change_of(row, home, served_by_coarser, 1.0);
  double speed_squared = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double v = real(k_velocity + d), lower = mesh_.geometry().lower()[d],
                 upper = mesh_.geometry().upper()[d];
    leaving_.sums[ParticleOutflow::momentum + d] += m * v;
    speed_squared += v * v;
    particle.position[d] = std::clamp(particle.position[d], lower, std::nextafter(upper, lower));
  }
  leaving_.sums[ParticleOutflow::mass] += m;
  leaving_.sums[ParticleOutflow::kinetic] += 0.5 * m * speed_squared;
  leaving_.particles[level].push_back(particle);
}

void Particles::collect_outflow(std::span<Particles> kinds,
                                const std::function<VectorField(int level)>& potentials,
                                double own_potential) {
  if (kinds.empty()) return;
  const Communicator& communicator = kinds.front().communicator();
  std::int64_t left = 0;
  for (const Particles& kind : kinds) left += kind.leaving_.count;
  if (communicator.sum(left) == 0) return;

  MassSums fields;
  if (potentials) {
    const int finest = kinds.front().mesh_.finest_level();
    for (int level = 0; level <= finest; ++level) {
      const VectorField coarser = potentials(std::max(level - 1, 0));
      fields.fields.push_back(kinds.front().fetch(level, potentials(level), coarser, 1));
      fields.coarser_fields.push_back(kinds.front().fetch_coarser(level, coarser, 1));
    }
  }
  std::vector<ReproducibleSum> sums;
  std::vector<std::int64_t> counts;
  for (Particles& kind : kinds) {
    fields.weighted = {};
    fields.squared.assign(kind.levels_.size(), {});
    if (potentials) kind.add_changes(kind.leaving_.particles, fields);
    sums.insert(sums.end(), kind.leaving_.sums.begin(), kind.leaving_.sums.end());
    sums.push_back(fields.weighted);
    sums.push_back({});
    for (const ReproducibleSum& of_level : fields.squared) sums.back() += of_level;
    counts.push_back(kind.leaving_.count);
    kind.leaving_ = {};
    kind.leaving_.particles.resize(kind.levels_.size());
  }
  reproducible_sum(communicator, std::span(sums), std::span(counts));
  auto sum = sums.begin();
  auto count = counts.begin();
  for (Particles& kind : kinds) {
    for (double& amount : kind.outflow_.amount) amount += (sum++)->to_double();
    kind.outflow_.amount[ParticleOutflow::potential] -= own_potential * (sum++)->to_double();
    kind.outflow_.count += *count++;
  }
}

}  // namespace octant::particles
