// Messages that are still leaving their buffers when their exchange has ended. Internal to comm/.
#pragma once

#include <vector>

#include "comm/mpi_layer.hpp"

namespace octant {

class DrainQueue {
 public:
  DrainQueue() = default;
  // Waits, but where an error ends the run: the other ranks may never receive then.
  ~DrainQueue();
  DrainQueue(const DrainQueue&) = delete;
  DrainQueue& operator=(const DrainQueue&) = delete;

  // Takes what has not left `buffer` yet; `requests` is empty afterwards. Does not wait.
  void add(const void* buffer, mpi::Requests& requests);
  // Whether nothing is leaving the buffer any more. Does not wait.
  bool is_free(const void* buffer);
  // Waits until that holds for all buffers.
  void wait();

 private:
  struct Departure {
    const void* buffer;
    mpi::Requests requests;
  };
  std::vector<Departure> departures_;
};

}  // namespace octant
