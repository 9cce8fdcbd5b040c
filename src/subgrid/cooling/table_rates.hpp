// The rates of a cooling table at one redshift, on the device.
#pragma once

#include "subgrid/cooling/background.hpp"
#include "subgrid/cooling/nodes.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::subgrid::cooling {

// What of the physics around a table is wanted.
struct TableOptions {
  double gamma = 5.0 / 3.0;
  bool cmb_floor = true, compton = true, background = true;  // the ultraviolet one
  Shielding shielding = Shielding::none;
  double maximum_temperature = 1e10;  // K: the nodes go on that far
  int refinement = 10;                // rows per step of the table's densities
  int temperature_refinement = 16;    // most intervals between two of the table's temperatures
  double residual_electrons = 2e-4;   // least electrons per hydrogen nucleus in Compton's exchange
};

// log10 of rates and mu of a table at one redshift, [n_H][T][LogValue]; linear in log10 n_H.
enum LogValue { k_cool, k_heat, k_metal_cool, k_metal_heat, k_weight, k_log_values };

struct TableSlice {
  mesh::DeviceArray<const double> values;
  mesh::DeviceArray<const double> temperature;  // K
  mesh::DeviceArray<const ThermalValues> thermal;
  RateGas gas{};
  RowAxis rows;
  int temperatures = 0;
  // Of the microwave background: log10 of what a rate is at its temperature, [n_H][2].
  mesh::DeviceArray<const double> at_cmb;
  TableOptions options;
  double redshift = 0.0, shielding_density = 0.0;

  // The NodeValues of a node, for gas of n_H at a place among the rows.
  KOKKOS_INLINE_FUNCTION void evaluate(const RowPlace& place, double n_H, int temperature,
                                       double* node) const;
};

// Internal energy per mass in erg g^-1.
KOKKOS_INLINE_FUNCTION double internal_energy(double T, double molecular_weight, double gamma) {
  return constants::k_boltzmann * T / ((gamma - 1.0) * molecular_weight * constants::k_proton_mass);
}

// Rates that are interpolated in log10 in every cell: no rows between those of the table, and four
// exponentials per node. For one cell, as CellRates.
class DirectRates {
 public:
  KOKKOS_INLINE_FUNCTION DirectRates(const TableSlice& slice, const CellGas& cell,
                                     const RowPlace& place)
      : slice_(slice), place_(place), cell_(cell) {}

  KOKKOS_INLINE_FUNCTION int count() const { return slice_.temperatures; }
  KOKKOS_INLINE_FUNCTION int guess(double energy) const {
    // As if mu were 1.
    const double T = energy / internal_energy(1.0, 1.0, slice_.options.gamma);
    int low = 0, high = count();
    while (low < high) {
      const int middle = (low + high) / 2;
      if (slice_.temperature(middle) <= T) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  KOKKOS_INLINE_FUNCTION Point point(int node) const {
    double values[k_node_values];
    slice_.evaluate(place_, cell_.n_H, node, values);
    const ThermalValues& thermal = slice_.thermal(node);
    const double primordial = 1.0 - cell_.metals;
    const double electrons =
        primordial * values[k_free_electrons] - cell_.metals * slice_.gas.nuclei;
    return {primordial * values[k_internal] + cell_.metals * thermal.metal_energy,
            cell_.n_H * (slice_.gas.hydrogen_per_gram * primordial) *
                    (values[k_primordial] + cell_.metallicity * values[k_metals]) +
                thermal.compton * Kokkos::max(electrons, slice_.gas.least_electrons)};
  }
  KOKKOS_INLINE_FUNCTION double energy(int node) const { return point(node).energy; }

 private:
  const TableSlice& slice_;
  RowPlace place_;
  CellGas cell_;
};

KOKKOS_INLINE_FUNCTION void TableSlice::evaluate(const RowPlace& place, double n_H, int k,
                                                 double* node) const {
  const double* low = values.data() + (std::int64_t{place.row} * temperatures + k) * k_log_values;
  const double* high = low + std::int64_t{temperatures} * k_log_values;
  const auto between = [&](const double* a, const double* b, int n) {
    return a[n] + place.fraction * (b[n] - a[n]);
  };
  const auto rate = [&](int n) { return power_of_ten(between(low, high, n)); };
  const double T = temperature(k), weight = between(low, high, k_weight);
  double cool = rate(k_cool), metal_cool = rate(k_metal_cool);
  const double T_cmb = k_background_today * (1.0 + redshift);
  if (options.cmb_floor && T < 100.0 * T_cmb) {
    const double *a = at_cmb.data() + 2 * place.row, *b = a + 2;
    cool -= power_of_ten(between(a, b, 0));
    metal_cool -= power_of_ten(between(a, b, 1));
  }
  const double share =
      options.background ? shielded_share(options.shielding, n_H, shielding_density) : 0.0;
  node[k_primordial] = cool - share * rate(k_heat);
  node[k_metals] = metal_cool - share * rate(k_metal_heat);
  node[k_internal] = internal_energy(T, weight, options.gamma);
  node[k_free_electrons] = 1.0 / weight - gas.nuclei;
}

// The gas of Grackle's tables.
RateGas table_gas(const TableOptions& options);

// The table at a redshift; beyond its ends, at its nearest one.
TableSlice slice_at(const CoolingTable& table, const TableOptions& options, double redshift);

// The slice on rows that are `refinement` times as dense: between them rates are linear, which
// saves the exponentials. What that changes, at most 0.2 per cent, vanishes on the table's rows.
Nodes refined_nodes(const TableSlice& slice);

}  // namespace octant::subgrid::cooling
