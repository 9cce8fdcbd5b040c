// Event models of accretion and drag, with the kernel exp(-r^2 / r_K^2) of Krumholz, McKee & Klein
// (2004, ApJ 611, 399). Weights are proportional to the gas density, so that no cell is depleted
// before others.
#pragma once

#include <algorithm>
#include <cmath>

#include "hydro/gas_cell.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// Weight of a cell for a kernel width `kernel`.
KOKKOS_INLINE_FUNCTION double kernel_weight(double kernel, const CellAround& cell) {
  return Kokkos::exp(-cell.distance_squared / (kernel * kernel));
}

// Kernel-weighted means of the gas around a black hole: density by volume, the others by mass.
struct GasMeans {
  double mass = 0.0;  // kernel-weighted mass
  double density = 0.0, sound_speed = 0.0, velocity[3] = {};

  // Number of sums from which the means follow.
  static constexpr int sums = 6;
  // Terms of a cell.
  KOKKOS_INLINE_FUNCTION static void weigh(double kernel, const CellAround& cell,
                                           const hydro::GasCell& gas, double gamma, double* terms) {
    const double volume = cell.volume * kernel_weight(kernel, cell);
    const double mass = volume * gas.density();
    terms[0] = volume;
    terms[1] = mass;
    for (int d = 0; d < 3; ++d) terms[2 + d] = mass * gas.velocity(d);
    terms[5] = volume * gamma * gas.pressure();
  }
  // Returns false if there is no gas.
  bool finish(const double* totals) {
    if (totals[0] == 0.0) return false;
    mass = totals[1];
    density = mass / totals[0];
    for (int d = 0; d < 3; ++d) velocity[d] = totals[2 + d] / mass;
    sound_speed = std::sqrt(totals[5] / mass);
    return true;
  }
};

// Event model for the means alone.
struct Surroundings {
  struct Event {
    EventRegion region;
    double kernel;
  };
  using Blast = GasMeans;
  static constexpr int sums = GasMeans::sums;
  double gamma;

  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double* terms) const {
    GasMeans::weigh(event.kernel, cell, gas, gamma, terms);
  }
  bool finish(const Event&, const double* totals, Blast& blast) const {
    return blast.finish(totals);
  }
};

// Gas that is removed from cells: the same fraction of all conserved quantities of a cell, which
// therefore keeps its velocity, temperature and concentrations. A step removes at most a quarter of
// a cell.
struct GasRemoval {
  // Indices of the removed quantities.
  enum { k_mass, k_momentum, k_energy = 4, k_metals, k_angular_momentum, granted = 9 };

  int variables, metals;

  // Maximum fraction of a cell's gas that a step removes.
  KOKKOS_INLINE_FUNCTION double capacity(const hydro::GasCell&) const { return 0.25; }
  // Removes the fraction `share` of the cell's gas.
  KOKKOS_INLINE_FUNCTION void change(const hydro::GasCell& gas, double share) const {
    gas.take(share, variables);
  }

 protected:
  // Sets `terms` to the removed quantities of a cell; angular momentum is relative to the event's
  // position and to an origin that moves with `velocity`.
  KOKKOS_INLINE_FUNCTION void add_up(const double (&velocity)[3], const CellAround& cell,
                                     const hydro::GasCell& gas, double share, double* terms) const {
    const double volume = share * cell.volume;
    double past[3];
    terms[k_mass] = volume * gas.density();
    for (int d = 0; d < 3; ++d) {
      terms[k_momentum + d] = volume * gas[hydro::k_momentum_x + d];
      past[d] = terms[k_momentum + d] - terms[k_mass] * velocity[d];
    }
    terms[k_energy] = volume * gas[hydro::k_energy];
    terms[k_metals] = metals >= 0 ? volume * gas[metals] : 0.0;
    for (int d = 0; d < 3; ++d)
      terms[k_angular_momentum + d] = cell.displacement[(d + 1) % 3] * past[(d + 2) % 3] -
                                      cell.displacement[(d + 2) % 3] * past[(d + 1) % 3];
  }
};

// Bondi-Hoyle-Lyttleton accretion from the means around each black hole, limited to the Eddington
// rate if `eddington` is set.
struct Accretion : GasRemoval {
  struct Event {
    EventRegion region;
    double kernel, velocity[3], mass, eddington_rate, step;
    bool may_feed;
  };
  struct Blast {
    GasMeans gas;
    double bondi_rate, speed;  // speed of the black hole relative to the gas
    double share;              // fraction of gas of weight 1 to remove
  };
  static constexpr int sums = GasMeans::sums;

  double gamma, gravity;
  // boost factor and its density; maximum speed of the black hole in the rate
  double boost, boost_density, fastest;
  bool eddington;

  // Sets the terms of a cell in the sums of GasMeans.
  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double* terms) const {
    GasMeans::weigh(event.kernel, cell, gas, gamma, terms);
  }

  // Computes the gas means and rates; returns false if there is no gas within the kernel.
  bool finish(const Event& event, const double* totals, Blast& blast) const {
    if (!blast.gas.finish(totals)) return false;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double v = event.velocity[d] - blast.gas.velocity[d];
      square += v * v;
    }
    blast.speed = std::sqrt(square);
    square = std::min(square, fastest * fastest);
    const double denser = std::max(blast.gas.density / boost_density, 1.0);
    const double reach = gravity * event.mass;
    blast.bondi_rate =
        event.may_feed ? std::pow(denser, boost) * 4.0 * M_PI * reach * reach * blast.gas.density /
                             std::pow(blast.gas.sound_speed * blast.gas.sound_speed + square, 1.5)
                       : 0.0;
    const double rate =
        eddington ? std::min(blast.bondi_rate, event.eddington_rate) : blast.bondi_rate;
    blast.share = rate * event.step / blast.gas.mass;
    return true;
  }

  // Returns the fraction of the gas of a cell that the black hole requests.
  KOKKOS_INLINE_FUNCTION double request(const Event& event, const Blast& blast,
                                        const CellAround& cell, bool, const hydro::GasCell&) const {
    return blast.share * kernel_weight(event.kernel, cell);
  }
  // Sets the terms to the accreted quantities, the fraction `given` of the cell's gas.
  KOKKOS_INLINE_FUNCTION void grant(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double, double given,
                                    double* terms) const {
    add_up(event.velocity, cell, gas, given, terms);
  }
};

// Transfers the momentum and energy that a black hole loses by drag to the gas around it.
struct DraggedGas {
  struct Event {
    EventRegion region;
    double kernel, momentum[3], energy;
  };
  struct Blast {
    double mass;
  };
  // Gas mass, weighted with the kernel.
  static constexpr int sums = 1;

  // Sets terms[0] to the weighted gas mass of the cell.
  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double* terms) const {
    terms[0] = cell.volume * gas.density() * kernel_weight(event.kernel, cell);
  }
  // Returns false if there is no gas within the kernel.
  bool finish(const Event&, const double* totals, Blast& blast) const {
    blast.mass = totals[0];
    return totals[0] > 0.0;
  }
  // Returns the deposit per volume in a cell, in proportion to its weighted gas mass.
  KOKKOS_INLINE_FUNCTION Deposit deposit(const Event& event, const Blast& blast,
                                         const CellAround& cell, const hydro::GasCell& gas) const {
    return part(event, gas.density() * kernel_weight(event.kernel, cell) / blast.mass);
  }
  // Returns the deposit per volume in the cell that contains the black hole, if the radius contains
  // no cell centre.
  KOKKOS_INLINE_FUNCTION Deposit deposit_in_host(const Event& event, const CellAround& cell,
                                                 const hydro::GasCell&) const {
    return part(event, 1.0 / cell.volume);
  }

 private:
  KOKKOS_INLINE_FUNCTION static Deposit part(const Event& event, double per_volume) {
    Deposit deposit;
    for (int d = 0; d < 3; ++d) deposit.momentum[d] = per_volume * event.momentum[d];
    deposit.energy = per_volume * event.energy;
    return deposit;
  }
};

}  // namespace octant::subgrid
