#include "subgrid/cooling/original.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "core/host_kernels.hpp"
#include "mesh/device.hpp"

namespace octant::subgrid::cooling {

namespace {

// RAMSES's table, evenly spaced in log10 n_H and in log10 of T / mu.
constexpr double k_least_density = -10.0, k_most_density = 6.0, k_rows_per_dex = 10.0;
constexpr double k_coldest = -2.0, k_hottest = 9.0;
constexpr int k_intervals = 100;
constexpr double k_interval = (k_hottest - k_coldest) / k_intervals;

// Nodes per interval of its cubics. Rates are linear between nodes, and so follow the cubics and
// their slopes.
constexpr int k_nodes_per_interval = 8;

// Temperatures at which equilibria are found, which become the table's by interpolation: in
// decades, with so many in each. In the middle one lie the edges of ionisation.
struct Stretch {
  double first, last;
  int per_dex;
};
constexpr Stretch k_stretches[] = {{-2.6, 2.6, 5}, {2.6, 6.4, 20}, {6.4, 9.6, 5}};

// What it holds: log10 of rates over n_H^2, of Compton's over n_H.
enum TableRate { k_collisions, k_photo_heat, k_line_cooling, k_to_cmb, k_from_cmb, k_table_rates };

// At a node: log10 of the rates, and their slopes against log10 of T / mu.
struct Tabulated {
  double log_rate[k_table_rates], slope[k_table_rates];
};

constexpr double k_least_rate = -100.0, k_least_compton = -30.0;

double log_of_rate(double rate) { return std::max(std::log10(rate), k_least_rate); }

// What depends on the temperature alone.
struct AtTemperature {
  double T;
  IonizationRates ionization;
  PrimordialCooling cooling;
};

std::vector<AtTemperature> temperatures_of_equilibria() {
  std::vector<AtTemperature> temperatures;
  for (const Stretch& stretch : k_stretches) {
    const double count = (stretch.last - stretch.first) * stretch.per_dex;
    for (int k = 0; k < static_cast<int>(std::lround(count)); ++k) {
      const double T = std::pow(10.0, stretch.first + static_cast<double>(k) / stretch.per_dex);
      temperatures.push_back({T, IonizationRates(T), PrimordialCooling(T)});
    }
  }
  return temperatures;
}

// Of gas in equilibrium, all in log10.
enum State { k_temperature, k_electrons, k_cooling, k_heating, k_states };
using States = std::array<double, k_states>;

// Gas of one density, against log10 of T / mu.
class EquilibriumCurve {
 public:
  // Ascending.
  void add(double over_mu, const States& states) {
    over_mu_.push_back(over_mu);
    states_.push_back(states);
  }

  // By Lagrange's cubic through the four nearest.
  States at(double over_mu) const {
    const auto above = std::ranges::upper_bound(over_mu_, over_mu) - over_mu_.begin();
    const auto first =
        std::clamp<std::ptrdiff_t>(above - 2, 0, static_cast<std::ptrdiff_t>(over_mu_.size()) - 4);
    States sum{};
    for (std::ptrdiff_t n = first; n < first + 4; ++n) {
      double weight = 1.0;
      for (std::ptrdiff_t m = first; m < first + 4; ++m)
        if (m != n) weight *= (over_mu - over_mu_[m]) / (over_mu_[n] - over_mu_[m]);
      for (int s = 0; s < k_states; ++s) sum[s] += weight * states_[n][s];
    }
    return sum;
  }

 private:
  std::vector<double> over_mu_;
  std::vector<States> states_;
};

constexpr int k_lanes = PackTraits<Pack>::width;
using Curves = std::array<EquilibriumCurve, k_lanes>;

// Of a pack of densities.
Curves equilibrium_curves(const std::vector<AtTemperature>& temperatures,
                          const PhotoRates& background, const Pack& n_H) {
  using Lanes = PackTraits<Pack>;
  Curves curves;
  for (const AtTemperature& at : temperatures) {
    const Species<Pack> x = equilibrium(k_original_composition, at.ionization, background, n_H);
    const Pack cool = at.cooling.rate(x), heat = photo_heating(n_H, background, x);
    const Pack over_mu = Pack(at.T) / x.molecular_weight(k_original_composition);
    for (int lane = 0; lane < k_lanes; ++lane)
      curves[lane].add(
          std::log10(Lanes::lane(over_mu, lane)),
          {std::log10(at.T), std::log10(Lanes::lane(x.electrons, lane)),
           log_of_rate(Lanes::lane(cool, lane)), log_of_rate(Lanes::lane(heat, lane))});
  }
  return curves;
}

// What a state gives, but for metals.
using LogRates = std::array<double, k_table_rates>;
LogRates rates_in(const States& state, double z) {
  const ComptonRates unit = original_compton(1.0, 1.0, z);
  LogRates rates{};
  rates[k_collisions] = state[k_cooling];
  rates[k_photo_heat] = state[k_heating];
  rates[k_to_cmb] =
      std::max(std::log10(unit.cool) + state[k_electrons] + state[k_temperature], k_least_compton);
  rates[k_from_cmb] = std::max(std::log10(unit.heat) + state[k_electrons], k_least_compton);
  return rates;
}

// A row of RAMSES's table. Slopes are one-sided differences; those of metals are given.
std::vector<Tabulated> tabulate(const EquilibriumCurve& curve, double n_H, double z) {
  constexpr double difference = 0.01;
  std::vector<Tabulated> row(k_intervals + 1);
  for (int k = 0; k <= k_intervals; ++k) {
    const double over_mu = k_coldest + k * k_interval;
    const auto here = curve.at(over_mu), beyond = curve.at(over_mu + difference);
    const LogRates rates = rates_in(here, z), next = rates_in(beyond, z);
    const MetalCooling metals = original_metals(n_H, std::pow(10.0, here[k_temperature]), z);
    Tabulated& node = row[k];
    for (int r = 0; r < k_table_rates; ++r) {
      node.log_rate[r] = rates[r];
      node.slope[r] = (next[r] - rates[r]) / difference;
    }
    node.log_rate[k_line_cooling] = metals.log_rate;
    node.slope[k_line_cooling] = metals.slope;
  }
  return row;
}

// Hermite's cubic, at y of the interval between two nodes.
double between(const Tabulated& a, const Tabulated& b, int rate, double y) {
  const double rise = b.log_rate[rate] - a.log_rate[rate];
  const double first = k_interval * a.slope[rate], last = k_interval * b.slope[rate];
  return a.log_rate[rate] +
         y * (first + y * (3.0 * rise - 2.0 * first - last + y * (first + last - 2.0 * rise)));
}

// Of the nodes of all rows.
struct NodeAxis {
  std::vector<double> over_mu;  // K

  explicit NodeAxis(double hottest) {
    constexpr double per_dex = k_nodes_per_interval / k_interval;
    const double last = std::ceil((std::log10(hottest) - k_coldest) * per_dex - 1e-9);
    for (int k = 0; k <= static_cast<int>(last); ++k)
      over_mu.push_back(std::pow(10.0, k_coldest + k / per_dex));
  }
  int size() const { return static_cast<int>(over_mu.size()); }
};

// The NodeValues of a node of a row. Compton's rate stands in the place of electrons. Beyond the
// table there is bremsstrahlung.
void evaluate(const std::vector<Tabulated>& row, const NodeAxis& axis, int n,
              const OriginalOptions& options, double* node) {
  const double over_mu = axis.over_mu[n];
  node[k_internal] = internal_energy(over_mu, 1.0, options.gamma);
  node[k_metals] = node[k_free_electrons] = 0.0;
  if (n > k_intervals * k_nodes_per_interval) {
    node[k_primordial] = 1.42e-27 * 1.1 * std::sqrt(over_mu);
    return;
  }
  const int k = std::min(n / k_nodes_per_interval, k_intervals - 1);
  const double y = static_cast<double>(n) / k_nodes_per_interval - k;
  const auto rate = [&](int r) { return power_of_ten(between(row[k], row[k + 1], r, y)); };
  node[k_primordial] = rate(k_collisions) - rate(k_photo_heat);
  node[k_metals] = rate(k_line_cooling);
  if (options.compton)
    node[k_free_electrons] = k_original_gas.hydrogen_per_gram * (rate(k_to_cmb) - rate(k_from_cmb));
}

}  // namespace

Nodes original_nodes(const OriginalOptions& options, double z, const Communicator& communicator) {
  const auto rows =
      static_cast<int>(std::lround((k_most_density - k_least_density) * k_rows_per_dex)) + 1;
  const NodeAxis axis(options.maximum_temperature);
  const PhotoRates background =
      options.background ? courty_background(z, options.reionization) : trace_background(z);
  const std::vector<AtTemperature> temperatures = temperatures_of_equilibria();

  // Every rank finds some rows' values, which are larger than what the others have there.
  std::vector<double> values(static_cast<std::size_t>(rows) * axis.size() * k_node_values,
                             std::numeric_limits<double>::lowest());
  const int ranks = communicator.size(), rank = communicator.rank();
  const int packs = (rows + k_lanes - 1) / k_lanes, shares = (packs - rank + ranks - 1) / ranks;
  using Host = Kokkos::DefaultHostExecutionSpace;
  const HostKernels here;
  Kokkos::parallel_for("original cooling", Kokkos::RangePolicy<Host>(0, shares), [&](int share) {
    const int first = (rank + share * ranks) * k_lanes;
    const Pack n_H = PackTraits<Pack>::generate([&](int lane) {
      return std::pow(10.0, k_least_density + (first + lane) / k_rows_per_dex);
    });
    const Curves curves = equilibrium_curves(temperatures, background, n_H);
    for (int lane = 0; lane < std::min(k_lanes, rows - first); ++lane) {
      const auto row = tabulate(curves[lane], PackTraits<Pack>::lane(n_H, lane), z);
      double* nodes = &values[std::size_t(first + lane) * axis.size() * k_node_values];
      for (int n = 0; n < axis.size(); ++n)
        evaluate(row, axis, n, options, nodes + n * k_node_values);
    }
  });
  communicator.max_in_place(std::span(values));
  Nodes nodes;
  nodes.rows = {k_least_density, k_rows_per_dex, rows};
  nodes.temperatures = axis.size();
  nodes.shielding = options.shielding;
  nodes.gas = k_original_gas;
  nodes.thermal = mesh::to_device("original temperatures",
                                  std::vector<ThermalValues>(axis.size(), ThermalValues{0.0, 1.0}));
  nodes.values = mesh::to_device("original cooling", values);
  look_through(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
