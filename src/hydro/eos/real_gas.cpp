#include "hydro/eos/real_gas.hpp"

#include "core/wide_simd.hpp"
#include "hydro/eos/real_gas_functions.hpp"

namespace octant::hydro {

// Instantiates the functions for values of type V.
#define OCTANT_REAL_GAS(V)                                                      \
  template void find_coldest_gas<V>(V, const RealGas&, ColdestGas<V>&);         \
  template V real_pressure<V>(V, V, V, const RealGas&);                         \
  template V real_thermal_pressure<V>(V, V, const RealGas&);                    \
  template V real_energy<V>(V, V, V, const RealGas&);                           \
  template V modulus_of_pressure<V>(V, V, const RealGas&);                      \
  template V modulus_of_thermal<V>(V, V, const ColdestGas<V>&, const RealGas&); \
  template void expand_energy<V>(V, V, V, const ColdestGas<V>&, const RealGas&, \
                                 EnergyExpansion<V>&);                          \
  template V outside_table<V>(V, V, const RealGas&);

#if !defined(OCTANT_GPU_COMPILER)
OCTANT_REAL_GAS(double)
OCTANT_REAL_GAS(SimdDouble)
OCTANT_REAL_GAS(WideDouble)
#endif

}  // namespace octant::hydro
