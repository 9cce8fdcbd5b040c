// Device schedule of a sweep: tiles are processed in batches that fit in a buffer, with one kernel
// after the other for each batch.
//
//   gather    primitive variables of the patches and their ghost cells   a thread per cell
//   states    on the surfaces of the cells, and data for dual energy     a thread per cell
//   fluxes    through all faces                                          a thread per face
//   update    new states and their validation                            a thread per cell
//   answers   fluxes for flux registers, in tiles with requests          a team per tile
//
// On a host this schedule has only tests. The buffer stays in the cache of a device, and holds any
// number of variables. Planes are laid out as in the scratch
// memory of the CPU schedule (sweep_cpu.hpp), so that bodies access them in the same way; but every
// plane of every tile has its own memory.
#pragma once

#include "hydro/dual_energy.hpp"
#include "hydro/scheme.hpp"
#include "hydro/schemes.hpp"
#include "hydro/tile_gather.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

// Tiles first, first + 1, ... of a sweep, and their memory.
struct Batch {
  int first, count;
  double* tiles;  // `tile_doubles` numbers for each tile
  std::int64_t tile_doubles;
  double* fill_state;  // state that replaces cells outside all boxes

  // Memory of a tile, counted from the first one of the batch.
  KOKKOS_FORCEINLINE_FUNCTION double* of(int tile) const { return tiles + tile * tile_doubles; }
};

// Data of a tile for the update: fluxes through the lower faces of cells -1..M, and two variables
// of the patch for DualEnergy::overwrite.
template <int M>
class BatchFluxes {
 public:
  static constexpr bool keeps_all_planes = true;
  static constexpr int patch = M, width = SimdTraits<SimdDouble>::width;
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  // Number of doubles of a tile for this many variables.
  static std::int64_t doubles(int variables) { return flux_doubles(variables) + truncations; }

  KOKKOS_FORCEINLINE_FUNCTION BatchFluxes(const Batch& batch, int tile, int variables)
      : base_(batch.of(tile)), face_size_(variables * FacePlane::stride) {}

  // Plane of fluxes through the lower faces along an axis of the cells of plane k.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane flux(int axis, int k) const {
    return {base_ + (axis * planes + k + 1) * face_size_};
  }
  // Plane of truncation-error estimates for DualEnergy::overwrite.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation(int k) const {
    return {base_ + 3 * planes * face_size_ + 2 * k * InnerPlane::stride};
  }

 protected:
  static constexpr int planes = M + 2;  // number of planes, with indices -1 to M

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

// Data of a tile for the fluxes: the states on the surfaces of cells, in `Surfaces` planes.
template <int M, int Surfaces>
class BatchSurfaces : public BatchFluxes<M> {
  using Base = BatchFluxes<M>;

 public:
  using typename Base::FacePlane;

  // Number of doubles of a tile for this many variables.
  static std::int64_t doubles(int variables) {
    return Base::doubles(variables) +
           std::int64_t{Base::planes} * Surfaces * variables * FacePlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION BatchSurfaces(const Batch& batch, int tile, int variables)
      : Base(batch, tile, variables) {}

  // Plane n of surface states of the cells of plane k.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int k) const {
    return {Base::end() + ((k + 1) * Surfaces + n) * Base::face_size()};
  }

 protected:
  KOKKOS_FORCEINLINE_FUNCTION double* end() const {
    return Base::end() + Base::planes * Surfaces * Base::face_size();
  }
};

// Data of a tile for the states: primitive variables (KernelArguments::cell_values numbers per
// cell).
template <int M, int Surfaces, mesh::GhostShape shape>
class BatchCells : public BatchSurfaces<M, Surfaces> {
  using Base = BatchSurfaces<M, Surfaces>;

 public:
  static constexpr mesh::GhostShape ghosts = shape;
  static constexpr int reach = ghosts.reach - 1;
  using PrimitivePlane = ScratchPlane<M, ghosts.reach, M + 2 * ghosts.reach, ghosts.reach>;

  // Number of doubles of a tile.
  static std::int64_t doubles(const KernelArguments& a) {
    return Base::doubles(a.variables) +
           std::int64_t{M + 2 * ghosts.reach} * a.cell_values * PrimitivePlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION BatchCells(const Batch& batch, int tile, const KernelArguments& a)
      : Base(batch, tile, a.variables),
        fill_state_(batch.fill_state),
        primitive_size_(a.cell_values * PrimitivePlane::stride) {}

  // Plane k of primitive variables, ghost planes included.
  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {Base::end() + (k + ghosts.reach) * primitive_size_};
  }
  // Primitive variables around a cell, for schemes.
  KOKKOS_FORCEINLINE_FUNCTION StridedCells around(int k, int j, int i) const {
    return {primitive(k).at(j, i), PrimitivePlane::stride, PrimitivePlane::row, primitive_size_};
  }
  // State that replaces cells outside all boxes.
  KOKKOS_FORCEINLINE_FUNCTION double* fill_state() const { return fill_state_; }

 private:
  double* fill_state_;
  int primitive_size_;
};

// Number of planes and data of a tile for a scheme.
template <int M, class Scheme>
inline constexpr int k_surface_planes = Scheme::template Surface<BatchFluxes<M>>::planes;
template <int M, class Scheme>
using SurfacesInBatch = BatchSurfaces<M, k_surface_planes<M, Scheme>>;
template <int M, class Scheme>
using CellsInBatch = BatchCells<M, k_surface_planes<M, Scheme>, ghosts_of<Scheme>()>;

// Numbering of the packs in rows [j_first, j_last) and columns [i_first, i_last) of a plane.
template <int j_first, int j_last, int i_first, int i_last,
          int width = SimdTraits<SimdDouble>::width>
struct PackGrid {
  static constexpr int columns = (i_last - i_first + width - 1) / width;
  static constexpr int packs = (j_last - j_first) * columns;
  // Row of pack n.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int j(int n) { return j_first + n / columns; }
  // Column of the first cell of pack n.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int i(int n) {
    return i_first + n % columns * width;
  }
};
// Numbering of cells or faces, as packs of one.
template <int j_first, int j_last, int i_first, int i_last>
using CellGrid = PackGrid<j_first, j_last, i_first, i_last, 1>;

// Functor that calls body(tile, n) for the item tile * PerTile + n.
template <int PerTile, class Body>
struct TileItems {
  Body body;
  KOKKOS_FUNCTION void operator()(int n) const { body(n / PerTile, n % PerTile); }
};
// Launches body(tile, n) for all tiles of a batch, counted from 0, and n = 0, ..., PerTile - 1.
// `name` is the kernel's name in profiles.
template <int PerTile, class Body>
void for_tile_items(const char* name, const Batch& batch, const Body& body) {
  mesh::for_items(name, std::int64_t{batch.count} * PerTile, TileItems<PerTile, Body>{body});
}

// --- states and fluxes of a batch ----------------------------------------------------------------

// Resets the flag of a tile and counts its cost, which is 1 for all tiles on a device.
KOKKOS_INLINE_FUNCTION void begin_tile(const SweepArguments& sweep, int tile) {
  sweep.bad_tiles[tile] = 0;
  if (sweep.tile_cycles) sweep.tile_cycles[tile] += 1;
}

// Kernel "gather" of a batch.
template <class Planes, class G>
void gather_batch_as(const KernelArguments& a, const Batch& batch) {
  using Cells = Gather<Planes, G>;
  for_tile_items<Cells::across * Cells::pieces>(
      "hydro::gather", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a);
        if (n == 0) begin_tile(a.sweep, batch.first + tile);
        Cells(a, view, planes).piece(n / Cells::pieces - Planes::ghosts.reach, n % Cells::pieces);
      });
}

template <class Planes>
void gather_batch(const KernelArguments& a, const Batch& batch) {
  with_type_of(a.gas, [&]<class G>() { gather_batch_as<Planes, G>(a, batch); });
}

// Estimates truncation errors for DualEnergy::overwrite.
template <class Planes>
void find_truncation_in_batch(const KernelArguments& a, const Batch& batch) {
  constexpr int M = Planes::patch;
  using Inner = PackGrid<0, M, 0, M>;
  for_tile_items<M * Inner::packs>(
      "hydro::truncation", batch, KOKKOS_LAMBDA(int tile, int n) {
        using P = SimdTraits<SimdDouble>;
        using Plane = typename Planes::PrimitivePlane;
        const Planes planes(batch, tile, a);
        const int k = n / Inner::packs;
        const int j = Inner::j(n % Inner::packs), i = Inner::i(n % Inner::packs);
        keep_truncation(planes, k, j, i,
                        truncation_around<SimdDouble>([&](int d, int x, int y, int z) {
                          return P::load(planes.primitive(k + z).at(j + y, i + x) +
                                         (k_velocity_x + d) * Plane::stride);
                        }));
      });
}

// Kernel "states" of a batch.
template <int M, class Scheme>
void states_of_batch(const KernelArguments& a, const Batch& batch) {
  using Planes = CellsInBatch<M, Scheme>;
  using Surface = typename Scheme::template Surface<Planes>;
  using Around = CellGrid<-1, M + 1, -1, M + 1>;
  const Scheme scheme(a);
  gather_batch<Planes>(a, batch);
  for_tile_items<(M + 2) * Around::packs>(
      "hydro::states", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a);
        const int k = n / Around::packs - 1;
        const int j = Around::j(n % Around::packs), i = Around::i(n % Around::packs);
        const Surface surface(planes, k);
        const auto position = [&] { return view.position<double>(a.sweep, k, j, i); };
        const bool inside = k >= 0 && k < M;
        if (!inside && (j < 0 || j >= M || i < 0 || i >= M)) return;
        if constexpr (k_device_is_host)
          states_of_cell(scheme, inside, planes.around(k, j, i), position(),
                         addresses_on<Scheme::points>(surface, j, i));
        else
          scheme.template reconstruct<double>(inside, CellsAround(planes, k, j, i), position,
                                              states_on(surface, j, i));
      });
  if (a.guards_entropy) find_truncation_in_batch<Planes>(a, batch);
}

// Computes the flux through the lower face along an axis of cell (k, j, i).
template <int Axis, class Scheme, class Planes>
KOKKOS_FORCEINLINE_FUNCTION void flux_in_batch(const Scheme& scheme, const Planes& planes, int k,
                                               int j, int i) {
  using Surface = typename Scheme::template Surface<Planes>;
  if constexpr (k_device_is_host) {
    const Surface above(planes, k), below(planes, Axis == 2 ? k - 1 : k);
    constexpr int points = Scheme::points;
    flux_of_face<Axis>(scheme,
                       addresses_on<points>(below, Axis == 1 ? j - 1 : j, Axis == 0 ? i - 1 : i),
                       addresses_on<points>(above, j, i), planes.flux(Axis, k).at(j, i),
                       Planes::FacePlane::stride);
  } else {
    flux_through<Axis>(scheme, planes, k, j, i);
  }
}

// Kernel "fluxes" of a batch.
template <int M, class Scheme>
void fluxes_of_batch(const KernelArguments& a, const Batch& batch) {
  using Planes = SurfacesInBatch<M, Scheme>;
  using X = CellGrid<0, M, 0, M + 1>;
  using Y = CellGrid<0, M + 1, 0, M>;
  using Z = CellGrid<0, M, 0, M>;
  constexpr int x_end = M * X::packs, y_end = x_end + M * Y::packs;
  const Scheme scheme(a);
  for_tile_items<y_end + (M + 1) * Z::packs>(
      "hydro::fluxes", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const auto through = [&]<int Axis, class Grid>(int m) {
          const int k = m / Grid::packs, j = Grid::j(m % Grid::packs), i = Grid::i(m % Grid::packs);
          if_closed<Axis>(view, k, j, i, [&](int side, bool is_diode) {
            close_states<Axis, Scheme>(planes, k, j, i, side, is_diode, a.variables);
          });
          flux_in_batch<Axis>(scheme, planes, k, j, i);
          if_closed<Axis>(view, k, j, i, [&](int side, bool is_diode) {
            close_flux<Axis>(planes.flux(Axis, k).at(j, i), side, is_diode, a.variables,
                             Planes::FacePlane::stride);
          });
          if (a.frame.turns()) leave_frame<Axis, double>(a, view, planes, k, j, i);
        };
        if (n < x_end) through.template operator()<0, X>(n);
        else if (n < y_end) through.template operator()<1, Y>(n - x_end);
        else through.template operator()<2, Z>(n - y_end);
      });
}

// Advances all tiles in batches that fit in the arguments' buffer. Returns before the kernels end.
void sweep_in_batches(const SchemeOps& ops, const KernelArguments& arguments);

}  // namespace octant::hydro
