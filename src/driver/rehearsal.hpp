// Estimated cost of a run, for `octant check`: the run's own initial mesh, and rehearsals on
// coarser base grids, which show how the mesh grows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

// The mesh on which a run begins.
struct InitialMesh {
  double coarsening = 1.0;          // cells are so many times as large as those of the run
  std::vector<double> blocks;       // by level
  std::vector<double> leaf_cells;   // by level
  double work = 0.0;                // updates of leaf cells in a coarse step
  double begin = 0.0, dt = 0.0;     // time, and the first coarse step
  double updates_per_second = 0.0;  // in that step; 0: not measured
  double peak_bytes = 0.0;          // of the largest rank so far
  bool has_all_levels = true;       // false: finer levels were left out, for they may be too large
};

struct Rehearsal {
  double coarsening = 1.0;  // cells of the rehearsed run are so many times as large
  RunSize size;
  InitialMesh initial;
  double time = 0.0;    // reached
  double steps = 0.0;   // taken
  double share = 1.0;   // of the way to the end, by time or steps, that it covered
  bool whole = false;   // whether that is all of it
  std::string failure;  // of the coarse run, if it broke
};

// Runs the problem of a parameter file on the coarsest base grid that whole blocks allow, then on
// finer ones, as long as `seconds` of processor time suffice in all and the base grid stays below
// two million cells; block size and levels stay. What does not come to its end is left out, unless
// it is the first. Empty if no such base grid is coarser than the run's. Collective.
std::vector<Rehearsal> rehearse(const Communicator& communicator, const std::string& file,
                                const ParameterSchema::Overrides& overrides, double seconds);

// The initial mesh of a run, or of the same run on the finest coarser base grid of at most two
// million cells. It finds what the cells of the rehearsals are too coarse to see. Levels are added
// as long as `seconds` of processor time last and the next one is expected, by the rehearsals and
// the level below, to have at most four million cells. Nothing where even the base grid is too
// large. Collective.
std::optional<InitialMesh> make_initial_mesh(const Communicator& communicator,
                                             const std::string& file,
                                             const ParameterSchema::Overrides& overrides,
                                             const std::vector<Rehearsal>& rehearsals,
                                             double seconds);

// Returns true if the run's initial mesh has much more work than the rehearsals suggest.
bool miss_structure(const std::vector<Rehearsal>& rehearsals, const InitialMesh& initial);

// The run itself, without output, for some seconds of processor time. Collective.
Rehearsal rehearse_itself(const Communicator& communicator, const std::string& file,
                          const ParameterSchema::Overrides& overrides, double seconds);

// What the run itself will come to. Base blocks are known; those of finer levels lie along surfaces
// or fill volumes, and the two finest rehearsals tell the mixture. `base_blocks` are those of the
// run's own base grid. Where the initial mesh has more cells than the rehearsals let expect, it has
// structure that their cells missed: its work is added to all steps.
RunSize extrapolate(const std::vector<Rehearsal>& rehearsals,
                    const std::optional<InitialMesh>& initial, double base_blocks);

}  // namespace octant::driver
