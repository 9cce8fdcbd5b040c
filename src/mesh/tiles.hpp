// Data of one level of the mesh for kernels: boxes of cells, and the tiles of a sweep.
//
// State is stored without ghost cells. A kernel works on a *tile*, a patch of M^3 cells of one
// level (M = 8 or 16), and gathers the patch and the ghost cells around it from *boxes*:
//
//   block size N >= M   a tile is a part of one block: (N/M)^3 tiles per block
//   block size N <  M   a tile joins the (M/N)^3 blocks under one ancestor; missing blocks and
//                       those of other ranks are gathered as ghosts, and not updated
//
// The table of a tile lists the box of each block position in and around it. A box may hold an own
// block, a halo copy of another rank's block, cells interpolated from the coarser level, or cells
// beyond a physical boundary; kernels treat all boxes in the same way.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"

namespace octant::mesh {

using DeviceSpace = DeviceMemory;
template <class T>
using DeviceArray = Kokkos::View<T*, DeviceSpace>;

// Buffer that contains a box. A sweep updates `own` blocks only. `borrowed` boxes lie in the same
// memory, but are blocks that another tile updates (where a tile extends across a periodic
// boundary).
enum Buffer : std::int32_t { k_own, k_borrowed, k_halo, k_scratch, k_buffers };

// Addresses of the cells of one block position, or of a part of it. Cell (i, j, k), in the block's
// indices 0..N-1, of variable n lies in its buffer at
//   base + n * stride_variable + k * stride_k + j * stride_j + i.
struct CellBox {
  std::int64_t base;
  std::int32_t stride_j, stride_k, stride_variable;
  std::int32_t buffer;

  // Offset of a cell relative to `base`, for variable 0.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(int i, int j, int k) const {
    return base + static_cast<std::int64_t>(k) * stride_k + j * stride_j + i;
  }
};

// State at one time, by Buffer.
struct FieldPointers {
  const double* buffer[k_buffers];
};

// Request to add `weight * flux` to a flux register, for the faces of a quarter of a block's plane
// (the whole face of a fine block) at a coarse-fine boundary or a boundary of the domain. Register
// values are on the coarser of the two grids. Transverse axes are in ascending order and the first
// is contiguous: (y, z) for axis x, (x, z) for y, (x, y) for z. Ranges are in cells of the tile's
// patch, 0..M, and begin and end at even cells if `average` is set.
struct FluxRegisterFaces {
  std::int8_t axis;     // normal of the faces: 0, 1, 2
  std::int8_t average;  // 1: mean of 2 x 2 faces per value (fine side); 0: one face
  std::int16_t plane;   // face index along the axis: 0..M, the lower face of that cell
  std::int16_t a_begin, a_end, b_begin, b_end;
  std::int32_t stride_b, stride_variable;
  std::int64_t base;  // offset of the register value of (a_begin, b_begin), variable 0
};

// A tile: table and flux requests, and position of the patch in its block (N > M) and level.
struct Tile {
  std::int32_t table;                       // first entry in TileSet::table
  std::int32_t request_begin, request_end;  // range in TileSet::requests
  std::int16_t origin[3];                   // cell of the block that is cell 0 of the patch
  std::int16_t unused;
  std::int64_t first[3];  // cells from the lower end of the domain to cell 0 of the patch
};

// A boundary through which gas cannot enter: a reflecting wall, or a diode.
struct ClosedSide {
  static constexpr std::int64_t k_none = -1;
  // index of the boundary's face on the level, in cells from the domain's lower end
  std::int64_t face = k_none;
  bool is_diode = false;  // true for a diode, through which gas may leave
};

// Tiles of one level on one rank. Table entries are indices into `boxes`, in the order [kb][jb][ib]
// over `reach`^3 block positions beginning one block before the tile's first; -1 where nothing is
// read (such patch cells may hold any finite positive values). The box of an own block has the
// index of its slot.
struct TileSet {
  int block_size;  // N
  int log2_block_size;
  int patch;             // M
  int blocks_per_patch;  // max(1, M / N)
  int reach;             // blocks_per_patch + 2
  DeviceArray<const Tile> tiles;
  DeviceArray<const std::int32_t> table;
  DeviceArray<const CellBox> boxes;
  DeviceArray<const FluxRegisterFaces> requests;
  ClosedSide closed[3][2];  // [axis][side]

  // Number of tiles.
  int count() const { return static_cast<int>(tiles.extent(0)); }
};

// Flow through the faces of cells of own blocks, [slot][axis][side][cell]; side 0 is a cell's lower
// face. Each face is stored for both adjacent cells. `data` is null if the flow is not recorded.
struct FaceFlow {
  double* data = nullptr;
  std::int64_t cells_per_block = 0;

  KOKKOS_FORCEINLINE_FUNCTION explicit operator bool() const { return data != nullptr; }
  // Address of the flow through one side of cell 0 of a block; the cells of the block follow.
  KOKKOS_FORCEINLINE_FUNCTION double* through_face(std::int64_t slot, int axis, int side) const {
    return data + (6 * slot + 2 * axis + side) * cells_per_block;
  }
};

// Cells around a block that a sweep reads.
//
// A ghost cell is described by its distances beyond the block along x, y and z, 0 within the
// block's extent. `star`: stencils along the axes, whose distances add up to at most `reach`.
// `cube`: stencils also along diagonals, where each distance is at most `reach`.
struct GhostShape {
  // Shape of the stencil: along axes only, or also along diagonals.
  enum class Kind { star, cube };

  int reach = 2;
  Kind kind = Kind::star;

  // Reach along one axis at distances a and b along the other two; negative if no cells are read.
  constexpr int reach_beside(int a, int b) const {
    if (kind == Kind::star) return reach - (a + b);
    return a <= reach && b <= reach ? reach : -1;
  }
  // True if the cell at distances a, b and c is read.
  constexpr bool contains(int a, int b, int c) const { return c <= reach_beside(a, b); }
  // Number of layers read from a neighbour across a face (1 axis), an edge (2) or a corner (3).
  constexpr int layers_across(int axes) const {
    return kind == Kind::star ? reach - (axes - 1) : reach;
  }
};

}  // namespace octant::mesh
