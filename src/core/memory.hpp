// Memory of this process.
#pragma once

#include <cstdint>

namespace octant {

// Resident memory of this process in bytes, now and at its highest so far. Zero where the system
// does not tell (no /proc).
struct MemoryUse {
  std::int64_t current = 0;
  std::int64_t peak = 0;
};
MemoryUse memory_use();

// Makes large arrays go back to the system as soon as they are freed. The C library would keep more
// and more of them for itself, in pieces that the growing arrays of an adaptive mesh never fit
// into: up to a third of all memory. Call it once, at the start.
void return_freed_memory_to_system();

}  // namespace octant
