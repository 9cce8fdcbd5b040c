#include "subgrid/ionization/black_hole_photons.hpp"

#include <algorithm>
#include <cmath>

#include "subgrid/black_holes/holes.hpp"
#include "subgrid/ionization/emission.hpp"

namespace octant::subgrid::ionization {

namespace {

// Integral of E^-power between two energies.
double integral(double power, double from, double to) {
  if (!(to > from)) return 0.0;
  const double p = 1.0 - power;
  if (std::abs(p) < 1e-12) return std::log(to / from);
  return (std::pow(to, p) - std::pow(from, p)) / p;
}

}  // namespace

std::array<double, k_groups> photons_per_energy(const HoleSpectrum& spectrum,
                                                const std::vector<double>& edges) {
  const double least = ionization_energy(0);
  const double energy = integral(spectrum.index, least, spectrum.most) * constants::k_electron_volt;
  std::array<double, k_groups> photons{};
  for (std::size_t g = 0; g < edges.size(); ++g) {
    const double end = g + 1 < edges.size() ? std::min(edges[g + 1], spectrum.most) : spectrum.most;
    photons[g] =
        spectrum.fraction * integral(spectrum.index + 1.0, std::max(edges[g], least), end) / energy;
  }
  return photons;
}

double luminosity(const Hole& hole, bool is_limited) {
  constexpr double k_thin_disc = 0.01;  // least accretion rate over the Eddington rate
  if (!(hole.accreted_mass > 0.0 && hole.eddington_rate > 0.0)) return 0.0;
  const double rate = is_limited ? std::min(hole.bondi_rate, hole.eddington_rate) : hole.bondi_rate;
  return hole.efficiency * rate * std::min(rate / (k_thin_disc * hole.eddington_rate), 1.0);
}

void emit_from_black_holes(const SyncPoint& sync, double dt, bool is_limited,
                           const std::array<double, k_groups>& photons_per_erg,
                           std::span<const int> variables) {
  const double seconds = sync.seconds(sync.time + dt) - sync.seconds(sync.time);
  const double per_luminosity = sync.units.mass / sync.units.time * constants::k_speed_of_light *
                                constants::k_speed_of_light * seconds;
  const std::vector<Hole> holes = read_holes(sync.kind(sinks().name), 0);
  for (const GasLevel& level : sync.levels) {
    std::vector<Emitted> emitted;
    for (const Hole& hole : holes) {
      const double energy = luminosity(hole, is_limited) * per_luminosity;
      if (hole.level != level.number || energy == 0.0) continue;
      PhotonNumbers photons{};
      for (int g = 0; g < k_groups; ++g) photons[g] = photons_per_erg[g] * energy;
      emitted.push_back(
          {cell_of_particle(sync, level, hole.slot, hole.position), hole.id, photons});
    }
    add_emission(level, dt, std::move(emitted), variables);
  }
}

}  // namespace octant::subgrid::ionization
