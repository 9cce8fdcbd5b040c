// MPI calls of this module, without MPI's types. Internal to comm/: other modules use Communicator,
// route() and Exchanger. Without OCTANT_MPI, the same functions support one rank. A failed MPI call
// becomes a RunError that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace octant::mpi {

// Type of the values in a reduction.
enum class Scalar { int32, uint32, int64, uint64, float64 };
// Operation of a reduction.
enum class Operation { max, min, sum, bit_or };

// Initialises MPI, which removes its own arguments.
void initialize(int& argc, char**& argv);
// Finalises MPI if initialize() has initialised it.
void finalize();
// Sets the ranks of the run to those of a communicator, given by its Fortran handle. Collective on
// it.
void run_on(int fortran_communicator);
// Ends all ranks at once.
[[noreturn]] void abort(int exit_code);

// MPI communicator, freed with the last of its pointers (by all its ranks).
class Comm;
using CommPointer = std::shared_ptr<Comm>;

// All ranks of the run.
CommPointer world();

// Number of this rank.
int rank(const Comm& comm);
// Number of ranks.
int size(const Comm& comm);

// World rank of a rank of `comm`.
int world_rank(const Comm& comm, int rank);

// Ranks with the same colour, in the order of their ranks. Collective over `comm`.
CommPointer split(const Comm& comm, int colour);
// Ranks that share this rank's memory, in the order of their ranks. Collective over `comm`.
CommPointer split_by_node(const Comm& comm);

// Returns an unused message tag. Ranks that call in the same order get the same tags.
int new_tag(Comm& comm);
// Reserved tag for setup, whose messages are all received before a call returns.
inline constexpr int k_setup_tag = 0;

// Waits until all ranks have called barrier(). Collective.
void barrier(const Comm& comm);
// Waits until all ranks of the run call all_arrive(); returns false after a timeout.
bool all_arrive(double seconds);
// Replaces `count` values by their reduction over all ranks. Collective.
void all_reduce(const Comm& comm, void* values, std::size_t count, Scalar type,
                Operation operation);
// Replaces each value by the sum over the ranks below; zeros on rank 0. Integers only.
void exclusive_scan(const Comm& comm, void* values, std::size_t count, Scalar type);
// Copies the root's bytes to all ranks. Collective.
void broadcast(const Comm& comm, std::span<std::byte> bytes, int root);
// Gathers the bytes of every rank in the order of ranks on rank 0; empty on the others.
std::vector<std::byte> gather_to_root(const Comm& comm, std::span<const std::byte> bytes);

// Waits for the next message of any length from `source` with this tag.
std::vector<std::byte> receive_any_length(const Comm& comm, int source, int tag);

// Data sent to, or received from, another rank: `bytes` at `offset` of a buffer.
struct Part {
  int rank;
  std::size_t offset;
  std::size_t bytes;
};

// Active non-blocking transfers. Buffers must remain valid until test() or wait() reports
// completion. A message may exceed 2 GiB.
class Requests {
 public:
  Requests();
  ~Requests();
  Requests(Requests&&) noexcept;
  Requests& operator=(Requests&&) noexcept;

  // Starts a send.
  void send(const Comm& comm, std::span<const std::byte> bytes, int destination, int tag);
  // Starts a receive of exactly this many bytes.
  void receive(const Comm& comm, std::span<std::byte> bytes, int source, int tag);
  // Starts all parts as one collective operation, which stores a few words per rank of the
  // communicator until completion.
  void all_to_all(const Comm& comm, const std::byte* send_buffer, std::span<const Part> sends,
                  std::byte* receive_buffer, std::span<const Part> receives);
  // Starts replacing each value by its maximum over all ranks. Collective.
  void all_max(const Comm& comm, std::span<double> values);

  // Returns true if all transfers are complete; the object is then empty. Does not wait.
  bool test();
  // Waits for all transfers.
  void wait();
  // Waits, and calls done(n) at the completion of the n-th transfer.
  void wait(const std::function<void(std::size_t)>& done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::mpi
