// Cooling rates of the original method of RAMSES, tabulated in n_H and T / mu.
#pragma once

#include <cmath>

#include "comm/communicator.hpp"
#include "subgrid/cooling/ionization.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::subgrid::cooling {

// The cooling rates of RAMSES require no file: hydrogen and helium are in ionisation equilibrium
// with Courty's fit to the background of Haardt & Madau (1996), and metal cooling at solar
// abundances is from Cloudy 07. Rates and constants are those of Teyssier (2002, A&A 385, 337).

// Solar metal mass fraction in RAMSES.
inline constexpr double k_original_solar = 0.02;

// Returns the rates of the smallest ultraviolet background at redshift z, which sets the residual
// ionisation.
PhotoRates trace_background(double z);

// Returns the rates of Courty's background with reionisation at z_reionization, or those of
// trace_background() if they are larger.
PhotoRates courty_background(double z, double z_reionization);

// Collisional cooling of hydrogen and helium at one temperature, divided by n_H^2 (Cen 1992), with
// collisional ionisation doubled as in Theuns et al. (1998).
class PrimordialCooling {
 public:
  explicit PrimordialCooling(double T) {
    const double root = std::sqrt(T), T3 = 1e-3 * T, T5 = 1e-5 * T, T6 = 1e-6 * T;
    const double distance = 5.5 - std::log10(T);
    cut_ = 1.0 / (1.0 + std::sqrt(T5));
    bremsstrahlung_ = 1.42e-27 * root * (1.1 + 0.34 * std::exp(-distance * distance / 3));
    excitation_[0] = 7.5e-19 * std::exp(-118348.0 / T);
    excitation_[1] = 9.10e-27 * std::pow(T, -0.1687) * std::exp(-13179.0 / T);
    excitation_[2] = 5.54e-17 * std::pow(T, -0.397) * std::exp(-473638.0 / T);
    ionization_[0] = 1.27e-21 * std::exp(-157809.1 / T);
    ionization_[1] = 9.38e-22 * std::exp(-285335.4 / T);
    ionization_[2] = 4.95e-22 * std::exp(-631515.0 / T);
    of_ionization_ = 2.0 * root * cut_;
    capture_ = root * std::pow(T3, -0.2) / (1.0 + std::pow(T6, 0.7));
    const double dielectronic =
        1.24e-13 / (T * root) * std::exp(-470000.0 / T) * (1.0 + 0.3 * std::exp(-94000.0 / T));
    recombination_ = 1.55e-26 * std::pow(T, 0.3647) + dielectronic;
  }

  // Returns the cooling rate in erg cm^3 s^-1 for the species x.
  template <class V>
  V rate(const Species<V>& x) const {
    const V bremsstrahlung = V(bremsstrahlung_) * (x.HII + x.HeII + V(4.0) * x.HeIII);
    const V excitation = V(cut_) * (V(excitation_[0]) * x.HI + V(excitation_[1]) * x.HeI +
                                    V(excitation_[2]) * x.HeII);
    const V ionization = V(of_ionization_) * (V(ionization_[0]) * x.HI + V(ionization_[1]) * x.HeI +
                                              V(ionization_[2]) * x.HeII);
    const V recombination =
        V(capture_) * (V(8.70e-27) * x.HII + V(3.48e-26) * x.HeIII) + V(recombination_) * x.HeII;
    return x.electrons * (bremsstrahlung + excitation + ionization + recombination);
  }

 private:
  double cut_, bremsstrahlung_, excitation_[3], of_ionization_, ionization_[3], capture_,
      recombination_;
};

// Photoheating by the ultraviolet background, divided by n_H^2, in erg cm^3 s^-1.
template <class V>
V photo_heating(const V& n_H, const PhotoRates& background, const Species<V>& x) {
  const double* heat = background.heating;
  return (V(heat[0]) * x.HI + V(heat[1]) * x.HeI + V(heat[2]) * x.HeII) / n_H;
}

// Compton cooling and heating in erg s^-1 per hydrogen nucleus.
struct ComptonRates {
  double cool, heat;
};
// Returns the Compton rates for a number of electrons per hydrogen nucleus.
ComptonRates original_compton(double electrons, double T, double z);

// log10 of the cooling rate of metals of solar abundance divided by n_H^2, in erg cm^3 s^-1, and
// its slope against log10 T as in RAMSES.
struct MetalCooling {
  double log_rate, slope;
};
// Returns the metal cooling at hydrogen density n_H in cm^-3, temperature T in K (not T / mu) and
// redshift z. Outside the temperatures of the fit, log_rate is -100.
MetalCooling original_metals(double n_H, double T, double z);

// Composition for the rates of RAMSES: metals do not reduce hydrogen, and nodes are in T / mu.
inline constexpr RateGas k_original_gas{.hydrogen_per_gram = k_original_composition.hydrogen /
                                                             constants::k_proton_mass};

// Options of the original method.
struct OriginalOptions {
  double gamma = 5.0 / 3.0;
  bool background = true, compton = true;
  Shielding shielding = Shielding::none;
  double reionization = 8.5;
  double maximum_temperature = 1e10;  // T / mu in K
};

// Returns the rates at nodes from n_H = 1e-10 to 1e6 cm^-3 and from T / mu = 0.01 K, computed in
// parallel by all ranks. Collective.
Nodes original_nodes(const OriginalOptions& options, double z, const Communicator& communicator);

}  // namespace octant::subgrid::cooling
