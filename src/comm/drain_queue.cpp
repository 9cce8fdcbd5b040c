#include "comm/drain_queue.hpp"

#include <exception>
#include <utility>

namespace octant {

DrainQueue::~DrainQueue() {
  if (std::uncaught_exceptions() == 0) wait();
}

void DrainQueue::add(const void* buffer, mpi::Requests& requests) {
  if (!requests.test()) departures_.push_back({buffer, std::exchange(requests, {})});
}

bool DrainQueue::is_free(const void* buffer) {
  bool free = true;
  std::erase_if(departures_, [&](Departure& departure) {
    const bool has_left = departure.requests.test();
    free = free && (has_left || departure.buffer != buffer);
    return has_left;
  });
  return free;
}

void DrainQueue::wait() {
  for (Departure& departure : departures_) departure.requests.wait();
  departures_.clear();
}

}  // namespace octant
