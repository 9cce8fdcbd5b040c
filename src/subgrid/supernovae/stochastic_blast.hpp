// Supernovae that heat few cells, by so much that their heat is not radiated at once (Dalla Vecchia
// & Schaye 2012, MNRAS 426, 140): each cell around has the same chance. Their energy is right in
// the mean over many.
#pragma once

#include "core/random.hpp"
#include "hydro/gas_cell.hpp"
#include "subgrid/supernovae/supernova.hpp"

namespace octant::subgrid {

struct StochasticBlast {
  using Event = Supernova;

  struct Blast {
    double volume, heat, chance;  // of cells; that a heated cell gets, per mass; of each cell
  };

  static constexpr int sums = 2;
  double heat;  // per mass, in a cell that is heated: more where all cells together need more
  std::uint64_t seed;
  std::uint32_t step;

  KOKKOS_INLINE_FUNCTION void weigh(const Event&, const CellAround& cell, const hydro::GasCell& gas,
                                    double* terms) const {
    terms[0] = cell.volume;
    terms[1] = cell.volume * gas.density();
  }

  bool finish(const Event& event, const double* sums, Blast& blast) const {
    if (sums[0] == 0.0) return false;
    const double per_mass = event.energy / sums[1];
    blast.volume = sums[0];
    blast.heat = per_mass > heat ? per_mass : heat;
    blast.chance = per_mass / blast.heat;
    return true;
  }

  KOKKOS_INLINE_FUNCTION Gain share(const Event& event, const Blast& blast, const CellAround& cell,
                                    const hydro::GasCell& gas) const {
    const RandomStream random(seed, event.place.id, step);
    const bool hit = blast.chance >= 1.0 || random.uniform(number_of(cell)) < blast.chance;
    return ejecta(event, 1.0 / blast.volume, hit ? blast.heat * gas.density() : 0.0);
  }

  KOKKOS_INLINE_FUNCTION Gain share_of_host(const Event& event, const CellAround& cell,
                                            const hydro::GasCell&) const {
    return ejecta(event, 1.0 / cell.volume, event.energy / cell.volume);
  }

 private:
  KOKKOS_INLINE_FUNCTION static Gain ejecta(const Event& event, double per_volume, double heat) {
    Gain gain;
    gain.mass = event.mass * per_volume;
    gain.metals = event.metals * gain.mass;
    for (int d = 0; d < 3; ++d) gain.momentum[d] = gain.mass * event.velocity[d];
    gain.energy = energy_of_motion(event) * per_volume + heat;
    return gain;
  }

  // One for each cell around: its distances in cells, and its size.
  KOKKOS_INLINE_FUNCTION static std::uint32_t number_of(const CellAround& cell) {
    const double dx = Kokkos::cbrt(cell.volume);
    auto number =
        static_cast<std::uint32_t>(static_cast<int>(Kokkos::floor(Kokkos::log2(dx) + 0.5)) & 255);
    for (const double way : cell.way)
      number =
          number << 8 | static_cast<std::uint32_t>(static_cast<int>(Kokkos::floor(way / dx)) & 255);
    return number;
  }
};

}  // namespace octant::subgrid
