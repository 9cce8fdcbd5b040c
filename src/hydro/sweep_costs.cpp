#include "hydro/sweep_costs.hpp"

#include <algorithm>

#include "core/counted.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/muscl_hancock.hpp"
#include "hydro/repair_stencil.hpp"
#include "hydro/riemann.hpp"
#include "hydro/schemes.hpp"

namespace octant::hydro {

namespace {

// Riemann solvers that execute the same operations for all states.
using CountedSolvers = TypeList<Llf, Hll, HllcHybrid, HllcLowMach, Hllc>;

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Variable n of a smooth flow at offset x, in which rarely needed operations do not occur.
Counted smooth(int n, double x) {
  return (n == k_density || n == k_pressure ? 1.0 : 0.1) + 1e-3 * x;
}

State<Counted> smooth_conserved() {
  State<Counted> u;
  for (int n = 0; n < k_hydro_variables; ++n) u[n] = smooth(n == k_energy ? k_pressure : n, 0.0);
  return u;
}

double operations_of_gather(const KernelArguments& a) {
  return operations_of([&] {
    to_all_primitives<Counted>([](int n) { return smooth(n == k_energy ? k_pressure : n, 0.0); },
                               [](int, const Counted&) {}, a.ideal_gas, a.variables);
  });
}

// Accessor that stores no states and returns 1.
struct NoStates {
  KOKKOS_FUNCTION void operator()(int, int, const Counted&) const {}
  KOKKOS_FUNCTION Counted operator()(int, int) const { return 1.0; }
};

template <class Scheme>
double operations_of_states(const KernelArguments& a) {
  return operations_of([&] {
    Scheme(a).template reconstruct<Counted>(
        true, [](int n, int x, int y, int z) { return smooth(n, x + y + z); },
        [] { return Vector<Counted>{}; }, NoStates{});
  });
}

double operations_of_states(const HydroOptions& options, const KernelArguments& a) {
  double count = 0.0;
  with_reconstruction(options, [&]<class Reconstruction>() {
    count = a.hancock ? operations_of_states<MusclHancock<Reconstruction>>(a)
                      : operations_of_states<RungeKutta<Reconstruction>>(a);
  });
  return count;
}

// Operations for the fluxes through a cell's three lower faces.
double operations_of_fluxes(const HydroOptions& options, const KernelArguments& a) {
  State<Counted> left, right;
  for (int n = 0; n < k_hydro_variables; ++n) left[n] = smooth(n, -0.5), right[n] = smooth(n, 0.5);
  double count = 0.0;
  CountedSolvers::with(options.riemann, [&]<class Solver>() {
    count = operations_of([&] {
      if constexpr (k_senses_shocks<Solver>)
        Solver::template flux<0>(left, right, Counted(0.0), a.ideal_gas);
      else Solver::template flux<0>(left, right, a.ideal_gas);
    });
  });
  return 3.0 * (count + (a.variables - k_hydro_variables));
}

double operations_of_update(const KernelArguments& a) {
  const State<Counted> u = smooth_conserved();
  const double validation_cost = operations_of(
      [&] { signal_speed(physical_state(u, Counted(1.0), a.ideal_gas), a.ideal_gas); });
  // Conservative update: five sums and differences, the product with dt/dx and its sum; a blended
  // stage also computes a0 old + a1 new.
  return validation_cost + a.variables * (a.blended ? 10.0 : 7.0);
}

// Number of cells gathered per swept cell.
double gathered_per_cell(const mesh::GhostShape& ghosts, int M) {
  const auto beyond = [M](int index) { return std::max({-index, index - (M - 1), 0}); };
  int count = 0;
  for (int k = -ghosts.reach; k < M + ghosts.reach; ++k)
    for (int j = -ghosts.reach; j < M + ghosts.reach; ++j) {
      const int beside = ghosts.reach_beside(beyond(k), beyond(j));
      if (beside >= 0) count += M + 2 * beside;
    }
  return static_cast<double>(count) / (M * M * M);
}

}  // namespace

SweepCosts sweep_costs(const HydroOptions& options, const SweepArguments& arguments) {
  const KernelArguments a(options, arguments);
  const SchemeOps ops = scheme_ops(options);
  const double cell = 8.0 * a.variables,
               gathered = gathered_per_cell(ops.ghosts, a.sweep.tiles.patch);
  const double old = a.sweep.a0 != 0.0 ? cell : 0.0;
  // Godunov schemes store no state at the cell centre, only three numbers of the shock sensor, if
  // it is used.
  const bool is_godunov = is_among(Reconstructions::names(), options.reconstruction);
  const double surface = cell * (ops.points - (is_godunov ? 1 : 0)) +
                         (is_godunov && a.senses_shocks ? 3.0 * 8.0 : 0.0);
  SweepCosts costs;
  costs.gather.bytes = 2.0 * cell * gathered;
  costs.states.bytes = cell + surface;
  costs.fluxes.bytes = surface + 3.0 * cell;
  costs.update.bytes = cell * (3.0 + 1.0 + 1.0) + old;
  costs.sweep.bytes = cell * (1.0 + 1.0) + old;
  if (options.dimensions < 3 || !options.is_ideal() || !is_godunov ||
      !is_among(CountedSolvers::names(), options.riemann))
    return costs;
  costs.gather.operations = gathered * operations_of_gather(a);
  costs.states.operations = operations_of_states(options, a);
  costs.fluxes.operations = operations_of_fluxes(options, a);
  costs.update.operations = operations_of_update(a);
  costs.sweep.operations = costs.gather.operations + costs.states.operations +
                           costs.fluxes.operations + costs.update.operations;
  return costs;
}

void record_sweep(const HydroOptions& options, const SweepArguments& arguments,
                  std::int64_t cells) {
  if (!kernel_work_callback) return;
  const SweepCosts costs = sweep_costs(options, arguments);
  if (!arguments.batches) return record_kernel_work("hydro::sweep", cells, costs.sweep);
  record_kernel_work("hydro::gather", cells, costs.gather);
  record_kernel_work("hydro::states", cells, costs.states);
  record_kernel_work("hydro::fluxes", cells, costs.fluxes);
  record_kernel_work("hydro::update", cells, costs.update);
}

KernelCost cost_of_validation(const Gas& gas) {
  if (!kernel_work_callback) return {};
  const State<Counted> u = smooth_conserved();
  return {8.0 * (k_hydro_variables + (gas.dual_energy ? 1 : 0)),
          operations_of([&] { physical_state(u, Counted(1.0), IdealGas(gas)); })};
}

// Cost per face: a third of that of a cell, which has three faces of its own.
void record_repair(const HydroOptions& options, const SweepArguments& arguments,
                   std::int64_t cells) {
  if (!kernel_work_callback) return;
  const SweepCosts costs = sweep_costs(options, arguments);
  record_kernel_work("hydro::states_of_cells", cells * k_stencil_cells, costs.states);
  record_kernel_work("hydro::fluxes_of_cells", 6 * cells,
                     {costs.fluxes.bytes / 3.0, costs.fluxes.operations / 3.0});
}

}  // namespace octant::hydro
