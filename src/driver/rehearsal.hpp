// A run on coarser base grids, for `octant check`: how large will the mesh grow, and what will the
// run cost?
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/parameters.hpp"

namespace octant::driver {

// What a run came to, or is expected to come to.
struct RunSize {
  std::vector<double> blocks;    // most blocks at any time, by level
  double bytes_per_block = 0.0;  // of the mesh on the largest rank, by block of all ranks
  double peak_bytes = 0.0;       // of the largest rank, with all that the program holds
  double updates = 0.0;          // of leaf cells
  double updates_per_second = 0.0;
};

struct Rehearsal {
  double coarsening = 1.0;  // cells of the rehearsed run are so many times as large
  RunSize size;
  double time = 0.0;    // reached
  bool whole = false;   // whether that is the end
  std::string failure;  // of the coarse run, if it broke
};

// Runs the problem of a parameter file on the coarsest base grid that whole blocks allow, then on
// finer ones, as long as `seconds` of processor time suffice in all and the base grid stays below
// two million cells; block size and levels stay. What does not come to its end is left out, unless
// it is the first. Empty if no such base grid is coarser than the run's. Collective.
std::vector<Rehearsal> rehearse(const Communicator& communicator, const std::string& file,
                                const ParameterSchema::Overrides& overrides, double seconds);

// What the run itself will come to. Base blocks are known; those of finer levels lie along surfaces
// or fill volumes, and the two finest rehearsals tell the mixture. `base_blocks` are those of the
// run's own base grid.
RunSize extrapolate(const std::vector<Rehearsal>& rehearsals, double base_blocks);

}  // namespace octant::driver
