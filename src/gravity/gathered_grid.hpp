// A grid with patches of 2^3 cells that is small: gathered on the root in one exchange, solved
// there, and spread again in a second one, all in the memory of Kokkos' default execution space.
#pragma once

#include <memory>

#include "gravity/coarse_solver.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

class GatheredGrid {
 public:
  // `cover` of own patches, [slot][8]; `finest`: this grid is the level itself. Collective, as all
  // functions.
  GatheredGrid(const LevelPatches& patches, bool finest, const BottomCells& cells,
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
    double cover[8], row_sums[8];
  };
  // On the root, f of all patches in the order of their keys.
  const double* gather(const DeviceArray<double>& f);
  // Where the root writes phi in that order, and where it goes then.
  double* phi_at_root(const DeviceArray<double>& phi) const;
  void spread(const DeviceArray<double>& phi);

  Communicator communicator_;
  bool alone_;  // own patches are all there are, in that order
  std::unique_ptr<ExchangePlan> gather_plan_, spread_plan_;
  Exchanger exchanger_;

  // On the root: the solver, with the patches of all ranks in the order of their keys.
  std::unique_ptr<CoarseSolver> solver_;
  // By place in that order, the patch's place among those that arrive; by rank and slot, its place
  // in that order.
  DeviceArray<const std::int32_t> arriving_, wanted_;
  DeviceArray<double> arrived_, sent_, f_, phi_;
};

}  // namespace octant::gravity
