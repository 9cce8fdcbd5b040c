// Cost estimate of a run, for `octant check`, from the run's own initial mesh, and from rehearsals
// on coarser base grids, which show how the mesh grows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "run/run_request.hpp"

namespace octant {

// Measured or extrapolated size of a run.
struct RunSize {
  std::vector<double> blocks;    // maximum over time, by level
  double bytes_per_block = 0.0;  // mesh of the fullest rank, over the blocks of all ranks
  double peak_bytes = 0.0;       // peak memory of the fullest rank, including the program
  double updates = 0.0;          // number of updates of leaf cells
  double updates_per_second = 0.0;
};

// Initial mesh of a run.
struct InitialMesh {
  double coarsening = 1.0;          // cell size relative to the run
  std::vector<double> blocks;       // by level
  std::vector<double> leaf_cells;   // by level
  double work = 0.0;                // leaf-cell updates in a coarse step
  double begin = 0.0, dt = 0.0;     // start time; first coarse step
  double updates_per_second = 0.0;  // in that step; 0: not measured
  double peak_bytes = 0.0;          // peak memory of the fullest rank so far
  bool has_all_levels = true;       // false: finer levels may be too large
};

// Result of a short run on a coarser base grid.
struct Rehearsal {
  double coarsening = 1.0;  // cell size relative to the run
  RunSize size;
  InitialMesh initial;
  double time = 0.0;    // time that the rehearsal reached
  double steps = 0.0;   // number of steps of the rehearsal
  double share = 1.0;   // fraction of the run, by time or steps
  bool whole = false;   // true if the run was completed
  std::string failure;  // error of the coarse run, if it failed
};

// Runs the problem of a parameter file on the coarsest base grid of whole blocks, then on finer
// ones, as long as a total of `seconds` of CPU time suffices and the base grid has at most 128^3
// cells; block size and levels are unchanged. Incomplete runs are dropped, except the first. If the
// parameters fit none of these grids, the run itself is rehearsed, unless its base grid has more
// cells, which throws InputError. Empty if no such base grid is coarser than the run's. Collective.
std::vector<Rehearsal> rehearse(const Communicator& communicator, const RunRequest& request,
                                double seconds);

// Initial mesh of a run, or of the same run on the finest coarser base grid of at most 128^3 cells.
// Its finer cells contain structure that the rehearsals may miss. Levels are added until the CPU
// time reaches `seconds` or the next level, estimated from the rehearsals and the level below, has
// more than four million cells. No value if even the base grid is too large. Collective.
std::optional<InitialMesh> make_initial_mesh(const Communicator& communicator,
                                             const RunRequest& request,
                                             const std::vector<Rehearsal>& rehearsals,
                                             double seconds);

// Returns true if the run's initial mesh has much more work than the rehearsals suggest.
bool miss_structure(const std::vector<Rehearsal>& rehearsals, const InitialMesh& initial);

// Runs the run itself, without output, for some seconds of CPU time. Collective.
Rehearsal rehearse_itself(const Communicator& communicator, const RunRequest& request,
                          double seconds);

// Extrapolates the size of the run. Base blocks are known; those of finer levels lie along surfaces
// or fill volumes, and the two finest rehearsals determine the mixture. `base_blocks` is the number
// for the run's own base grid. If the initial mesh has more cells than extrapolated, its additional
// work is added to all steps.
RunSize extrapolate(const std::vector<Rehearsal>& rehearsals,
                    const std::optional<InitialMesh>& initial, double base_blocks);

}  // namespace octant
