// Moves an array from one distribution over the ranks to another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/shared_memory.hpp"
#include "core/named.hpp"
#include "pencil/buffer.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose_layout.hpp"

namespace octant::pencil {

// How transposes move their messages: all at once through comm's backends; pairwise: partner by
// partner, each packed while the earlier ones travel and unpacked while the later ones do; or
// shared: within a node, entries are written where the partner reads them, and nothing is sent.
enum class TransposeBackend { pairwise, p2p, alltoall, ksection, shared };
constexpr auto names_of(TransposeBackend) {
  return std::array{"pairwise", "p2p", "alltoall", "ksection", "shared"};
}
inline constexpr auto k_transpose_backends = values_of<TransposeBackend>();

enum class TransposeEnd { source, target };

// Messages in shared memory: every rank has a slot for each partner, which only these two ever
// touch, in turns: the partner until it has packed, the rank after a forward exchange, the partner
// again after a reverse one.
struct SharedSlots {
  std::unique_ptr<SharedMemory> memory;
  std::int64_t size = 0;  // doubles of a slot
  bool partners_turn = true;

  // Makes slots that hold the largest message of any rank. Collective.
  void reserve(const Communicator& ranks, std::int64_t largest);
  void take_turns(Direction direction);
  double* of(int holder, int partner) const { return memory->of(holder) + size * partner; }
};

// Messages on their way, of the source's side and of the target's. Several transposes may share
// them, if only one is between its first pack and its last unpack at a time.
struct TransposeBuffers {
  Buffer source, target;
  SharedSlots slots;
};

// What this rank sent to others, over all calls: in shared memory, what it wrote for them.
struct TransposeTraffic {
  std::int64_t calls = 0, messages = 0, bytes = 0;
  double seconds = 0.0;
  std::int64_t kept_bytes = 0;  // that the rank would have sent to itself

  TransposeTraffic& operator+=(const TransposeTraffic& other);
  TransposeTraffic operator-(const TransposeTraffic& other) const;
};

// A layout (transpose_layout.hpp) says what is moved, a transport (transpose_transport.hpp) moves
// it.
class Transpose {
 public:
  // From the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in
  // `communicator`. Each side's boxes are disjoint; a cell that only one side has is not moved.
  // The layouts are this rank's, whose boxes are those of the functions. Collective over the
  // communicator. Memory: the partners of this rank, and buffers as large as its two boxes, less
  // what stays on this rank; of one box, where a layout is that of the messages (slabs of planes).
  // `in_steps`: pack, exchange and unpack will be used.
  Transpose(const std::string& name, const Communicator& communicator, const BoxOf& source_of,
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
  void pack(const Team& team, TransposeEnd end, Range y, Range z, const double* values);
  void exchange(Direction direction);
  void unpack(const Team& team, TransposeEnd end, Range y, Range z, double* values);
  // Where rows of plane k of the source lie in the messages, to be written or read there instead:
  // one piece for each of the ranks that share a row. Throws RunError where ranks share anything
  // but rows.
  int pieces() const;
  RowPiece piece(int n, int k) const;
  // For sources whose ranks share planes otherwise: the rank of message n, and its part of plane k,
  // dense.
  int rank_of_message(int n) const;
  double* plane_of_message(int n, int k) const;
  // For a target that is slabs of planes, which need be neither packed nor unpacked: those that
  // come from each rank, by ascending planes. Throws RunError for other targets.
  std::vector<Slab> slabs() const;

  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
