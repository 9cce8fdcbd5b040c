#include "subgrid/cooling/table_rates.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/device.hpp"

namespace octant::subgrid::cooling {

namespace {

// The nearest redshift of a table, as a place on its axis, between whose redshifts the table is
// linear in log(1 + z), as Grackle takes it.
struct RedshiftPlace {
  std::size_t below;
  double fraction;
};

RedshiftPlace place_of(const std::vector<double>& redshifts, double z) {
  if (redshifts.size() < 2 || z <= redshifts.front()) return {0, 0.0};
  const auto above = std::upper_bound(redshifts.begin(), redshifts.end(), z) - redshifts.begin();
  if (above == std::ssize(redshifts)) return {redshifts.size() - 2, 1.0};
  const auto below = static_cast<std::size_t>(above - 1);
  return {below, std::log((1.0 + z) / (1.0 + redshifts[below])) /
                     std::log((1.0 + redshifts[below + 1]) / (1.0 + redshifts[below]))};
}

// log10 of a rate at a temperature, by what it is at those of a row; beyond them the first slope
// goes on.
double at_temperature(const std::vector<double>& log_T, const double* row, int stride, double T) {
  const double x = std::log10(T);
  const auto above = std::upper_bound(log_T.begin(), log_T.end(), x) - log_T.begin();
  const auto k = std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(log_T) - 2);
  const double f = (x - log_T[k]) / (log_T[k + 1] - log_T[k]);
  return row[k * stride] + f * (row[(k + 1) * stride] - row[k * stride]);
}

// log10 T of the table, and on, at its last spacing, to the maximum.
std::vector<double> extended(std::vector<double> log_T, double maximum) {
  const double spacing = log_T.back() - log_T[log_T.size() - 2];
  while (log_T.back() < std::log10(maximum)) log_T.push_back(log_T.back() + spacing);
  return log_T;
}

// Rates and weights of a table at one redshift, [n_H][T][LogValue].
struct TableAtRedshift {
  std::vector<double> log_T;
  std::vector<double> values;
  std::size_t rows;

  const double* at(std::size_t row, std::size_t k) const {
    return &values[(row * log_T.size() + k) * k_log_values];
  }
};

// How far the chord of a cooling and a heating rate, between two temperatures, is from the rates'
// interpolation in logarithms halfway, over the sum of both.
double error_of_chord(const double* low, const double* high, int cool, int heat) {
  double error = 0.0, sum = 0.0;
  for (const int f : {cool, heat}) {
    const double a = std::pow(10.0, low[f]), b = std::pow(10.0, high[f]), middle = std::sqrt(a * b);
    error += std::abs(0.5 * (a + b) - middle);
    sum += middle;
  }
  return sum > 0.0 ? error / sum : 0.0;
}

// Intervals that keep the chords of all densities between the temperatures k and k + 1 within
// k_chord_error of the rates.
int intervals_between(const TableAtRedshift& table, std::size_t k, int most) {
  constexpr double k_chord_error = 0.004;
  double error = 0.0;
  for (std::size_t n = 0; n < table.rows; ++n) {
    const double *low = table.at(n, k), *high = table.at(n, k + 1);
    error = std::max({error, error_of_chord(low, high, k_cool, k_heat),
                      error_of_chord(low, high, k_metal_cool, k_metal_heat)});
  }
  // The error falls with the square of their number.
  return std::clamp(static_cast<int>(std::ceil(std::sqrt(error / k_chord_error))), 1, most);
}

// The table with more temperatures where rates are steep, at most so many in each of its intervals:
// rates are linear in the internal energy between temperatures, and Grackle's are linear in
// logarithms. All densities share them.
TableAtRedshift with_more_temperatures(const TableAtRedshift& table, int most) {
  std::vector<int> intervals;
  TableAtRedshift fine{.log_T = {}, .values = {}, .rows = table.rows};
  for (std::size_t k = 0; k + 1 < table.log_T.size(); ++k) {
    const int count = intervals.emplace_back(intervals_between(table, k, most));
    for (int i = 0; i < count; ++i)
      fine.log_T.push_back(table.log_T[k] + (table.log_T[k + 1] - table.log_T[k]) * i / count);
  }
  fine.log_T.push_back(table.log_T.back());
  for (std::size_t n = 0; n < table.rows; ++n) {
    for (std::size_t k = 0; k + 1 < table.log_T.size(); ++k) {
      const double *low = table.at(n, k), *high = table.at(n, k + 1);
      for (int i = 0; i < intervals[k]; ++i)
        for (int f = 0; f < k_log_values; ++f)
          fine.values.push_back(low[f] + (high[f] - low[f]) * i / intervals[k]);
    }
    const double* last = table.at(n, table.log_T.size() - 1);
    fine.values.insert(fine.values.end(), last, last + k_log_values);
  }
  return fine;
}

// Temperatures go on beyond those of the file to options.maximum_temperature.
TableAtRedshift at_one_redshift(const CoolingTable& table, const TableOptions& options,
                                double redshift) {
  const RedshiftPlace z = place_of(table.redshift, redshift);
  const bool one = table.redshift.size() < 2;
  const std::size_t stored = table.log_temperature.size();
  const std::vector<double>* fields[] = {&table.cooling, &table.heating, &table.metal_cooling,
                                         &table.metal_heating, &table.molecular_weight};
  TableAtRedshift result{.log_T = extended(table.log_temperature, options.maximum_temperature),
                         .values = {},
                         .rows = table.log_density.size()};
  const auto& log_T = result.log_T;
  result.values.resize(result.rows * log_T.size() * k_log_values);
  for (std::size_t n = 0; n < result.rows; ++n)
    for (std::size_t k = 0; k < log_T.size(); ++k) {
      const std::size_t from = std::min(k, stored - 1);
      // Bremsstrahlung goes with the root of T.
      const double beyond = 0.5 * (log_T[k] - log_T[from]);
      for (int f = 0; f < k_log_values; ++f) {
        const double low = (*fields[f])[table.place(n, z.below, from)];
        const double high = one ? low : (*fields[f])[table.place(n, z.below + 1, from)];
        const bool cools = f == k_cool || f == k_metal_cool;
        result.values[(n * log_T.size() + k) * k_log_values + f] =
            low + z.fraction * (high - low) + (cools ? beyond : 0.0);
      }
    }
  return result;
}

}  // namespace

RateGas table_gas(const TableOptions& options) {
  return {.hydrogen_per_gram = k_grackle_composition.hydrogen / constants::k_proton_mass,
          .nuclei = k_grackle_composition.nuclei(),
          .least_electrons = k_grackle_composition.hydrogen * options.residual_electrons,
          .metals_count = 1.0};
}

TableSlice slice_at(const CoolingTable& table, const TableOptions& options, double redshift) {
  const TableAtRedshift fine = with_more_temperatures(at_one_redshift(table, options, redshift),
                                                      options.temperature_refinement);
  const auto& [log_T, values, rows] = fine;
  std::vector<double> at_cmb(2 * rows), temperature(log_T.size());
  for (std::size_t n = 0; n < rows; ++n)
    for (int metals = 0; metals < 2; ++metals)
      at_cmb[2 * n + metals] = at_temperature(
          log_T, &values[n * log_T.size() * k_log_values + (metals ? k_metal_cool : k_cool)],
          k_log_values, k_background_today * (1.0 + redshift));
  std::transform(log_T.begin(), log_T.end(), temperature.begin(),
                 [](double x) { return std::pow(10.0, x); });

  std::vector<ThermalValues> thermal(log_T.size());
  std::transform(temperature.begin(), temperature.end(), thermal.begin(), [&](double T) {
    const double exchange =
        options.compton ? compton_per_electron(T, redshift) / constants::k_proton_mass : 0.0;
    return ThermalValues{internal_energy(T, k_grackle_metal_weight, options.gamma), exchange};
  });

  TableSlice slice;
  slice.thermal = mesh::to_device("cooling by temperature", thermal);
  slice.gas = table_gas(options);
  slice.values = mesh::to_device("cooling table", values);
  slice.temperature = mesh::to_device("cooling temperatures", temperature);
  slice.at_cmb = mesh::to_device("cooling at the background", at_cmb);
  slice.rows = {table.log_density.front(), 1.0 / (table.log_density[1] - table.log_density[0]),
                static_cast<int>(rows)};
  slice.temperatures = static_cast<int>(log_T.size());
  slice.options = options;
  slice.redshift = redshift;
  if (!table.hydrogen_ionization.empty())
    slice.shielding_density = shielding_density(
        at_redshift(table.background_redshift, table.hydrogen_ionization, redshift));
  return slice;
}

Nodes refined_nodes(const TableSlice& slice) {
  const int refinement = slice.options.refinement, temperatures = slice.temperatures;
  Nodes nodes;
  nodes.rows = {slice.rows.first, slice.rows.per_dex * refinement,
                (slice.rows.rows - 1) * refinement + 1};
  nodes.temperatures = temperatures;
  const auto values = mesh::uninitialised<double>(
      "cooling nodes", std::int64_t{nodes.rows.rows} * temperatures * k_node_values);
  const RowAxis axis = nodes.rows;
  Kokkos::parallel_for(
      "cooling nodes", axis.rows * temperatures, KOKKOS_LAMBDA(int node) {
        const int row = node / temperatures;
        const int coarse =
            row / refinement < slice.rows.rows - 1 ? row / refinement : slice.rows.rows - 2;
        const RowPlace place{coarse, static_cast<double>(row - coarse * refinement) / refinement,
                             true};
        const double n_H = power_of_ten(axis.first + row / axis.per_dex);
        slice.evaluate(place, n_H, node % temperatures,
                       &values(std::int64_t{node} * k_node_values));
      });
  nodes.values = values;
  nodes.thermal = slice.thermal;
  nodes.gas = slice.gas;
  look_through(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
