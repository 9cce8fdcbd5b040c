#include "comm/pending_maxima.hpp"

#include <utility>

#include "core/error.hpp"

#ifdef OCTANT_MPI

#include "comm/native.hpp"

namespace octant {

// Stays where it is while MPI writes into it.
struct PendingMaxima::State {
  std::vector<double> values;
  MPI_Request request = MPI_REQUEST_NULL;

  ~State() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
};

PendingMaxima::PendingMaxima(const Communicator& communicator, std::vector<double> values)
    : state_(std::make_unique<State>(std::move(values))) {
  if (MPI_Iallreduce(MPI_IN_PLACE, state_->values.data(), static_cast<int>(state_->values.size()),
                     MPI_DOUBLE, MPI_MAX, native(communicator), &state_->request) != MPI_SUCCESS)
    throw RunError("MPI_Iallreduce failed");
}

std::span<const double> PendingMaxima::wait() {
  if (MPI_Wait(&state_->request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    throw RunError("MPI_Wait for a reduction failed");
  return state_->values;
}

}  // namespace octant

#else

namespace octant {

struct PendingMaxima::State {
  std::vector<double> values;
};

PendingMaxima::PendingMaxima(const Communicator&, std::vector<double> values)
    : state_(std::make_unique<State>(std::move(values))) {}

std::span<const double> PendingMaxima::wait() { return state_->values; }

}  // namespace octant

#endif

namespace octant {

PendingMaxima::~PendingMaxima() = default;
PendingMaxima::PendingMaxima(PendingMaxima&&) noexcept = default;
PendingMaxima& PendingMaxima::operator=(PendingMaxima&&) noexcept = default;

}  // namespace octant
