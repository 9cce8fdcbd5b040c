#include "subgrid/ionization/stellar_photons.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "subgrid/ionization/emission.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::subgrid::ionization {

namespace {

struct IsStar {
  KOKKOS_INLINE_FUNCTION bool operator()(int /*row*/) const { return true; }
};

// Photons that the stars of a level emit over a step.
std::vector<Emitted> photons_of_stars(const SyncPoint& sync, const particles::Particles& stars,
                                      const GasLevel& level, double dt, const StellarTable& table) {
  const particles::ParticleSet& set = stars.set(level.number);
  const auto rows = particles::select_rows(set.count(), IsStar{});
  const auto real = [&](const char* name) {
    return set.reals(particles::k_real_columns + stars.kind().column_index(name), rows);
  };
  const auto births = real("birth_time"), masses = real("initial_mass"),
             metallicities = real("metallicity");
  const auto ids = set.ids(rows);
  const auto homes = set.homes(rows);
  std::array<std::vector<double>, 3> position;
  for (int d = 0; d < 3; ++d) position[d] = set.reals(particles::k_position + d, rows);

  const double begin = sync.seconds(sync.time), end = sync.seconds(sync.time + dt);
  std::vector<Emitted> emitted;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const double birth = sync.seconds(births[n]);
    StellarRates photons =
        table.photons(std::max(begin - birth, 0.0), std::max(end - birth, 0.0), metallicities[n]);
    if (std::all_of(photons.begin(), photons.end(), [](double number) { return number == 0.0; }))
      continue;
    for (double& number : photons) number *= masses[n] * sync.units.mass;
    const std::int64_t cell =
        cell_of_particle(sync, level, homes[n], {position[0][n], position[1][n], position[2][n]});
    emitted.push_back({cell, ids[n], photons});
  }
  return emitted;
}

}  // namespace

void emit_from_stars(const SyncPoint& sync, double dt, const StellarTable& table,
                     std::span<const int> variables) {
  const particles::Particles& all = sync.kind(stars().name);
  for (const GasLevel& level : sync.levels)
    add_emission(level, dt, photons_of_stars(sync, all, level, dt, table), variables);
}

}  // namespace octant::subgrid::ionization
