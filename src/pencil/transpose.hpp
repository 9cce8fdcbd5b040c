// Moves an array from one distribution over the ranks to another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "comm/shared_memory.hpp"
#include "core/named.hpp"
#include "pencil/buffer.hpp"
#include "pencil/grid.hpp"
#include "pencil/team.hpp"

namespace octant::pencil {

// How transposes move their messages: all at once through comm's backends; pairwise: partner by
// partner, each packed while the earlier ones travel and unpacked while the later ones do; or
// shared: within a node, entries are written where the partner reads them, and nothing is sent.
enum class TransposeBackend { pairwise, p2p, alltoall, ksection, shared };
constexpr auto names_of(TransposeBackend) {
  return std::array{"pairwise", "p2p", "alltoall", "ksection", "shared"};
}
inline constexpr auto k_transpose_backends = values_of<TransposeBackend>();

// Where the entries of a box lie in memory: any order of the axes, and x may be cut into blocks.
// Entry (x, y, z), counted from the box's corner, is at
//   x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2].
struct Layout {
  Box box;
  std::array<std::int64_t, 3> stride;
  int block;
  std::int64_t block_stride;

  // Axes from the one with contiguous entries to the one with the largest stride, without gaps:
  // {0, 1, 2} is C's array[z][y][x].
  static Layout ordered(const Box& box, std::array<int, 3> axes = {0, 1, 2});
  std::int64_t at(int x, int y, int z) const {
    return x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2];
  }
};

// Messages on their way, of the source's side and of the target's. Several transposes may share
// them, if only one is between its first pack and its last unpack at a time. In shared memory,
// every rank has a slot for each partner, which only these two ever touch, in turns: the partner
// until it has packed, the rank after a forward exchange, the partner again after a reverse one.
struct TransposeBuffers {
  Buffer source, target;
  std::unique_ptr<SharedMemory> shared;
  std::int64_t slot = 0;  // doubles
  bool partners_turn = true;

  void take_turns(Direction direction) {
    shared->synchronise();
    partners_turn = direction == Direction::reverse;
  }
};

// Entries x of the rows of a plane: where that of row 0 lies, and the distance between rows.
struct RowPiece {
  Range x;
  double* first;
  std::ptrdiff_t row_stride;
};

// What goes to, or comes from, a rank: its entries of plane 0, dense, and how far planes lie apart.
struct Message {
  int rank;
  double* first;
  std::ptrdiff_t plane_stride;
};

// Planes of an array, one after the other, dense.
struct Slab {
  Range planes;
  double* first;
};

// What this rank sent to others, over all calls: in shared memory, what it wrote for them.
struct TransposeTraffic {
  std::int64_t calls = 0, messages = 0, bytes = 0;
  double seconds = 0.0;
  std::int64_t kept_bytes = 0;  // that the rank would have sent to itself
};

class Transpose {
 public:
  using BoxOf = std::function<Box(int rank)>;

  // From the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in
  // `communicator`. Each side's boxes are disjoint; a cell that only one side has is not moved.
  // The layouts are this rank's, whose boxes are those of the functions. Collective over the
  // communicator. Memory: the partners of this rank, and buffers as large as its two boxes, less
  // what stays on this rank; of one box, where a layout is that of the messages (slabs of planes).
  // `in_steps`: pack, exchange and unpack will be used.
  Transpose(std::string name, const Communicator& communicator, const BoxOf& source_of,
            const BoxOf& target_of, const Layout& source, const Layout& target,
            TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers = nullptr,
            bool in_steps = false);
  // Between two pencils of a grid with the given orders of axes: x <-> y among the ranks of a row,
  // y <-> z among those of a column, and x <-> z directly among all ranks whose boxes meet (paper's
  // appendix B).
  static Transpose between(const PencilGrid& grid, Orientation from, Orientation to,
                           TransposeBackend backend, std::array<int, 3> from_axes = {0, 1, 2},
                           std::array<int, 3> to_axes = {0, 1, 2});
  ~Transpose();
  Transpose(Transpose&&) noexcept;
  Transpose& operator=(Transpose&&) noexcept;

  // Copies every cell to where it belongs. Source and target must not overlap. Collective.
  void forward(const double* source, double* target);
  void backward(const double* target, double* source);

  // The same in steps, so that a caller's sweeps pack what they have just made, and unpack what
  // they are about to use: forward, all of the source is packed, exchange is called, and the target
  // is unpacked; backward, from target to source. `values` holds rows y of planes z, which are
  // counted from the corner of this rank's box; its first entry is that of the first row and plane.
  // exchange is collective. All threads of a team call pack and unpack with the same rows, and move
  // their shares of them.
  enum class End { source, target };
  void pack(const Team& team, End end, Range y, Range z, const double* values);
  void exchange(Direction direction);
  void unpack(const Team& team, End end, Range y, Range z, double* values) const;
  // Where rows of plane k lie in the messages, to be written or read there instead: one piece for
  // each of the ranks that share a row. Throws RunError where ranks share anything but rows.
  int pieces(End end) const;
  RowPiece piece(End end, int n, int k) const;
  // The same for any part of a plane: pieces(end) of them. Planes are counted from the corner of
  // the part's box.
  Message message(End end, int n) const;
  // For a target that is slabs of planes, which need be neither packed nor unpacked: those that
  // come from each rank, by ascending planes. Throws RunError for other targets.
  std::vector<Slab> slabs() const;

  // Entries that this rank sends to other ranks in one forward call.
  std::int64_t entries_sent() const;
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
