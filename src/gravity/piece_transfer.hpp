// Copies between the mesh's blocks and the solver's patches.
#pragma once

#include <functional>
#include <span>

#include "core/pack.hpp"
#include "gravity/block_kernels.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Where a kernel that works on patches puts a vector field of blocks: into own blocks, or into a
// message to the ranks that own the others.
struct VectorTarget {
  static constexpr std::int32_t k_nowhere = -1;

  int pieces_across, log2_side, block_size;  // of a patch; of a piece
  // [own patch][z][y][x]: a local piece, or k_nowhere less 1 + n for number n of the message.
  DeviceArray<const std::int32_t> places;
  DeviceArray<const Piece> local;
  VectorField blocks;
  double* message;  // [n][component][k][j][i]

  // Sets cells (0 .. T-1, j, k) of an own patch, where there are blocks, to rows[component].
  template <int Row>
  KOKKOS_FORCEINLINE_FUNCTION void set_row(std::int64_t patch, int j, int k,
                                           const double (&rows)[3][Row]) const {
    const int P = 1 << log2_side, N = block_size, jp = j & (P - 1), kp = k & (P - 1);
    const std::int64_t first =
        ((patch * pieces_across + (k >> log2_side)) * pieces_across + (j >> log2_side)) *
        pieces_across;
    for (int x = 0; x < pieces_across; ++x) {
      const std::int32_t place = places(first + x);
      if (place == k_nowhere) continue;
      double* to = nullptr;
      std::int64_t stride = 0;
      if (place >= 0) {
        const Piece& piece = local(place);
        to = blocks.x.data + piece.block * blocks.x.stride + piece.in_block[0] +
             (std::int64_t{N} * (piece.in_block[2] + kp) + piece.in_block[1] + jp) * N;
        stride = blocks.stride_component;
      } else {
        stride = std::int64_t{P} * P * P;
        to = message + 3 * stride * (k_nowhere - 1 - place) + (kp * P + jp) * P;
      }
      for (int d = 0; d < 3; ++d) copy_cells(&rows[d][x * P], P, to + d * stride);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void copy_cells(const double* from, int count, double* to) {
    using PackOf = PackTraits<Pack>;
    if (count < PackOf::width) {
      for (int i = 0; i < count; ++i) to[i] = from[i];
    } else {
      for (int i = 0; i < count; i += PackOf::width) PackOf::store(to + i, PackOf::load(from + i));
    }
  }
};

// A field of patches, and what it shall be in the cells of blocks.
struct PatchValues {
  Combination values;
  double* patches = nullptr;
};

// The copies of one level. Collective.
class PieceTransfer {
 public:
  PieceTransfer(const LevelPatches& patches, int block_size, const CommOptions& options);

  // Sets own patches, of at most k_most_fields fields at a time; cells that no block covers to 0.
  static constexpr int k_most_fields = 3;
  void to_patches(std::span<const PatchValues> fields);

  // Sets a vector field of own blocks, which `write` puts where the target says.
  void vector_to_blocks(const VectorField& blocks,
                        const std::function<void(const VectorTarget&)>& write);

  // Sets the cells of own blocks.
  void to_blocks(const double* patches, const BlockField& blocks);

 private:
  int block_size_, side_, piece_;
  const ExchangePlan& plan_;
  DeviceArray<const StripTable> strips_;
  DeviceArray<const Piece> local_, leaving_, arriving_;
  DeviceArray<const std::int32_t> places_;  // see VectorTarget
  DeviceArray<const std::int32_t> rows_;    // of cubes of the size of a piece, with memory
  Exchanger exchanger_;
};

}  // namespace octant::gravity
