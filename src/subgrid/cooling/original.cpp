#include "subgrid/cooling/original.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/host_kernels.hpp"
#include "mesh/device.hpp"

namespace octant::subgrid::cooling {

namespace {

// log10 of the rates of HI, HeI, HeII: polynomials in z.
constexpr double k_photo_ionization[3][8] = {
    {-13.5857, 1.24475, 0.187739, -0.430409, 0.152544, -0.0246448, 0.00192622, -5.89772e-05},
    {-14.0242, 1.99211, -0.490766, -0.122646, 0.0776501, -0.014631, 0.00123335, -3.96066e-05},
    {-15.6627, 0.12824, 1.65633, -1.23799, 0.372157, -0.0561687, 0.00422696, -0.000126344}};
constexpr double k_photo_heating[3][8] = {
    {-24.8422, 1.5075, -0.0699428, -0.308682, 0.122196, -0.0205179, 0.00163695, -5.0805e-05},
    {-25.0252, 1.79577, -0.159054, -0.300924, 0.125343, -0.0214598, 0.00173377, -5.43576e-05},
    {-26.4168, 0.0479454, 1.70948, -1.26395, 0.378922, -0.0570957, 0.00428897, -0.000127909}};

// The trace of a background of J ~ 1 / frequency that there is before reionisation, and what it
// does per intensity (Theuns et al. 1998).
constexpr double k_trace = 2.636e-31;  // erg s^-1 cm^-2 Hz^-1 sr^-1
constexpr double k_trace_ionization[3] = {
    1.26e10 / 4.0, 1.48e10 * 0.553 * (1.66 / 3.05 - 0.66 / 4.05), 3.34e9 * 0.249 / 4.0};
constexpr double k_trace_heating[3] = {
    0.291 / 12.0, 0.584 * 0.553 * (1.66 / 2.05 - 2.32 / 3.05 + 0.66 / 4.05), 0.292 * 0.249 / 12.0};

// log10 of line cooling by metals, from log10 T = 3.9684 on, evenly spaced.
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

// How much a background suppresses them, by z.
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

// RAMSES looks for z as if the table were evenly spaced, and goes on along what it finds.
double line_suppression(double z) {
  const int last = static_cast<int>(std::size(k_suppression)) - 1;
  if (z <= 0.0 || z >= k_suppression[last].z) return 0.0;
  const int n = std::min(static_cast<int>(z / k_suppression[last].z * last), last - 1);
  const LineSuppression &a = k_suppression[n], &b = k_suppression[n + 1];
  return a.factor + (b.factor - a.factor) * (z - a.z) / (b.z - a.z);
}

double line_cooling(double log_T) {
  const int last = static_cast<int>(std::size(k_lines)) - 1;
  const double x = (log_T - k_first_line) / k_line_spacing;
  if (x < 0.0 || x > last) return 0.0;
  const int n = std::min(static_cast<int>(x), last - 1);
  return std::pow(10.0, k_lines[n] + (x - n) * (k_lines[n + 1] - k_lines[n]));
}

// What collisions cost hydrogen and helium of one temperature, over n_H^2: Cen (1992), with Theuns
// et al.'s factor of two for ionisation.
class PrimordialCooling {
 public:
  explicit PrimordialCooling(double T) {
    const double root = std::sqrt(T), T3 = 1e-3 * T, T5 = 1e-5 * T, T6 = 1e-6 * T;
    const double distance = 5.5 - std::log10(T);
    cut_ = 1.0 / (1.0 + std::sqrt(T5));
    bremsstrahlung_ = 1.42e-27 * root * (1.1 + 0.34 * std::exp(-distance * distance / 3));
    excitation_[0] = 7.5e-19 * std::exp(-118348.0 / T);
    excitation_[1] = 9.10e-27 * std::pow(T, -0.1687) * std::exp(-13179.0 / T);
    excitation_[2] = 5.54e-17 * std::pow(T, -0.397) * std::exp(-473638.0 / T);
    ionization_[0] = 1.27e-21 * std::exp(-157809.1 / T);
    ionization_[1] = 9.38e-22 * std::exp(-285335.4 / T);
    ionization_[2] = 4.95e-22 * std::exp(-631515.0 / T);
    of_ionization_ = 2.0 * root * cut_;
    capture_ = root * std::pow(T3, -0.2) / (1.0 + std::pow(T6, 0.7));
    const double dielectronic =
        1.24e-13 / (T * root) * std::exp(-470000.0 / T) * (1.0 + 0.3 * std::exp(-94000.0 / T));
    recombination_ = 1.55e-26 * std::pow(T, 0.3647) + dielectronic;
  }

  template <class V>
  V rate(const V& n_H, const Species<V>& x) const {
    const V bremsstrahlung = V(bremsstrahlung_) * (x.HII + x.HeII + V(4.0) * x.HeIII);
    // The second one is that of HeI from its metastable level, which HeII recombines to.
    const V excitation =
        V(cut_) * (V(excitation_[0]) * x.HI + V(excitation_[1]) * x.electrons * n_H * x.HeII +
                   V(excitation_[2]) * x.HeII);
    const V ionization = V(of_ionization_) * (V(ionization_[0]) * x.HI + V(ionization_[1]) * x.HeI +
                                              V(ionization_[2]) * x.HeII);
    const V recombination =
        V(capture_) * (V(8.70e-27) * x.HII + V(3.48e-26) * x.HeIII) + V(recombination_) * x.HeII;
    return x.electrons * (bremsstrahlung + excitation + ionization + recombination);
  }

 private:
  double cut_, bremsstrahlung_, excitation_[3], of_ionization_, ionization_[3], capture_,
      recombination_;
};

// What the background gives them, over n_H^2.
template <class V>
V photo_heating(const V& n_H, const PhotoRates& background, const Species<V>& x) {
  const double* heat = background.heating;
  return (V(heat[0]) * x.HI + V(heat[1]) * x.HeI + V(heat[2]) * x.HeII) / n_H;
}

// Cooling by metals of solar abundance at one temperature and redshift, over n_H^2.
class MetalCooling {
 public:
  MetalCooling(double T, double z) {
    const double log_T = std::log10(T);
    const double fine_structure =
        std::pow(10.0, -31.522879 + 2.0 * log_T - 20.0 / T - 4.342944e-5 * T);
    full_ = line_cooling(log_T) + fine_structure;
    strength_ = 0.4 * std::pow(1e-5 * T, 0.15) + 10.0 * std::exp(-1e6 / T);
    suppression_ = 1e-4 * line_suppression(z);
  }

  template <class V>
  V rate(const V& n_H) const {
    return V(full_) / (V(1.0) + V(suppression_) / n_H / V(strength_));
  }

 private:
  double full_, strength_, suppression_;
};

// Rows and temperatures of the nodes.
constexpr double k_least_density = -10.0, k_most_density = 6.0, k_rows_per_dex = 10.0;
constexpr double k_coldest = -2.0, k_temperatures_per_dex = 20.0;

// The densities of the rows' gas, in whole packs. Shielded gas has the state of gas in which each
// atom sees fewer photons: denser gas.
std::vector<double> densities_of_rows(Shielding shielding, int rows) {
  constexpr int width = PackTraits<Pack>::width;
  std::vector<double> densities((rows + width - 1) / width * width, std::pow(10.0, k_most_density));
  for (int row = 0; row < rows; ++row) {
    const double n_H = std::pow(10.0, k_least_density + row / k_rows_per_dex);
    densities[row] = std::min(n_H / shielded_share(shielding, n_H, 0.0), densities[row]);
  }
  return densities;
}

}  // namespace

PhotoRates courty_background(double z, double z_reionization) {
  PhotoRates rates;
  const double ratio = z / z_reionization;
  const bool after = z < z_reionization;
  const double fall = 20.0 * std::pow(ratio, 6);
  for (int s = 0; s < 3; ++s) {
    const auto rate = [&](const double(&of)[8], double trace) {
      return after ? std::pow(10.0, polynomial(of, z) - fall) : k_trace * trace;
    };
    rates.ionization[s] = rate(k_photo_ionization[s], k_trace_ionization[s]);
    rates.heating[s] = rate(k_photo_heating[s], k_trace_heating[s]);
  }
  return rates;
}

OriginalRates original_rates(double n_H, double T, double z, const PhotoRates& background) {
  const Species<double> x = equilibrium(IonizationRates(T), background, n_H);
  const double a4 = std::pow(1.0 + z, 4);
  return {.molecular_weight = x.molecular_weight(),
          .cool = PrimordialCooling(T).rate(n_H, x),
          .heat = photo_heating(n_H, background, x),
          .compton_cool = 5.406e-36 * x.electrons * T * a4,
          .compton_heat = 5.406e-36 * x.electrons * k_background_today * a4 * (1.0 + z)};
}

double original_metal_cooling(double n_H, double T, double z) {
  return MetalCooling(T, z).rate(n_H);
}

Nodes original_nodes(const OriginalOptions& options, double z, const Communicator& communicator) {
  const auto rows =
      static_cast<int>(std::lround((k_most_density - k_least_density) * k_rows_per_dex)) + 1;
  const double decades = std::log10(options.maximum_temperature) - k_coldest;
  const auto temperatures =
      static_cast<int>(std::ceil(decades * k_temperatures_per_dex - 1e-9)) + 1;
  const PhotoRates background =
      options.background ? courty_background(z, options.reionization) : PhotoRates{};
  constexpr double per_mass = k_hydrogen_share / constants::k_proton_mass;
  const std::vector<double> densities = densities_of_rows(options.shielding, rows);

  using Lanes = PackTraits<Pack>;
  // Every rank finds some temperatures' values, which are larger than what the others have there.
  std::vector<double> values(static_cast<std::size_t>(rows) * temperatures * k_node_values,
                             std::numeric_limits<double>::lowest());
  const int ranks = communicator.size(), rank = communicator.rank();
  const int shares = (temperatures - rank + ranks - 1) / ranks;
  using Host = Kokkos::DefaultHostExecutionSpace;
  const HostKernels here;
  Kokkos::parallel_for("original cooling", Kokkos::RangePolicy<Host>(0, shares), [&](int n) {
    const int k = rank + n * ranks;
    const double T = std::pow(10.0, k_coldest + k / k_temperatures_per_dex);
    const IonizationRates collisions(T);
    const PrimordialCooling primordial(T);
    const MetalCooling metals(T, z);
    const double compton = options.compton ? compton_per_electron(T, z) : 0.0;
    for (int first = 0; first < rows; first += Lanes::width) {
      const Pack n_H = Lanes::load(&densities[first]);
      const Species<Pack> x = equilibrium(collisions, background, n_H);
      const Pack net = primordial.rate(n_H, x) - photo_heating(n_H, background, x);
      const Pack of_metals = metals.rate(n_H), weight = x.molecular_weight();
      for (int lane = 0; lane < std::min(Lanes::width, rows - first); ++lane) {
        const std::size_t row = first + lane;
        double* node = &values[(row * temperatures + k) * k_node_values];
        node[k_primordial] = Lanes::lane(net, lane);
        node[k_metals] = Lanes::lane(of_metals, lane);
        node[k_internal] = internal_energy(T, Lanes::lane(weight, lane), options.gamma);
        node[k_compton] =
            compton * std::max(Lanes::lane(x.electrons, lane), k_residual_electrons) * per_mass;
      }
    }
  });
  communicator.max_in_place(std::span(values));
  Nodes nodes;
  nodes.rows = {k_least_density, k_rows_per_dex, rows};
  nodes.temperatures = temperatures;
  nodes.values = mesh::to_device("original cooling", values);
  look_through(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
