#include "hydro/schemes.hpp"

#include "core/error.hpp"
#include "hydro/eos/barotropic.hpp"
#include "hydro/eos/cold_gas.hpp"
#include "hydro/eos/real_kernels.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

template <class... Solvers>
struct SolverList {
  static std::vector<SchemeOps> all() { return {ops_of_solver<Solvers>()...}; }
};

template <class... Schemes>
struct SchemeList {
  static std::vector<SchemeOps> all() { return {ops_of_scheme<Schemes>()...}; }
};

// Solvers and schemes in the order in which the manual lists them.
using RiemannSolvers = SolverList<struct Llf, struct Hll, struct HllcHybrid, struct HllcLowMach,
                                  struct Hllc, struct Exact>;
using OtherSchemes = SchemeList<class Ppm26, class Ppm26Published>;

namespace {

const std::vector<SchemeOps>& riemann_solvers() {
  static const std::vector<SchemeOps> all = RiemannSolvers::all();
  return all;
}

const std::vector<SchemeOps>& other_schemes() {
  static const std::vector<SchemeOps> all = OtherSchemes::all();
  return all;
}

}  // namespace

std::vector<std::string> reconstruction_names() {
  std::vector<std::string> names = Reconstructions::names();
  for (const SchemeOps& scheme : other_schemes()) names.emplace_back(scheme.name);
  return names;
}

std::vector<std::string> riemann_solver_names() {
  std::vector<std::string> names;
  for (const SchemeOps& solver : riemann_solvers()) names.emplace_back(solver.name);
  return names;
}

const SchemeOps& listed_scheme(const HydroOptions& options) {
  for (const SchemeOps& scheme : other_schemes())
    if (options.reconstruction == scheme.name) return scheme;
  for (const SchemeOps& solver : riemann_solvers())
    if (options.riemann == solver.name) return solver;
  throw RunError("unknown Riemann solver \"{}\"", options.riemann);
}

SchemeOps scheme_ops(const HydroOptions& options) {
  SchemeOps ops = listed_scheme(options);
  if (options.is_real()) set_real_states(options, ops);
  else if (options.has_cold_curve()) set_cold_states(options, ops);
  else if (options.eos.is_isothermal()) set_isothermal_states(options, ops);
  else if (!ops.states_of_cells) set_godunov_states(options, ops);
  if (options.is_real()) set_real_fluxes(options, ops);
  if (options.has_cold_curve()) set_cold_fluxes(options, ops);
  if (options.is_barotropic()) set_barotropic_fluxes(options, ops);
  return ops;
}

mesh::GhostShape HydroOptions::ghosts() const { return scheme_ops(*this).ghosts; }

}  // namespace octant::hydro
