// The buffers that messages of one kind leave from.
#pragma once

#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/device.hpp"
#include "mesh/fields.hpp"

namespace octant::mesh {

// Usually one buffer, and another for as long as messages are still leaving the first.
class SendBuffers {
 public:
  explicit SendBuffers(std::int64_t doubles = 0) : doubles_(doubles) {}

  // One that nothing is leaving. The exchanger is always the same.
  double* take_free(Exchanger& exchanger) {
    for (const DeviceArray<double>& buffer : buffers_)
      if (exchanger.drained(buffer.data())) return buffer.data();
    buffers_.push_back(uninitialised<double>("send buffer", doubles_));
    return buffers_.back().data();
  }

 private:
  std::int64_t doubles_;
  std::vector<DeviceArray<double>> buffers_;
};

}  // namespace octant::mesh
