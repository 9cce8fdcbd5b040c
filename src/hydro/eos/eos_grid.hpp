// Nodes of a tabulated equation of state, as kernels read them; see eos_lookup.hpp.
#pragma once

#include "core/compiler.hpp"

namespace octant::hydro {

// Argument at which ApproximateLog (eos_lookup.hpp) has this value; for tables, not for kernels.
double argument_of_log(double value);

// Axis of nodes with even spacing in ApproximateLog, with one extra node at each end.
struct GridAxis {
  double per_log = 1.0;  // nodes per unit of ApproximateLog
  double first = 0.0;    // ApproximateLog of node 0, times per_log
  int nodes = 4;

  // Argument at a node.
  double at(int node) const { return argument_of_log((node + first) / per_log); }
};

// Tabulated equation of state, for kernels. Copied by value; the nodes belong to a TabulatedGas.
struct EosGrid {
  // Values of the isotherms at each node of density.
  enum Isotherm {
    k_pressure_per_mass,
    k_energy_per_mass,
    k_modulus_per_mass,
    k_hottest_per_mass,
    k_isotherm_values
  };

  const double *on_host = nullptr, *on_device = nullptr;  // nodes in both memories
  GridAxis density;
  GridAxis heat;  // axis of q / rho and of pi / rho
  double least_density = 0.0, largest_density = 0.0;
  double smallest_exponent = 1.0, largest_exponent = 2.0;  // bounds of rho c^2 / p
  double smallest_ratio = 1.0;                             // lower bound of pi / q

  // Offsets of pi / q, q / pi and (rho c^2 - K_0) / q (eos_lookup.hpp) among the nodes; values() is
  // the number of all values.
  KOKKOS_FORCEINLINE_FUNCTION int ratios() const { return k_isotherm_values * density.nodes; }
  KOKKOS_FORCEINLINE_FUNCTION int inverse_ratios() const {
    return ratios() + density.nodes * heat.nodes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int moduli() const {
    return inverse_ratios() + density.nodes * heat.nodes;
  }
  int values() const { return moduli() + density.nodes * heat.nodes; }

  // Nodes in the memory of the calling code, host or device.
  KOKKOS_FORCEINLINE_FUNCTION const double* nodes() const {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return on_device;
#else
    return on_host;
#endif
  }
};

}  // namespace octant::hydro
