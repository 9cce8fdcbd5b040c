// The schedule of a sweep for devices: batches of whole tiles, as many as a buffer holds, and for
// each batch one kernel after the other.
//
//   gather    primitive variables of the patches and their ghost cells   a thread per cell
//   states    on the surfaces of the cells, and what dual energy wants   a thread per cell
//   fluxes    through all faces                                          a thread per face
//   update    new states and their judgement                             a thread per cell
//   answers   fluxes for registers, in tiles with requests               a team per tile
//
// (On a host, where this runs to be tested, packs stand for cells and faces.) The buffer stays in
// the cache of a device, and takes any number of variables. Planes are laid out as in the scratch
// of the other schedule (sweep_scratch.hpp), so that bodies find them alike; but every plane of
// every tile has its own. A kernel depends on as little of a scheme as it needs: states do not on
// the Riemann solver, nor fluxes on the profiles.
#pragma once

#include "hydro/cell_update.hpp"
#include "hydro/gather.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_bodies.hpp"

namespace octant::hydro {

// Tiles first, first + 1, ... of a sweep, and where they are worked on.
struct Batch {
  int first, count;
  double* tiles;  // `tile_doubles` for each
  std::int64_t tile_doubles;
  double* safe_cell;  // a state that stands for cells which no box holds

  KOKKOS_FORCEINLINE_FUNCTION double* of(int tile) const { return tiles + tile * tile_doubles; }
};

// What the update needs of a tile: fluxes through the lower faces of cells -1..M, and two variables
// of the patch for dual energy that overwrites.
template <int M>
class BatchFluxes {
 public:
  static constexpr int patch = M, width = PackTraits<Pack>::width;
  static constexpr bool knows_spin = true;  // these fluxes may be of any scheme
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  static std::int64_t doubles(int variables) { return flux_doubles(variables) + truncations; }

  KOKKOS_FORCEINLINE_FUNCTION BatchFluxes(const Batch& batch, int tile, int variables)
      : base_(batch.of(tile)), face_size_(variables * FacePlane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION FacePlane flux(int axis, int k) const {
    return {base_ + (axis * planes + k + 1) * face_size_};
  }
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation(int k) const {
    return {base_ + 3 * planes * face_size_ + 2 * k * InnerPlane::stride};
  }

 protected:
  static constexpr int planes = M + 2;  // from -1 on

  KOKKOS_FORCEINLINE_FUNCTION int face_size() const { return face_size_; }
  KOKKOS_FORCEINLINE_FUNCTION double* end() const {
    return base_ + 3 * planes * face_size_ + truncations;
  }

 private:
  static constexpr int truncations = 2 * M * InnerPlane::stride;
  static std::int64_t flux_doubles(int variables) {
    return std::int64_t{3} * planes * variables * FacePlane::stride;
  }

  double* base_;
  int face_size_;
};

// What the fluxes need: the states on the surfaces of cells, where the scheme keeps them.
template <int M, class Scheme>
class BatchSurfaces : public BatchFluxes<M> {
  using Base = BatchFluxes<M>;

 public:
  using typename Base::FacePlane;
  using Surface = typename Scheme::template Surface<BatchSurfaces>;

  static std::int64_t doubles(int variables) {
    return Base::doubles(variables) +
           std::int64_t{Base::planes} * Surface::planes * variables * FacePlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION BatchSurfaces(const Batch& batch, int tile, int variables)
      : Base(batch, tile, variables) {}

  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int k) const {
    return {Base::end() + ((k + 1) * Surface::planes + n) * Base::face_size()};
  }

 protected:
  KOKKOS_FORCEINLINE_FUNCTION double* end() const {
    return Base::end() + Base::planes * Surface::planes * Base::face_size();
  }
};

// What the states need: primitive variables.
template <int M, class Scheme>
class BatchCells : public BatchSurfaces<M, Scheme> {
  using Base = BatchSurfaces<M, Scheme>;

 public:
  static constexpr mesh::GhostShape ghosts = ghosts_of<Scheme>();
  static constexpr int reach = ghosts.reach - 1;
  using PrimitivePlane = ScratchPlane<M, ghosts.reach, M + 2 * ghosts.reach, ghosts.reach>;

  static std::int64_t doubles(int variables) {
    return Base::doubles(variables) +
           std::int64_t{M + 2 * ghosts.reach} * variables * PrimitivePlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION BatchCells(const Batch& batch, int tile, int variables)
      : Base(batch, tile, variables),
        safe_cell_(batch.safe_cell),
        primitive_size_(variables * PrimitivePlane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {Base::end() + (k + ghosts.reach) * primitive_size_};
  }
  KOKKOS_FORCEINLINE_FUNCTION double* safe_cell() const { return safe_cell_; }

 private:
  double* safe_cell_;
  int primitive_size_;
};

// The packs of a plane's rows [j_first, j_last), columns [i_first, i_last), by number.
template <int j_first, int j_last, int i_first, int i_last>
struct PackGrid {
  static constexpr int width = PackTraits<Pack>::width;
  static constexpr int columns = (i_last - i_first + width - 1) / width;
  static constexpr int packs = (j_last - j_first) * columns;
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int j(int n) { return j_first + n / columns; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int i(int n) {
    return i_first + n % columns * width;
  }
};

// body(tile, n) for all tiles of a batch, counted from 0, and n = 0, ..., PerTile - 1.
template <int PerTile, class Body>
struct TileItems {
  Body body;
  KOKKOS_FUNCTION void operator()(int n) const { body(n / PerTile, n % PerTile); }
};
template <int PerTile, class Body>
void for_tile_items(const char* name, const Batch& batch, const Body& body) {
  Kokkos::parallel_for(name, Kokkos::RangePolicy<Kokkos::IndexType<int>>(0, batch.count * PerTile),
                       TileItems<PerTile, Body>{body});
}

template <int M, class Scheme>
void find_states(const HydroOptions& options, const KernelArguments& a, const Batch& batch) {
  using Planes = BatchCells<M, Scheme>;
  using Cells = Gather<Planes, Scheme>;
  constexpr int g = Planes::ghosts.reach;
  const Scheme scheme(options, a);
  for_tile_items<Cells::across * Cells::pieces>(
      "hydro::gather", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        Cells(a, scheme, view, planes).piece(n / Cells::pieces - g, n % Cells::pieces);
      });

  using Around = PackGrid<-1, M + 1, -1, M + 1>;
  for_tile_items<(M + 2) * Around::packs>(
      "hydro::states", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const int k = n / Around::packs - 1;
        const int j = Around::j(n % Around::packs), i = Around::i(n % Around::packs);
        const typename Planes::Surface surface(planes, k);
        if (k >= 0 && k < M) reconstruct_cells<true>(scheme, a, view, planes, surface, k, j, i);
        else if (j >= 0 && j < M)
          reconstruct_cells<false>(scheme, a, view, planes, surface, k, j, i);
      });

  if (!a.guards_entropy) return;
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
void find_fluxes(const HydroOptions& options, const KernelArguments& a, const Batch& batch) {
  using Planes = BatchSurfaces<M, Scheme>;
  using X = PackGrid<0, M, 0, M + 1>;
  using Y = PackGrid<0, M + 1, 0, M>;
  using Z = PackGrid<0, M, 0, M>;
  constexpr int x_end = M * X::packs, y_end = x_end + M * Y::packs;
  const Scheme scheme(options, a);
  for_tile_items<y_end + (M + 1) * Z::packs>(
      "hydro::fluxes", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const auto through = [&]<int Axis, class Grid>(int m) {
          const int k = m / Grid::packs, j = Grid::j(m % Grid::packs), i = Grid::i(m % Grid::packs);
          flux_through<Axis>(scheme, planes, k, j, i);
          if (a.frame.turns()) leave_frame<Axis>(a, view, planes, k, j, i);
        };
        if (n < x_end) through.template operator()<0, X>(n);
        else if (n < y_end) through.template operator()<1, Y>(n - x_end);
        else through.template operator()<2, Z>(n - y_end);
      });
}

// The same for tiles of either side.
template <class Scheme>
std::int64_t tile_doubles(const KernelArguments& a) {
  return a.sweep.tiles.patch == 8 ? BatchCells<8, Scheme>::doubles(a.variables)
                                  : BatchCells<16, Scheme>::doubles(a.variables);
}
template <class Scheme>
void states_in_batch(const HydroOptions& options, const KernelArguments& a, const Batch& batch) {
  if (a.sweep.tiles.patch == 8) find_states<8, Scheme>(options, a, batch);
  else find_states<16, Scheme>(options, a, batch);
}
template <class Scheme>
void fluxes_in_batch(const HydroOptions& options, const KernelArguments& a, const Batch& batch) {
  if (a.sweep.tiles.patch == 8) find_fluxes<8, Scheme>(options, a, batch);
  else find_fluxes<16, Scheme>(options, a, batch);
}

// States of Godunov's schemes, whatever the Riemann solver.
std::int64_t godunov_tile_doubles(const HydroOptions& options, const KernelArguments& a);
void godunov_states_in_batch(const HydroOptions& options, const KernelArguments& a,
                             const Batch& batch);

// Advances all tiles in the buffer of the arguments; returns the largest signal speed of the new
// state.
double sweep_in_batches(const HydroOptions& options, const BatchKernels& scheme,
                        const KernelArguments& arguments);

}  // namespace octant::hydro
