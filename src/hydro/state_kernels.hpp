// Compiles the kernels that find states on the surfaces of cells, for every schedule: included by
// godunov_states.cpp, and through scheme_kernels.hpp by other schemes.
#pragma once

#include "hydro/gather.hpp"
#include "hydro/lone_cells.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_batches.hpp"
#include "hydro/sweep_bodies.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

// Nothing is known yet to be wrong with a tile; on a device each costs as much as another.
KOKKOS_INLINE_FUNCTION void begin_tile(const SweepArguments& sweep, int tile) {
  sweep.bad_tiles[tile] = 0;
  if (sweep.tile_cycles) sweep.tile_cycles[tile] += 1;
}

template <class Planes>
void gather_batch(const KernelArguments& a, const Batch& batch) {
  using Cells = Gather<Planes>;
  for_tile_items<Cells::across * Cells::pieces>(
      "hydro::gather", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        if (n == 0) begin_tile(a.sweep, batch.first + tile);
        Cells(a, view, planes).piece(n / Cells::pieces - Planes::ghosts.reach, n % Cells::pieces);
      });
}

// What dual energy that overwrites wants to know.
template <class Planes>
void find_truncation_in_batch(const KernelArguments& a, const Batch& batch) {
  constexpr int M = Planes::patch;
  using Inner = PackGrid<0, M, 0, M>;
  for_tile_items<M * Inner::packs>(
      "hydro::truncation", batch, KOKKOS_LAMBDA(int tile, int n) {
        using P = PackTraits<Pack>;
        using Plane = typename Planes::PrimitivePlane;
        const Planes planes(batch, tile, a.variables);
        const int k = n / Inner::packs;
        const int j = Inner::j(n % Inner::packs), i = Inner::i(n % Inner::packs);
        keep_truncation(planes, k, j, i, truncation_around<Pack>([&](int d, int x, int y, int z) {
                          return P::load(planes.primitive(k + z).at(j + y, i + x) +
                                         (k_velocity_x + d) * Plane::stride);
                        }));
      });
}

template <int M, class Scheme>
void states_of_batch(const KernelArguments& a, const Batch& batch) {
  using Planes = CellsInBatch<M, Scheme>;
  using Surface = typename Scheme::template Surface<Planes>;
  using Around = PackGrid<-1, M + 1, -1, M + 1>;
  const Scheme scheme(a);
  gather_batch<Planes>(a, batch);
  for_tile_items<(M + 2) * Around::packs>(
      "hydro::states", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const int k = n / Around::packs - 1;
        const int j = Around::j(n % Around::packs), i = Around::i(n % Around::packs);
        const Surface surface(planes, k);
        if (k >= 0 && k < M) reconstruct_cells<true>(scheme, a, view, planes, surface, k, j, i);
        else if (j >= 0 && j < M)
          reconstruct_cells<false>(scheme, a, view, planes, surface, k, j, i);
      });
  if (a.guards_entropy) find_truncation_in_batch<Planes>(a, batch);
}

// For a repair.
template <class Scheme>
void states_of_cells(const KernelArguments& a, const BadCell* cells, int count, double* surfaces) {
  const Scheme scheme(a);
  Kokkos::parallel_for(
      "hydro::states_of_cells", k_cells_around * count, KOKKOS_LAMBDA(int n) {
        const BadCell& cell = cells[n / k_cells_around];
        const LoneCells from(a, cell.tile);
        const CellPlace c = cell_around(cell, n % k_cells_around);
        double* const to = surfaces + std::int64_t(n) * a.variables * Scheme::points;
        scheme.template reconstruct<true, double>(
            [&](int m, int x, int y, int z) {
              return from.primitive({{c.index[0] + x, c.index[1] + y, c.index[2] + z}}, m);
            },
            [&] { return from.place(c); }, surface_states<double>([=](int point, int m) {
              return to + m * Scheme::points + point;
            }));
      });
}

template <class Scheme>
StateKernels state_kernels() {
  return {ghosts_of<Scheme>(),
          Scheme::points,
          {SweepKernel<8, Scheme>::run, SweepKernel<16, Scheme>::run},
          {CellsInBatch<8, Scheme>::doubles, CellsInBatch<16, Scheme>::doubles},
          {states_of_batch<8, Scheme>, states_of_batch<16, Scheme>},
          states_of_cells<Scheme>};
}

}  // namespace octant::hydro
