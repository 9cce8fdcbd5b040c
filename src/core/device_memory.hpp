// Memory space of kernels: that of Kokkos' default execution space, on the host or a GPU.
//
// With OCTANT_MEMORY_APART a device is emulated: kernels run on CPU cores in a memory space that
// the host cannot access, as on a GPU. The program takes the same code paths, and ends if host code
// accesses device memory without a copy (core/guarded_memory.hpp).
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#ifdef OCTANT_MEMORY_APART
// Macros for the definition of a memory space, for which Kokkos has no public header.
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include "core/guarded_memory.hpp"

namespace octant {

class EmulatedDeviceSpace {
 public:
  using memory_space = EmulatedDeviceSpace;
  using execution_space = Kokkos::DefaultExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;

  static constexpr const char* name() { return "Apart"; }

  void* allocate(const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const {
    void* memory = guarded_memory::allocate(label, bytes);
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::allocateData(Kokkos::Profiling::make_space_handle(name()), label, memory,
                                      logical_bytes > 0 ? logical_bytes : bytes);
    return memory;
  }
  void* allocate(std::size_t bytes) const { return allocate("[unlabeled]", bytes); }
  template <class ExecutionSpace>
  void* allocate(const ExecutionSpace&, const char* label, std::size_t bytes,
                 std::size_t logical_bytes = 0) const {
    return allocate(label, bytes, logical_bytes);
  }
  void deallocate(const char* label, void* memory, std::size_t bytes,
                  std::size_t logical_bytes = 0) const {
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::deallocateData(Kokkos::Profiling::make_space_handle(name()), label, memory,
                                        logical_bytes > 0 ? logical_bytes : bytes);
    guarded_memory::release(memory, bytes);
  }
  void deallocate(void* memory, std::size_t bytes) const {
    deallocate("[unlabeled]", memory, bytes);
  }
};

}  // namespace octant

namespace Kokkos {

template <>
struct SpaceAccessibility<DefaultExecutionSpace, octant::EmulatedDeviceSpace> {
  enum { accessible = true, assignable = false, deepcopy = true };
  using space = octant::EmulatedDeviceSpace::device_type;
};

namespace Impl {

template <>
struct MemorySpaceAccess<HostSpace, octant::EmulatedDeviceSpace> {
  enum { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<octant::EmulatedDeviceSpace, HostSpace> {
  enum { assignable = false, accessible = true, deepcopy = true };
};

// Copies between the emulated device memory and host memory, or within device memory.
struct CopyOfMemoryApart {
  CopyOfMemoryApart(void* to, const void* from, std::size_t bytes) {
    const octant::guarded_memory::Opened opened;
    __builtin_memmove(to, from, bytes);
  }
  template <class Space>
  CopyOfMemoryApart(const Space&, void* to, const void* from, std::size_t bytes)
      : CopyOfMemoryApart(to, from, bytes) {}
};
template <class Space>
struct DeepCopy<octant::EmulatedDeviceSpace, HostSpace, Space> : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};
template <class Space>
struct DeepCopy<HostSpace, octant::EmulatedDeviceSpace, Space> : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};
template <class Space>
struct DeepCopy<octant::EmulatedDeviceSpace, octant::EmulatedDeviceSpace, Space>
    : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};

}  // namespace Impl
}  // namespace Kokkos

KOKKOS_IMPL_HOST_INACCESSIBLE_SHARED_ALLOCATION_SPECIALIZATION(octant::EmulatedDeviceSpace);

namespace octant {

using DeviceMemory = EmulatedDeviceSpace;

// Gives CPU libraries access to the emulated device memory during its lifetime.
using OpenToLibraries = guarded_memory::Opened;

}  // namespace octant

#else

namespace octant {

using DeviceMemory = Kokkos::DefaultExecutionSpace::memory_space;

struct OpenToLibraries {
  OpenToLibraries() {}
};

}  // namespace octant

#endif

namespace octant {

// Device type of kernel views, for code that needs execution and memory space together.
using Device = Kokkos::Device<Kokkos::DefaultExecutionSpace, DeviceMemory>;

// True if the host can access the memory of kernels.
inline constexpr bool k_device_is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;

}  // namespace octant
