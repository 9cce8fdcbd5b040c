// Cooling without a table: hydrogen and helium in ionisation equilibrium with the background of
// Courty's fit to Haardt & Madau (1996), and metals of solar abundances after Cloudy 07, with the
// rates and constants of RAMSES (Teyssier 2002, A&A 385, 337), cooling_method = "original" there.
#pragma once

#include "comm/communicator.hpp"
#include "subgrid/cooling/ionization.hpp"
#include "subgrid/cooling/table_rates.hpp"

namespace octant::subgrid::cooling {

// The mass share of metals that is solar there.
inline constexpr double k_original_solar = 0.02;

// Rates of gas in equilibrium at one temperature. L = cool + Z metals - heat over n_H^2, and
// (compton_cool - compton_heat) over n_H.
struct OriginalRates {
  double molecular_weight;
  double cool, heat;                  // erg cm^3 s^-1
  double compton_cool, compton_heat;  // erg s^-1
};

// The background of hydrogen and helium before redshift 0, where reionisation begins at
// z_reionization; before that only a trace is left.
PhotoRates courty_background(double z, double z_reionization);

OriginalRates original_rates(double n_H, double T, double z, const PhotoRates& background);

// Cooling by metals of solar abundance, over n_H^2, in erg cm^3 s^-1.
double original_metal_cooling(double n_H, double T, double z);

// What the original method looks at.
struct OriginalOptions {
  double gamma = 5.0 / 3.0;
  bool background = true, compton = true;
  Shielding shielding = Shielding::none;
  double reionization = 8.5;
  double maximum_temperature = 1e10;
};

// The rates on nodes of n_H = 1e-10 to 1e6 cm^-3 and T from 0.01 K. Ranks share the work.
// Collective.
Nodes original_nodes(const OriginalOptions& options, double z, const Communicator& communicator);

}  // namespace octant::subgrid::cooling
