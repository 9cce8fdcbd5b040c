// Gas as the radiation sees it: its temperature, and how it absorbs, emits and scatters.
#pragma once

#include "hydro/gas_cell.hpp"
#include "radiation/exchange.hpp"
#include "radiation/opacity.hpp"

namespace octant::radiation {

// Properties of gas and light for kernels. Copied by value.
struct RadiatingGas {
  hydro::Gas gas;
  Light light;
  Material material;
  Opacity opacity;
  bool interacts = false;  // false: the gas neither absorbs nor scatters
  // Equation of state of gas whose temperature is a function of the density; without pieces for
  // other gas.
  hydro::Barotrope barotrope = {};
  double kelvin = 1.0;  // temperature at p / rho = 1

  // Temperature of gas with a density and a thermal energy per volume.
  KOKKOS_FORCEINLINE_FUNCTION double temperature(double rho, double internal) const {
    if (barotrope.pieces > 0) return kelvin * barotrope.at(rho).pressure / rho;
    return material.temperature(rho, internal, light);
  }
  // Temperature of the surroundings of gas with these densities; 0 if it has none.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V surroundings(const V& rho) const {
    using P = SimdTraits<V>;
    if (!material.has_surroundings) return V(0.0);
    return P::generate([&](int lane) { return temperature(P::lane(rho, lane), 0.0); });
  }

  // Extinction, absorption and scattering per length, of the cells whose variables begin at `state`
  // and are `stride` apart.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V extinction(const double* state, std::int64_t stride) const {
    using P = SimdTraits<V>;
    if (!interacts) return V(0.0);
    // The cells are only read.
    const hydro::GasCells<V> cells(const_cast<double*>(state), stride, gas);
    const V density = cells.density();
    if (opacity.rosseland.is_constant()) return density * V(opacity.extinction(1.0, 1.0));
    if (!opacity.rosseland.depends_on_temperature())
      return P::generate([&](int lane) { return opacity.extinction(P::lane(density, lane), 1.0); });
    const V internal = density * cells.internal_energy();
    return P::generate([&](int lane) {
      const double rho = P::lane(density, lane);
      return opacity.extinction(rho, temperature(rho, P::lane(internal, lane)));
    });
  }

  // True if density and temperature of a cell are outside the table of opacities.
  KOKKOS_FORCEINLINE_FUNCTION bool is_outside_table(const double* state,
                                                    std::int64_t stride) const {
    const hydro::GasCells<double> cell(const_cast<double*>(state), stride, gas);
    const double rho = cell.density();
    return !opacity.planck.table.contains(rho, temperature(rho, rho * cell.internal_energy()));
  }

  // Speed of the waves that the pressure E / 3 of trapped radiation carries, sqrt(4 E / (9 rho)),
  // reduced in cells of size dx that radiation crosses freely.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V pressure_wave(const double* state, std::int64_t stride,
                                              const V& energy, double dx) const {
    if (!interacts) return V(0.0);
    const V depth = min(V(dx) * extinction<V>(state, stride), V(1.0));
    return square_root(V(4.0 / 9.0) * depth * max(energy, V(0.0)) / SimdTraits<V>::load(state));
  }
};

}  // namespace octant::radiation
