#include "subgrid/cooling/original_rates.hpp"

#include <algorithm>
#include <iterator>

#include "subgrid/cooling/background.hpp"

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

// The trace of a background of J ~ 1 / frequency that stands for what recombination left ionised,
// at z = 0, and what it does per intensity (Theuns et al. 1998).
constexpr double k_trace = 2.636e-33;  // erg s^-1 cm^-2 Hz^-1 sr^-1
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

// Their slopes against log10 T, as RAMSES has them.
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

// Of lines or of all metals: a rate over n_H^2, and its slope in logarithms.
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

// Infrared lines of fine structure; the slope is RAMSES's, not quite that of the rate.
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
          5.406e-36 * electrons * k_background_today * a4 * (1.0 + z)};
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

}  // namespace octant::subgrid::cooling
