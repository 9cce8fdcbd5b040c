// Memory as on a machine with a device, for machines without one (OCTANT_MEMORY_APART): kernels
// have memory of their own, which nothing touches but kernels and copies, and kernels touch no
// memory that the host has from `new`. Kokkos knows the former as MemoryApart
// (core/device_memory.hpp).
//
// Who errs is told on standard error, with the array or the kernel, and where the program stood.
#pragma once

#include <cstddef>

namespace octant::guarded_memory {

// Memory of kernels, full of bytes that no program wants: as doubles they are not numbers, as
// integers -1. Throws std::bad_alloc.
void* allocate(const char* label, std::size_t bytes);
void release(void* memory, std::size_t bytes);

// From now on errors are told, and what `new` gives is kept from kernels.
void watch();

// Who touches memory of kernels between close() and open() ends the program. They nest.
void open();
void close();

// Opens it, and keeps kernels from memory of the host, which ends no program: it is told once for
// each kernel that does it.
void begin_kernel(const char* name);
void end_kernel();

class Opened {
 public:
  Opened() { open(); }
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

}  // namespace octant::guarded_memory
