#include "subgrid/cooling/table_rates.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/device.hpp"

namespace octant::subgrid::cooling {

namespace {

// The nearest redshift of a table, as a place on its axis.
struct RedshiftPlace {
  std::size_t below;
  double fraction;
};

RedshiftPlace place_of(const std::vector<double>& redshifts, double z) {
  if (redshifts.size() < 2 || z <= redshifts.front()) return {0, 0.0};
  const auto above = std::upper_bound(redshifts.begin(), redshifts.end(), z) - redshifts.begin();
  if (above == std::ssize(redshifts)) return {redshifts.size() - 2, 1.0};
  const auto below = static_cast<std::size_t>(above - 1);
  return {below, (z - redshifts[below]) / (redshifts[below + 1] - redshifts[below])};
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

}  // namespace

TableSlice slice_at(const CoolingTable& table, const TableOptions& options, double redshift) {
  const RedshiftPlace z = place_of(table.redshift, redshift);
  const bool one = table.redshift.size() < 2;
  const std::vector<double> log_T = extended(table.log_temperature, options.maximum_temperature);
  const std::size_t rows = table.log_density.size(), stored = table.log_temperature.size();
  const std::vector<double>* fields[] = {&table.cooling, &table.heating, &table.metal_cooling,
                                         &table.metal_heating, &table.molecular_weight};

  std::vector<double> values(rows * log_T.size() * k_log_values);
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t k = 0; k < log_T.size(); ++k) {
      const std::size_t from = std::min(k, stored - 1);
      // Bremsstrahlung goes with the root of T.
      const double beyond = 0.5 * (log_T[k] - log_T[from]);
      for (int f = 0; f < k_log_values; ++f) {
        const double low = (*fields[f])[table.place(n, z.below, from)];
        const double high = one ? low : (*fields[f])[table.place(n, z.below + 1, from)];
        const bool cools = f == k_cool || f == k_metal_cool;
        values[(n * log_T.size() + k) * k_log_values + f] =
            low + z.fraction * (high - low) + (cools ? beyond : 0.0);
      }
    }
  std::vector<double> at_cmb(2 * rows), temperature(log_T.size());
  for (std::size_t n = 0; n < rows; ++n)
    for (int metals = 0; metals < 2; ++metals)
      at_cmb[2 * n + metals] = at_temperature(
          log_T, &values[n * log_T.size() * k_log_values + (metals ? k_metal_cool : k_cool)],
          k_log_values, k_background_today * (1.0 + redshift));
  std::transform(log_T.begin(), log_T.end(), temperature.begin(),
                 [](double x) { return std::pow(10.0, x); });

  TableSlice slice;
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
  look_through(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
