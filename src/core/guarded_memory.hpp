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
void release(void* memory, std::size_t bytes);

// Starts reporting errors, and protecting memory from `new` against kernels.
void watch();

// Access to device memory ends the program unless it is open. Calls nest.
void open();
void close();

// Opens device memory, and protects host memory from kernels; each kernel that accesses it is
// reported once, without ending the program.
void begin_kernel(const char* name);
void end_kernel();

// Kernels launched between these two calls may access host memory (HostKernels).
void begin_host_kernels();
void end_host_kernels();

class Opened {
 public:
  Opened() { open(); }
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

}  // namespace octant::guarded_memory

namespace octant {

// Kernels that are launched while a HostKernels lives run on threads of the host and work on what
// the host has, wherever others run.
#ifdef OCTANT_MEMORY_APART

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

struct HostKernels {
  HostKernels() {}
};

#endif

}  // namespace octant
