// Memory of this process.
#pragma once

#include <cstdint>
#include <string>

namespace octant {

// Resident memory of this process in bytes, now and at its highest so far. Zero where the system
// does not tell (no /proc).
struct MemoryUse {
  std::int64_t current = 0;
  std::int64_t peak = 0;
};
MemoryUse memory_use();

// Bytes that all processes of this machine may have together: its memory, or the least limit of the
// control groups (cgroup v1 or v2) that this process is in. The largest number where the system
// does not tell. `root` stands before the paths of the system's files, for tests.
std::int64_t memory_limit(const std::string& root = "");

// Makes large arrays go back to the system as soon as they are freed. The C library would keep more
// and more of them for itself, in pieces that the growing arrays of an adaptive mesh never fit
// into: up to a third of all memory. Call it once, at the start.
void return_freed_memory_to_system();

// Gives back the free pages between what is left on the heap.
void trim_heap();

}  // namespace octant
