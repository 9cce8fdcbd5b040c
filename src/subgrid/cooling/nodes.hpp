// Net cooling rates at the nodes of a table in density and temperature, in the form for kernels.
//
// Each node (n_H, T) has four values: the net cooling rates of primordial gas and of metals of
// solar abundance, both divided by n_H^2 in erg cm^3 s^-1, and the internal energy per mass u in
// erg g^-1 and the number of electrons per proton mass of primordial gas. Positive rates cool.
// Between rows of equal n_H, all four are linear in log10 n_H; solvers.hpp interpolates between
// temperatures. Each temperature has two more values: the internal energy per mass of metals, and
// the Compton cooling rate for one electron per proton mass.
#pragma once

#include <cstdint>
#include <limits>

#include "core/simd.hpp"
#include "core/units.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/cooling/ionization.hpp"

namespace octant::subgrid::cooling {

// Values of a node, in the order of storage.
enum NodeValue { k_primordial, k_metals, k_internal, k_free_electrons, k_node_values };

// Values that depend on the temperature alone.
struct ThermalValues {
  double metal_energy;  // erg per gram of metals
  double compton;       // erg g^-1 s^-1 for one electron per proton mass
};

// Composition of the gas for which the rates are tabulated.
struct RateGas {
  double hydrogen_per_gram;  // hydrogen nuclei per gram of gas without metals
  double nuclei = 0.0;       // nuclei per proton mass, to be subtracted from 1 / mu
  double min_electrons = -std::numeric_limits<double>::infinity();  // minimum electrons per proton
                                                                    // mass
  // 1 if the mass of metals reduces that of hydrogen and helium; else 0.
  double metals_count = 0.0;
};

// Gas of one cell.
struct CellGas {
  double n_H;          // hydrogen nuclei per cm^3
  double metallicity;  // in solar units
  double metals;       // mass fraction that is not hydrogen or helium
};

// 10^x.
KOKKOS_FORCEINLINE_FUNCTION double power_of_ten(double x) {
  return Kokkos::exp(2.302585092994045684 * x);
}

// Internal energy and net cooling rate per mass of one cell at a node.
struct Point {
  double energy;  // erg g^-1
  double rate;    // erg g^-1 s^-1, positive where gas cools
};

// log10(x).
KOKKOS_FORCEINLINE_FUNCTION double log_of_ten(double x) {
  return 0.43429448190325182765 * Kokkos::log(x);
}

// Interpolation position among rows that are evenly spaced in log10 n_H.
struct TablePosition {
  int row;
  double fraction;  // fraction of the distance to the next row
  bool inside;      // true if the density is within the table
};

// Axis of rows that are evenly spaced in log10 n_H.
struct RowAxis {
  double first = 0.0, per_dex = 1.0;
  int rows = 2;

  // Returns the position of a density, clamped to the axis.
  KOKKOS_FORCEINLINE_FUNCTION TablePosition position(double log_density) const {
    const double x = (log_density - first) * per_dex;
    const double inside = x > 0.0 ? (x < rows - 1 ? x : rows - 1) : 0.0;
    const int row = inside < rows - 2 ? static_cast<int>(inside) : rows - 2;
    return {row, inside - row, x > -1e-6 && x < rows - 1 + 1e-6};
  }
};

// Search hints: for every eighth row, the first node above each energy bin. There are 32 bins per
// octave, numbered by the leading bits of the energy as a double. Nearly all guesses are right and
// their branches predictable, because few bins contain a node and energies of eight adjacent rows
// differ little. More rows or finer bins would evict the rates from the second-level cache.
struct NodeHints {
  static constexpr int k_rows = 8;               // number of adjacent rows with the same hints
  mesh::DeviceArray<const std::uint16_t> above;  // [row / k_rows][bin]
  std::int64_t first = 0;                        // bin of the lowest energy
  int bins = 0;

  // Number of the bin that contains an energy.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t bin_of(double energy) {
    return Kokkos::bit_cast<std::int64_t>(energy) >> 47;
  }
  // Lower edge of a bin.
  KOKKOS_FORCEINLINE_FUNCTION double least(int bin) const {
    return Kokkos::bit_cast<double>((first + bin) << 47);
  }
  // Returns approximately the first node above an energy in a row.
  KOKKOS_FORCEINLINE_FUNCTION int guess(int row, double energy) const {
    const std::int64_t bin = bin_of(energy) - first;
    const std::int64_t inside = bin > 0 ? (bin < bins ? bin : bins - 1) : 0;
    return above(row / k_rows * bins + inside);
  }
};

// Net cooling rates of one cell, interpolated between two rows.
class CellRates {
 public:
  KOKKOS_FORCEINLINE_FUNCTION CellRates(const double* lower, const double* upper,
                                        const ThermalValues* thermal, const TablePosition& position,
                                        int count, const RateGas& gas, const CellGas& cell,
                                        const NodeHints& hints)
      : lower_(lower),
        upper_(upper),
        thermal_(thermal),
        fraction_(position.fraction),
        primordial_(1.0 - cell.metals),
        per_mass_(cell.n_H * (gas.hydrogen_per_gram * primordial_)),
        cell_(cell),
        gas_(gas),
        count_(count),
        row_(position.row),
        hints_(hints) {}

  // Number of nodes.
  KOKKOS_FORCEINLINE_FUNCTION int count() const { return count_; }
  // Returns a guess for the first node above an energy.
  KOKKOS_FORCEINLINE_FUNCTION int guess(double energy) const {
    return hints_.guess(row_, energy / primordial_);
  }
  // Specific internal energy at a node, in erg g^-1.
  KOKKOS_FORCEINLINE_FUNCTION double energy(int node) const {
    return with_metals(value<double>(node, k_internal), node);
  }
  // Energy and net rate at a node.
  KOKKOS_FORCEINLINE_FUNCTION Point point(int node) const {
    double at[k_node_values];
    for (int n = 0; n < k_node_values; n += SimdTraits<SimdDouble>::width)
      SimdTraits<SimdDouble>::store(at + n, value<SimdDouble>(node, n));
    const double electrons = primordial_ * at[k_free_electrons] - cell_.metals * gas_.nuclei;
    return {with_metals(at[k_internal], node),
            per_mass_ * (at[k_primordial] + cell_.metallicity * at[k_metals]) +
                thermal_[node].compton * Kokkos::max(electrons, gas_.min_electrons)};
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double with_metals(double energy, int node) const {
    return primordial_ * energy + cell_.metals * thermal_[node].metal_energy;
  }

  // Returns V's number of interpolated NodeValues from `which` on.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V value(int node, int which) const {
    const V below = SimdTraits<V>::load(lower_ + node * k_node_values + which);
    const V above = SimdTraits<V>::load(upper_ + node * k_node_values + which);
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

// Rates at one redshift, in device memory. Passed to kernels by value.
struct Nodes {
  mesh::DeviceArray<const double> values;  // [row][temperature][NodeValue]
  mesh::DeviceArray<const ThermalValues> thermal;
  RateGas gas{};
  RowAxis rows;
  int temperatures = 0;
  NodeHints hints;
  double safe_energy = 0.0;  // well below the last node of every row
  // Self-shielding model that position() applies; `none` if the rates include self-shielding.
  Shielding shielding = Shielding::none;

  // Returns the position of a density in the rows. Self-shielded gas has the rates of denser gas.
  KOKKOS_FORCEINLINE_FUNCTION TablePosition position(double n_H) const {
    TablePosition position = rows.position(log_of_ten(n_H));
    if (shielding == Shielding::none) return position;
    const bool inside = position.inside;
    position = rows.position(log_of_ten(n_H / shielded_fraction(shielding, n_H, 0.0)));
    position.inside = inside;
    return position;
  }

  // Returns the rates of a cell at a position among the rows.
  KOKKOS_FORCEINLINE_FUNCTION CellRates rates(const CellGas& cell,
                                              const TablePosition& position) const {
    const std::int64_t stride = std::int64_t{temperatures} * k_node_values;
    const double* row = values.data() + position.row * stride;
    return {row, row + stride, thermal.data(), position, temperatures, gas, cell, hints};
  }
};

// Sets `hints` and `safe_energy` from the node values.
void set_search_hints(Nodes& nodes);

}  // namespace octant::subgrid::cooling
