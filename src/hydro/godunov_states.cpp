// The states of Godunov's schemes for sweeps in batches: compiled once for all Riemann solvers.
#include "hydro/godunov.hpp"
#include "hydro/sweep_batches.hpp"

namespace octant::hydro {

namespace {

// Calls body.template operator()<Scheme>() with a scheme that has the states which the options ask
// for, and no fluxes.
template <class Body>
void with_states(const HydroOptions& options, const Body& body) {
  with_reconstruction(options, [&]<class R>() {
    if (options.integrator == Integrator::muscl_hancock)
      body.template operator()<MusclHancock<R, void>>();
    else body.template operator()<RungeKutta<R, void>>();
  });
}

}  // namespace

std::int64_t godunov_tile_doubles(const HydroOptions& options, const KernelArguments& a) {
  std::int64_t doubles = 0;
  with_states(options, [&]<class Scheme>() { doubles = tile_doubles<Scheme>(a); });
  return doubles;
}

void godunov_states_in_batch(const HydroOptions& options, const KernelArguments& a,
                             const Batch& batch) {
  with_states(options, [&]<class Scheme>() { states_in_batch<Scheme>(options, a, batch); });
}

}  // namespace octant::hydro
