// Transposes, which redistribute an array from one decomposition over the ranks to another.
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

// Communication of transposes. p2p, alltoall and ksection send all messages at once by a backend of
// comm/. pairwise sends to one partner after another; messages are packed and unpacked during
// other transfers. shared, within a node, uses shared memory that the partner reads.
enum class TransposeBackend { pairwise, p2p, alltoall, ksection, shared };
// Names of the backends in grid.transpose.
constexpr auto names_of(TransposeBackend) {
  return std::array{"pairwise", "p2p", "alltoall", "ksection", "shared"};
}
inline constexpr auto k_transpose_backends = values_of<TransposeBackend>();

// End of a transpose: the array before or after forward().
enum class TransposeEnd { source, target };

// Messages in shared memory. Every rank has a slot for each partner, which only these two ranks
// access, alternately: the partner until it has packed, the rank after a forward exchange, and the
// partner again after a backward exchange.
struct SharedSlots {
  std::unique_ptr<SharedMemory> memory;
  std::int64_t size = 0;      // doubles per slot
  bool partners_turn = true;  // true if partners, not the holders, use the slots now

  // Allocates slots for the largest message of any rank. Collective.
  void reserve(const Communicator& ranks, std::int64_t largest);
  // Transfers the slots, by a barrier, to the ranks that use them next. Collective.
  void take_turns(Direction direction);
  // Slot of rank `holder` for a partner.
  double* of(int holder, int partner) const { return memory->of(holder) + size * partner; }
};

// Message buffers of the source and the target. Several transposes may share them if no two are
// between their first pack and last unpack at the same time.
struct TransposeBuffers {
  Buffer source, target;
  SharedSlots slots;
};

// Data that this rank sent to other ranks, or wrote for them in shared memory, over all calls.
struct TransposeTraffic {
  std::int64_t calls = 0, messages = 0, bytes = 0;
  double seconds = 0.0;
  std::int64_t kept_bytes = 0;  // data that stayed on this rank

  TransposeTraffic& operator+=(const TransposeTraffic& other);
  TransposeTraffic operator-(const TransposeTraffic& other) const;
  // Counts a call in which rank `own` sends the messages `sent`, and the duration of the call.
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

// Transpose of an array. Layouts (transpose_layout.hpp) define the data to be sent, and a
// TransposeTransport sends them.
class Transpose {
 public:
  // Prepares the transpose from the boxes source_of(rank) to the boxes target_of(rank), for ranks
  // of `communicator`. The boxes of each side must be disjoint; a cell in the boxes of only one
  // side is not moved. `source` and `target` are the layouts of this rank's boxes. `in_steps` is
  // true if pack(), exchange() and unpack() will be used. Collective over the communicator. Memory:
  // buffers as large as both boxes of this rank without the data that stay on this rank; as large
  // as one box if a layout equals that of the messages (slabs of planes).
  Transpose(const std::string& name, const Communicator& communicator, const BoxOf& source_of,
            const BoxOf& target_of, const Layout& source, const Layout& target,
            TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers = nullptr,
            bool in_steps = false);
  // Makes a transpose between two pencil orientations of a grid with the given orders of axes:
  // x <-> y among the ranks of a row, y <-> z among the ranks of a column, and x <-> z directly
  // among all ranks whose boxes overlap (appendix B of the paper).
  static Transpose between(const PencilGrid& grid, Orientation from, Orientation to,
                           TransposeBackend backend, std::array<int, 3> from_axes = {0, 1, 2},
                           std::array<int, 3> to_axes = {0, 1, 2});
  ~Transpose();
  Transpose(Transpose&&) noexcept;
  Transpose& operator=(Transpose&&) noexcept;

  // Copies every cell to its target. Source and target must not overlap. Collective.
  void forward(const double* source, double* target);
  // Copies every cell of the target to its position in the source. Collective.
  void backward(const double* target, double* source);

  // Packs rows y of planes z of an array. pack(), exchange() and unpack() are the steps of a
  // transpose, for callers that pack in the sweep that computes the values, and unpack in the sweep
  // that uses them. Forward: all of the source is packed, exchange() is called, and the target is
  // unpacked; backward: from target to source. Rows and planes are counted from the corner of this
  // rank's box; `values` begins at the first row of the first plane. All threads of a team call
  // pack() and unpack() with the same rows, and each thread copies part of them.
  void pack(const Team& team, TransposeEnd end, Range y, Range z, const double* values);
  // Exchanges the packed messages. Collective.
  void exchange(Direction direction);
  // Unpacks rows y of planes z.
  void unpack(const Team& team, TransposeEnd end, Range y, Range z, double* values);
  // Number of pieces of a source row, one for each rank that receives part of the row. Throws
  // RunError if ranks receive other parts than pieces of whole rows.
  int pieces() const;
  // Piece n of the rows of plane k of the source in the message buffers, for direct access.
  RowPiece piece(int n, int k) const;
  // Rank of message n.
  int rank_of_message(int n) const;
  // Address of the dense part of plane k in message n, for other divisions of the source.
  double* plane_of_message(int n, int k) const;
  // Returns the slabs received from each rank, by ascending planes, if the target consists of slabs
  // of planes, which need no unpacking. Throws RunError for other targets.
  std::vector<Slab> slabs() const;

  // Messages and bytes sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transposes of several arrays on the same ranks, with one message per pair of ranks for all
// arrays.
class JoinedTransposes {
 public:
  // Source and target side of one array.
  struct Member {
    TransposeSide source, target;
  };

  // Prepares the exchange by a backend of comm/; "pairwise" means "p2p". Collective.
  JoinedTransposes(const std::string& name, const Communicator& ranks, std::vector<Member> members,
                   TransposeBackend backend);
  ~JoinedTransposes();
  JoinedTransposes(JoinedTransposes&&) noexcept;

  // Moves the arrays from sources to targets, in the order of the members. Collective.
  void forward(std::span<double* const> sources, std::span<double* const> targets);
  // Moves the arrays from targets to sources. Collective.
  void backward(std::span<double* const> targets, std::span<double* const> sources);

  // Messages and bytes sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transpose in the memory of Kokkos' default execution space; kernels pack and unpack the messages.
// Internal to pencil/.
class BatchedTranspose {
 public:
  // Prepares the transpose from the boxes source_of(rank) to the boxes target_of(rank), for ranks
  // of `ranks`. The boxes of each side must be disjoint. `memory` holds the messages. Collective.
  BatchedTranspose(const std::string& name, const Communicator& ranks, const BoxOf& source_of,
                   const BoxOf& target_of, const CommOptions& comm,
                   std::shared_ptr<BatchedMemory> memory);
  ~BatchedTranspose();
  BatchedTranspose(BatchedTranspose&&) noexcept;
  BatchedTranspose& operator=(BatchedTranspose&&) noexcept;

  // Copies every cell to its target. Cell 0 of row 0 of plane 0 of a view is the lower corner of
  // this rank's box. The views must not overlap. Collective. Waits for earlier kernels, but not for
  // the kernels that unpack.
  void forward(const FieldView& source, const FieldView& target);
  // Copies every cell of the target to its position in the source. Collective.
  void backward(const FieldView& target, const FieldView& source);

  // Messages and bytes sent so far.
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Transport of a transpose: memory and exchange of the messages of both sides. Internal to pencil/.
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

  // Returns the memory of a message, which is written before an exchange or read after it.
  virtual double* message(TransposeEnd end, const Part& part) const = 0;
  // Sends the packed messages of one end to the other. Collective.
  virtual void exchange(Direction direction) = 0;
  // Packs the array `read`, exchanges the messages, and unpacks the array `write`. Collective.
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
