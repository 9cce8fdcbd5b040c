// What processes find that act on gas and particles together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"
#include "particles/particles.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant::subgrid {

// A star that formed, for the log of births: in code units, but for the state of the gas.
struct StarBirth {
  std::uint64_t id = 0;
  std::int32_t level = 0;
  std::array<double, 3> position{}, velocity{};
  double mass = 0.0, metallicity = 0.0;
  double hydrogen = 0.0;          // nuclei in cm^-3
  double temperature = 0.0;       // over the mean molecular weight, in K
  double virial_parameter, mach;  // of turbulence in the cell; NaN where it was not looked at
};

// A hole that has merged with the heaviest of its group, for the log of mergers: in code units, the
// masses before. `id` is that of what they have become, and `position` where that is.
struct HoleMerger {
  std::uint64_t id = 0, heaviest = 0, other = 0;
  double heaviest_mass = 0.0, other_mass = 0.0;
  std::array<double, 3> position{};
};

// Levels whose steps end at one time, all from `coarsest` on, and the particles, each at home in
// the finest block that holds it. Where `coarsest` is 0, a coarse step ends.
struct Scene {
  mesh::Mesh& mesh;
  std::span<particles::Particles> kinds;
  int coarsest;
  double time, scale_factor;
  CodeUnits units;                             // at that time
  std::function<double(double time)> seconds;  // proper time that has gone by at a time of the code
  std::vector<GasLevel> levels;                // from `coarsest` on
  std::vector<double> steps;                   // that they have made: in the order of `levels`
  // Where that time lies between the coarser level's old (0) and present (1) states.
  double arrived = 1.0;

  // On this rank, for processes to add to.
  std::vector<StarBirth> births{};
  std::vector<HoleMerger> mergers{};

  // The particles of a kind. Throws RunError if there are none such.
  particles::Particles& kind(const std::string& name) const;

  // Fills the ghost cells of levels[n] with the present state: valid until those of another level
  // are filled, with that of levels[n - 1] before it. Collective.
  void fill_ghosts(std::size_t n) const;
};

}  // namespace octant::subgrid
