// The grid with patches of 2^3 cells: gathered on the root in one exchange, solved there, and
// spread again in a second one. The root holds 1/512 of a level's cells (patches of 16^3).
#pragma once

#include <memory>

#include "gravity/coarse_solver.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

class Bottom {
 public:
  // `cover` of own patches, [slot][8]; `finest`: this grid is the level itself. Collective, as all
  // functions.
  Bottom(const LevelPatches& patches, const std::array<bool, 3>& periodic, bool finest,
         const DeviceArray<double>& cover, const CommOptions& options);

  // One V-cycle from phi = 0, for f of own patches; phi comes back with all copies.
  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // V-cycles from phi = 0 until the norm of the residual is at most `target` or `most` were done.
  // For levels that consist of this grid alone.
  struct Outcome {
    int cycles;
    double residual;
  };
  Outcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi, double target,
                int most);

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
