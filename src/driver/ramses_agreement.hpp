// What the parameters of a run must have in common with the output of RAMSES that it goes on from.
// Each function throws InputError that names what differs, on the ranks that call it.
#pragma once

#include <iterator>
#include <string>

#include "driver/amr_simulation.hpp"
#include "driver/ramses_octs.hpp"
#include "io/ramses_source.hpp"

namespace octant::driver {

inline constexpr int k_ramses_gas_fields = std::size(k_ramses_gas);

// How the levels of the file and of the mesh go together.
struct RamsesLevels {
  int base = 0;  // RAMSES's level of the mesh's level 0
  int of_mesh(int level) const { return level - base; }
};

[[noreturn]] void refuse_ramses(const RamsesFacts& facts, const std::string& what);

RamsesLevels check_ramses_grid(const RamsesFacts& facts, const AmrSimulation& simulation);

// Gas or none, the universe, and units.
void check_ramses_physics(const RamsesFacts& facts, const AmrOptions& options);

// What each domain's head must agree with.
void check_ramses_head(const RamsesFacts& facts, const RamsesHead& head,
                       const AmrSimulation& simulation);

// The time at which the run goes on. In a universe the scale factor says when it is: RAMSES's
// tables of times are not as exact. Where they are, the time is kept to the bit.
double ramses_time(const RamsesFacts& facts, const cosmology::Universe* universe);

}  // namespace octant::driver
