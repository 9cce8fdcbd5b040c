#include "hydro/riemann_solvers.hpp"

#include "core/error.hpp"

namespace octant::hydro {

template <class... Solvers>
struct SolverList {
  static const std::vector<RiemannKernels>& all() {
    static const std::vector<RiemannKernels> kernels{riemann_kernels_of<Solvers>()...};
    return kernels;
  }
};

// In the order in which the manual lists them.
using RiemannSolvers = SolverList<struct Llf, struct Hll, struct Hllc, struct Exact>;

std::vector<std::string> riemann_solver_names() {
  std::vector<std::string> names;
  for (const RiemannKernels& solver : RiemannSolvers::all()) names.emplace_back(solver.name);
  return names;
}

const RiemannKernels& riemann_kernels(const std::string& name) {
  for (const RiemannKernels& solver : RiemannSolvers::all())
    if (name == solver.name) return solver;
  throw RunError("there is no Riemann solver \"{}\"", name);
}

}  // namespace octant::hydro
