// A grid with patches of 2^3 cells that is small: gathered on the root in one exchange, solved
// there, and spread again in a second one.
#pragma once

#include <memory>

#include "gravity/coarse_solver.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// How V-cycles to a target went.
struct SolveOutcome {
  int cycles;
  double residual;
};

class GatheredGrid {
 public:
  // `cover` of own patches, [slot][8]; `finest`: this grid is the level itself. Collective, as all
  // functions.
  GatheredGrid(const LevelPatches& patches, bool finest, const DeviceArray<double>& cover,
               const CommOptions& options);

  // One V-cycle from phi = 0, for f of own patches; phi comes back with all copies.
  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // V-cycles from phi = 0 until the norm of the residual is at most `target` or `most` were done.
  SolveOutcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi, double target,
                     int most);

  // Of its fields and tables on this rank.
  std::int64_t bytes() const;

 private:
  struct PatchCells {
    Key key;
    double cover[8];
  };
  void gather(const DeviceArray<double>& f);
  void spread(const DeviceArray<double>& phi);

  Communicator communicator_;
  std::unique_ptr<ExchangePlan> gather_plan_, spread_plan_;
  Exchanger exchanger_;
  std::vector<double> here_, message_;  // [own patch][8]; [slot][8]

  // On the root: the solver, with the patches of all ranks in the order of their keys.
  std::unique_ptr<CoarseSolver> solver_;
  std::vector<std::int32_t> arriving_, wanted_;  // patches by arrival; by rank and slot
  std::vector<double> arrived_, f_, phi_;
};

}  // namespace octant::gravity
