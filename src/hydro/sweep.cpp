#include "hydro/sweep.hpp"

#include "core/error.hpp"
#include "hydro/sweep_instances.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

namespace {

template <class Reconstruction>
double run_with(RiemannSolver riemann, const KernelArguments& arguments) {
  switch (riemann) {
    case RiemannSolver::llf: return run_sweep<Reconstruction, Llf>(arguments);
    case RiemannSolver::hll: return run_sweep<Reconstruction, Hll>(arguments);
    case RiemannSolver::exact: return run_sweep<Reconstruction, Exact>(arguments);
    default: return run_sweep<Reconstruction, Hllc>(arguments);
  }
}

double run(const HydroOptions& options, const KernelArguments& arguments) {
  if (options.reconstruction == Reconstruction::ppm) {
    return run_with<Ppm>(options.riemann, arguments);
  }
  switch (options.limiter) {
    case Limiter::minmod: return run_with<Plm<Minmod>>(options.riemann, arguments);
    case Limiter::van_leer: return run_with<Plm<VanLeer>>(options.riemann, arguments);
    default: return run_with<Plm<MonotonisedCentral>>(options.riemann, arguments);
  }
}

}  // namespace

SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments) {
  const int tiles = arguments.tiles.count();
  OCTANT_REQUIRE(arguments.tiles.patch == 8 || arguments.tiles.patch == 16,
                 "hydro sweeps tiles of 8^3 or 16^3 cells, not {}^3", arguments.tiles.patch);
  OCTANT_REQUIRE(arguments.tiles.block_size >= options.ghosts(),
                 "hydro.reconstruction needs {} ghost cells: more than a block of {}^3 cells has",
                 options.ghosts(), arguments.tiles.block_size);
  Kokkos::View<std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(arguments.bad_tiles,
                                                                             tiles);
  Kokkos::deep_copy(bad, std::uint8_t{0});
  SweepResult result;
  result.fastest = run(options, KernelArguments(options, arguments));
  Kokkos::parallel_reduce(
      "hydro::count_bad_tiles", tiles,
      KOKKOS_LAMBDA(int t, int& count) { count += bad(t); }, result.bad_tiles);
  return result;
}

}  // namespace octant::hydro
