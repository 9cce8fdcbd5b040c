// Emulation of device memory on machines without a device (OCTANT_MEMORY_APART): only kernels and
// copies may access the memory of kernels, and kernels may not access host memory from `new`.
// Kokkos uses it as EmulatedDeviceSpace (core/device_memory.hpp).
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

// Opens device memory for the host; otherwise an access ends the program. Calls nest.
void open();
// Closes device memory after open().
void close();

// Opens device memory, and protects host memory from kernels; each kernel that accesses it is
// reported once, without ending the program.
void begin_kernel(const char* name);
// Ends begin_kernel().
void end_kernel();

// Begins host kernels, which may access host memory (HostKernels).
void begin_host_kernels();
// Ends begin_host_kernels().
void end_host_kernels();

// Opens device memory during its lifetime.
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

// Marks host work inside a kernel that has been announced but not started.
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
