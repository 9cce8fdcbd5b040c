#include "gravity/patch_exchange.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

template <bool packs>
void copy_regions(std::size_t count, const HaloMessage& message) {
  for_teams(
      "gravity: copy halo", static_cast<std::int64_t>(count), {},
      KOKKOS_LAMBDA(const Team& team) { message.copy<packs>(team, team.league_rank()); });
}

// Ensures a minimum size.
void grow(DeviceArray<double>& buffer, std::int64_t values) {
  if (static_cast<std::int64_t>(buffer.extent(0)) < values)
    buffer = mesh::uninitialised<double>("patch message", values);
}

std::string name_of(const std::vector<HaloGrid>& grids) {
  std::string name = "gravity: ";
  for (const auto& [side, depth] : grids)
    name += fmt::format("{}{}^3 cells to a depth of {}", &grids[0].side == &side ? "" : ", ", side,
                        depth);
  return name;
}

}  // namespace

HaloExchange::HaloExchange(const LevelPatches& patches, const std::vector<HaloGrid>& grids,
                           const CommOptions& options, std::shared_ptr<HaloBuffers> buffers)
    : grids_(grids),
      level_(patches.level()),
      alone_(patches.communicator().size() == 1),
      strips_(patches.strips()),
      buffers_(std::move(buffers)),
      exchanger_(name_of(grids), patches.communicator(), options, level_, Buffers::of_device) {
  std::vector<Segment> sends, receives;
  std::vector<PatchCopy> sent = plan_copies(patches.sent(), sends);
  std::ranges::stable_sort(sent, {}, &PatchCopy::slot);
  std::vector<std::int32_t> first(patches.own() + 1);
  for (const PatchCopy& copy : sent) ++first[copy.slot + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  sent_regions_ = mesh::to_device("patch regions sent", sent);
  received_regions_ =
      mesh::to_device("patch regions received", plan_copies(patches.received(), receives));
  if (!alone_) first_sent_ = mesh::to_device("patch regions by slot", first);
  plan_ =
      std::make_unique<ExchangePlan>(patches.communicator(), std::move(sends), std::move(receives));
  grow(buffers_->sent, plan_->items_sent());
  grow(buffers_->received, plan_->items_received());
}

std::vector<PatchCopy> HaloExchange::plan_copies(const std::vector<SharedPatch>& shared,
                                                 std::vector<Segment>& segments) const {
  std::vector<PatchCopy> copies;
  std::int64_t offset = 0;
  for (const SharedPatch& patch : shared)
    for (const auto& [side, depth] : grids_) {
      const PatchCopy& copy = copies.emplace_back(patch.part(side, std::min(side, depth), offset));
      const std::int64_t cells = std::int64_t{copy.rows()} * copy.length();
      count_items(segments, patch.rank, cells);
      offset += cells;
    }
  return copies;
}

HaloMessage HaloExchange::outgoing(const std::vector<double*>& fields) {
  message_ = {.fields = static_cast<int>(grids_.size()),
              .strips = strips_.data(),
              .copies = sent_regions_.data(),
              .first = first_sent_.data(),
              .message = buffers_->sent.data()};
  for (std::size_t n = 0; n < grids_.size(); ++n) {
    message_.side[n] = grids_[n].side;
    message_.field[n] = fields.at(n);
  }
  return message_;
}

void HaloExchange::start(const std::vector<double*>& fields) {
  outgoing(fields);
  if (!alone_) {
    const Observed packing(Phase::pack, "gravity halo", level_);
    copy_regions<true>(sent_regions_.extent(0), message_);
  }
  start_packed();
}

void HaloExchange::start_packed() {
  ++rounds_;
  if (!alone_)
    exchanger_.start<double>(*plan_, buffers_->sent.data(), buffers_->received.data(), 1);
}

void HaloExchange::finish() {
  if (!exchanger_.under_way()) return;
  exchanger_.finish();
  const Observed unpacking(Phase::unpack, "gravity halo", level_);
  HaloMessage received = message_;
  received.copies = received_regions_.data();
  received.message = buffers_->received.data();
  copy_regions<false>(received_regions_.extent(0), received);
}

namespace {

// Addresses of the row (j, k) of a piece in a block, a patch, where the row is split, and a
// message.
struct Rows {
  int N, T, P;
  DeviceArray<const StripTable> strips;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_block(const Piece& p, int j, int k) const {
    return (static_cast<std::int64_t>(p.in_block[2] + k) * N + p.in_block[1] + j) * N +
           p.in_block[0];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_patch(const Piece& p, int j, int k) const {
    return offset_of_row(strips.data(), T, p.patch, p.in_patch[1] + j, p.in_patch[2] + k) +
           (p.in_patch[0] >> 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_message(int piece, int j, int k) const {
    return ((static_cast<std::int64_t>(piece) * P + k) * P + j) * P;
  }
};

// Calls body(piece index, piece, j, k), which copies `fields` rows, for all rows of pieces.
template <int P, class Body>
void for_piece_rows(const char* name, const DeviceArray<const Piece>& pieces, int fields,
                    const Body& body) {
  for_teams(
      {name, {16.0 * fields, 0.0}}, pieces.extent(0), {.items = P * P * P},
      KOKKOS_LAMBDA(const Team& team) {
        const int n = team.league_rank();
        const Piece& piece = pieces(n);
        in_team(team, P * P, [&](int row) { body(n, piece, row % P, row / P); });
      });
}

// Converts a row in natural order to a row with even cells first. join_row() is the reverse.
template <int P>
KOKKOS_FORCEINLINE_FUNCTION void split_row(const double* from, double* to, int half) {
  for (int e = 0; e < P / 2; ++e) {
    to[e] = from[2 * e];
    to[e + half] = from[2 * e + 1];
  }
}
template <int P>
KOKKOS_FORCEINLINE_FUNCTION void join_row(const double* from, int half, double* to) {
  for (int e = 0; e < P / 2; ++e) {
    to[2 * e] = from[e];
    to[2 * e + 1] = from[e + half];
  }
}

// Sets a row to values of a block.
template <int P>
KOKKOS_FORCEINLINE_FUNCTION void combine_row(const Combination& values, std::int64_t block,
                                             std::int64_t cell, double* to) {
  using PackOf = SimdTraits<SimdDouble>;
  if constexpr (P % PackOf::width == 0) {
    for (int i = 0; i < P; i += PackOf::width)
      PackOf::store(to + i, values.pack_at(block, cell + i));
  } else {
    for (int i = 0; i < P; ++i) to[i] = values.at(block, cell + i);
  }
}

// Fields that one kernel copies together.
struct Fields {
  int count = 0;
  PatchValues of[PieceTransfer::k_max_fields];

  explicit Fields(std::span<const PatchValues> fields) {
    for (const PatchValues& field : fields) of[count++] = field;
  }
};

// Packs the leaving pieces of blocks into a message, [piece][field][k][j][i], and fills rows of
// pieces along x (see rows_with_memory()), except pieces that arrive as messages.
template <int P>
void blocks_to_patches(const DeviceArray<const Piece>& leaving, double* message,
                       const DeviceArray<const std::int32_t>& cube_rows,
                       const DeviceArray<const std::int32_t>& piece_numbers,
                       const DeviceArray<const Piece>& pieces, const Rows& rows,
                       const Fields& fields) {
  const int packed = static_cast<int>(leaving.extent(0));
  const KernelCost cost{16.0 * fields.count, 0.0};
  record_kernel_work("gravity: blocks to patches",
                     static_cast<std::int64_t>(pieces.extent(0) + packed) * P * P * P, cost);
  for_teams(
      "gravity: blocks to patches", packed + cube_rows.extent(0), {},
      KOKKOS_LAMBDA(const Team& team) {
        const int task = team.league_rank();
        if (task < packed) {
          const Piece& piece = leaving(task);
          in_team(team, P * P, [&](int line) {
            const int j = line % P, k = line / P;
            for (int f = 0; f < fields.count; ++f)
              combine_row<P>(fields.of[f].values, piece.block, rows.in_block(piece, j, k),
                             message + rows.in_message(task * fields.count + f, j, k));
          });
          return;
        }
        const int across = rows.T / P, n = cube_rows(task - packed);
        const int y = n % across, z = n / across % across, patch = n / across / across;
        in_team(team, P * P, [&](int line) {
          const int j = line % P, k = line / P;
          const std::int64_t row =
              offset_of_row(rows.strips.data(), rows.T, patch, y * P + j, z * P + k);
          for (int x = 0; x < across; ++x) {
            const std::int32_t piece_number = piece_numbers(std::int64_t{n} * across + x);
            if (piece_number < VectorTarget::k_none) continue;
            for (int f = 0; f < fields.count; ++f) {
              double cells[P] = {};
              if (piece_number >= 0)
                combine_row<P>(fields.of[f].values, pieces(piece_number).block,
                               rows.in_block(pieces(piece_number), j, k), cells);
              split_row<P>(cells, fields.of[f].patches + row + x * (P / 2), rows.T / 2);
            }
          }
        });
      });
}

template <int P>
void unpack_patches(const DeviceArray<const Piece>& pieces, const Rows& rows, const double* message,
                    const Fields& fields) {
  for_piece_rows<P>(
      "gravity: unpack pieces", pieces, fields.count,
      KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        for (int f = 0; f < fields.count; ++f)
          split_row<P>(message + rows.in_message(n * fields.count + f, j, k),
                       fields.of[f].patches + rows.in_patch(piece, j, k), rows.T / 2);
      });
}

// Copies pieces of patches to a message, [piece][k][j][i], and to own blocks.
template <int P>
void patches_to_blocks(const DeviceArray<const Piece>& leaving, double* message,
                       const DeviceArray<const Piece>& pieces, const Rows& rows,
                       const double* patches, const BlockField& blocks) {
  const int packed = static_cast<int>(leaving.extent(0));
  for_teams(
      {"gravity: patches to blocks", {16.0, 0.0}}, packed + pieces.extent(0), {.items = P * P * P},
      KOKKOS_LAMBDA(const Team& team) {
        const int n = team.league_rank();
        const Piece& piece = n < packed ? leaving(n) : pieces(n - packed);
        in_team(team, P * P, [&](int row) {
          const int j = row % P, k = row / P;
          double* to = n < packed
                           ? message + rows.in_message(n, j, k)
                           : blocks.data + piece.block * blocks.stride + rows.in_block(piece, j, k);
          join_row<P>(patches + rows.in_patch(piece, j, k), rows.T / 2, to);
        });
      });
}

// Returns the piece at every position in own patches, as VectorTarget::piece_numbers.
std::vector<std::int32_t> number_pieces(const LevelPatches& patches) {
  const int P = patches.piece_side(), across = patches.side() / P;
  std::vector<std::int32_t> piece_numbers(patches.own() * cells_of(across), VectorTarget::k_none);
  const auto piece_number = [&](const Piece& p) -> std::int32_t& {
    const int x = p.in_patch[0] / P, y = p.in_patch[1] / P, z = p.in_patch[2] / P;
    return piece_numbers[p.patch * cells_of(across) + (z * across + y) * across + x];
  };
  std::int32_t n = 0;
  for (const Piece& piece : patches.local_pieces()) piece_number(piece) = n++;
  n = VectorTarget::k_none;
  for (const Piece& piece : patches.arriving_pieces()) piece_number(piece) = --n;
  return piece_numbers;
}

// Returns the rows of piece positions along x in own patches, (patch * across + z) * across + y,
// for which fields have memory.
std::vector<std::int32_t> rows_with_memory(const LevelPatches& patches,
                                           const std::vector<std::int32_t>& piece_numbers) {
  const int P = patches.piece_side(), across = patches.side() / P;
  // number of rows of positions in the same strips
  const int sharing = std::max(1, k_strip / P);
  const int rows = patches.own() * across * across;
  std::vector<std::int32_t> with_memory;
  for (int row = 0; row < rows; ++row) {
    const auto first = piece_numbers.begin() + std::int64_t{row / sharing * sharing} * across;
    if (patches.side() < k_largest_patch ||
        std::any_of(first, first + sharing * across,
                    [](std::int32_t piece_number) { return piece_number != VectorTarget::k_none; }))
      with_memory.push_back(row);
  }
  return with_memory;
}

template <int P>
void unpack_vectors(const DeviceArray<const Piece>& pieces, const Rows& rows, const double* message,
                    const VectorField& blocks) {
  for_piece_rows<P>(
      "gravity: unpack pieces", pieces, 3, KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        double* to = blocks.x.data + piece.block * blocks.x.stride + rows.in_block(piece, j, k);
        for (int d = 0; d < 3; ++d) {
          const double* line = message + rows.in_message(3 * n + d, j, k);
          for (int i = 0; i < P; ++i) to[d * blocks.stride_component + i] = line[i];
        }
      });
}

template <int P>
void unpack_blocks(const DeviceArray<const Piece>& pieces, const Rows& rows, const double* message,
                   const BlockField& blocks) {
  for_piece_rows<P>(
      "gravity: unpack pieces", pieces, 1, KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        const double* line = message + rows.in_message(n, j, k);
        double* to = blocks.data + piece.block * blocks.stride + rows.in_block(piece, j, k);
        for (int i = 0; i < P; ++i) to[i] = line[i];
      });
}

}  // namespace

PieceTransfer::PieceTransfer(const LevelPatches& patches, int block_size,
                             const CommOptions& options)
    : block_size_(block_size),
      side_(patches.side()),
      piece_(patches.piece_side()),
      plan_(patches.piece_plan()),
      strips_(patches.strips()),
      local_(mesh::to_device("pieces", patches.local_pieces())),
      leaving_(mesh::to_device("pieces", patches.leaving_pieces())),
      arriving_(mesh::to_device("pieces", patches.arriving_pieces())),
      exchanger_("gravity pieces", patches.communicator(), options, patches.level(),
                 Buffers::of_device) {
  const std::vector<std::int32_t> piece_numbers = number_pieces(patches);
  piece_numbers_ = mesh::to_device("pieces by position", piece_numbers);
  rows_ = mesh::to_device("rows of pieces", rows_with_memory(patches, piece_numbers));
}

void PieceTransfer::to_patches(std::span<const PatchValues> values) {
  OCTANT_REQUIRE(values.size() <= k_max_fields, "{} fields are copied to patches together",
                 values.size());
  const Rows rows{block_size_, side_, piece_, strips_};
  const Fields fields(values);
  const auto cells = static_cast<int>(cells_of(piece_)) * fields.count;
  const auto sent = mesh::uninitialised<double>("leaving pieces", leaving_.extent(0) * cells);
  const auto received = mesh::uninitialised<double>("arriving pieces", arriving_.extent(0) * cells);
  with_patch_side(piece_, [&](auto P) {
    blocks_to_patches<P.value>(leaving_, sent.data(), rows_, piece_numbers_, local_, rows, fields);
    exchanger_.run<double>(plan_, sent.data(), received.data(), cells);
    unpack_patches<P.value>(arriving_, rows, received.data(), fields);
  });
}

// The exchange is the reverse of that of to_patches().
void PieceTransfer::to_blocks(const double* patches, const BlockField& blocks) {
  const Rows rows{block_size_, side_, piece_, strips_};
  const auto cells = static_cast<int>(cells_of(piece_));
  const auto sent = mesh::uninitialised<double>("leaving pieces", arriving_.extent(0) * cells);
  const auto received = mesh::uninitialised<double>("arriving pieces", leaving_.extent(0) * cells);
  with_patch_side(piece_, [&](auto P) {
    patches_to_blocks<P.value>(arriving_, sent.data(), local_, rows, patches, blocks);
    exchanger_.run<double>(plan_, sent.data(), received.data(), cells, Direction::reverse);
    unpack_blocks<P.value>(leaving_, rows, received.data(), blocks);
  });
}

void PieceTransfer::vector_to_blocks(const VectorField& blocks,
                                     const std::function<void(const VectorTarget&)>& write) {
  const Rows rows{block_size_, side_, piece_, strips_};
  const auto values = static_cast<int>(3 * cells_of(piece_));
  const auto sent = mesh::uninitialised<double>("leaving pieces", arriving_.extent(0) * values);
  const auto received = mesh::uninitialised<double>("arriving pieces", leaving_.extent(0) * values);
  write({.pieces_across = side_ / piece_,
         .log2_side = std::countr_zero(static_cast<unsigned>(piece_)),
         .block_size = block_size_,
         .piece_numbers = piece_numbers_,
         .local = local_,
         .blocks = blocks,
         .message = sent.data()});
  exchanger_.run<double>(plan_, sent.data(), received.data(), values, Direction::reverse);
  with_patch_side(
      piece_, [&](auto P) { unpack_vectors<P.value>(leaving_, rows, received.data(), blocks); });
}

}  // namespace octant::gravity
