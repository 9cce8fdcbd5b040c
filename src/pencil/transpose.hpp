// Transposes: move an array from one distribution over the ranks to another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_options.hpp"
#include "comm/shared_memory.hpp"
#include "core/named.hpp"
#include "pencil/field.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose_layout.hpp"

namespace octant::pencil {

struct FieldView;
class BatchedMemory;

// Communication of transposes: all messages at once by one of comm's backends; pairwise: partner by
// partner, each message packed during the earlier transfers and unpacked during the later ones; or
// shared: within a node, entries are written where the partner reads them, and nothing is sent.
enum class TransposeBackend { pairwise, p2p, alltoall, ksection, shared };
// Names of the backends in grid.transpose.
constexpr auto names_of(TransposeBackend) {
  return std::array{"pairwise", "p2p", "alltoall", "ksection", "shared"};
}
inline constexpr auto k_transpose_backends = values_of<TransposeBackend>();

// End of a transpose.
enum class TransposeEnd { source, target };

// Messages in shared memory. Every rank has a slot for each partner, which only these two access,
// in turns: the partner until it has packed, the rank after a forward exchange, the partner again
// after a reverse one.
struct SharedSlots {
  std::unique_ptr<SharedMemory> memory;
  std::int64_t size = 0;  // doubles per slot
  bool partners_turn = true;

  // Allocates slots for the largest message of any rank. Collective.
  void reserve(const Communicator& ranks, std::int64_t largest);
  // Gives the slots to the ranks that use them next, after a barrier. Collective.
  void take_turns(Direction direction);
  // Slot of a rank for a partner.
  double* of(int holder, int partner) const { return memory->of(holder) + size * partner; }
};

// Message buffers of the source's and of the target's side. Several transposes may share them, if
// only one is between its first pack and its last unpack at a time.
struct TransposeBuffers {
  Buffer source, target;
  SharedSlots slots;
};

// Data that this rank sent to others, over all calls; in shared memory, data that it wrote for
// them.
struct TransposeTraffic {
  std::int64_t calls = 0, messages = 0, bytes = 0;
  double seconds = 0.0;
  std::int64_t kept_bytes = 0;  // data that stayed on this rank

  TransposeTraffic& operator+=(const TransposeTraffic& other);
  TransposeTraffic operator-(const TransposeTraffic& other) const;
  // Counts a call in which rank `own` sends some messages, and its seconds.
  template <class Messages>
  void add_call(const Messages& sent, int own, double call_seconds) {
    calls += 1;
    seconds += call_seconds;
    for (const auto& message : sent) {
      const std::int64_t size = message.count * static_cast<std::int64_t>(sizeof(double));
      if (message.rank == own) {
        kept_bytes += size;
      } else {
        messages += 1;
        bytes += size;
      }
    }
  }
};

// Transpose of an array. A layout (transpose_layout.hpp) defines what is moved, a transport
// (TransposeTransport) moves it.
class Transpose {
 public:
  // Moves from the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in
  // `communicator`. Each side's boxes are disjoint; a cell that only one side has is not moved. The
  // layouts are this rank's, with the boxes of the functions. Collective over the communicator.
  // Memory: the partners of this rank, and buffers as large as its two boxes, less what stays on
  // this rank; as large as one box where a layout is that of the messages (slabs of planes).
  // `in_steps`: pack, exchange and unpack will be used.
  Transpose(const std::string& name, const Communicator& communicator, const BoxOf& source_of,
            const BoxOf& target_of, const Layout& source, const Layout& target,
            TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers = nullptr,
            bool in_steps = false);
  // Makes a transpose between two pencils of a grid with the given orders of axes: x <-> y among
  // the ranks of a row, y <-> z among those of a column, and x <-> z directly among all ranks whose
  // boxes overlap (paper's appendix B).
  static Transpose between(const PencilGrid& grid, Orientation from, Orientation to,
                           TransposeBackend backend, std::array<int, 3> from_axes = {0, 1, 2},
                           std::array<int, 3> to_axes = {0, 1, 2});
  ~Transpose();
  Transpose(Transpose&&) noexcept;
  Transpose& operator=(Transpose&&) noexcept;

  // Copies every cell to its target. Source and target must not overlap. Collective.
  void forward(const double* source, double* target);
  // Copies every cell of the target back to the source. Collective.
  void backward(const double* target, double* source);

  // Packs an array's rows y of planes z, which begin at `values`. Steps of a transpose, for callers
  // that pack in the sweep that computes the values, and unpack in the sweep that uses them.
  // Forward: all of the source is packed, exchange is called, and the target is unpacked; backward:
  // from target to source. Rows and planes are counted from the corner of this rank's box; the
  // first entry of `values` is that of the first row and plane. All threads of a team call pack and
  // unpack with the same rows, and move their shares.
  void pack(const Team& team, TransposeEnd end, Range y, Range z, const double* values);
  // Exchanges the packed messages. Collective.
  void exchange(Direction direction);
  // Unpacks rows y of planes z.
  void unpack(const Team& team, TransposeEnd end, Range y, Range z, double* values);
  // Number of pieces of a row: one for each of the ranks that share it. Throws RunError where ranks
  // share anything but rows.
  int pieces() const;
  // Memory of piece n of the rows of plane k of the source in the messages, for direct access.
  RowPiece piece(int n, int k) const;
  // Rank of message n.
  int rank_of_message(int n) const;
  // Dense part of plane k in message n, for other divisions of the source.
  double* plane_of_message(int n, int k) const;
  // Returns the slabs from each rank, by ascending planes, of a target that consists of slabs of
  // planes: they need no packing. Throws RunError for other targets.
  std::vector<Slab> slabs() const;

  // Data sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transposes of several arrays on the same ranks at once, with one message from one rank to
// another.
class JoinedTransposes {
 public:
  // One array of the exchange: both of its sides.
  struct Member {
    TransposeSide source, target;
  };

  // Uses one of comm's backends; "pairwise" means "p2p". Collective.
  JoinedTransposes(const std::string& name, const Communicator& ranks, std::vector<Member> members,
                   TransposeBackend backend);
  ~JoinedTransposes();
  JoinedTransposes(JoinedTransposes&&) noexcept;

  // Moves the arrays, in the order of the members. Collective.
  void forward(std::span<double* const> sources, std::span<double* const> targets);
  // Moves the arrays back. Collective.
  void backward(std::span<double* const> targets, std::span<double* const> sources);

  // Data sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transpose in the memory of Kokkos' default execution space: kernels pack and unpack its messages.
// Internal to pencil/.
class BatchedTranspose {
 public:
  // Moves from the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in
  // `ranks`. Each side's boxes are disjoint. `memory` holds the messages. Collective.
  BatchedTranspose(const std::string& name, const Communicator& ranks, const BoxOf& source_of,
                   const BoxOf& target_of, const CommOptions& comm,
                   std::shared_ptr<BatchedMemory> memory);
  ~BatchedTranspose();
  BatchedTranspose(BatchedTranspose&&) noexcept;
  BatchedTranspose& operator=(BatchedTranspose&&) noexcept;

  // Copies every cell to its target. Cell 0 of row 0 of plane 0 of a view is the first one of this
  // rank's box. The views must not overlap. Collective. Waits for earlier kernels, but not for
  // those that unpack.
  void forward(const FieldView& source, const FieldView& target);
  // Copies every cell of the target back to the source. Collective.
  void backward(const FieldView& target, const FieldView& source);

  // Data sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transport of a transpose, internal to pencil/: memory and exchange of the messages of both sides.
// Parts are those of its sides.
class TransposeTransport {
 public:
  TransposeTransport(const Communicator& ranks, TransposeSide source, TransposeSide target,
                     std::shared_ptr<TransposeBuffers> buffers);
  virtual ~TransposeTransport() = default;

  // Layout and parts of an end.
  const TransposeSide& side(TransposeEnd end) const {
    return end == TransposeEnd::source ? source_ : target_;
  }
  // Ranks of the transpose.
  const Communicator& ranks() const { return ranks_; }

  // Returns the memory of a message: written before an exchange, read after one.
  virtual double* message(TransposeEnd end, const Part& part) const = 0;
  // Moves the packed messages of one end to the other. Collective.
  virtual void exchange(Direction direction) = 0;
  // Packs an array, moves it and unpacks the other one. Collective.
  virtual void run(const double* read, double* write, Direction direction) = 0;

 protected:
  static TransposeEnd from(Direction direction) {
    return direction == Direction::forward ? TransposeEnd::source : TransposeEnd::target;
  }
  static TransposeEnd to(Direction direction) {
    return direction == Direction::forward ? TransposeEnd::target : TransposeEnd::source;
  }
  void pack(TransposeEnd end, const Part& part, const double* array) const;
  void unpack(TransposeEnd end, const Part& part, double* array) const;
  void pack_all(TransposeEnd end, const double* array) const;
  void unpack_all(TransposeEnd end, double* array) const;

  Communicator ranks_;
  TransposeSide source_, target_;
  std::shared_ptr<TransposeBuffers> buffers_;
};

// Creates the transport of a backend. `in_steps` is true if pack, exchange and unpack will be used.
// Collective.
std::unique_ptr<TransposeTransport> make_transport(
    const std::string& name, const Communicator& ranks, const TransposeSide& source,
    const TransposeSide& target, TransposeBackend backend,
    std::shared_ptr<TransposeBuffers> buffers, bool in_steps);

}  // namespace octant::pencil
