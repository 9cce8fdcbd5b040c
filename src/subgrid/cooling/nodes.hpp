// Net cooling rates at the temperatures of a table, as kernels see them.
//
// At each node (n_H, T) lie four numbers of gas without metals: the net rates of primordial gas and
// of metals of the solar abundance, both over n_H^2 in erg cm^3 s^-1, the internal energy per mass
// u in erg g^-1, and the electrons per proton mass. Positive rates cool. Between rows of equal n_H
// all four are linear in log10 n_H; what lies between temperatures is for exact.hpp. Two more
// numbers belong to each temperature: the internal energy per mass of metals, and the rate of
// Compton cooling of one electron per proton mass.
#pragma once

#include <cstdint>
#include <limits>

#include "core/code_units.hpp"
#include "core/pack.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/cooling/background.hpp"
#include "subgrid/cooling/ionization.hpp"

namespace octant::subgrid::cooling {

enum NodeValue { k_primordial, k_metals, k_internal, k_free_electrons, k_node_values };

// Values of a temperature.
struct ThermalValues {
  double metal_energy;  // erg per gram of metals
  double compton;       // erg g^-1 s^-1 for one electron per proton mass
};

// What rates say about the gas that they are rates of.
struct RateGas {
  double hydrogen_per_gram;  // hydrogen nuclei, in gas without metals
  double nuclei = 0.0;       // per proton mass of all gas; electrons are the other particles
  double least_electrons = -std::numeric_limits<double>::infinity();  // per proton mass
  // 1 if metals have mass and particles of their own, so that less gas is hydrogen; else 0.
  double metals_count = 0.0;
};

// The gas of one cell.
struct CellGas {
  double n_H;          // hydrogen nuclei per cm^3
  double metallicity;  // in units of the solar one
  double metals;       // mass fraction that is not hydrogen and helium
};

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
                                        const ThermalValues* thermal, const RowPlace& place,
                                        int count, const RateGas& gas, const CellGas& cell,
                                        const NodeHints& hints)
      : lower_(lower),
        upper_(upper),
        thermal_(thermal),
        fraction_(place.fraction),
        primordial_(1.0 - cell.metals),
        per_mass_(cell.n_H * (gas.hydrogen_per_gram * primordial_)),
        cell_(cell),
        gas_(gas),
        count_(count),
        row_(place.row),
        hints_(hints) {}

  KOKKOS_FORCEINLINE_FUNCTION int count() const { return count_; }
  // Of the first node above an energy.
  KOKKOS_FORCEINLINE_FUNCTION int guess(double energy) const {
    return hints_.guess(row_, energy / primordial_);
  }
  KOKKOS_FORCEINLINE_FUNCTION double energy(int node) const {
    return with_metals(value<double>(node, k_internal), node);
  }
  KOKKOS_FORCEINLINE_FUNCTION Point point(int node) const {
    double at[k_node_values];
    for (int n = 0; n < k_node_values; n += PackTraits<Pack>::width)
      PackTraits<Pack>::store(at + n, value<Pack>(node, n));
    const double electrons = primordial_ * at[k_free_electrons] - cell_.metals * gas_.nuclei;
    return {with_metals(at[k_internal], node),
            per_mass_ * (at[k_primordial] + cell_.metallicity * at[k_metals]) +
                thermal_[node].compton * Kokkos::max(electrons, gas_.least_electrons)};
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double with_metals(double energy, int node) const {
    return primordial_ * energy + cell_.metals * thermal_[node].metal_energy;
  }

  // The NodeValues from one on.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V value(int node, int which) const {
    const V below = PackTraits<V>::load(lower_ + node * k_node_values + which);
    const V above = PackTraits<V>::load(upper_ + node * k_node_values + which);
    return below + V(fraction_) * (above - below);
  }

  const double *lower_, *upper_;
  const ThermalValues* thermal_;
  double fraction_;
  double primordial_;  // mass fraction of hydrogen and helium
  double per_mass_;    // n_H^2 / rho in cm^-3 g^-1
  CellGas cell_;
  const RateGas& gas_;
  int count_, row_;
  const NodeHints& hints_;
};

// Rates at one redshift, in device memory. Passed by value.
struct Nodes {
  mesh::DeviceArray<const double> values;  // [row][temperature][NodeValue]
  mesh::DeviceArray<const ThermalValues> thermal;
  RateGas gas{};
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

  // Rates of a cell at a place among the rows.
  KOKKOS_FORCEINLINE_FUNCTION CellRates rates(const CellGas& cell, const RowPlace& place) const {
    const std::int64_t stride = std::int64_t{temperatures} * k_node_values;
    const double* row = values.data() + place.row * stride;
    return {row, row + stride, thermal.data(), place, temperatures, gas, cell, hints};
  }
};

// Adds what is to be known of nodes whose values are there: `hints` and `safe_energy`.
void look_through(Nodes& nodes);

}  // namespace octant::subgrid::cooling
