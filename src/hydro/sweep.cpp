#include "hydro/sweep.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/residency.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_batches.hpp"

namespace octant::hydro {

SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments) {
  const int tiles = arguments.tiles.count();
  OCTANT_REQUIRE(arguments.tiles.patch == 8 || arguments.tiles.patch == 16,
                 "hydro sweeps tiles of 8^3 or 16^3 cells, not {}^3", arguments.tiles.patch);
  const SweepKernels scheme = sweep_kernels(options);
  const int ghosts = scheme.states.ghosts.reach;
  OCTANT_REQUIRE(arguments.tiles.block_size >= ghosts,
                 "hydro.reconstruction needs {} ghost cells: more than a block of {}^3 cells has",
                 ghosts, arguments.tiles.block_size);
  Kokkos::View<std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(arguments.bad_tiles,
                                                                              tiles);
  fill(bad, std::uint8_t{0});
  SweepResult result;
  const KernelArguments kernel(options, arguments);
  result.fastest = arguments.batches ? sweep_in_batches(scheme, kernel)
                                     : scheme.states.sweep[kernel.patch](kernel, scheme.fluxes);
  const auto found = on_host(Cargo::numbers, bad);
  result.bad_tiles = static_cast<int>(std::count(found.data(), found.data() + tiles, 1));
  return result;
}

}  // namespace octant::hydro
