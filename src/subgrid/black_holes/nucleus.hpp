// Event models of AGN feedback: jets and thermal heating (Dubois et al. 2012, MNRAS 420, 2662).
#pragma once

#include <cmath>

#include "hydro/gas_cell.hpp"
#include "subgrid/black_holes/feeding.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// Bipolar jet in a capsule around its axis: heights |h| <= reach, distances from the axis <= reach,
// profile psi = exp(-distance^2 / (2 reach^2)). The speeds of both lobes are such that they add no
// net momentum and exactly the energy of the event, for any set of cells.
struct JetLaw {
  struct Event {
    EventRegion region;  // radius of the sphere around the capsule
    double reach;
    double velocity[3];   // velocity of the jet's mass
    double direction[3];  // unit vector along the axis
    double mass;
    double energy;
    double kinetic_energy_fraction;  // kinetic fraction of the energy
    double heat = 0.0;               // internal energy of the jet's mass
    double metals = 0.0;             // metal mass fraction
  };

  // Event radius for a capsule of size `reach`.
  static double radius(double reach) { return std::sqrt(2.0) * reach; }

  // Mass per psi, speed for s = 1, mean sign of h, heat per volume.
  struct Blast {
    double mass, speed, mean_sign, heat;
  };

  // Volume, and the integrals of psi, psi sign(h), psi sign(h)^2.
  static constexpr int sums = 4;

  struct InJet {
    bool inside;
    double sign, psi;
  };
  // Returns the location of a cell centre relative to the jet: true if it is inside the capsule,
  // the sign of its height, and psi there.
  KOKKOS_INLINE_FUNCTION static InJet locate(const Event& event, const CellAround& cell) {
    double height = 0.0;
    for (int d = 0; d < 3; ++d) height += cell.displacement[d] * event.direction[d];
    const double square = cell.distance_squared - height * height,
                 reach = event.reach * event.reach;
    return {Kokkos::abs(height) <= event.reach && square <= reach,
            static_cast<double>((height > 0.0) - (height < 0.0)),
            Kokkos::exp(-0.5 * square / reach)};
  }

  // Sets the terms of a cell in the sums; zero outside the capsule.
  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell&, double* terms) const {
    for (int n = 0; n < sums; ++n) terms[n] = 0.0;
    const InJet jet = locate(event, cell);
    if (!jet.inside) return;
    terms[0] = cell.volume;
    terms[1] = cell.volume * jet.psi;
    terms[2] = cell.volume * jet.psi * jet.sign;
    terms[3] = cell.volume * jet.psi * (jet.sign * jet.sign);
  }

  // A jet with cells in one lobe only is injected as heat.
  bool finish(const Event& event, const double* totals, Blast& blast) const {
    if (totals[0] == 0.0) return false;
    const double mean = totals[2] / totals[1];
    const double variance = totals[3] / totals[1] - mean * mean;
    const bool has_momentum = variance > 1e-12 && event.mass > 0.0;
    const double kinetic = has_momentum ? event.kinetic_energy_fraction * event.energy : 0.0;
    blast.mass = event.mass / totals[1];
    blast.speed = has_momentum ? std::sqrt(2.0 * kinetic / (event.mass * variance)) : 0.0;
    blast.mean_sign = mean;
    blast.heat = (event.energy - kinetic + event.heat) / totals[0];
    return true;
  }

  // Returns the deposit per volume in a cell; zero outside the capsule.
  KOKKOS_INLINE_FUNCTION Deposit deposit(const Event& event, const Blast& blast,
                                         const CellAround& cell, const hydro::GasCell&) const {
    const InJet jet = locate(event, cell);
    if (!jet.inside) return {};
    return jet_deposit(event, blast.mass * jet.psi, blast.speed * (jet.sign - blast.mean_sign),
                       blast.heat);
  }

  // Returns the deposit per volume in the cell that contains the event, if no cell centre is in the
  // event's radius: all energy is heat.
  KOKKOS_INLINE_FUNCTION Deposit deposit_in_host(const Event& event, const CellAround& cell,
                                                 const hydro::GasCell&) const {
    return jet_deposit(event, event.mass / cell.volume, 0.0,
                       (event.energy + event.heat) / cell.volume);
  }

 private:
  // Returns the deposit, per volume, of mass that moves with the jet's velocity plus `speed` along
  // the axis.
  KOKKOS_INLINE_FUNCTION static Deposit jet_deposit(const Event& event, double mass, double speed,
                                                    double heat) {
    Deposit deposit;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double v = event.velocity[d] + speed * event.direction[d];
      deposit.momentum[d] = mass * v;
      square += v * v;
    }
    deposit.mass = mass;
    deposit.energy = 0.5 * mass * square + heat;
    deposit.metals = event.metals * mass;
    return deposit;
  }
};

// Mass loading of a jet from the cell that contains the black hole.
struct JetLoading : GasRemoval {
  struct Event {
    EventRegion region;  // radius contains the centre of that cell
    double mass;
  };
  struct Blast {
    bool any = false;
  };
  // Volume.
  static constexpr int sums = 1;

  // Sets terms[0] to the volume of the cell.
  KOKKOS_INLINE_FUNCTION void weigh(const Event&, const CellAround& cell, const hydro::GasCell&,
                                    double* terms) const {
    terms[0] = cell.volume;
  }
  // Returns true if any cell centre lies within the radius of the event, and stores this in
  // blast.any.
  bool finish(const Event&, const double* totals, Blast& blast) const {
    return blast.any = totals[0] > 0.0;
  }
  // Returns the fraction of the gas of a cell that the event requests: zero except for the cell
  // that contains the black hole (`holds`).
  KOKKOS_INLINE_FUNCTION double request(const Event& event, const Blast&, const CellAround& cell,
                                        bool holds, const hydro::GasCell& gas) const {
    return holds ? event.mass / (gas.density() * cell.volume) : 0.0;
  }
  // Sets the terms to the quantities of the removed gas, the fraction `given` of the cell.
  KOKKOS_INLINE_FUNCTION void grant(const Event&, const CellAround& cell, const hydro::GasCell& gas,
                                    double, double given, double* terms) const {
    const double at_rest[3] = {};
    add_up(at_rest, cell, gas, given, terms);
  }
};

// Heating of the gas within reach, proportional to its mass, up to a maximum internal energy. Heat
// that would exceed the maximum is not granted.
struct HeatLaw {
  struct Event {
    EventRegion region;
    double saved, energy;  // saved from earlier steps; new in this step
    double least;          // minimum `energy` per gas mass for its release
  };
  struct Blast {
    double per_mass = 0.0;
    bool released = false;  // true if the energy of this step is released
  };
  // Gas mass.
  static constexpr int sums = 1;
  enum { k_given, k_refused, granted };

  double hottest;  // maximum internal energy per mass

  // Sets terms[0] to the gas mass of the cell.
  KOKKOS_INLINE_FUNCTION void weigh(const Event&, const CellAround& cell, const hydro::GasCell& gas,
                                    double* terms) const {
    terms[0] = cell.volume * gas.density();
  }
  // Returns false if there is no gas. Releases the energy of this step if it exceeds the minimum
  // for the gas mass.
  bool finish(const Event& event, const double* totals, Blast& blast) const {
    if (totals[0] == 0.0) return false;
    blast.released = event.energy > event.least * totals[0];
    blast.per_mass = (event.saved + (blast.released ? event.energy : 0.0)) / totals[0];
    return true;
  }
  // Returns the heat per volume that the event requests from a cell.
  KOKKOS_INLINE_FUNCTION double request(const Event&, const Blast& blast, const CellAround&, bool,
                                        const hydro::GasCell& gas) const {
    return blast.per_mass * gas.density();
  }
  // Returns the maximum heat per volume that a cell can take.
  KOKKOS_INLINE_FUNCTION double capacity(const hydro::GasCell& gas) const {
    const double available = hottest - gas.internal_energy();
    return available > 0.0 ? available * gas.density() : 0.0;
  }
  // Sets the terms to the granted and the refused heat of a cell.
  KOKKOS_INLINE_FUNCTION void grant(const Event&, const CellAround& cell, const hydro::GasCell&,
                                    double requested, double given, double* terms) const {
    terms[k_given] = cell.volume * given;
    terms[k_refused] = cell.volume * (requested - given);
  }
  // Adds the granted heat per volume to the gas of a cell.
  KOKKOS_INLINE_FUNCTION void change(const hydro::GasCell& gas, double given) const {
    const double nothing[3] = {};
    gas.add(0.0, nothing, given);
  }
};

}  // namespace octant::subgrid
