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
  double hydrogen = 0.0;     // nuclei in cm^-3
  double temperature = 0.0;  // over the mean molecular weight, in K
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

  std::vector<StarBirth> births{};  // on this rank, for processes to add to

  // The particles of a kind. Throws RunError if there are none such.
  particles::Particles& kind(const std::string& name) const;
};

}  // namespace octant::subgrid
