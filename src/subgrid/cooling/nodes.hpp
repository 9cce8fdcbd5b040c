// Net cooling rates at the temperatures of a table, as kernels see them.
//
// At each node (n_H, T) lie four numbers: the net rates of primordial gas and of metals of the
// solar abundance, both over n_H^2 in erg cm^3 s^-1, the internal energy per mass u in erg g^-1,
// and the rate of Compton cooling per mass in erg g^-1 s^-1. Positive rates cool. Between rows of
// equal n_H all four are linear in log10 n_H; what lies between temperatures is for exact.hpp.
#pragma once

#include <cstdint>

#include "core/code_units.hpp"
#include "core/pack.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/cooling/background.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::subgrid::cooling {

enum NodeValue { k_primordial, k_metals, k_internal, k_compton, k_node_values };

KOKKOS_FORCEINLINE_FUNCTION double power_of_ten(double x) {
  return Kokkos::exp(2.302585092994045684 * x);
}

// A node for one cell: u, and the net rate per mass there.
struct Point {
  double energy;  // erg g^-1
  double rate;    // erg g^-1 s^-1, positive where gas cools
};

KOKKOS_FORCEINLINE_FUNCTION double log_of_ten(double x) {
  return 0.43429448190325182765 * Kokkos::log(x);
}

// A place among rows that are evenly spaced in log10 n_H.
struct RowPlace {
  int row;
  double fraction;  // of the way to the next row
  bool inside;      // whether the rows reach as far
};

struct RowAxis {
  double first = 0.0, per_dex = 1.0;
  int rows = 2;

  // The nearest place of the axis.
  KOKKOS_FORCEINLINE_FUNCTION RowPlace place(double log_density) const {
    const double x = (log_density - first) * per_dex;
    const double inside = x > 0.0 ? (x < rows - 1 ? x : rows - 1) : 0.0;
    const int row = inside < rows - 2 ? static_cast<int>(inside) : rows - 2;
    return {row, inside - row, x > -1e-6 && x < rows - 1 + 1e-6};
  }
};

// For every eighth row, the first node above energies that go as a 32nd of a binary octave: the
// leading bits of a double are a logarithm. Nearly all guesses are right, which a processor learns:
// few bins hold a node, and the energies of eight rows differ little. More rows or finer bins would
// push rates out of the second cache.
struct NodeHints {
  static constexpr int k_rows = 8;               // that share their hints
  mesh::DeviceArray<const std::uint16_t> above;  // [row / k_rows][bin]
  std::int64_t first = 0;                        // bin of the lowest energy
  int bins = 0;

  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t bin_of(double energy) {
    return Kokkos::bit_cast<std::int64_t>(energy) >> 47;
  }
  // The least energy of a bin.
  KOKKOS_FORCEINLINE_FUNCTION double least(int bin) const {
    return Kokkos::bit_cast<double>((first + bin) << 47);
  }
  KOKKOS_FORCEINLINE_FUNCTION int guess(int row, double energy) const {
    const std::int64_t bin = bin_of(energy) - first;
    const std::int64_t inside = bin > 0 ? (bin < bins ? bin : bins - 1) : 0;
    return above(row / k_rows * bins + inside);
  }
};

// The net rates of one cell's gas, between two rows.
class CellRates {
 public:
  KOKKOS_FORCEINLINE_FUNCTION CellRates(const double* lower, const double* upper,
                                        const RowPlace& place, int count, double per_mass,
                                        double metallicity, const NodeHints& hints)
      : lower_(lower),
        upper_(upper),
        fraction_(place.fraction),
        per_mass_(per_mass),
        metallicity_(metallicity),
        count_(count),
        row_(place.row),
        hints_(hints) {}

  KOKKOS_FORCEINLINE_FUNCTION int count() const { return count_; }
  // Of the first node above an energy.
  KOKKOS_FORCEINLINE_FUNCTION int guess(double energy) const { return hints_.guess(row_, energy); }
  KOKKOS_FORCEINLINE_FUNCTION double energy(int node) const {
    return value<double>(node, k_internal);
  }
  KOKKOS_FORCEINLINE_FUNCTION Point point(int node) const {
    double at[k_node_values];
    for (int n = 0; n < k_node_values; n += PackTraits<Pack>::width)
      PackTraits<Pack>::store(at + n, value<Pack>(node, n));
    return {at[k_internal],
            per_mass_ * (at[k_primordial] + metallicity_ * at[k_metals]) + at[k_compton]};
  }

 private:
  // The NodeValues from one on.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V value(int node, int which) const {
    const V below = PackTraits<V>::load(lower_ + node * k_node_values + which);
    const V above = PackTraits<V>::load(upper_ + node * k_node_values + which);
    return below + V(fraction_) * (above - below);
  }

  const double *lower_, *upper_;
  double fraction_, per_mass_, metallicity_;
  int count_, row_;
  const NodeHints& hints_;
};

// Rates at one redshift, in device memory. Passed by value.
struct Nodes {
  mesh::DeviceArray<const double> values;  // [row][temperature][NodeValue]
  RowAxis rows;
  int temperatures = 0;
  NodeHints hints;
  double safe_energy = 0.0;  // well below the last node of every row
  // Of rates that take the state of shielded gas from denser rows.
  Shielding shielding = Shielding::none;

  // Gas in which each atom sees fewer photons has the state of denser gas.
  KOKKOS_FORCEINLINE_FUNCTION RowPlace place(double n_H) const {
    RowPlace place = rows.place(log_of_ten(n_H));
    if (shielding == Shielding::none) return place;
    const bool inside = place.inside;
    place = rows.place(log_of_ten(n_H / shielded_share(shielding, n_H, 0.0)));
    place.inside = inside;
    return place;
  }

  // For gas of n_H nuclei per cm^3, at a place among the rows, and a metallicity in units of the
  // solar one.
  KOKKOS_FORCEINLINE_FUNCTION CellRates rates(double n_H, const RowPlace& place,
                                              double metallicity) const {
    const std::int64_t stride = std::int64_t{temperatures} * k_node_values;
    const double* row = values.data() + place.row * stride;
    return {row, row + stride, place, temperatures, rate_per_mass(n_H), metallicity, hints};
  }

  // n_H^2 / rho in cm^-3 g^-1.
  KOKKOS_FORCEINLINE_FUNCTION static double rate_per_mass(double n_H) {
    return n_H * (k_hydrogen_share / constants::k_proton_mass);
  }
};

// Adds what is to be known of nodes whose values are there: `hints` and `safe_energy`.
void look_through(Nodes& nodes);

}  // namespace octant::subgrid::cooling
