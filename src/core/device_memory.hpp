// Where kernels find their data: the memory of Kokkos' default execution space, which is the host's
// own or that of a GPU.
//
// With OCTANT_MEMORY_APART it is neither. Kernels run on cores, and their memory is one that the
// host cannot touch, as on a GPU: the program takes all the ways that it takes there, and ends
// where it would read or write memory of the device without a copy (core/guarded_memory.hpp).
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#ifdef OCTANT_MEMORY_APART
// What makes a space of memory: Kokkos has no public header for that.
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include "core/guarded_memory.hpp"

namespace octant {

class MemoryApart {
 public:
  using memory_space = MemoryApart;
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
struct SpaceAccessibility<DefaultExecutionSpace, octant::MemoryApart> {
  enum { accessible = true, assignable = false, deepcopy = true };
  using space = octant::MemoryApart::device_type;
};

namespace Impl {

template <>
struct MemorySpaceAccess<HostSpace, octant::MemoryApart> {
  enum { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<octant::MemoryApart, HostSpace> {
  enum { assignable = false, accessible = true, deepcopy = true };
};

// Between this memory and any other, or within it.
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
struct DeepCopy<octant::MemoryApart, HostSpace, Space> : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};
template <class Space>
struct DeepCopy<HostSpace, octant::MemoryApart, Space> : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};
template <class Space>
struct DeepCopy<octant::MemoryApart, octant::MemoryApart, Space> : CopyOfMemoryApart {
  using CopyOfMemoryApart::CopyOfMemoryApart;
};

}  // namespace Impl
}  // namespace Kokkos

KOKKOS_IMPL_HOST_INACCESSIBLE_SHARED_ALLOCATION_SPECIALIZATION(octant::MemoryApart);

namespace octant {

using DeviceMemory = MemoryApart;

// While one lives, a library for cores works where on a device another one would.
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

// What views of kernels are declared with, where its two parts are asked for.
using Device = Kokkos::Device<Kokkos::DefaultExecutionSpace, DeviceMemory>;

// Whether the host reads and writes that memory, too.
inline constexpr bool k_device_is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;

}  // namespace octant
