#include "hydro/sweep.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_gpu.hpp"

namespace octant::hydro {

namespace {

int count_bad(const SweepArguments& arguments) {
  const int tiles = arguments.tiles.count();
  const Kokkos::View<std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(
      arguments.bad_tiles, tiles);
  const auto found = on_host(TransferKind::numbers, bad);
  return static_cast<int>(std::count(found.data(), found.data() + tiles, 1));
}

SweepResult result_of_batches(const SweepArguments& arguments) {
  const std::uint8_t* const bad = arguments.bad_tiles;
  const double* const speeds = arguments.batches->speeds();
  const int batches = arguments.batches->batches();
  SweepResult result;
  Kokkos::parallel_reduce(
      "hydro::validation", arguments.tiles.count(),
      KOKKOS_LAMBDA(int t, double& fastest, int& bad_tiles) {
        if (t < batches) fastest = max(fastest, speeds[t]);
        bad_tiles += bad[t];
      },
      Kokkos::Max<double>(result.fastest), Kokkos::Sum<int>(result.bad_tiles));
  return result;
}

}  // namespace

LevelSweep::LevelSweep(const HydroOptions& options, const SweepArguments& arguments)
    : options_(options), arguments_(arguments) {
  const mesh::TileSet& tiles = arguments.tiles;
  OCTANT_REQUIRE(tiles.patch == 8 || tiles.patch == 16,
                 "hydrodynamic sweeps support tiles of 8^3 or 16^3 cells, not {}^3", tiles.patch);
  const int ghosts = scheme_ops(options).ghosts.reach;
  OCTANT_REQUIRE(tiles.block_size >= ghosts,
                 "hydro.reconstruction requires {} ghost cells, which is more than a block of {}^3 "
                 "cells provides",
                 ghosts, tiles.block_size);
  if (arguments.batches) arguments.batches->begin(tiles.count());
}

void LevelSweep::start(int begin, int end) {
  if (begin == end) return;
  SweepArguments part = arguments_;
  part.tiles.tiles = Kokkos::subview(part.tiles.tiles, std::pair(begin, end));
  part.bad_tiles += begin;
  if (part.tile_cycles) part.tile_cycles += begin;
  const SchemeOps ops = scheme_ops(options_);
  const KernelArguments kernel(options_, part);
  if (part.batches) sweep_in_batches(ops, kernel);
  else fastest_ = std::max(fastest_, ops.sweep[kernel.patch](kernel, ops));
}

SweepResult LevelSweep::result() const {
  const int tiles = arguments_.tiles.count();
  if (tiles == 0) return {};
  return arguments_.batches ? result_of_batches(arguments_)
                            : SweepResult{fastest_, count_bad(arguments_)};
}

SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments) {
  LevelSweep all(options, arguments);
  all.start(0, arguments.tiles.count());
  return all.result();
}

}  // namespace octant::hydro
