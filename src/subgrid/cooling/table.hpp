// Cooling tables in the file format of Grackle (Smith et al. 2017, MNRAS 466, 2217), computed with
// Cloudy: rates of gas in ionisation equilibrium against density, redshift and temperature.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/cooling/ionization.hpp"
#include "subgrid/cooling/nodes.hpp"

namespace octant::subgrid::cooling {

// Value of log10 of a rate that is zero.
inline constexpr double k_no_rate = -99.0;

// Contents of a file on the host. A missing redshift axis has one value, and a missing density axis
// has two equal rows. Rates are log10 of rates divided by n_H^2 in erg cm^3 s^-1, [n_H][z][T].
struct CoolingTable {
  std::string path;
  std::vector<double> log_density;      // log10 n_H / cm^-3, evenly spaced
  std::vector<double> redshift;         // ascending
  std::vector<double> log_temperature;  // log10 T / K, ascending
  std::vector<double> cooling, heating, metal_cooling, metal_heating;
  std::vector<double> molecular_weight;  // mean molecular weight, [n_H][z][T]
  // Ionisation rate of HI by the background in s^-1 at given redshifts; empty if the file lacks it.
  std::vector<double> background_redshift, hydrogen_ionization;
  bool has_metals = false;

  // Index of the values at density index n, redshift index z and temperature index k.
  std::size_t index(std::size_t n, std::size_t z, std::size_t k) const {
    return (n * redshift.size() + z) * log_temperature.size() + k;
  }
};

// Interpolates values at ascending redshifts linearly to z; 0 beyond the last redshift.
double at_redshift(const std::vector<double>& redshifts, const std::vector<double>& values,
                   double z);

// Solar metal mass fraction in the files.
inline constexpr double k_grackle_solar = 0.01295;

// Composition in the files: Cloudy has one helium nucleus of 3.971 hydrogen masses per ten hydrogen
// nuclei, and Grackle gives metals a mean molecular weight of 16.
inline constexpr Composition k_grackle_composition{1.0 / (1.0 + 0.1 * 3.971), 0.1};
inline constexpr double k_grackle_metal_weight = 16.0;

// Reads a file of rank 1 (T), 2 (n_H, T) or 3 (n_H, z, T), in either byte order. A missing mean
// molecular weight is replaced by that of hydrogen and helium in ionisation equilibrium with the
// file's ultraviolet background. Throws InputError, on all ranks, if the file is missing, has
// another layout or contains non-finite numbers. Collective.
CoolingTable read_cooling_table(const Communicator& communicator, const std::string& path);

// Options for rates from a table.
struct TableOptions {
  double gamma = 5.0 / 3.0;
  bool cmb_floor = true, compton = true, background = true;  // background: ultraviolet
  Shielding shielding = Shielding::none;
  double maximum_temperature = 1e10;  // K; upper end of the nodes
  int refinement = 10;                // rows per density step of the table
  int temperature_refinement = 16;    // maximum intervals between two table temperatures
  double residual_electrons = 2e-4;   // minimum electrons per hydrogen nucleus for Compton cooling
};

// Values of a table at one redshift: log10 of the rates, and mu. All are linear in log10 n_H.
enum LogValue { k_cool, k_heat, k_metal_cool, k_metal_heat, k_weight, k_log_values };

// Table at one redshift, in device memory.
struct TableSlice {
  mesh::DeviceArray<const double> values;       // [n_H][T][LogValue]
  mesh::DeviceArray<const double> temperature;  // K
  mesh::DeviceArray<const ThermalValues> thermal;
  RateGas gas{};
  RowAxis rows;
  int temperatures = 0;
  // log10 of the primordial and metal cooling rates at the CMB temperature, [n_H][2].
  mesh::DeviceArray<const double> at_cmb;
  TableOptions options;
  double redshift = 0.0, shielding_density = 0.0;

  // Computes the NodeValues at the temperature with index `temperature`, for gas of density n_H;
  // `position` is the interpolation position of n_H among the rows.
  KOKKOS_INLINE_FUNCTION void evaluate(const TablePosition& position, double n_H, int temperature,
                                       double* node) const;
};

// Returns the internal energy per mass in erg g^-1.
KOKKOS_INLINE_FUNCTION double internal_energy(double T, double molecular_weight, double gamma) {
  return constants::k_boltzmann * T / ((gamma - 1.0) * molecular_weight * constants::k_proton_mass);
}

// Net cooling rates of one cell, interpolated directly from the table in log10, which takes four
// exponentials per node. The interface is that of CellRates.
class DirectRates {
 public:
  KOKKOS_INLINE_FUNCTION DirectRates(const TableSlice& slice, const CellGas& cell,
                                     const TablePosition& position)
      : slice_(slice), position_(position), cell_(cell) {}

  // Number of nodes.
  KOKKOS_INLINE_FUNCTION int count() const { return slice_.temperatures; }
  // Returns a node near an energy.
  KOKKOS_INLINE_FUNCTION int guess(double energy) const {
    // T is the temperature for mu = 1.
    const double T = energy / internal_energy(1.0, 1.0, slice_.options.gamma);
    int low = 0, high = count();
    while (low < high) {
      const int middle = (low + high) / 2;
      if (slice_.temperature(middle) <= T) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  // Energy and net rate at a node.
  KOKKOS_INLINE_FUNCTION Point point(int node) const {
    double values[k_node_values];
    slice_.evaluate(position_, cell_.n_H, node, values);
    const ThermalValues& thermal = slice_.thermal(node);
    const double primordial = 1.0 - cell_.metals;
    const double electrons =
        primordial * values[k_free_electrons] - cell_.metals * slice_.gas.nuclei;
    return {primordial * values[k_internal] + cell_.metals * thermal.metal_energy,
            cell_.n_H * (slice_.gas.hydrogen_per_gram * primordial) *
                    (values[k_primordial] + cell_.metallicity * values[k_metals]) +
                thermal.compton * Kokkos::max(electrons, slice_.gas.min_electrons)};
  }
  // Internal energy per mass at a node, in erg g^-1.
  KOKKOS_INLINE_FUNCTION double energy(int node) const { return point(node).energy; }

 private:
  const TableSlice& slice_;
  TablePosition position_;
  CellGas cell_;
};

// Definition of TableSlice::evaluate().
KOKKOS_INLINE_FUNCTION void TableSlice::evaluate(const TablePosition& position, double n_H, int k,
                                                 double* node) const {
  const double* low =
      values.data() + (std::int64_t{position.row} * temperatures + k) * k_log_values;
  const double* high = low + std::int64_t{temperatures} * k_log_values;
  const auto between = [&](const double* a, const double* b, int n) {
    return a[n] + position.fraction * (b[n] - a[n]);
  };
  const auto rate = [&](int n) { return power_of_ten(between(low, high, n)); };
  const double T = temperature(k), weight = between(low, high, k_weight);
  double cool = rate(k_cool), metal_cool = rate(k_metal_cool);
  const double T_cmb = k_cmb_temperature_today * (1.0 + redshift);
  if (options.cmb_floor && T < 100.0 * T_cmb) {
    const double *a = at_cmb.data() + 2 * position.row, *b = a + 2;
    cool -= power_of_ten(between(a, b, 0));
    metal_cool -= power_of_ten(between(a, b, 1));
  }
  const double share =
      options.background ? shielded_fraction(options.shielding, n_H, shielding_density) : 0.0;
  node[k_primordial] = cool - share * rate(k_heat);
  node[k_metals] = metal_cool - share * rate(k_metal_heat);
  node[k_internal] = internal_energy(T, weight, options.gamma);
  node[k_free_electrons] = 1.0 / weight - gas.nuclei;
}

// Returns the composition of the gas in Grackle's tables.
RateGas table_gas(const TableOptions& options);

// Returns the table at a redshift, clamped to its range.
TableSlice slice_at(const CoolingTable& table, const TableOptions& options, double redshift);

// Interpolates the slice to a row spacing that is `refinement` times smaller. Rates are linear
// between these rows, which avoids exponentials. The difference from the slice is at most 0.2 per
// cent, and zero on the rows of the table.
Nodes refined_nodes(const TableSlice& slice);

}  // namespace octant::subgrid::cooling
