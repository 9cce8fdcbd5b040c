// What active nuclei give to the gas around them: jets, or heat (Dubois et al. 2012, MNRAS 420,
// 2662).
#pragma once

#include <cmath>

#include "hydro/gas_cell.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// A jet fills a capsule around its axis: heights |h| <= reach, distances from the axis <= reach, by
// the profile psi = exp(-distance^2 / (2 reach^2)). Both lobes move away from the hole, by speeds
// that leave no net momentum beside the hole's own and give the energy exactly, whatever the cells.
// Heat goes to the gas within reach by its mass.
struct NucleusLaw {
  enum class Mode : std::int32_t { jet, heat };

  struct Event {
    EventPlace place;  // for a jet, the radius is that of the sphere around its capsule
    Mode mode;
    double reach;
    double velocity[3];   // of the hole
    double direction[3];  // of the jet, a unit vector
    double mass;          // that a jet carries
    double energy;
    double kinetic_share;  // of a jet's energy
  };

  // The event's radius for a capsule of that reach.
  static double jet_radius(double reach) { return std::sqrt(2.0) * reach; }

  // Of a jet: mass per psi, the speed of s = 1, the mean of the sign of h, heat per volume. Of
  // heat: energy per mass.
  struct Blast {
    double mass, speed, mean_sign, heat;
  };

  // Jet: volume, and the integrals of psi, psi sign(h), psi sign(h)^2. Heat: mass.
  static constexpr int sums = 4;

  struct InJet {
    bool inside;
    double sign, psi;
  };
  KOKKOS_INLINE_FUNCTION static InJet look(const Event& event, const CellAround& cell) {
    double height = 0.0;
    for (int d = 0; d < 3; ++d) height += cell.way[d] * event.direction[d];
    const double square = cell.square - height * height, reach = event.reach * event.reach;
    return {Kokkos::abs(height) <= event.reach && square <= reach,
            static_cast<double>((height > 0.0) - (height < 0.0)),
            Kokkos::exp(-0.5 * square / reach)};
  }

  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell& gas, double* terms) const {
    for (int n = 0; n < sums; ++n) terms[n] = 0.0;
    if (event.mode == Mode::heat) {
      terms[0] = cell.volume * gas.density();
      return;
    }
    const InJet jet = look(event, cell);
    if (!jet.inside) return;
    terms[0] = cell.volume;
    terms[1] = cell.volume * jet.psi;
    terms[2] = cell.volume * jet.psi * jet.sign;
    terms[3] = cell.volume * jet.psi * (jet.sign * jet.sign);
  }

  // A jet that only one lobe has cells for has no direction to go: it is heat.
  bool finish(const Event& event, const double* sums, Blast& blast) const {
    if (sums[0] == 0.0) return false;
    if (event.mode == Mode::heat) {
      blast = {0.0, 0.0, 0.0, event.energy / sums[0]};
      return true;
    }
    const double mean = sums[2] / sums[1];
    const double variance = sums[3] / sums[1] - mean * mean;
    const bool pushes = variance > 1e-12 && event.mass > 0.0;
    const double kinetic = pushes ? event.kinetic_share * event.energy : 0.0;
    blast.mass = event.mass / sums[1];
    blast.speed = pushes ? std::sqrt(2.0 * kinetic / (event.mass * variance)) : 0.0;
    blast.mean_sign = mean;
    blast.heat = (event.energy - kinetic) / sums[0];
    return true;
  }

  KOKKOS_INLINE_FUNCTION Gain share(const Event& event, const Blast& blast, const CellAround& cell,
                                    const hydro::GasCell& gas) const {
    Gain gain;
    if (event.mode == Mode::heat) {
      gain.energy = blast.heat * gas.density();
      return gain;
    }
    const InJet jet = look(event, cell);
    if (!jet.inside) return gain;
    gain.mass = blast.mass * jet.psi;
    const double speed = blast.speed * (jet.sign - blast.mean_sign);
    move(event, speed, gain);
    gain.energy += blast.heat;
    return gain;
  }

  KOKKOS_INLINE_FUNCTION Gain share_of_host(const Event& event, const CellAround& cell,
                                            const hydro::GasCell&) const {
    Gain gain;
    if (event.mode == Mode::jet) {
      gain.mass = event.mass / cell.volume;
      move(event, 0.0, gain);
    }
    gain.energy += event.energy / cell.volume;
    return gain;
  }

 private:
  // The gain's mass moves with the hole, and by a speed along the jet.
  KOKKOS_INLINE_FUNCTION static void move(const Event& event, double speed, Gain& gain) {
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double v = event.velocity[d] + speed * event.direction[d];
      gain.momentum[d] = gain.mass * v;
      square += v * v;
    }
    gain.energy = 0.5 * gain.mass * square;
  }
};

}  // namespace octant::subgrid
