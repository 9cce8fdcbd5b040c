// Messages whose buffers lie in the memory of a device. Where the MPI library cannot read it, the
// packed buffers pass through memory of the host that the device reaches at full speed. Internal to
// comm/.
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#include "comm/comm_options.hpp"

namespace octant {

// Whether this MPI library says that it takes pointers to the memory of a device.
bool mpi_takes_device_memory();

class StagedBuffers {
 public:
  StagedBuffers(Buffers buffers, Staging staging) : buffers_(buffers), staging_(staging) {}

  // Waits for kernels that still write what is sent, or read what lies where messages will arrive.
  void await_kernels() const;

  // Whether an exchange through this backend needs them. Forwarding joins messages on the host.
  bool needed(Backend backend) const;

  // A copy of what is sent, until the next one is asked for; and room for what will arrive, once
  // kernels have been waited for.
  const std::byte* leaving(const std::byte* send, std::size_t bytes);
  std::byte* arriving(std::size_t bytes);
  // Copies what has arrived to where it belongs, behind the kernels that are under way.
  void deliver(std::byte* receive, std::size_t bytes) const;

  // Where the next copy of what is sent will lie.
  const void* outbox() const { return sent_.data(); }

  // What a rank sends to itself, where nothing is staged.
  void copy_own(std::byte* to, const std::byte* from, std::size_t bytes) const;

 private:
  using Pinned = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

  Buffers buffers_;
  Staging staging_;
  Pinned sent_, received_;
};

}  // namespace octant
