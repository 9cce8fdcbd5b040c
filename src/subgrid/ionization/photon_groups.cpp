#include "subgrid/ionization/photon_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace octant::subgrid::ionization {

namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();
constexpr double k_eV = constants::k_electron_volt;

// Parameters of a cross section by Verner et al.: energies in eV, cross sections in cm^2.
struct CrossSection {
  double energy, section, y_a, P, y_w, y_0, y_1;
};
constexpr CrossSection k_cross_sections[3] = {
    {0.4298, 5.475e-14, 32.88, 2.963, 0.0, 0.0, 0.0},
    {13.61, 9.492e-16, 1.469, 3.188, 2.039, 0.4434, 2.136},
    {1.720, 1.369e-14, 32.88, 2.963, 0.0, 0.0, 0.0}};

// Integrals over the photons of a group, in eV and cm^2.
struct Integrals {
  double photons = 0.0, energy = 0.0;
  double cross_section[3] = {0.0, 0.0, 0.0};
  double excess[3] = {0.0, 0.0, 0.0};
};

// Adds integrals of `photons`(E) dE between two energies, by Simpson's rule in ln E.
template <class Photons>
void add_integrals(Integrals& sum, const Photons& photons, double from, double to) {
  constexpr int intervals = 4000;
  const double step = std::log(to / from) / intervals, middle = std::sqrt(from * to);
  for (int n = 0; n <= intervals; ++n) {
    const double weight = n == 0 || n == intervals ? 1.0 : n % 2 == 1 ? 4.0 : 2.0;
    const double E = n == intervals ? to : from * std::exp(n * step);
    const double count = weight * step / 3.0 * E * photons(E);
    sum.photons += count;
    sum.energy += count * E;
    for (int s = 0; s < 3; ++s) {
      // An end at a threshold belongs to the side on which the interval is.
      if (middle < ionization_energy(s)) continue;
      const double sigma = photoionization_cross_section(s, std::max(E, ionization_energy(s)));
      sum.cross_section[s] += count * sigma;
      sum.excess[s] += count * sigma * std::max(E - ionization_energy(s), 0.0);
    }
  }
}

// Integrals from `low` to `high`, in parts between thresholds.
template <class Photons>
Integrals integrate(const Photons& photons, double low, double high) {
  Integrals sum;
  double from = low;
  for (int s = 0; s < 3; ++s) {
    const double threshold = ionization_energy(s);
    if (!(threshold > from && threshold < high)) continue;
    add_integrals(sum, photons, from, threshold);
    from = threshold;
  }
  add_integrals(sum, photons, from, high);
  return sum;
}

// Integrals of a black body with thermal energy kT in eV, in units of e^(-low / kT), in which the
// energy of all photons is pi^4 / 15 kT.
Integrals black_body(double low, double high, double thermal) {
  const auto photons = [&](double E) {
    return E * E / (thermal * thermal * thermal) * std::exp((low - E) / thermal) /
           -std::expm1(-E / thermal);
  };
  return integrate(photons, low, std::min(high, low + 60.0 * thermal));
}

// Integrals of a power law in units of its photons above `lowest`. Those of cross sections, which
// decrease like E^-2 or faster, end where no more than e^-40 of them is left.
Integrals power_law(double low, double high, double lowest, double index) {
  const auto photons = [&](double E) {
    return index / lowest * std::pow(E / lowest, -index - 1.0);
  };
  // The ionisations of an atom begin at its threshold.
  const double first = std::max(low, ionization_energy(2));
  Integrals sum = integrate(photons, low, std::min(high, first * std::exp(40.0 / (index + 2.0))));
  const auto above = [&](double E, double exponent) {
    return E < k_infinite ? std::pow(E / lowest, -exponent) : 0.0;
  };
  sum.photons = above(low, index) - above(high, index);
  sum.energy =
      index / (index - 1.0) * lowest * (above(low, index - 1.0) - above(high, index - 1.0));
  return sum;
}

// Integrals of photons that all have the energy `low`.
Integrals monochromatic(double low) {
  Integrals sum;
  sum.photons = 1.0;
  sum.energy = low;
  for (int s = 0; s < 3; ++s) {
    sum.cross_section[s] = photoionization_cross_section(s, low);
    sum.excess[s] = sum.cross_section[s] * std::max(low - ionization_energy(s), 0.0);
  }
  return sum;
}

// Throws InputError for impossible energies or spectra.
void check(const std::vector<double>& edges, const Spectrum& spectrum) {
  if (edges.empty() || edges.size() > static_cast<std::size_t>(k_groups))
    throw InputError("ionization.edges has {} values; expected one to {}", edges.size(), k_groups);
  for (std::size_t g = 0; g < edges.size(); ++g) {
    const double previous = g > 0 ? edges[g - 1] : 0.0;
    if (!(edges[g] > previous && edges[g] < k_infinite))
      throw InputError("ionization.edges[{}] = {} eV; expected a finite energy above {} eV", g,
                       edges[g], previous);
  }
  if (spectrum.kind == SpectrumKind::black_body &&
      !(spectrum.temperature > 0.0 && spectrum.temperature < k_infinite))
    throw InputError("ionization.spectrum_temperature = {} K; expected a positive temperature",
                     spectrum.temperature);
  if (spectrum.kind == SpectrumKind::power_law &&
      !(spectrum.index > 1.0 && spectrum.index < k_infinite))
    throw InputError(
        "ionization.spectrum_index = {}: the photons above the last edge have infinite energy; "
        "expected more than 1",
        spectrum.index);
}

// True if groups with these edges contain photons with the ionisation energy of an atom, and the
// gas contains the atom.
bool has_ground_photons(int atom, const std::vector<double>& edges, bool has_helium) {
  constexpr double rounding = 1e-6;
  return !edges.empty() && edges.front() <= ionization_energy(atom) * (1.0 + rounding) &&
         (atom == 0 || has_helium);
}

// Averages of a group.
PhotoGroup group_of(const Integrals& sum) {
  PhotoGroup group;
  group.energy = sum.energy / sum.photons * k_eV;
  for (int s = 0; s < 3; ++s) {
    if (!(sum.cross_section[s] > 0.0)) continue;
    group.cross_section[s] = sum.cross_section[s] / sum.photons;
    group.excess[s] = sum.excess[s] / sum.cross_section[s] * k_eV;
  }
  return group;
}

}  // namespace

double photoionization_cross_section(int atom, double energy) {
  if (energy < ionization_energy(atom)) return 0.0;
  const CrossSection& fit = k_cross_sections[atom];
  const double x = energy / fit.energy - fit.y_0, y = std::sqrt(x * x + fit.y_1 * fit.y_1);
  const double shape = (x - 1.0) * (x - 1.0) + fit.y_w * fit.y_w;
  return fit.section * shape * std::pow(y, 0.5 * fit.P - 5.5) *
         std::pow(1.0 + std::sqrt(y / fit.y_a), -fit.P);
}

SourceSpectrum make_groups(const std::vector<double>& edges, const Spectrum& spectrum) {
  check(edges, spectrum);
  const double thermal = constants::k_boltzmann * spectrum.temperature / k_eV;
  SourceSpectrum found;
  double photons = 0.0, energy = 0.0;
  for (std::size_t g = 0; g < edges.size(); ++g) {
    const double low = edges[g], high = g + 1 < edges.size() ? edges[g + 1] : k_infinite;
    Integrals sum;
    double unit = 1.0;
    if (spectrum.kind == SpectrumKind::black_body) {
      sum = black_body(low, high, thermal);
      unit = std::exp((edges[0] - low) / thermal);
    }
    if (spectrum.kind == SpectrumKind::power_law)
      sum = power_law(low, high, edges[0], spectrum.index);
    if (spectrum.kind == SpectrumKind::monochromatic) sum = monochromatic(low);
    found.groups.push_back(group_of(sum));
    found.photon_share.push_back(unit * sum.photons);
    found.energy_share.push_back(unit * sum.energy);
    photons += unit * sum.photons;
    energy += unit * sum.energy;
  }
  for (double& share : found.photon_share) share /= photons;
  for (double& share : found.energy_share) share /= energy;
  found.photons_per_erg = photons / (energy * k_eV);
  if (spectrum.kind == SpectrumKind::black_body)
    found.photons_per_erg =
        photons * std::exp(-edges[0] / thermal) / (std::pow(M_PI, 4) / 15.0 * thermal * k_eV);
  return found;
}

OpticalPhotons make_optical_photons(double low, const std::vector<double>& edges,
                                    const Spectrum& spectrum) {
  if (!(low > 0.0 && low < edges.at(0)))
    throw InputError(
        "ionization.optical_edge = {} eV; expected an energy below that of the first group, "
        "ionization.edges[0] = {} eV",
        low, edges[0]);
  const SourceSpectrum both = make_groups({low, edges[0]}, spectrum);
  const double groups =
      spectrum.kind == SpectrumKind::monochromatic ? static_cast<double>(edges.size()) : 1.0;
  return {both.photon_share[0] / (both.photon_share[1] * groups), both.groups[0].energy};
}

int ground_photon_groups(const std::vector<double>& edges, bool has_helium) {
  int count = 0;
  for (int s = 0; s < 3; ++s) count += has_ground_photons(s, edges, has_helium) ? 1 : 0;
  return count;
}

GroundPhotons make_ground_photons(const std::vector<double>& edges,
                                  const std::vector<PhotoGroup>& sources, bool has_helium) {
  GroundPhotons found;
  for (int s = 0; s < 3; ++s) {
    if (!has_ground_photons(s, edges, has_helium)) continue;
    found.ground[s] = static_cast<int>(sources.size() + found.groups.size());
    found.groups.push_back(group_of(monochromatic(ionization_energy(s))));
    for (std::size_t g = 0; g < edges.size(); ++g)
      if (has_ground_photons(s, {edges[g]}, has_helium) && sources[g].excess[s] > 0.0)
        found.warm[s] = static_cast<int>(g);
  }
  return found;
}

}  // namespace octant::subgrid::ionization
