// Cooling by metals in gas whose hydrogen and helium are not in equilibrium: rates of metals in
// equilibrium from a table in the format of Grackle.
#pragma once

#include "subgrid/ionization/ionization_rates.hpp"

namespace octant::subgrid::ionization {

// Metals of a cell.
struct CellMetals {
  double amount = 0.0;           // n_H^2 times the metallicity in solar units, in cm^-6
  cooling::TablePosition row{};  // position of the hydrogen density in the table
};

// Net cooling rate of metals of solar abundance over n_H^2 at a temperature in K, in erg cm^3 s^-1,
// with its derivative by ln T. Cooling and heating are linear in logarithms between the densities
// and temperatures of the table, as in Grackle; `heating` is the share of the ultraviolet
// background that reaches the cell. Below the lowest temperature of the table the net rate is
// proportional to T.
KOKKOS_INLINE_FUNCTION Rate metal_cooling(const cooling::TableSlice& table,
                                          const cooling::TablePosition& row, double heating,
                                          double temperature) {
  const double lowest = table.temperature(0), T = max(temperature, lowest);
  int low = 0, high = table.temperatures - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.temperature(middle) <= T) low = middle;
    else high = middle;
  }
  const std::int64_t stride = std::int64_t{table.temperatures} * cooling::k_log_values;
  const double* const values = table.values.data() + row.row * stride;
  const auto at = [&](int k, int n) {
    const double* const value = values + k * cooling::k_log_values + n;
    return value[0] + row.fraction * (value[stride] - value[0]);
  };
  const double from = cooling::log_of_ten(table.temperature(low)),
               width = cooling::log_of_ten(table.temperature(low + 1)) - from,
               part = (cooling::log_of_ten(T) - from) / width;
  const auto rate = [&](int n) {
    const double a = at(low, n), difference = at(low + 1, n) - a;
    const double value = cooling::power_of_ten(a + part * difference);
    return Rate{value, value * difference / width};
  };
  Rate net = rate(cooling::k_metal_cool);
  if (heating > 0.0) net = net - heating * rate(cooling::k_metal_heat);
  if (table.options.cmb_floor) {
    const double* const at_cmb = table.at_cmb.data() + 2 * row.row;
    net.value -= cooling::power_of_ten(at_cmb[1] + row.fraction * (at_cmb[3] - at_cmb[1]));
  }
  if (temperature < lowest) {
    net.value *= temperature / lowest;
    net.slope = net.value;
  }
  return net;
}

}  // namespace octant::subgrid::ionization
