// Cloud-in-cell scheme: eight cells that receive a particle's mass and provide its force.
//
// The cloud is a cube of the size of a cell of the particle's level, centred on it (Hockney &
// Eastwood, Computer Simulation Using Particles, 1981, section 5-3). Cells and weights depend only
// on position and level, never on the particle's home block.
#pragma once

#include <array>
#include <cmath>

#include "mesh/geometry.hpp"
#include "particles/neighbourhood.hpp"

namespace octant::particles {

// Coordinates of positions among the cells of one level.
struct LevelFrame {
  double lower[3], upper[3];  // lower and upper end of the domain
  double cells_per_length;
  BlockCoordinate cells[3];  // cells of the domain
  bool periodic[3];
  int block_size;

  LevelFrame(const mesh::Geometry& geometry, int level)
      : cells_per_length(1.0 / geometry.cell_size(level)), block_size(geometry.block_size()) {
    for (int d = 0; d < 3; ++d) {
      lower[d] = geometry.lower()[d];
      upper[d] = geometry.upper()[d];
      cells[d] = geometry.extent(level)[d] * block_size;
      periodic[d] = geometry.periodic(d);
    }
  }

  // Coordinate in cells from the lower end. Between levels it differs by an exact power of two, so
  // that a particle lies in a cell of one level exactly if it lies in the coarser cell around it.
  KOKKOS_INLINE_FUNCTION double in_cells(int d, double x) const {
    return (x - lower[d]) * cells_per_length;
  }
  // Coordinate along axis d of the cell that contains x, which must lie inside the domain.
  KOKKOS_INLINE_FUNCTION BlockCoordinate cell_of(int d, double x) const {
    const auto cell = static_cast<BlockCoordinate>(in_cells(d, x));
    // coordinates just below the upper end may be rounded up to it
    return cell < cells[d] ? cell : cells[d] - 1;
  }
  // True if a coordinate lies in the domain.
  KOKKOS_INLINE_FUNCTION bool holds(int d, double x) const { return x >= lower[d] && x < upper[d]; }

  // Position in code length, for the host functions below.
  using Position = std::array<double, 3>;
  // True if the position lies in the domain.
  bool holds(const Position& x) const { return holds(0, x[0]) && holds(1, x[1]) && holds(2, x[2]); }
  // Key of the block that contains the position.
  Key block_at(const Position& x) const {
    BlockCoordinates block;
    for (int d = 0; d < 3; ++d) block[d] = cell_of(d, x[d]) / block_size;
    return morton_encode(block);
  }
  // Morton key of the cell that contains the position, within its block.
  Key cell_key(const Position& x) const {
    BlockCoordinates cell;
    for (int d = 0; d < 3; ++d) cell[d] = cell_of(d, x[d]) % block_size;
    return morton_encode(cell);
  }
  // Octant (0-7), within its block, in which the position lies.
  int octant_at(const Position& x) const {
    int octant = 0;
    for (int d = 0; d < 3; ++d) octant |= (cell_of(d, x[d]) % block_size >= block_size / 2) << d;
    return octant;
  }
};

// Cloud of a particle. Cells are counted from the first cell of the home block.
struct Cloud {
  int cell[3][2];    // lower and upper cell along each axis
  double weight[3];  // weight of the upper cell

  // Returns true if all eight cells lie in the home block.
  KOKKOS_INLINE_FUNCTION bool inside(int block_size) const {
    bool in = true;
    for (int d = 0; d < 3; ++d)
      in = in && cell[d][0] >= 0 && cell[d][1] < block_size && cell[d][0] < cell[d][1];
    return in;
  }
};

// Finds the cloud of a position. Beyond a wall a cloud's mass stays in the last cell. The home
// block has `side` cells of the frame's level along each axis, from `first_cell` on.
KOKKOS_FORCEINLINE_FUNCTION Cloud cloud_of(const LevelFrame& frame,
                                           const BlockCoordinate (&first_cell)[3], int side,
                                           const double (&position)[3]) {
  Cloud cloud;
  for (int d = 0; d < 3; ++d) {
    const double centre = frame.in_cells(d, position[d]) - 0.5;
    const double below = Kokkos::floor(centre);
    cloud.weight[d] = centre - below;
    const auto lower = static_cast<BlockCoordinate>(below);
    BlockCoordinate first = lower - first_cell[d], second = first + 1;
    if (frame.periodic[d]) {
      if (first < -k_depth) first += frame.cells[d];
      if (first > side) first -= frame.cells[d];
      second = first + 1;
    } else if (lower < 0) {
      first = second;
    } else if (lower == frame.cells[d] - 1) {
      second = first;
    }
    cloud.cell[d][0] = static_cast<int>(first);
    cloud.cell[d][1] = static_cast<int>(second);
  }
  return cloud;
}

// Cloud in cells of the home block's level.
KOKKOS_FORCEINLINE_FUNCTION Cloud cloud_of(const LevelFrame& frame, const HomeBlock& home,
                                           const double (&position)[3]) {
  return cloud_of(frame, home.first_cell, frame.block_size, position);
}

// Cloud in cells of the next coarser level, whose frame is `coarse`.
KOKKOS_FORCEINLINE_FUNCTION Cloud coarse_cloud_of(const LevelFrame& coarse, const HomeBlock& home,
                                                  const double (&position)[3]) {
  const BlockCoordinate first_cell[3] = {home.first_cell[0] / 2, home.first_cell[1] / 2,
                                         home.first_cell[2] / 2};
  return cloud_of(coarse, first_cell, coarse.block_size / 2, position);
}

// Address of a cell of the next coarser level, counted from the first one in a block. `coarse` are
// the 27 entries of the block in Neighbourhood::coarse_locations.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T* find_coarse_cell(const CellLocation* coarse,
                                                const CellArrays<T>& arrays, int block_size, int i,
                                                int j, int k, std::int64_t& stride_component) {
  return find_cell(coarse, arrays, block_size, 2 * i, 2 * j, 2 * k, stride_component);
}

// Finds the addresses of a cloud's eight cells of the next coarser level.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void find_coarse_cells(const Cloud& cloud, std::int32_t home,
                                                   const CellLocation* coarse,
                                                   const CellArrays<T>& arrays, int block_size,
                                                   T* (&cell)[8],
                                                   std::int64_t (&stride_component)[8]) {
  for (int c = 0; c < 8; ++c)
    cell[c] =
        find_coarse_cell(coarse + 27 * std::int64_t{home}, arrays, block_size, cloud.cell[0][c & 1],
                         cloud.cell[1][c >> 1 & 1], cloud.cell[2][c >> 2], stride_component[c]);
}

// Finds the addresses of a cloud's eight cells, x first, and the strides to their next components.
// `locations` are those of all blocks, by slot.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void find_cells(const Cloud& cloud, std::int32_t home,
                                            const CellLocation* locations,
                                            const CellArrays<T>& arrays, int block_size,
                                            T* (&cell)[8], std::int64_t (&stride_component)[8]) {
  const int N = block_size;
  if (cloud.inside(N)) {
    const CellArray<T>& own = arrays.source[k_here];
    T* first = own.data + home * own.stride_slot + (cloud.cell[2][0] * N + cloud.cell[1][0]) * N +
               cloud.cell[0][0];
    for (int c = 0; c < 8; ++c) {
      cell[c] = first + ((c >> 2) * N + (c >> 1 & 1)) * N + (c & 1);
      stride_component[c] = own.stride_component;
    }
  } else {
    for (int c = 0; c < 8; ++c)
      cell[c] = find_cell(locations + 27 * std::int64_t{home}, arrays, N, cloud.cell[0][c & 1],
                          cloud.cell[1][c >> 1 & 1], cloud.cell[2][c >> 2], stride_component[c]);
  }
}

}  // namespace octant::particles
