// The MPI calls that this room is built on, without MPI's types. Internal to comm/: other rooms use
// Communicator, route() and Exchanger. Built without OCTANT_MPI, the same functions serve one rank.
// A call that MPI reports as failed becomes a RunError that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace octant::mpi {

enum class Scalar { int32, uint32, int64, uint64, float64 };
enum class Operation { max, min, sum, bit_or };

void initialize(int& argc, char**& argv);
void finalize();
[[noreturn]] void abort(int exit_code);

// An MPI communicator, freed with the last of its pointers (by all its ranks).
class Comm;
using CommPointer = std::shared_ptr<Comm>;

CommPointer world();

int rank(const Comm& comm);
int size(const Comm& comm);

// The number among all ranks of the run of a rank of `comm`.
int world_rank(const Comm& comm, int rank);

// The ranks that give the same colour, in the order of their ranks. Collective over `comm`.
CommPointer split(const Comm& comm, int colour);
// The ranks that share this rank's memory, in the order of their ranks. Collective over `comm`.
CommPointer split_by_node(const Comm& comm);

// A message tag that no other caller has. Ranks that call in the same order get the same tags.
int new_tag(Comm& comm);
// Never handed out: for set-up, whose messages are all received before a call returns.
inline constexpr int k_setup_tag = 0;

void barrier(const Comm& comm);
// Waits until all ranks of the run call this, but no longer than that; false if the time is over.
bool all_arrive(double seconds);
void all_reduce(const Comm& comm, void* values, std::size_t count, Scalar type,
                Operation operation);
// Replaces each value by the sum over the ranks below; rank 0 gets zeros. Integers only.
void exclusive_scan(const Comm& comm, void* values, std::size_t count, Scalar type);
void broadcast(const Comm& comm, std::span<std::byte> bytes, int root);
// The bytes of every rank in the order of ranks, on rank 0; nothing on the others.
std::vector<std::byte> gather_to_root(const Comm& comm, std::span<const std::byte> bytes);

// Waits for the next message of `source` with this tag, whatever its length.
std::vector<std::byte> receive_any_length(const Comm& comm, int source, int tag);

// What a rank sends to, or receives from, one other rank: `bytes` at `offset` of a buffer.
struct Part {
  int rank;
  std::size_t offset;
  std::size_t bytes;
};

// Non-blocking transfers under way. Buffers must stay until test() or wait() says that all is done.
// A message may exceed 2 GiB, and stays one message.
class Requests {
 public:
  Requests();
  ~Requests();
  Requests(Requests&&) noexcept;
  Requests& operator=(Requests&&) noexcept;

  void send(const Comm& comm, std::span<const std::byte> bytes, int destination, int tag);
  void receive(const Comm& comm, std::span<std::byte> bytes, int source, int tag);
  // All parts at once, as one collective; holds a few words per rank of the communicator until
  // done.
  void all_to_all(const Comm& comm, const std::byte* send_buffer, std::span<const Part> sends,
                  std::byte* receive_buffer, std::span<const Part> receives);

  bool test();  // true, and empty again, when all is done
  void wait();
  // The same, and tells of the n-th transfer that was asked for when it is done.
  void wait(const std::function<void(std::size_t)>& done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::mpi
