// What a kernel sees of one level of the mesh: boxes of cells, and the tiles that it sweeps.
//
// State is stored without ghost cells. A kernel works on a *tile*, a patch of M^3 cells of one
// level (M = 8 or 16), and gathers the patch and the ghost cells around it from *boxes*:
//
//   block size N >= M   a tile is a part of one block: (N/M)^3 tiles per block
//   block size N <  M   a tile joins the (M/N)^3 blocks under one ancestor; those that do not exist
//                       or belong to another rank are gathered as ghosts, and not updated
//
// The table of a tile names the box that holds each block position in and around it. A box may hold
// a block of this rank, a halo copy of another rank's block, cells interpolated from the coarser
// level, or cells beyond a physical boundary: the kernel does not know which, and need not.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"

namespace octant::mesh {

using DeviceSpace = DeviceMemory;
template <class T>
using DeviceArray = Kokkos::View<T*, DeviceSpace>;

// The buffer that a box lies in. A sweep updates `own` blocks only. `borrowed` boxes lie in the
// same memory, but are blocks that another tile updates (where a tile reaches across a periodic
// boundary).
enum Buffer : std::int32_t { k_own, k_borrowed, k_halo, k_scratch, k_buffers };

// Addresses the cells of one block position, or of the part of it that somebody needs. Cell (i, j,
// k), in the block's own indices 0..N-1, of variable n lies in its buffer at
//   base + n * stride_variable + k * stride_k + j * stride_j + i.
struct CellBox {
  std::int64_t base;
  std::int32_t stride_j, stride_k, stride_variable;
  std::int32_t buffer;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(int i, int j, int k) const {
    return base + static_cast<std::int64_t>(k) * stride_k + j * stride_j + i;
  }
};

// One time level of the state, by Buffer.
struct FieldPointers {
  const double* buffer[k_buffers];
};

// Asks a sweep to add `weight * flux` to a register: the faces of one quarter of a block's plane,
// where a block meets a coarser or a finer one. Register values are on the coarser of the two
// grids. Transverse axes are in ascending order and the first is contiguous: (y, z) for axis x, (x,
// z) for y, (x, y) for z. Ranges are in cells of the tile's patch, 0..M; for `average` they are
// even.
struct FluxRequest {
  std::int8_t axis;     // normal of the faces: 0, 1, 2
  std::int8_t average;  // 1: the mean of 2 x 2 faces per value (fine side); 0: one face per value
  std::int16_t plane;   // face index along the axis: 0..M, the lower face of that cell
  std::int16_t a_begin, a_end, b_begin, b_end;
  std::int32_t stride_b, stride_variable;
  std::int64_t base;  // register of (a_begin, b_begin), variable 0
};

// A tile: where its table and flux requests begin, and where its patch lies in its block (N > M)
// and on its level.
struct Tile {
  std::int32_t table;                       // first entry in TileSet::table
  std::int32_t request_begin, request_end;  // range in TileSet::requests
  std::int16_t origin[3];                   // cell of the block that is cell 0 of the patch
  std::int16_t unused;
  std::int64_t first[3];  // cells from the lower end of the domain to cell 0 of the patch
};

// A side of the domain that gas does not enter: a reflecting wall, or a diode.
struct ClosedSide {
  static constexpr std::int64_t k_none = -1;
  std::int64_t face = k_none;  // of the level, counted in cells from the domain's lower end
  bool lets_out = false;       // a diode, which gas may leave through
};

// The tiles of one level on one rank. Table entries are indices into `boxes`, in the order
// [kb][jb][ib] over `reach`^3 block positions beginning one block before the tile's first; -1 where
// nothing is needed (such patch cells may hold anything finite and positive). The box of a block of
// this rank has the index of its slot.
struct TileSet {
  int block_size;  // N
  int log2_block_size;
  int patch;             // M
  int blocks_per_patch;  // max(1, M / N)
  int reach;             // blocks_per_patch + 2
  DeviceArray<const Tile> tiles;
  DeviceArray<const std::int32_t> table;
  DeviceArray<const CellBox> boxes;
  DeviceArray<const FluxRequest> requests;
  ClosedSide closed[3][2];  // [axis][side]

  int count() const { return static_cast<int>(tiles.extent(0)); }
};

}  // namespace octant::mesh
