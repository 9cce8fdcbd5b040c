// Emulation of device memory on machines without a device (OCTANT_MEMORY_APART): only kernels and
// copies may access the memory of kernels, and kernels may not access host memory from `new`.
// EmulatedDeviceSpace (core/device_memory.hpp) is the Kokkos memory space of this memory.
//
// Violations are reported on standard error, with the array or the kernel, and a stack trace.
#pragma once

#include <cstddef>

namespace octant::guarded_memory {

// Allocates device memory filled with invalid values: NaN as doubles, -1 as integers. Throws
// std::bad_alloc.
void* allocate(const char* label, std::size_t bytes);
// Frees device memory.
void release(void* memory, std::size_t bytes);

// Starts reporting errors, and protecting memory from `new` against kernels.
void watch();

// Allows host code to access device memory; otherwise an access ends the program. Calls nest.
void open();
// Ends the access that open() allowed.
void close();

// Allows access to device memory and protects host memory. The first access of each kernel to host
// memory is reported without ending the program.
void begin_kernel(const char* name);
// Ends begin_kernel().
void end_kernel();

// Begins host kernels, which may access host memory (HostKernels).
void begin_host_kernels();
// Ends begin_host_kernels().
void end_host_kernels();

// Allows host code to access device memory during the lifetime of the object.
class Opened {
 public:
  Opened() { open(); }
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

}  // namespace octant::guarded_memory

namespace octant {

// Scope of host kernels: kernels launched during its lifetime run on host threads and access host
// memory, also in a program whose other kernels run on a device.
#ifdef OCTANT_MEMORY_APART

// Scope of host kernels, for the emulated device.
class HostKernels {
 public:
  HostKernels() { guarded_memory::begin_host_kernels(); }
  ~HostKernels() { guarded_memory::end_host_kernels(); }
  HostKernels(const HostKernels&) = delete;
  HostKernels& operator=(const HostKernels&) = delete;
};

// Scope of host code that Kokkos runs between begin_kernel() and the start of the kernel.
class BeforeWork {
 public:
  BeforeWork();
  ~BeforeWork();
  BeforeWork(const BeforeWork&) = delete;
  BeforeWork& operator=(const BeforeWork&) = delete;

 private:
  const char* kernel_;
};

#else

// Scope of host kernels, without effect.
struct HostKernels {
  HostKernels() {}
};

#endif

}  // namespace octant
