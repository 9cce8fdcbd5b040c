// Halo exchange of patches, and copies between blocks of the mesh and patches.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/simd.hpp"
#include "gravity/block_kernels.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Position of cell i in a row of `side` cells: even cells precede odd ones, so that red and black
// cells are contiguous in every row.
KOKKOS_FORCEINLINE_FUNCTION int split(int i, int side) { return (i >> 1) + (i & 1) * (side >> 1); }

// Halo exchange of one grid (patches of `side`^3 cells) for stencils that reach `depth` cells
// beyond a patch, along axes and diagonals.
class HaloExchange {
 public:
  HaloExchange(const LevelPatches& patches, int side, int depth, const CommOptions& options);

  // Starts the exchange of a field, which may be read but not written until finish(). Collective.
  void start(double* field);
  // Waits for the exchange started last. Collective.
  void finish();
  // Exchanges the halo of a field: start() and finish(). Collective.
  void run(double* field) {
    start(field);
    finish();
  }
  std::int64_t rounds() const { return rounds_; }  // number of exchanges started

 private:
  std::vector<PatchCopy> plan_copies(const std::vector<SharedPatch>& shared,
                                     std::vector<Segment>& segments) const;

  int side_, depth_, level_;
  bool alone_;
  DeviceArray<const StripTable> strips_;
  std::unique_ptr<ExchangePlan> plan_;
  DeviceArray<const PatchCopy> sent_regions_, received_regions_;
  DeviceArray<double> send_, receive_;
  Exchanger exchanger_;
  double* field_ = nullptr;
  std::int64_t rounds_ = 0;
};

// Destination of a vector field that a kernel computes on patches: own blocks, or a message to the
// ranks that own the other blocks.
struct VectorTarget {
  static constexpr std::int32_t k_none = -1;

  // pieces along an edge of a patch; log2 of the side of a piece
  int pieces_across, log2_side, block_size;
  // Piece at each position in own patches, [own patch][z][y][x]: index in `local`, k_none - (1 + n)
  // for item n of the message, or k_none.
  DeviceArray<const std::int32_t> places;
  DeviceArray<const Piece> local;
  VectorField blocks;
  double* message;  // [n][component][k][j][i]

  // Sets cells (0 .. T-1, j, k) of an own patch, where blocks exist, to rows[component].
  template <int Row>
  KOKKOS_FORCEINLINE_FUNCTION void set_row(std::int64_t patch, int j, int k,
                                           const double (&rows)[3][Row]) const {
    const int P = 1 << log2_side, N = block_size, jp = j & (P - 1), kp = k & (P - 1);
    const std::int64_t first =
        ((patch * pieces_across + (k >> log2_side)) * pieces_across + (j >> log2_side)) *
        pieces_across;
    for (int x = 0; x < pieces_across; ++x) {
      const std::int32_t place = places(first + x);
      if (place == k_none) continue;
      double* to = nullptr;
      std::int64_t stride = 0;
      if (place >= 0) {
        const Piece& piece = local(place);
        to = blocks.x.data + piece.block * blocks.x.stride + piece.in_block[0] +
             (std::int64_t{N} * (piece.in_block[2] + kp) + piece.in_block[1] + jp) * N;
        stride = blocks.stride_component;
      } else {
        stride = std::int64_t{P} * P * P;
        to = message + 3 * stride * (k_none - 1 - place) + (kp * P + jp) * P;
      }
      for (int d = 0; d < 3; ++d) copy_cells(&rows[d][x * P], P, to + d * stride);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void copy_cells(const double* from, int count, double* to) {
    using PackOf = SimdTraits<SimdDouble>;
    if (count < PackOf::width) {
      for (int i = 0; i < count; ++i) to[i] = from[i];
    } else {
      for (int i = 0; i < count; i += PackOf::width) PackOf::store(to + i, PackOf::load(from + i));
    }
  }
};

// Field of patches, and the block values to be copied to it.
struct PatchValues {
  Combination values;
  double* patches = nullptr;
};

// Copies of fields between blocks and patches of one level. All functions are collective.
class PieceTransfer {
 public:
  PieceTransfer(const LevelPatches& patches, int block_size, const CommOptions& options);

  // Maximum number of fields in one call of to_patches().
  static constexpr int k_max_fields = 3;
  // Copies block values to at most k_max_fields fields of own patches; 0 in cells without a block.
  void to_patches(std::span<const PatchValues> values);

  // Sets a vector field of own blocks: calls `write`, which must store the field in the target.
  void vector_to_blocks(const VectorField& blocks,
                        const std::function<void(const VectorTarget&)>& write);

  // Copies a field of own patches to own blocks.
  void to_blocks(const double* patches, const BlockField& blocks);

 private:
  int block_size_, side_, piece_;
  const ExchangePlan& plan_;
  DeviceArray<const StripTable> strips_;
  DeviceArray<const Piece> local_, leaving_, arriving_;
  DeviceArray<const std::int32_t> places_;  // see VectorTarget
  DeviceArray<const std::int32_t> rows_;    // see rows_with_memory()
  Exchanger exchanger_;
};

}  // namespace octant::gravity
