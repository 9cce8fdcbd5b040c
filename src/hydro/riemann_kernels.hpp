// Compiles the kernels of a Riemann solver: included by its file alone, which says
//   template RiemannKernels riemann_kernels_of<Hllc>();
// A solver is a struct with `name`, as in parameter files, and flux<Axis>(left, right, gas); see
// hydro/riemann.hpp.
#pragma once

#include "hydro/face_flux.hpp"
#include "hydro/fallback.hpp"
#include "hydro/method.hpp"
#include "hydro/riemann_solvers.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

template <class Reconstruction, class RiemannSolver>
double run_sweep(const KernelArguments& arguments) {
  return arguments.sweep.tiles.patch == 8
             ? SweepKernel<8, Reconstruction, RiemannSolver>(arguments).run()
             : SweepKernel<16, Reconstruction, RiemannSolver>(arguments).run();
}

template <class Reconstruction, class RiemannSolver>
void run_fallback(const KernelArguments& arguments, const BadCell* cells, int count,
                  double* result) {
  Kokkos::parallel_for(
      "hydro::fallback", 6 * count, KOKKOS_LAMBDA(int f) {
        const BadCell& cell = cells[f / 6];
        const int axis = f % 6 / 2, side = f % 2;
        const PatchCell right = PatchCell{{cell.i, cell.j, cell.k}}.shifted(axis, side);
        const FaceFlux<Reconstruction, RiemannSolver> face(arguments, cell.tile);
        double* difference = result + std::int64_t(f) * arguments.variables;
        if (axis == 0) face.template difference<0>(right, difference);
        if (axis == 1) face.template difference<1>(right, difference);
        if (axis == 2) face.template difference<2>(right, difference);
      });
}

template <class Solver>
double sweep_with(const HydroOptions& options, const KernelArguments& arguments) {
  double fastest = 0.0;
  with_reconstruction(options, [&]<class R>() { fastest = run_sweep<R, Solver>(arguments); });
  return fastest;
}

template <class Solver>
void fall_back_with(const HydroOptions& options, const KernelArguments& arguments,
                    const BadCell* cells, int count, double* result) {
  with_reconstruction(options,
                      [&]<class R>() { run_fallback<R, Solver>(arguments, cells, count, result); });
}

template <class Solver>
RiemannKernels riemann_kernels_of() {
  return {Solver::name, sweep_with<Solver>, fall_back_with<Solver>};
}

}  // namespace octant::hydro
