// The original method's rates as RAMSES has them in its cells: a table by n_H and T / mu, cubics
// in double logarithms between its temperatures.
#pragma once

#include "comm/communicator.hpp"
#include "subgrid/cooling/original_rates.hpp"
#include "subgrid/cooling/table_rates.hpp"

namespace octant::subgrid::cooling {

// The gas of RAMSES's rates: metals are part of it without a mass of their own, and its energies
// are those of T / mu.
inline constexpr RateGas k_original_gas{.hydrogen_per_gram = k_original_composition.hydrogen /
                                                             constants::k_proton_mass};

// What the original method looks at.
struct OriginalOptions {
  double gamma = 5.0 / 3.0;
  bool background = true, compton = true;
  Shielding shielding = Shielding::none;
  double reionization = 8.5;
  double maximum_temperature = 1e10;  // of T / mu
};

// The rates on nodes of n_H = 1e-10 to 1e6 cm^-3 and T / mu from 0.01 K. Ranks share the work.
// Collective.
Nodes original_nodes(const OriginalOptions& options, double z, const Communicator& communicator);

}  // namespace octant::subgrid::cooling
