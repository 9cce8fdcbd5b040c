// The pressure that gas is given beside its thermal one, so that it cannot fall apart by numerical
// errors (Truelove et al. 1997, ApJ 489, L179), or so that unresolved motions hold it up.
#pragma once

#include <array>

#include "core/pack.hpp"
#include "mesh/tiles.hpp"

namespace octant::subgrid::cooling {

enum class FloorKind { none, jeans, polytrope };
constexpr auto names_of(FloorKind) { return std::array{"none", "jeans", "polytrope"}; }

// The internal energy per mass of that pressure, factor rho^(index - 1), in code units.
struct PressureFloor {
  double factor = 0.0, exponent = 1.0;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V energy(const V& density) const {
    if (factor == 0.0) return V(0.0);
    if (exponent == 1.0) return V(factor) * density;
    return V(factor) * PackTraits<V>::generate([&](int lane) {
             return Kokkos::pow(PackTraits<V>::lane(density, lane), exponent);
           });
  }
};

// The Jeans length c sqrt(pi / (G rho)), with c^2 = P / rho, is at least `length`:
// P / rho = G rho length^2 / pi.
inline PressureFloor jeans_floor(double newton_constant, double length, double gamma) {
  constexpr double pi = 3.14159265358979323846;
  return {newton_constant * length * length / (pi * (gamma - 1.0)), 1.0};
}

// P / rho = at_density (rho / density)^(index - 1).
inline PressureFloor polytropic_floor(double at_density, double density, double index,
                                      double gamma) {
  return {at_density / (gamma - 1.0) * Kokkos::pow(density, 1.0 - index), index - 1.0};
}

}  // namespace octant::subgrid::cooling
