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

// Grid of a halo exchange: patches of `side`^3 cells, and stencils that reach `depth` cells beyond
// a patch, along axes and diagonals.
struct HaloGrid {
  int side, depth;
};

// Fields of a halo exchange and their message, for kernels.
struct HaloMessage {
  static constexpr int k_max_fields = 2;

  int fields = 0;
  int side[k_max_fields] = {};
  double* field[k_max_fields] = {};
  const StripTable* strips = nullptr;
  // Copies between fields and message: one per field for each patch and rank, in this order.
  // `first` is the first copy of each own slot among those of packing; null on a single rank.
  const PatchCopy* copies = nullptr;
  const std::int32_t* first = nullptr;
  double* message = nullptr;

  // Copies the cells of an own patch that other ranks need to the message. The threads of a team
  // call this function after the team has computed the patch and passed a barrier.
  KOKKOS_FORCEINLINE_FUNCTION void pack(const Team& team, int slot) const {
    if (!first) return;
    for (int n = first[slot]; n < first[slot + 1]; ++n) copy<true>(team, n);
  }
  // Copies one part of a patch, `packs` to or else from the message.
  template <bool packs>
  KOKKOS_FORCEINLINE_FUNCTION void copy(const Team& team, int n) const {
    const PatchCopy& part = copies[n];
    const int of = n % fields, T = side[of];
    in_team(team, part.rows(), [&](int row) {
      double* cells = row_of(strips, T, field[of], part.slot, part.j(row), part.k(row));
      double* line = message + part.value_offset(row);
      for (int i = 0; i < part.length(); ++i) {
        const int cell = split(i + part.begin[0], T);
        if constexpr (packs) line[i] = cells ? cells[cell] : 0.0;
        else cells[cell] = line[i];
      }
    });
  }
};

// Buffers of halo exchanges of which at most one is under way.
struct HaloBuffers {
  DeviceArray<double> sent, received;
};

// Halo exchange of one field, or of fields on several grids of the same patches in one message.
class HaloExchange {
 public:
  HaloExchange(const LevelPatches& patches, const std::vector<HaloGrid>& grids,
               const CommOptions& options,
               std::shared_ptr<HaloBuffers> buffers = std::make_shared<HaloBuffers>());

  // Starts the exchange of a field on each grid. Fields may be read but not written until finish().
  // Collective.
  void start(const std::vector<double*>& fields);
  // Returns the message for a kernel that computes the fields and calls pack() for each own patch.
  HaloMessage outgoing(const std::vector<double*>& fields);
  // Starts the exchange of the fields that a kernel has packed. Collective.
  void start_packed();
  // Waits for the exchange under way, if there is one. Collective.
  void finish();
  // Exchanges the halo of a field: start() and finish(). Collective.
  void run(double* field) {
    start({field});
    finish();
  }
  std::int64_t rounds() const { return rounds_; }  // number of exchanges started
  // Buffers for further exchanges.
  const std::shared_ptr<HaloBuffers>& buffers() const { return buffers_; }

 private:
  std::vector<PatchCopy> plan_copies(const std::vector<SharedPatch>& shared,
                                     std::vector<Segment>& segments) const;

  std::vector<HaloGrid> grids_;
  int level_;
  bool alone_;
  DeviceArray<const StripTable> strips_;
  std::unique_ptr<ExchangePlan> plan_;
  DeviceArray<const PatchCopy> sent_regions_, received_regions_;
  DeviceArray<const std::int32_t> first_sent_;  // HaloMessage::first
  std::shared_ptr<HaloBuffers> buffers_;
  Exchanger exchanger_;
  HaloMessage message_;
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
  DeviceArray<const std::int32_t> piece_numbers;
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
      const std::int32_t piece_number = piece_numbers(first + x);
      if (piece_number == k_none) continue;
      double* to = nullptr;
      std::int64_t stride = 0;
      if (piece_number >= 0) {
        const Piece& piece = local(piece_number);
        to = blocks.x.data + piece.block * blocks.x.stride + piece.in_block[0] +
             (std::int64_t{N} * (piece.in_block[2] + kp) + piece.in_block[1] + jp) * N;
        stride = blocks.stride_component;
      } else {
        stride = std::int64_t{P} * P * P;
        to = message + 3 * stride * (k_none - 1 - piece_number) + (kp * P + jp) * P;
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
  DeviceArray<const std::int32_t> piece_numbers_;  // see VectorTarget
  DeviceArray<const std::int32_t> rows_;           // see rows_with_memory()
  Exchanger exchanger_;
};

}  // namespace octant::gravity
