// Functions of mpi_layer.hpp for one rank without MPI. A rank never sends to itself through this
// layer, so there is nothing to transfer.
#ifndef OCTANT_MPI

#include <algorithm>
#include <cstdlib>

#include "comm/clocks.hpp"
#include "comm/mpi_layer.hpp"
#include "core/error.hpp"

namespace octant::mpi {

class Comm {
 public:
  int next_tag = 1;
};

void initialize(int&, char**&) {}
void finalize() {}
void run_on(int) {}
void abort(int exit_code) { std::_Exit(exit_code); }

CommPointer world() {
  static const CommPointer comm = std::make_shared<Comm>();
  return comm;
}

int rank(const Comm&) { return 0; }
int size(const Comm&) { return 1; }
CommPointer split(const Comm&, int) { return std::make_shared<Comm>(); }
int new_tag(Comm& comm) { return comm.next_tag++; }

bool all_arrive(double) { return true; }

int world_rank(const Comm&, int rank) { return rank; }
CommPointer split_by_node(const Comm&) { return world(); }

void barrier(const Comm&) {}
void all_reduce(const Comm&, void*, std::size_t, Scalar, Operation) {}

void exclusive_scan(const Comm&, void* values, std::size_t count, Scalar type) {
  const bool four_bytes = type == Scalar::int32 || type == Scalar::uint32;
  std::fill_n(static_cast<std::byte*>(values), count * (four_bytes ? 4 : 8), std::byte{0});
}

void broadcast(const Comm&, std::span<std::byte>, int) {}

std::vector<std::byte> gather_to_root(const Comm&, std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

namespace {

[[noreturn]] void fail(const char* call) {
  throw RunError("{} requires more than one rank, but this program was built without MPI", call);
}

}  // namespace

std::vector<std::byte> receive_any_length(const Comm&, int, int) { fail("receive_any_length"); }

struct Requests::State {};

Requests::Requests() = default;
Requests::~Requests() = default;
Requests::Requests(Requests&&) noexcept = default;
Requests& Requests::operator=(Requests&&) noexcept = default;

void Requests::send(const Comm&, std::span<const std::byte>, int, int) { fail("send"); }
void Requests::receive(const Comm&, std::span<std::byte>, int, int) { fail("receive"); }

void Requests::all_to_all(const Comm&, const std::byte*, std::span<const Part> sends, std::byte*,
                          std::span<const Part> receives) {
  if (!sends.empty() || !receives.empty()) fail("exchange");
}

void Requests::all_max(const Comm&, std::span<double>) {}

bool Requests::test() { return true; }
void Requests::wait() {}
void Requests::wait(const std::function<void(std::size_t)>&) {}

}  // namespace octant::mpi

namespace octant {

MpiStopwatch::MpiStopwatch() : cpu_before_(0), wall_before_(0) {}
MpiStopwatch::~MpiStopwatch() = default;
std::int64_t MpiStopwatch::cpu_ns() const { return cpu_before_; }
std::int64_t MpiStopwatch::wall_ns() const { return wall_before_; }

}  // namespace octant

#endif
