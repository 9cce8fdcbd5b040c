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
// every tile has its own.
#pragma once

#include "hydro/schemes.hpp"
#include "hydro/sweep_bodies.hpp"
#include "hydro/sweep_scratch.hpp"

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
  static constexpr bool keeps_all_planes = true;
  static constexpr int patch = M, width = PackTraits<Pack>::width;
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

// What the fluxes need: the states on the surfaces of cells, for which a scheme has so many planes.
template <int M, int Surfaces>
class BatchSurfaces : public BatchFluxes<M> {
  using Base = BatchFluxes<M>;

 public:
  using typename Base::FacePlane;

  static std::int64_t doubles(int variables) {
    return Base::doubles(variables) +
           std::int64_t{Base::planes} * Surfaces * variables * FacePlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION BatchSurfaces(const Batch& batch, int tile, int variables)
      : Base(batch, tile, variables) {}

  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int k) const {
    return {Base::end() + ((k + 1) * Surfaces + n) * Base::face_size()};
  }

 protected:
  KOKKOS_FORCEINLINE_FUNCTION double* end() const {
    return Base::end() + Base::planes * Surfaces * Base::face_size();
  }
};

// What the states need: primitive variables.
template <int M, int Surfaces, mesh::GhostShape shape>
class BatchCells : public BatchSurfaces<M, Surfaces> {
  using Base = BatchSurfaces<M, Surfaces>;

 public:
  static constexpr mesh::GhostShape ghosts = shape;
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

// Those of a scheme.
template <int M, class Scheme>
inline constexpr int k_surface_planes = Scheme::template Surface<BatchFluxes<M>>::planes;
template <int M, class Scheme>
using SurfacesInBatch = BatchSurfaces<M, k_surface_planes<M, Scheme>>;
template <int M, class Scheme>
using CellsInBatch = BatchCells<M, k_surface_planes<M, Scheme>, ghosts_of<Scheme>()>;

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

// Starts to advance all tiles in the buffer of the arguments.
void sweep_in_batches(const SweepKernels& scheme, const KernelArguments& arguments);

}  // namespace octant::hydro
