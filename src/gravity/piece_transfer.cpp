#include "gravity/piece_transfer.hpp"

#include <fmt/format.h>

#include "gravity/halo_exchange.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

using Policy = Kokkos::TeamPolicy<>;

// Where the rows of a piece lie. Cell i of row (j, k) is cell i of the row in a block, and cell
// `split(x + i)` of the row in a patch.
struct Rows {
  int N, T, P;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_block(const Piece& p, int j, int k) const {
    return (static_cast<std::int64_t>(p.in_block[2] + k) * N + p.in_block[1] + j) * N +
           p.in_block[0];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_patch(const Piece& p, int j, int k) const {
    return p.patch * (std::int64_t{T} * T * T) +
           (static_cast<std::int64_t>(p.in_patch[2] + k) * T + p.in_patch[1] + j) * T +
           (p.in_patch[0] >> 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t in_message(int piece, int j, int k) const {
    return ((static_cast<std::int64_t>(piece) * P + k) * P + j) * P;
  }
};

// Calls body(piece index, piece, j, k) for all rows of the pieces.
template <class Body>
void for_piece_rows(const char* name, const DeviceArray<const Piece>& pieces, int side,
                    const Body& body) {
  const auto count = static_cast<int>(pieces.extent(0));
  if (count == 0) return;
  Kokkos::parallel_for(
      name, Policy(count, Kokkos::AUTO), KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int n = team.league_rank();
        const Piece& piece = pieces(n);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, side * side),
                             [&](int row) { body(n, piece, row % side, row / side); });
      });
}

}  // namespace

PieceTransfer::PieceTransfer(const LevelPatches& patches, int block_size,
                             const CommOptions& options)
    : block_size_(block_size),
      side_(patches.side()),
      piece_(patches.piece_side()),
      plan_(patches.piece_plan()),
      local_(mesh::to_device("pieces", patches.local_pieces())),
      leaving_(mesh::to_device("pieces", patches.leaving_pieces())),
      arriving_(mesh::to_device("pieces", patches.arriving_pieces())),
      exchanger_("gravity pieces", patches.communicator(), options, patches.level(),
                 Buffers::of_device) {}

void PieceTransfer::to_patches(const Combination& values, double* patches) {
  const Rows rows{block_size_, side_, piece_};
  const int P = piece_, half = side_ / 2;
  const std::int64_t cells = std::int64_t{P} * P * P;
  const auto sent = mesh::uninitialised<double>("leaving pieces", leaving_.extent(0) * cells);
  const auto received = mesh::uninitialised<double>("arriving pieces", arriving_.extent(0) * cells);
  for_piece_rows(
      "gravity: pack pieces", leaving_, P, KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        double* line = sent.data() + rows.in_message(n, j, k);
        for (int i = 0; i < P; ++i)
          line[i] = values.at(piece.block, rows.in_block(piece, j, k) + i);
      });
  Kokkos::fence();
  exchanger_.start<double>(plan_, sent.data(), received.data(), static_cast<int>(cells));
  for_piece_rows(
      "gravity: blocks to patches", local_, P,
      KOKKOS_LAMBDA(int, const Piece& piece, int j, int k) {
        const std::int64_t from = rows.in_block(piece, j, k);
        double* to = patches + rows.in_patch(piece, j, k);
        for (int e = 0; e < P / 2; ++e) {
          to[e] = values.at(piece.block, from + 2 * e);
          to[e + half] = values.at(piece.block, from + 2 * e + 1);
        }
      });
  Kokkos::fence();
  exchanger_.finish();
  for_piece_rows(
      "gravity: unpack pieces", arriving_, P,
      KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        const double* line = received.data() + rows.in_message(n, j, k);
        double* to = patches + rows.in_patch(piece, j, k);
        for (int e = 0; e < P / 2; ++e) {
          to[e] = line[2 * e];
          to[e + half] = line[2 * e + 1];
        }
      });
}

void PieceTransfer::to_blocks(const double* patches, const BlockField& blocks) {
  const Rows rows{block_size_, side_, piece_};
  const int P = piece_, half = side_ / 2;
  const std::int64_t cells = std::int64_t{P} * P * P;
  // The way back: what arrived in patches leaves, and what left blocks arrives.
  const auto sent = mesh::uninitialised<double>("leaving pieces", arriving_.extent(0) * cells);
  const auto received = mesh::uninitialised<double>("arriving pieces", leaving_.extent(0) * cells);
  for_piece_rows(
      "gravity: pack pieces", arriving_, P, KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        const double* from = patches + rows.in_patch(piece, j, k);
        double* line = sent.data() + rows.in_message(n, j, k);
        for (int e = 0; e < P / 2; ++e) {
          line[2 * e] = from[e];
          line[2 * e + 1] = from[e + half];
        }
      });
  Kokkos::fence();
  exchanger_.start<double>(plan_, sent.data(), received.data(), static_cast<int>(cells),
                           Direction::reverse);
  for_piece_rows(
      "gravity: patches to blocks", local_, P,
      KOKKOS_LAMBDA(int, const Piece& piece, int j, int k) {
        const double* from = patches + rows.in_patch(piece, j, k);
        double* to = blocks.data + piece.block * blocks.stride + rows.in_block(piece, j, k);
        for (int e = 0; e < P / 2; ++e) {
          to[2 * e] = from[e];
          to[2 * e + 1] = from[e + half];
        }
      });
  Kokkos::fence();
  exchanger_.finish();
  for_piece_rows(
      "gravity: unpack pieces", leaving_, P,
      KOKKOS_LAMBDA(int n, const Piece& piece, int j, int k) {
        const double* line = received.data() + rows.in_message(n, j, k);
        double* to = blocks.data + piece.block * blocks.stride + rows.in_block(piece, j, k);
        for (int i = 0; i < P; ++i) to[i] = line[i];
      });
}

}  // namespace octant::gravity
