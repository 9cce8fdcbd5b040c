// Supernovae whose cells are too coarse for a blast to be followed: they get the momentum that it
// ends with (Kimm & Cen 2014, ApJ 788, 121), shared out so that none is left over wherever the star
// is in its cell (Hopkins et al. 2018, MNRAS 477, 1578, section 2.3).
//
// Two rounds over the cells. The first one finds the solid angles that cells cover as the star sees
// them, and with them vectors whose sum is 0; the second one the length of these vectors at which
// the gas has gained the blast's kinetic energy exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/code_units.hpp"
#include "hydro/gas_cell.hpp"
#include "subgrid/supernovae/supernova.hpp"

namespace octant::subgrid {

// A cell as the star sees it: the share of all directions that it covers, and the way to it.
struct SolidAngle {
  double share, direction[3];

  // ... of a cell's face at the distance r (Hopkins et al. 2018, eq. 2).
  KOKKOS_INLINE_FUNCTION explicit SolidAngle(const CellAround& cell) {
    const double dx = Kokkos::cbrt(cell.volume), r = Kokkos::sqrt(cell.square);
    const double away = r > 0.5 * dx ? r : 0.5 * dx;
    share = 0.5 * (1.0 - 1.0 / Kokkos::sqrt(1.0 + dx * dx / (std::numbers::pi * away * away)));
    for (int d = 0; d < 3; ++d) direction[d] = r > 0.0 ? cell.way[d] / r : 0.0;
  }
};

// The first round, for sum_events(). Means of the gas around are weighted by solid angle.
struct BlastSurroundings {
  using Event = Supernova;

  struct Blast {
    double share = 0.0;     // sum of solid angles
    double factor[3][2]{};  // of the vectors' components to lower and upper sides
    double density = 0.0, metals = 0.0;
  };

  static constexpr int sums = 9;
  int metals = -1;  // the variable

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

  // Factors make both sides of an axis weigh the same (Hopkins et al. 2018, eq. 5); an axis with
  // cells on one side only has none.
  bool finish(const Event&, const double* sums, Blast& blast) const {
    blast.share = sums[6];
    if (blast.share == 0.0) return false;
    for (int d = 0; d < 3; ++d)
      for (int side = 0; side < 2; ++side) {
        const double own = sums[2 * d + side], other = sums[2 * d + 1 - side];
        if (own > 0.0 && other > 0.0)
          blast.factor[d][side] = std::sqrt(0.5 * (1.0 + (other / own) * (other / own)));
      }
    blast.density = sums[7] / blast.share;
    blast.metals = sums[8] / blast.share;
    return true;
  }
};

// The second round.
struct MechanicalBlast {
  struct Event : Supernova {
    BlastSurroundings::Blast around;
    double terminal_momentum, cooling_radius;
  };

  struct Blast {
    double momentum;  // by which the cells' vectors are multiplied
    double heat;      // for all solid angles together
    bool has_cooled;  // whether the momentum is the terminal one
  };

  static constexpr int sums = 3;
  double kinetic_share = 1.0;  // of the energy

  // What a cell gets of one: mass, and a vector of momentum.
  struct Portion {
    double share, mass, vector[3], square;

    KOKKOS_INLINE_FUNCTION Portion(const Event& event, const CellAround& cell) {
      const SolidAngle angle(cell);
      share = angle.share / event.around.share;
      mass = share * event.mass;
      square = 0.0;
      for (int d = 0; d < 3; ++d) {
        const double factor = event.around.factor[d][angle.direction[d] > 0.0];
        vector[d] = angle.share * angle.direction[d] * factor;
        square += vector[d] * vector[d];
      }
    }
  };

  // Kinetic energy that a momentum P along the vector adds to gas that has its part of the ejecta
  // already, as the star sees it: P linear + P^2 quadratic.
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
    const KineticGain gain(event, portion, cell, gas);
    terms[0] = gain.linear;
    terms[1] = gain.quadratic;
    terms[2] = Kokkos::sqrt(portion.square);
  }

  bool finish(const Event& event, const double* sums, Blast& blast) const {
    if (event.around.share == 0.0) return false;
    const double linear = sums[0], quadratic = sums[1], lengths = sums[2];
    const double kinetic = kinetic_share * event.energy;
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

  KOKKOS_INLINE_FUNCTION Gain share(const Event& event, const Blast& blast, const CellAround& cell,
                                    const hydro::GasCell& gas) const {
    const Portion portion(event, cell);
    const KineticGain kinetic(event, portion, cell, gas);
    const double per_volume = 1.0 / cell.volume, P = blast.momentum;
    Gain gain;
    gain.mass = portion.mass * per_volume;
    gain.metals = event.metals * gain.mass;
    double energy = portion.share * energy_of_motion(event) +
                    P * (kinetic.linear + P * kinetic.quadratic) +
                    portion.share * blast.heat * kept_heat(event, blast, cell);
    for (int d = 0; d < 3; ++d) {
      energy += P * portion.vector[d] * event.velocity[d];
      gain.momentum[d] = (P * portion.vector[d] + portion.mass * event.velocity[d]) * per_volume;
    }
    gain.energy = energy * per_volume;
    return gain;
  }

  KOKKOS_INLINE_FUNCTION Gain share_of_host(const Event& event, const CellAround& cell,
                                            const hydro::GasCell&) const {
    Gain gain;
    gain.mass = event.mass / cell.volume;
    gain.metals = event.metals * gain.mass;
    for (int d = 0; d < 3; ++d) gain.momentum[d] = gain.mass * event.velocity[d];
    gain.energy = (event.energy + energy_of_motion(event)) / cell.volume;
    return gain;
  }

  // The share of its heat that a blast has not radiated when it reaches a cell, beyond the radius
  // at which it cools.
  KOKKOS_INLINE_FUNCTION static double kept_heat(const Event& event, const Blast& blast,
                                                 const CellAround& cell) {
    const double r = Kokkos::sqrt(cell.square);
    if (!blast.has_cooled || r <= event.cooling_radius) return 1.0;
    return Kokkos::pow(r / event.cooling_radius, -6.5);
  }
};

// The momentum that a blast in gas of n hydrogen nuclei per cm^3 and Z solar metallicities ends
// with, in g cm s^-1: 3e5 Msun km/s E51^(16/17) n^(-2/17) Z^-0.14 (Kimm & Cen 2014, eq. 17).
inline double terminal_momentum(double energy, double n, double Z) {
  return 3e5 * constants::k_solar_mass * 1e5 * std::pow(energy / 1e51, 16.0 / 17.0) *
         std::pow(n, -2.0 / 17.0) * std::pow(std::max(Z, 0.01), -0.14);
}

// The radius in cm at which it cools: 28.4 pc n^(-3/7) E51^(2/7) Z^-0.14 (Hopkins et al. 2018).
inline double cooling_radius(double energy, double n, double Z) {
  return 28.4 * constants::k_parsec * std::pow(n, -3.0 / 7.0) * std::pow(energy / 1e51, 2.0 / 7.0) *
         std::pow(std::max(Z, 0.01), -0.14);
}

}  // namespace octant::subgrid
