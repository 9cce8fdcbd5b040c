// Event models of supernova feedback (kinetic, stochastic thermal, mechanical) for apply_events().
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "core/units.hpp"
#include "hydro/gas_cell.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// One or several simultaneous supernovae of a star particle.
struct Supernova {
  EventRegion region;
  double velocity[3];  // velocity of the star
  double mass;         // ejecta mass
  double energy;       // explosion energy without energy_of_motion()
  double metals;       // metal mass fraction of the ejecta
};

// Kinetic energy of the ejecta due to the velocity of the star, before the explosion.
KOKKOS_INLINE_FUNCTION double energy_of_motion(const Supernova& event) {
  double square = 0.0;
  for (const double v : event.velocity) square += v * v;
  return 0.5 * event.mass * square;
}

// Kinetic feedback: Sedov-like velocities that grow linearly with the distance from the star
// (Dubois & Teyssier 2008, A&A 477, 79, appendix A).
struct KineticBlast {
  using Event = Supernova;

  // Blast in terms of q = r / radius: mass and thermal energy per volume, speed per unit of q, and
  // mean of q. The velocity relative to the star is speed (q - mean).
  struct Blast {
    double density, thermal, speed, mean[3];
  };

  // Volume, and volume integrals of the components of q and of their squares.
  static constexpr int sums = 7;

  double kinetic_energy_fraction = 1.0;  // kinetic fraction of the explosion energy

  // Component of q along an axis. A radius of 0 includes at most one cell, around the star itself.
  KOKKOS_INLINE_FUNCTION static double distance(const Event& event, const CellAround& cell,
                                                int axis) {
    return event.region.radius > 0.0 ? cell.displacement[axis] / event.region.radius : 0.0;
  }

  // Sets the terms of a cell in the sums.
  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell&, double* terms) const {
    terms[0] = cell.volume;
    for (int d = 0; d < 3; ++d) {
      const double q = distance(event, cell, d);
      terms[1 + d] = cell.volume * q;
      terms[4 + d] = cell.volume * (q * q);
    }
  }

  // Computes the blast. A blast in a single cell is purely thermal. Returns false without cells.
  bool finish(const Event& event, const double* totals, Blast& blast) const {
    const double volume = totals[0];
    if (volume == 0.0) return false;
    double variance = 0.0;
    for (int d = 0; d < 3; ++d) {
      blast.mean[d] = totals[1 + d] / volume;
      variance += totals[4 + d] / volume - blast.mean[d] * blast.mean[d];
    }
    const bool has_momentum = variance > 1e-12 && event.mass > 0.0;
    const double kinetic = has_momentum ? kinetic_energy_fraction * event.energy : 0.0;
    blast.density = event.mass / volume;
    blast.thermal = (event.energy - kinetic) / volume;
    blast.speed = has_momentum ? std::sqrt(2.0 * kinetic / (event.mass * variance)) : 0.0;
    return true;
  }

  // Returns the deposit per volume in a cell within the radius.
  KOKKOS_INLINE_FUNCTION Deposit deposit(const Event& event, const Blast& blast,
                                         const CellAround& cell, const hydro::GasCell&) const {
    Deposit deposit;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double q = distance(event, cell, d);
      const double v = blast.speed * (q - blast.mean[d]) + event.velocity[d];
      deposit.momentum[d] = blast.density * v;
      square += v * v;
    }
    deposit.mass = blast.density;
    deposit.energy = 0.5 * blast.density * square + blast.thermal;
    deposit.metals = event.metals * blast.density;
    return deposit;
  }

  // Returns the deposit per volume in the cell that contains the star, if no cell is in the radius.
  KOKKOS_INLINE_FUNCTION Deposit deposit_in_host(const Event& event, const CellAround& cell,
                                                 const hydro::GasCell& gas) const {
    const Blast heat{event.mass / cell.volume, event.energy / cell.volume, 0.0, {}};
    return deposit(event, heat, cell, gas);
  }
};

// Stochastic thermal feedback (Dalla Vecchia & Schaye 2012, MNRAS 426, 140): each cell within the
// radius is heated with the same probability, by so much that radiative losses are small. The
// expected energy is the explosion energy.
struct StochasticBlast {
  using Event = Supernova;

  struct Blast {
    double volume, heat, chance;  // of all cells; energy per mass if heated; probability
  };

  // Volume and gas mass of the cells.
  static constexpr int sums = 2;
  double heat;  // energy per mass of a heated cell; increased if heating all cells requires it
  std::uint64_t seed;
  std::uint32_t step;

  // Sets the terms to the volume and gas mass of the cell.
  KOKKOS_INLINE_FUNCTION void weigh(const Event&, const CellAround& cell, const hydro::GasCell& gas,
                                    double* terms) const {
    terms[0] = cell.volume;
    terms[1] = cell.volume * gas.density();
  }

  // Computes the probability and the heat per mass; returns false if there are no cells.
  bool finish(const Event& event, const double* totals, Blast& blast) const {
    if (totals[0] == 0.0) return false;
    const double per_mass = event.energy / totals[1];
    blast.volume = totals[0];
    blast.heat = per_mass > heat ? per_mass : heat;
    blast.chance = per_mass / blast.heat;
    return true;
  }

  // Returns the deposit per volume in a cell. The random choice depends only on the seed, the step,
  // the event id and the position of the cell relative to the event.
  KOKKOS_INLINE_FUNCTION Deposit deposit(const Event& event, const Blast& blast,
                                         const CellAround& cell, const hydro::GasCell& gas) const {
    const RandomStream random(seed, event.region.id, step);
    const bool hit = blast.chance >= 1.0 || random.uniform(number_of(cell)) < blast.chance;
    return ejecta(event, 1.0 / blast.volume, hit ? blast.heat * gas.density() : 0.0);
  }

  // Returns the deposit per volume in the cell that contains the star, if no cell is in the radius.
  // This cell is always heated, by the whole energy.
  KOKKOS_INLINE_FUNCTION Deposit deposit_in_host(const Event& event, const CellAround& cell,
                                                 const hydro::GasCell&) const {
    return ejecta(event, 1.0 / cell.volume, event.energy / cell.volume);
  }

 private:
  KOKKOS_INLINE_FUNCTION static Deposit ejecta(const Event& event, double per_volume, double heat) {
    Deposit deposit;
    deposit.mass = event.mass * per_volume;
    deposit.metals = event.metals * deposit.mass;
    for (int d = 0; d < 3; ++d) deposit.momentum[d] = deposit.mass * event.velocity[d];
    deposit.energy = energy_of_motion(event) * per_volume + heat;
    return deposit;
  }

  // Number of a cell, unique among those within the radius, from its offset in cells and its size.
  KOKKOS_INLINE_FUNCTION static std::uint32_t number_of(const CellAround& cell) {
    const double dx = Kokkos::cbrt(cell.volume);
    auto number =
        static_cast<std::uint32_t>(static_cast<int>(Kokkos::floor(Kokkos::log2(dx) + 0.5)) & 255);
    for (const double displacement : cell.displacement)
      number = number << 8 |
               static_cast<std::uint32_t>(static_cast<int>(Kokkos::floor(displacement / dx)) & 255);
    return number;
  }
};

// Mechanical feedback for unresolved blasts: cells receive at most the terminal momentum (Kimm &
// Cen 2014, ApJ 788, 121), distributed without net momentum for any position of the star in its
// cell (Hopkins et al. 2018, MNRAS 477, 1578, section 2.3).
//
// The first pass over the cells computes their solid angles as seen from the star, and momentum
// vectors whose sum is 0. The second pass scales these vectors such that the gas gains exactly the
// kinetic energy of the blast, or the terminal momentum if that is smaller.

// Fraction of the full solid angle that a cell covers as seen from the star, and its unit vector.
struct SolidAngle {
  double share, direction[3];

  // Solid angle of a cell's face at the distance r (Hopkins et al. 2018, eq. 2).
  KOKKOS_INLINE_FUNCTION explicit SolidAngle(const CellAround& cell) {
    const double dx = Kokkos::cbrt(cell.volume), r = Kokkos::sqrt(cell.distance_squared);
    const double away = r > 0.5 * dx ? r : 0.5 * dx;
    share = 0.5 * (1.0 - 1.0 / Kokkos::sqrt(1.0 + dx * dx / (std::numbers::pi * away * away)));
    for (int d = 0; d < 3; ++d) direction[d] = r > 0.0 ? cell.displacement[d] / r : 0.0;
  }
};

// First pass, for sum_events(): means of the ambient gas, weighted by solid angle.
struct BlastSurroundings {
  using Event = Supernova;

  struct AmbientGas {
    double solid_angle = 0.0;      // sum of the cells' solid angles
    double vector_weight[3][2]{};  // weights of the vectors, [axis][lower, upper side]
    double density = 0.0, metals = 0.0;
  };
  using Blast = AmbientGas;

  static constexpr int sums = 9;
  int metals = -1;  // index of the metal density; -1: none

  KOKKOS_INLINE_FUNCTION void weigh(const Event&, const CellAround& cell, const hydro::GasCell& gas,
                                    double* terms) const {
    const SolidAngle angle(cell);
    for (int d = 0; d < 3; ++d) {
      const double part = angle.share * angle.direction[d];
      terms[2 * d] = part < 0.0 ? -part : 0.0;
      terms[2 * d + 1] = part > 0.0 ? part : 0.0;
    }
    terms[6] = angle.share;
    terms[7] = angle.share * gas.density();
    terms[8] = metals >= 0 ? angle.share * gas[metals] / gas.density() : 0.0;
  }

  // Computes the means and the weights f+ and f- of Hopkins et al. (2018, eq. 5), which give both
  // sides of an axis equal total weights. They are 0 along an axis with cells on one side only.
  // Returns false if there are no cells.
  bool finish(const Event&, const double* totals, AmbientGas& gas) const {
    gas.solid_angle = totals[6];
    if (gas.solid_angle == 0.0) return false;
    for (int d = 0; d < 3; ++d)
      for (int side = 0; side < 2; ++side) {
        const double own = totals[2 * d + side], other = totals[2 * d + 1 - side];
        if (own > 0.0 && other > 0.0)
          gas.vector_weight[d][side] = std::sqrt(0.5 * (1.0 + (other / own) * (other / own)));
      }
    gas.density = totals[7] / gas.solid_angle;
    gas.metals = totals[8] / gas.solid_angle;
    return true;
  }
};

// Second pass, for apply_events(): adds mass, momentum and heat to the cells.
struct MechanicalBlast {
  struct Event : Supernova {
    BlastSurroundings::AmbientGas around;
    double terminal_momentum, cooling_radius;
  };

  struct Blast {
    double momentum;  // factor of the cells' vectors
    double heat;      // total thermal energy
    bool has_cooled;  // true if the momentum is limited to the terminal one
  };

  static constexpr int sums = 3;
  double kinetic_energy_fraction = 1.0;  // kinetic fraction of the explosion energy

  // Part of the blast that a cell receives: fraction, mass, and a vector along the momentum.
  struct Portion {
    double share, mass, vector[3], square;

    KOKKOS_INLINE_FUNCTION Portion(const Event& event, const CellAround& cell) {
      const SolidAngle angle(cell);
      share = angle.share / event.around.solid_angle;
      mass = share * event.mass;
      square = 0.0;
      for (int d = 0; d < 3; ++d) {
        const double weight = event.around.vector_weight[d][angle.direction[d] > 0.0];
        vector[d] = angle.share * angle.direction[d] * weight;
        square += vector[d] * vector[d];
      }
    }
  };

  // Kinetic energy P linear + P^2 quadratic, in the frame of the star, that the momentum P `vector`
  // adds to gas that already contains its part of the ejecta.
  struct KineticGain {
    double linear = 0.0, quadratic;

    KOKKOS_INLINE_FUNCTION KineticGain(const Event& event, const Portion& portion,
                                       const CellAround& cell, const hydro::GasCell& gas) {
      const double gas_mass = gas.density() * cell.volume, mass = gas_mass + portion.mass;
      for (int d = 0; d < 3; ++d)
        linear += portion.vector[d] * (gas.velocity(d) - event.velocity[d]) * gas_mass / mass;
      quadratic = 0.5 * portion.square / mass;
    }
  };

  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double* terms) const {
    const Portion portion(event, cell);
    const KineticGain kinetic(event, portion, cell, gas);
    terms[0] = kinetic.linear;
    terms[1] = kinetic.quadratic;
    terms[2] = Kokkos::sqrt(portion.square);
  }

  bool finish(const Event& event, const double* totals, Blast& blast) const {
    if (event.around.solid_angle == 0.0) return false;
    const double linear = totals[0], quadratic = totals[1], lengths = totals[2];
    const double kinetic = kinetic_energy_fraction * event.energy;
    const double root = std::sqrt(linear * linear + 4.0 * quadratic * kinetic);
    blast = {0.0, event.energy, false};
    if (quadratic == 0.0) return true;
    blast.momentum =
        linear > 0.0 ? 2.0 * kinetic / (linear + root) : 0.5 * (root - linear) / quadratic;
    const double most = event.terminal_momentum / lengths;
    blast.has_cooled = blast.momentum > most;
    if (blast.has_cooled) blast.momentum = most;
    blast.heat -= blast.momentum * (linear + blast.momentum * quadratic);
    return true;
  }

  KOKKOS_INLINE_FUNCTION Deposit deposit(const Event& event, const Blast& blast,
                                         const CellAround& cell, const hydro::GasCell& gas) const {
    const Portion portion(event, cell);
    const KineticGain kinetic(event, portion, cell, gas);
    const double per_volume = 1.0 / cell.volume, P = blast.momentum;
    Deposit deposit;
    deposit.mass = portion.mass * per_volume;
    deposit.metals = event.metals * deposit.mass;
    double energy = portion.share * energy_of_motion(event) +
                    P * (kinetic.linear + P * kinetic.quadratic) +
                    portion.share * blast.heat * kept_heat(event, blast, cell);
    for (int d = 0; d < 3; ++d) {
      energy += P * portion.vector[d] * event.velocity[d];
      deposit.momentum[d] = (P * portion.vector[d] + portion.mass * event.velocity[d]) * per_volume;
    }
    deposit.energy = energy * per_volume;
    return deposit;
  }

  KOKKOS_INLINE_FUNCTION Deposit deposit_in_host(const Event& event, const CellAround& cell,
                                                 const hydro::GasCell&) const {
    Deposit deposit;
    deposit.mass = event.mass / cell.volume;
    deposit.metals = event.metals * deposit.mass;
    for (int d = 0; d < 3; ++d) deposit.momentum[d] = deposit.mass * event.velocity[d];
    deposit.energy = (event.energy + energy_of_motion(event)) / cell.volume;
    return deposit;
  }

  // Fraction of the thermal energy that a cell receives: less than 1 beyond the cooling radius if
  // the blast has radiated the rest (Hopkins et al. 2018).
  KOKKOS_INLINE_FUNCTION static double kept_heat(const Event& event, const Blast& blast,
                                                 const CellAround& cell) {
    const double r = Kokkos::sqrt(cell.distance_squared);
    if (!blast.has_cooled || r <= event.cooling_radius) return 1.0;
    return Kokkos::pow(r / event.cooling_radius, -6.5);
  }
};

// Terminal momentum in g cm s^-1 of a blast in gas of n hydrogen nuclei per cm^3 and metallicity Z
// in solar units: 3e5 Msun km/s E51^(16/17) n^(-2/17) Z^-0.14 (Kimm & Cen 2014, eq. 17), Z >= 0.01.
inline double terminal_momentum(double energy, double n, double Z) {
  return 3e5 * constants::k_solar_mass * 1e5 * std::pow(energy / 1e51, 16.0 / 17.0) *
         std::pow(n, -2.0 / 17.0) * std::pow(std::max(Z, 0.01), -0.14);
}

// Cooling radius in cm: 28.4 pc n^(-3/7) E51^(2/7) Z^-0.14, Z >= 0.01 (Hopkins et al. 2018).
inline double cooling_radius(double energy, double n, double Z) {
  return 28.4 * constants::k_parsec * std::pow(n, -3.0 / 7.0) * std::pow(energy / 1e51, 2.0 / 7.0) *
         std::pow(std::max(Z, 0.01), -0.14);
}

}  // namespace octant::subgrid
