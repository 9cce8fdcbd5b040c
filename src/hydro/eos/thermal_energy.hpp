// Internal energy of real gas as a function of density and total pressure.
#pragma once

namespace octant::hydro {

// Internal energy per volume of gas with a total pressure.
template <class V>
struct ThermalEnergy {
  V energy;
  V by_pressure;  // derivative with respect to the pressure at constant density
  V modulus;      // rho c^2
};

}  // namespace octant::hydro
