#include "core/error.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/stored_potential.hpp"

namespace octant::gravity {

template <class... Solvers>
struct KindList {
  static std::vector<std::unique_ptr<PotentialSolverKind>> make() {
    std::vector<std::unique_ptr<PotentialSolverKind>> kinds;
    (kinds.push_back(potential_solver_kind<Solvers>()), ...);
    return kinds;
  }
};

// List of all solvers, in the order of the documentation.
using PotentialSolvers = KindList<class Multigrid, class Fmm>;

std::vector<std::unique_ptr<PotentialSolverKind>> potential_solver_kinds() {
  return PotentialSolvers::make();
}

void PotentialSolver::guess(int level, const mesh::CellRange& blocks) {
  clear_blocks(blocks, stored_.field(level, Field::potential));
  clear_blocks(blocks, stored_.field(level, Field::previous_potential));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): overriding functions store it
void PotentialSolver::set_transfer(TransferFunction /*transfer*/) {
  throw InputError(
      "gravity.transfer is not supported by the chosen gravity.solver; expected \"multigrid\"");
}

}  // namespace octant::gravity
