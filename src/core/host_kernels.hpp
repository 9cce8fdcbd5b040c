// Kernels that run on threads of the host and work on what the host has, wherever others run.
#pragma once

namespace octant {

#ifdef OCTANT_MEMORY_APART

namespace guarded_memory {
void begin_host_kernels();
void end_host_kernels();
}  // namespace guarded_memory

// While one lives, kernels are such.
class HostKernels {
 public:
  HostKernels() { guarded_memory::begin_host_kernels(); }
  ~HostKernels() { guarded_memory::end_host_kernels(); }
  HostKernels(const HostKernels&) = delete;
  HostKernels& operator=(const HostKernels&) = delete;
};

// While one lives in a kernel that has begun, its own work has not: the host does something first.
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
