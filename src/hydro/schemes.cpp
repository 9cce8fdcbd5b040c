#include "hydro/schemes.hpp"

#include "core/error.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

template <class... Solvers>
struct SolverList {
  static std::vector<SchemeKernels> all() { return {riemann_kernels_of<Solvers>()...}; }
};

template <class... Schemes>
struct SchemeList {
  static std::vector<SchemeKernels> all() { return {scheme_kernels_of<Schemes>()...}; }
};

// Both in the order in which the manual lists them.
using RiemannSolvers = SolverList<struct Llf, struct Hll, struct HllcHybrid, struct HllcLowMach,
                                  struct Hllc, struct Exact>;
using OtherSchemes = SchemeList<class Ppm26, class Ppm26Published>;

namespace {

const std::vector<SchemeKernels>& riemann_solvers() {
  static const std::vector<SchemeKernels> all = RiemannSolvers::all();
  return all;
}

const std::vector<SchemeKernels>& other_schemes() {
  static const std::vector<SchemeKernels> all = OtherSchemes::all();
  return all;
}

}  // namespace

std::vector<std::string> reconstruction_names() {
  std::vector<std::string> names = Reconstructions::names();
  for (const SchemeKernels& scheme : other_schemes()) names.emplace_back(scheme.name);
  return names;
}

std::vector<std::string> riemann_solver_names() {
  std::vector<std::string> names;
  for (const SchemeKernels& solver : riemann_solvers()) names.emplace_back(solver.name);
  return names;
}

const SchemeKernels& scheme_kernels(const HydroOptions& options) {
  for (const SchemeKernels& scheme : other_schemes())
    if (options.reconstruction == scheme.name) return scheme;
  for (const SchemeKernels& solver : riemann_solvers())
    if (options.riemann == solver.name) return solver;
  throw RunError("there is no Riemann solver \"{}\"", options.riemann);
}

SweepKernels sweep_kernels(const HydroOptions& options) {
  const SchemeKernels& scheme = scheme_kernels(options);
  return {scheme.states(options), scheme.fluxes};
}

mesh::GhostShape HydroOptions::ghosts() const { return sweep_kernels(*this).states.ghosts; }

}  // namespace octant::hydro
