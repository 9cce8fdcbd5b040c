#include "comm/descent.hpp"

#include "comm/mpi_layer.hpp"

namespace octant {

namespace {

void send_now(mpi::Comm& comm, std::span<const std::int64_t> values, int destination) {
  mpi::Requests request;
  request.send(comm, std::as_bytes(values), destination, mpi::k_setup_tag);
  request.wait();
}

void receive_now(mpi::Comm& comm, std::span<std::int64_t> values, int source) {
  mpi::Requests request;
  request.receive(comm, std::as_writable_bytes(values), source, mpi::k_setup_tag);
  request.wait();
}

}  // namespace

// Up a binomial tree whose root is the group's first rank, and down again.
void Descent::sum_in_place(std::span<std::int64_t> values) const {
  const auto [first, count] = tree_.group(level_, communicator_.rank());
  const int place = communicator_.rank() - first;
  mpi::Comm& comm = communicator_.handle();
  std::vector<std::int64_t> of_another(values.size());
  int stride = 1;
  for (; stride < count && place % (2 * stride) == 0; stride *= 2) {
    if (place + stride >= count) continue;
    receive_now(comm, of_another, first + place + stride);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] += of_another[n];
  }
  if (stride < count) {
    send_now(comm, values, first + place - stride);
    receive_now(comm, values, first + place - stride);
  }
  for (stride /= 2; stride >= 1; stride /= 2)
    if (place + stride < count) send_now(comm, values, first + place + stride);
}

std::vector<std::byte> Descent::exchange(std::span<const std::span<const std::byte>> parts) {
  const int rank = communicator_.rank(), own = child();
  mpi::Comm& comm = communicator_.handle();
  mpi::Requests requests;
  for (int index = 0; index < tree_.factor(level_); ++index) {
    if (index == own || tree_.child(level_, rank, index).count == 0) continue;
    requests.send(comm, parts[index], tree_.partner(level_, rank, index), mpi::k_setup_tag);
  }
  std::vector<std::byte> received;
  for (int index = 0; index < tree_.factor(level_); ++index) {
    if (index == own) continue;
    for (const int sender : tree_.senders(level_, rank, index)) {
      const auto bytes = mpi::receive_any_length(comm, sender, mpi::k_setup_tag);
      received.insert(received.end(), bytes.begin(), bytes.end());
    }
  }
  requests.wait();
  ++level_;
  return received;
}

}  // namespace octant
