#include "comm/clocks.hpp"

#include "comm/mpi_layer.hpp"
#include "core/observer.hpp"

namespace octant {

namespace {

constexpr int k_questions = 8;

struct Answer {
  std::int64_t time;   // on the clock of rank 0
  std::int64_t error;  // maximum error of that time
};

template <class T>
void send(const Communicator& communicator, const T& value, int rank, int tag) {
  mpi::Requests request;
  request.send(communicator.handle(), std::as_bytes(std::span(&value, 1)), rank, tag);
  request.wait();
}

template <class T>
T receive(const Communicator& communicator, int rank, int tag) {
  T value;
  mpi::Requests request;
  request.receive(communicator.handle(), std::as_writable_bytes(std::span(&value, 1)), rank, tag);
  request.wait();
  return value;
}

void answer(const Communicator& communicator, int rank, int tag, const ClockOffset& own) {
  for (int n = 0; n < k_questions; ++n) {
    receive<std::int64_t>(communicator, rank, tag);
    send(communicator, Answer{Observer::now() + own.offset_ns, own.error_ns}, rank, tag);
  }
}

// Requests the time several times; keeps the offset with the smallest error.
ClockOffset measure_offset(const Communicator& communicator, int rank, int tag) {
  ClockOffset best;
  for (int n = 0; n < k_questions; ++n) {
    const std::int64_t sent = Observer::now();
    send(communicator, sent, rank, tag);
    const auto reply = receive<Answer>(communicator, rank, tag);
    const std::int64_t half = (Observer::now() - sent + 1) / 2;
    if (n == 0 || half + reply.error < best.error_ns)
      best = {reply.time - (sent + half), half + reply.error};
  }
  return best;
}

}  // namespace

ClockOffset align_clocks(const Communicator& communicator) {
  const int rank = communicator.rank(), size = communicator.size();
  const int tag = mpi::new_tag(communicator.handle());
  ClockOffset own;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) answer(communicator, rank + known, tag, own);
    if (rank >= known && rank < 2 * known) own = measure_offset(communicator, rank - known, tag);
  }
  return own;
}

ClockOffset align_clocks(const Communicator& communicator, const Communicator& node) {
  const Communicator first_ranks = communicator.split(node.is_root() ? 0 : 1);
  ClockOffset offset;
  if (node.is_root()) offset = align_clocks(first_ranks);
  node.broadcast(offset);
  return offset;
}

}  // namespace octant
