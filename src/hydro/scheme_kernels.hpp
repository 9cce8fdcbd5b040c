// Compiles the kernels of a scheme: included by its file alone, which ends with one of
//   template SchemeKernels scheme_kernels_of<DonorCell>();  a scheme, see hydro/scheme.hpp
//   template SchemeKernels riemann_kernels_of<Hllc>();      Godunov's, with a Riemann solver
// A solver is a struct with `name`, as in parameter files, and flux<Axis>(left, right, gas); see
// hydro/riemann.hpp.
#pragma once

#include "core/error.hpp"
#include "hydro/face_flux.hpp"
#include "hydro/fallback.hpp"
#include "hydro/godunov.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_batches.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

// On a device, whose teams lack the scratch, it is not compiled.
template <class Scheme>
double run_sweep(const HydroOptions& options, const KernelArguments& arguments) {
  if constexpr (k_has_core_schedule)
    return arguments.sweep.tiles.patch == 8 ? SweepKernel<8, Scheme>(options, arguments).run()
                                            : SweepKernel<16, Scheme>(options, arguments).run();
  throw RunError("this program was built for a device, which sweeps in batches");
}

template <class Scheme>
void run_fallback(const HydroOptions& options, const KernelArguments& arguments,
                  const BadCell* cells, int count, double* result) {
  const Scheme scheme(options, arguments);
  Kokkos::parallel_for(
      "hydro::fallback", 6 * count, KOKKOS_LAMBDA(int f) {
        const BadCell& cell = cells[f / 6];
        const int axis = f % 6 / 2, side = f % 2;
        const PatchCell right = PatchCell{{cell.i, cell.j, cell.k}}.shifted(axis, side);
        const FaceFlux<Scheme> face(arguments, scheme, cell.tile);
        double* difference = result + std::int64_t(f) * arguments.variables;
        if (axis == 0) face.template difference<0>(right, difference);
        if (axis == 1) face.template difference<1>(right, difference);
        if (axis == 2) face.template difference<2>(right, difference);
      });
}

// What a list of schemes names: `with` calls body.template operator()<Scheme>() with the one that
// the options ask for.
template <class Family>
SchemeKernels kernels_of_family() {
  return {Family::name, Family::predicts, [](const HydroOptions& options) {
            SweepKernels chosen{};
            Family::with(options, [&]<class Scheme>() {
              chosen = {ghosts_of<Scheme>(), run_sweep<Scheme>, run_fallback<Scheme>,
                        Family::batches()};
            });
            return chosen;
          }};
}

template <class Scheme>
struct AloneFamily {
  static constexpr const char* name = Scheme::name;
  static constexpr bool predicts = Scheme::predicts;
  static BatchKernels batches() {
    return {[](const HydroOptions&, const KernelArguments& a) { return tile_doubles<Scheme>(a); },
            states_in_batch<Scheme>, fluxes_in_batch<Scheme>};
  }
  template <class Body>
  static void with(const HydroOptions&, const Body& body) {
    body.template operator()<Scheme>();
  }
};

template <class Solver>
struct GodunovFamily {
  static constexpr const char* name = Solver::name;
  static constexpr bool predicts = true;
  static BatchKernels batches() {
    return {godunov_tile_doubles, godunov_states_in_batch, fluxes_in_batch<GodunovFluxes<Solver>>};
  }
  template <class Body>
  static void with(const HydroOptions& options, const Body& body) {
    with_reconstruction(options, [&]<class R>() {
      if (options.integrator == Integrator::muscl_hancock)
        body.template operator()<MusclHancock<R, Solver>>();
      else body.template operator()<RungeKutta<R, Solver>>();
    });
  }
};

template <class Scheme>
SchemeKernels scheme_kernels_of() {
  return kernels_of_family<AloneFamily<Scheme>>();
}

template <class Solver>
SchemeKernels riemann_kernels_of() {
  return kernels_of_family<GodunovFamily<Solver>>();
}

}  // namespace octant::hydro
