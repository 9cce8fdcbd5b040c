// Supernovae that push: a Sedov blast's velocities, which grow with the distance from the star
// (Dubois & Teyssier 2008, A&A 477, 79, appendix A).
#pragma once

#include <cmath>

#include "hydro/gas_cell.hpp"
#include "subgrid/supernovae/supernova.hpp"

namespace octant::subgrid {

struct KineticBlast {
  using Event = Supernova;

  // With q = r / radius: per volume the mass and the thermal energy, the mean of q, and the speed
  // at q = 1, so that each component of the velocity is speed (q - mean).
  struct Blast {
    double density, thermal, speed, mean[3];
  };

  // The volume, and the volume integrals of q and q^2 by component.
  static constexpr int sums = 7;

  double kinetic_share = 1.0;  // of the energy

  // q, along an axis. A radius of 0 holds no cell but one around the star itself.
  KOKKOS_INLINE_FUNCTION static double distance(const Event& event, const CellAround& cell,
                                                int axis) {
    return event.place.radius > 0.0 ? cell.way[axis] / event.place.radius : 0.0;
  }

  KOKKOS_INLINE_FUNCTION void weigh(const Event& event, const CellAround& cell,
                                    const hydro::GasCell&, double* terms) const {
    terms[0] = cell.volume;
    for (int d = 0; d < 3; ++d) {
      const double q = distance(event, cell, d);
      terms[1 + d] = cell.volume * q;
      terms[4 + d] = cell.volume * (q * q);
    }
  }

  // A cell alone at the star's place has no velocities to give: its blast is heat.
  bool finish(const Event& event, const double* sums, Blast& blast) const {
    const double volume = sums[0];
    if (volume == 0.0) return false;
    double variance = 0.0;
    for (int d = 0; d < 3; ++d) {
      blast.mean[d] = sums[1 + d] / volume;
      variance += sums[4 + d] / volume - blast.mean[d] * blast.mean[d];
    }
    const bool pushes = variance > 1e-12 && event.mass > 0.0;
    const double kinetic = pushes ? kinetic_share * event.energy : 0.0;
    blast.density = event.mass / volume;
    blast.thermal = (event.energy - kinetic) / volume;
    blast.speed = pushes ? std::sqrt(2.0 * kinetic / (event.mass * variance)) : 0.0;
    return true;
  }

  KOKKOS_INLINE_FUNCTION Gain share(const Event& event, const Blast& blast, const CellAround& cell,
                                    const hydro::GasCell&) const {
    Gain gain;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double q = distance(event, cell, d);
      const double v = blast.speed * (q - blast.mean[d]) + event.velocity[d];
      gain.momentum[d] = blast.density * v;
      square += v * v;
    }
    gain.mass = blast.density;
    gain.energy = 0.5 * blast.density * square + blast.thermal;
    gain.metals = event.metals * blast.density;
    return gain;
  }

  KOKKOS_INLINE_FUNCTION Gain share_of_host(const Event& event, const CellAround& cell,
                                            const hydro::GasCell& gas) const {
    const Blast heat{event.mass / cell.volume, event.energy / cell.volume, 0.0, {}};
    return share(event, heat, cell, gas);
  }
};

}  // namespace octant::subgrid
