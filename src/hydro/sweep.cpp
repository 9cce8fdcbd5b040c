#include "hydro/sweep.hpp"

#include "hydro/sweep_instances.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments) {
  const int tiles = arguments.tiles.count();
  Kokkos::View<std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(arguments.bad_tiles,
                                                                             tiles);
  Kokkos::deep_copy(bad, std::uint8_t{0});
  SweepResult result;
  result.fastest = run_sweep<Plm<MonotonisedCentral>, Hllc>(KernelArguments(options, arguments));
  Kokkos::parallel_reduce(
      "hydro::count_bad_tiles", tiles,
      KOKKOS_LAMBDA(int t, int& count) { count += bad(t); }, result.bad_tiles);
  return result;
}

}  // namespace octant::hydro
