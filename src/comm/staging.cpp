#include "comm/staging.hpp"

#include <cstdlib>
#include <cstring>

#include "comm/payload.hpp"
#include "core/residency.hpp"

#ifdef OCTANT_MPI
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

namespace octant {

namespace {

template <class T>
auto device_view(T* bytes, std::size_t count) {
  return Kokkos::View<T*, DeviceMemory, Kokkos::MemoryUnmanaged>(bytes, count);
}

// At least so long.
template <class Array>
std::byte* grow(Array& array, std::size_t bytes) {
  if (array.size() < bytes)
    array = Array(Kokkos::view_alloc(Kokkos::WithoutInitializing, "staged messages"), bytes);
  return array.data();
}

}  // namespace

bool mpi_takes_device_memory() {
#if defined(OCTANT_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  const char* cray = std::getenv("MPICH_GPU_SUPPORT_ENABLED");  // its libraries have no such query
  return cray != nullptr && std::strcmp(cray, "1") == 0;
#endif
}

void StagedBuffers::await_kernels() const {
  if (buffers_ == Buffers::of_device) Kokkos::fence("comm: messages are packed");
}

bool StagedBuffers::needed(Backend backend) const {
  static const bool direct = k_device_is_host || mpi_takes_device_memory();
  if (buffers_ == Buffers::of_host) return false;
  return staging_ == Staging::always || !direct ||
         (!k_device_is_host && backend == Backend::ksection);
}

const std::byte* StagedBuffers::leaving(const std::byte* send, std::size_t bytes) {
  std::byte* const copy = grow(sent_, bytes);
  if (bytes > 0)  // a copy waits, even of nothing
    copy_to_host(Cargo::messages, host_view(copy, bytes), device_view(send, bytes));
  return copy;
}

std::byte* StagedBuffers::arriving(std::size_t bytes) { return grow(received_, bytes); }

void StagedBuffers::deliver(std::byte* receive, std::size_t bytes) const {
  if (bytes == 0) return;
  queue_to_device(Cargo::messages, device_view(receive, bytes),
                  host_view(static_cast<const std::byte*>(received_.data()), bytes));
}

void StagedBuffers::copy_own(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (bytes == 0) return;
  if (k_device_is_host || buffers_ == Buffers::of_host) return copy_payload(to, from, bytes);
  copy_within(device_view(to, bytes), device_view(from, bytes));
}

}  // namespace octant
