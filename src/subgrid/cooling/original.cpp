#include "subgrid/cooling/original.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "core/teams.hpp"
#include "mesh/device.hpp"
#include "subgrid/cooling/ionization.hpp"

namespace octant::subgrid::cooling {

namespace {

// Polynomials in z for log10 of the photoionisation and photoheating rates of HI, HeI, HeII.
constexpr double k_photo_ionization[3][8] = {
    {-13.5857, 1.24475, 0.187739, -0.430409, 0.152544, -0.0246448, 0.00192622, -5.89772e-05},
    {-14.0242, 1.99211, -0.490766, -0.122646, 0.0776501, -0.014631, 0.00123335, -3.96066e-05},
    {-15.6627, 0.12824, 1.65633, -1.23799, 0.372157, -0.0561687, 0.00422696, -0.000126344}};
constexpr double k_photo_heating[3][8] = {
    {-24.8422, 1.5075, -0.0699428, -0.308682, 0.122196, -0.0205179, 0.00163695, -5.0805e-05},
    {-25.0252, 1.79577, -0.159054, -0.300924, 0.125343, -0.0214598, 0.00173377, -5.43576e-05},
    {-26.4168, 0.0479454, 1.70948, -1.26395, 0.378922, -0.0570957, 0.00428897, -0.000127909}};

// Intensity at z = 0 of the background J ~ 1 / frequency of trace_background(), and photoionisation
// and photoheating rates of HI, HeI, HeII per intensity (Theuns et al. 1998).
constexpr double k_trace = 2.636e-33;  // erg s^-1 cm^-2 Hz^-1 sr^-1
constexpr double k_trace_ionization[3] = {
    1.26e10 / 4.0, 1.48e10 * 0.553 * (1.66 / 3.05 - 0.66 / 4.05), 3.34e9 * 0.249 / 4.0};
constexpr double k_trace_heating[3] = {
    0.291 / 12.0, 0.584 * 0.553 * (1.66 / 2.05 - 2.32 / 3.05 + 0.66 / 4.05), 0.292 * 0.249 / 12.0};

// log10 of the cooling rate of metal lines, evenly spaced in log10 T from 3.9684.
constexpr double k_first_line = 3.9684, k_line_spacing = (8.4967 - 3.9684) / 90.0;
constexpr double k_lines[] = {
    -24.9082, -24.9082, -24.5503, -24.0898, -23.5328, -23.0696, -22.7758, -22.6175, -22.5266,
    -22.4379, -22.3371, -22.2289, -22.1181, -22.0078, -21.8992, -21.7937, -21.6921, -21.5961,
    -21.5089, -21.4343, -21.3765, -21.3431, -21.3274, -21.3205, -21.3142, -21.304,  -21.29,
    -21.2773, -21.2791, -21.3181, -21.4006, -21.5045, -21.6059, -21.6676, -21.6877, -21.6934,
    -21.7089, -21.7307, -21.7511, -21.7618, -21.7572, -21.7532, -21.7668, -21.786,  -21.8129,
    -21.8497, -21.9035, -21.9697, -22.0497, -22.1327, -22.222,  -22.3057, -22.385,  -22.4467,
    -22.4939, -22.5205, -22.5358, -22.5391, -22.5408, -22.5408, -22.5475, -22.5589, -22.5813,
    -22.6122, -22.6576, -22.7137, -22.7838, -22.8583, -22.9348, -23.0006, -23.0547, -23.0886,
    -23.1101, -23.1139, -23.1147, -23.1048, -23.1017, -23.0928, -23.0969, -23.0968, -23.1105,
    -23.1191, -23.1388, -23.1517, -23.1717, -23.1837, -23.1986, -23.2058, -23.2134, -23.2139,
    -23.2107};

// Slopes of the metal line cooling rates against log10 T, as in RAMSES.
constexpr double k_line_slopes[] = {
    2.0037,  4.7267,  12.2283, 13.582,  9.8755,  4.8379,  1.8046,  1.4574,  1.8086,  2.0685,
    2.2012,  2.225,   2.206,   2.1605,  2.1121,  2.0335,  1.9254,  1.7861,  1.5357,  1.1784,
    0.7628,  0.15,    -0.1401, 0.1272,  0.3884,  0.2761,  0.1707,  0.2279,  -0.2417, -1.7802,
    -3.0381, -2.3511, -0.9864, -0.0989, 0.1854,  -0.1282, -0.8028, -0.7363, -0.0093, 0.3132,
    0.1894,  -0.1526, -0.3663, -0.3873, -0.3993, -0.679,  -1.0615, -1.4633, -1.5687, -1.7183,
    -1.7313, -1.8324, -1.5909, -1.3199, -0.8634, -0.5542, -0.1961, -0.0552, 0.0646,  -0.0109,
    -0.0662, -0.2539, -0.3869, -0.6379, -0.8404, -1.1662, -1.393,  -1.6136, -1.5706, -1.4266,
    -1.046,  -0.7244, -0.3006, -0.13,   0.1491,  0.0972,  0.2463,  0.0252,  0.1079,  -0.1893,
    -0.1033, -0.3547, -0.2393, -0.428,  -0.2735, -0.367,  -0.2033, -0.2261, -0.0821, -0.0754,
    0.0634};

// Suppression of metal line cooling by the ultraviolet background, by redshift.
struct LineSuppression {
  double z, factor;
};
constexpr LineSuppression k_suppression[] = {{0.0, 0.0499886},    {0.04912, 0.0582622},
                                             {0.1006, 0.0678333}, {0.1547, 0.0788739},
                                             {0.2114, 0.0915889}, {0.2709, 0.1061913},
                                             {0.3333, 0.1229119}, {0.3988, 0.1419961},
                                             {0.4675, 0.1637082}, {0.5396, 0.188323},
                                             {0.6152, 0.2161014}, {0.6945, 0.2473183},
                                             {0.7778, 0.2822266}, {0.8651, 0.3210551},
                                             {0.9567, 0.3639784}, {1.053, 0.4111301},
                                             {1.154, 0.4623273},  {1.259, 0.5172858},
                                             {1.37, 0.5752659},   {1.487, 0.635154},
                                             {1.609, 0.6950232},  {1.737, 0.7529284},
                                             {1.871, 0.806316},   {2.013, 0.8520859},
                                             {2.16, 0.8920522},   {2.316, 0.9305764},
                                             {2.479, 0.9682031},  {2.649, 1.005881},
                                             {2.829, 1.044402},   {3.017, 1.084816},
                                             {3.214, 1.128219},   {3.421, 1.174512},
                                             {3.638, 1.222667},   {3.866, 1.27232},
                                             {4.105, 1.323135},   {4.356, 1.374302},
                                             {4.619, 1.424748},   {4.895, 1.473059},
                                             {5.184, 1.517406},   {5.488, 1.555261},
                                             {5.807, 1.583364},   {6.141, 1.597639},
                                             {6.492, 1.592527},   {6.859, 1.561311},
                                             {7.246, 1.494961},   {7.65, 1.381371},
                                             {8.075, 1.204151},   {8.521, 0.94031},
                                             {8.989, 0.5555344},  {9.5, 0.0}};

double polynomial(const double (&coefficients)[8], double z) {
  double value = 0.0;
  for (int n = 7; n >= 0; --n) value = value * z + coefficients[n];
  return value;
}

// Suppression at z as in RAMSES: the index assumes evenly spaced redshifts, and the value is
// extrapolated from the entry with that index.
double line_suppression(double z) {
  const int last = static_cast<int>(std::size(k_suppression)) - 1;
  if (z <= 0.0 || z >= k_suppression[last].z) return 0.0;
  const int n = std::min(static_cast<int>(z / k_suppression[last].z * last), last - 1);
  const LineSuppression &a = k_suppression[n], &b = k_suppression[n + 1];
  return a.factor + (b.factor - a.factor) * (z - a.z) / (b.z - a.z);
}

// Cooling rate of a group of metal lines divided by n_H^2, and its logarithmic slope against T.
struct Lines {
  double rate = 0.0, slope = 0.0;
};

Lines line_cooling(double log_T) {
  const int last = static_cast<int>(std::size(k_lines)) - 1;
  const double x = (log_T - k_first_line) / k_line_spacing;
  if (x < 0.0 || x > last) return {};
  const int n = std::min(static_cast<int>(x), last - 1);
  const auto between = [&](const double* of) { return of[n] + (x - n) * (of[n + 1] - of[n]); };
  return {std::pow(10.0, between(k_lines)), between(k_line_slopes)};
}

// Cooling by infrared fine-structure lines. The slope is that of RAMSES, which differs slightly
// from the slope of the rate.
Lines fine_structure(double T, double log_T) {
  constexpr double fall = 4.342944e-5, ln_10 = 2.302585092994045684;
  return {std::pow(10.0, -31.522879 + 2.0 * log_T - 20.0 / T - fall * T),
          2.0 + (20.0 / T - fall * T) * ln_10};
}

}  // namespace

PhotoRates trace_background(double z) {
  PhotoRates rates;
  const double trace = k_trace * (1.0 + z) * (1.0 + z);
  for (int s = 0; s < 3; ++s) {
    rates.ionization[s] = trace * k_trace_ionization[s];
    rates.heating[s] = trace * k_trace_heating[s];
  }
  return rates;
}

PhotoRates courty_background(double z, double z_reionization) {
  PhotoRates rates = trace_background(z);
  if (z >= z_reionization) return rates;
  const double fall = 20.0 * std::pow(z / z_reionization, 6);
  for (int s = 0; s < 3; ++s) {
    const auto raise = [&](double& rate, const double(&of)[8]) {
      rate = std::max(rate, std::pow(10.0, polynomial(of, z) - fall));
    };
    raise(rates.ionization[s], k_photo_ionization[s]);
    raise(rates.heating[s], k_photo_heating[s]);
  }
  return rates;
}

ComptonRates original_compton(double electrons, double T, double z) {
  const double a4 = std::pow(1.0 + z, 4);
  return {5.406e-36 * electrons * T * a4,
          5.406e-36 * electrons * k_cmb_temperature_today * a4 * (1.0 + z)};
}

MetalCooling original_metals(double n_H, double T, double z) {
  const double log_T = std::log10(T);
  const double last_line = k_first_line + k_line_spacing * (std::size(k_lines) - 1.0);
  if (log_T < 1.0 || log_T >= last_line) return {-100.0, 0.0};
  const Lines lines = line_cooling(log_T), infrared = fine_structure(T, log_T);
  const double strength = 0.4 * std::pow(1e-5 * T, 0.15) + 10.0 * std::exp(-1e6 / T);
  const double share = 1.0 / (1.0 + 1e-4 * line_suppression(z) / n_H / strength);
  const double sum = lines.rate + infrared.rate;
  return {std::log10(sum * share),
          share * (lines.rate * lines.slope + infrared.rate * infrared.slope) / sum};
}

namespace {

// Axes of the RAMSES table, evenly spaced in log10(n_H) and log10(T / mu).
constexpr double k_min_density = -10.0, k_max_density = 6.0, k_rows_per_dex = 10.0;
constexpr double k_coldest = -2.0, k_hottest = 9.0;
constexpr int k_intervals = 100;
constexpr double k_interval = (k_hottest - k_coldest) / k_intervals;

// Number of nodes per interval of the RAMSES table. Rates are linear between nodes, and approximate
// the cubics of RAMSES and their slopes.
constexpr int k_nodes_per_interval = 8;

// Temperature ranges in log10 T, and their resolution, of the equilibria from which the table is
// interpolated. Hydrogen and helium are ionised in the middle range.
struct Stretch {
  double first, last;
  int per_dex;
};
constexpr Stretch k_stretches[] = {{-2.6, 2.6, 5}, {2.6, 6.4, 20}, {6.4, 9.6, 5}};

// Rates in the table, as log10: Compton rates are divided by n_H, others by n_H^2.
enum TableRate { k_collisions, k_photo_heat, k_line_cooling, k_to_cmb, k_from_cmb, k_table_rates };

// Table entry: log10 of the rates, and their slopes against log10(T / mu).
struct Tabulated {
  double log_rate[k_table_rates], slope[k_table_rates];
};

constexpr double k_min_rate = -100.0, k_min_compton = -30.0;

double log_of_rate(double rate) { return std::max(std::log10(rate), k_min_rate); }

// Rates that depend on the temperature alone.
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

// State variables of gas in ionisation equilibrium, all as log10.
enum State { k_temperature, k_electrons, k_cooling, k_heating, k_states };
using States = std::array<double, k_states>;

// Equilibrium states of gas of one density as a function of log10(T / mu).
class EquilibriumCurve {
 public:
  // Adds an entry. Entries must be added in ascending order of T / mu.
  void add(double over_mu, const States& states) {
    over_mu_.push_back(over_mu);
    states_.push_back(states);
  }

  // Lagrange cubic interpolation of the four nearest entries.
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

constexpr int k_lanes = SimdTraits<SimdDouble>::width;
using Curves = std::array<EquilibriumCurve, k_lanes>;

// Returns the equilibrium curve for the density in each SIMD lane.
Curves equilibrium_curves(const std::vector<AtTemperature>& temperatures,
                          const PhotoRates& background, const SimdDouble& n_H) {
  using Lanes = SimdTraits<SimdDouble>;
  Curves curves;
  for (const AtTemperature& at : temperatures) {
    const Species<SimdDouble> x =
        equilibrium(k_original_composition, at.ionization, background, n_H);
    const SimdDouble cool = at.cooling.rate(x), heat = photo_heating(n_H, background, x);
    const SimdDouble over_mu = SimdDouble(at.T) / x.molecular_weight(k_original_composition);
    for (int lane = 0; lane < k_lanes; ++lane)
      curves[lane].add(
          std::log10(Lanes::lane(over_mu, lane)),
          {std::log10(at.T), std::log10(Lanes::lane(x.electrons, lane)),
           log_of_rate(Lanes::lane(cool, lane)), log_of_rate(Lanes::lane(heat, lane))});
  }
  return curves;
}

// log10 of the rates of an equilibrium state without metals.
using LogRates = std::array<double, k_table_rates>;
LogRates rates_in(const States& state, double z) {
  const ComptonRates unit = original_compton(1.0, 1.0, z);
  LogRates rates{};
  rates[k_collisions] = state[k_cooling];
  rates[k_photo_heat] = state[k_heating];
  rates[k_to_cmb] =
      std::max(std::log10(unit.cool) + state[k_electrons] + state[k_temperature], k_min_compton);
  rates[k_from_cmb] = std::max(std::log10(unit.heat) + state[k_electrons], k_min_compton);
  return rates;
}

// Returns a row of the RAMSES table. Slopes are one-sided differences, except those of metals.
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

// Interpolates a rate by a Hermite cubic at the fraction y of the interval between two entries.
double between(const Tabulated& a, const Tabulated& b, int rate, double y) {
  const double rise = b.log_rate[rate] - a.log_rate[rate];
  const double first = k_interval * a.slope[rate], last = k_interval * b.slope[rate];
  return a.log_rate[rate] +
         y * (first + y * (3.0 * rise - 2.0 * first - last + y * (first + last - 2.0 * rise)));
}

// Temperature axis of the nodes, common to all rows.
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

// Computes the NodeValues of node n of a row. The Compton rate is stored as k_free_electrons. Above
// the temperatures of the table, the rate is bremsstrahlung.
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
      static_cast<int>(std::lround((k_max_density - k_min_density) * k_rows_per_dex)) + 1;
  const NodeAxis axis(options.maximum_temperature);
  const PhotoRates background =
      options.background ? courty_background(z, options.reionization) : trace_background(z);
  const std::vector<AtTemperature> temperatures = temperatures_of_equilibria();

  // Each rank computes some rows and sets other rows to lowest(). A maximum over ranks combines
  // them.
  std::vector<double> values(static_cast<std::size_t>(rows) * axis.size() * k_node_values,
                             std::numeric_limits<double>::lowest());
  const int ranks = communicator.size(), rank = communicator.rank();
  const int packs = (rows + k_lanes - 1) / k_lanes, shares = (packs - rank + ranks - 1) / ranks;
  for_items_on_host("original cooling", shares, 1, [&](int share) {
    const int first = (rank + share * ranks) * k_lanes;
    const SimdDouble n_H = SimdTraits<SimdDouble>::generate(
        [&](int lane) { return std::pow(10.0, k_min_density + (first + lane) / k_rows_per_dex); });
    const Curves curves = equilibrium_curves(temperatures, background, n_H);
    for (int lane = 0; lane < std::min(k_lanes, rows - first); ++lane) {
      const auto row = tabulate(curves[lane], SimdTraits<SimdDouble>::lane(n_H, lane), z);
      double* nodes = &values[std::size_t(first + lane) * axis.size() * k_node_values];
      for (int n = 0; n < axis.size(); ++n)
        evaluate(row, axis, n, options, nodes + n * k_node_values);
    }
  });
  communicator.max_in_place(std::span(values));
  Nodes nodes;
  nodes.rows = {k_min_density, k_rows_per_dex, rows};
  nodes.temperatures = axis.size();
  nodes.shielding = options.shielding;
  nodes.gas = k_original_gas;
  nodes.thermal = mesh::to_device("original temperatures",
                                  std::vector<ThermalValues>(axis.size(), ThermalValues{0.0, 1.0}));
  nodes.values = mesh::to_device("original cooling", values);
  set_search_hints(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
