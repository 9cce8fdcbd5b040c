// Memory of this process: available amount, and use by purpose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octant {

// Resident memory of this process in bytes, present and peak. Zero if unknown (no /proc).
struct MemoryUse {
  std::int64_t current = 0;
  std::int64_t peak = 0;
};
// Returns the memory use of this process.
MemoryUse memory_use();

// Returns the bytes available to all processes of this machine together: the memory of the machine,
// or the lowest limit of the control groups (cgroup v1 or v2) of this process. The largest number
// if unknown. `root` is prepended to the paths of system files, for tests.
std::int64_t memory_limit(const std::string& root = "");

// Makes the C library return freed large arrays to the system at once. Otherwise the library
// retains freed memory in pieces that are too small for the growing arrays of an adaptive mesh: up
// to a third of all memory. Must be called once, at the start.
void return_freed_memory_to_system();

// Returns free pages of the heap to the system.
void trim_heap();

// Resident bytes of this process at one time. `arrays` were reported by count_array(); `lists` are
// other heap memory allocated since the start.
struct MemoryAccount {
  // Arrays of one label.
  struct Arrays {
    std::string label;
    std::int64_t bytes;  // host pages that were never touched are not counted
    bool on_device;      // not part of the resident memory
  };
  std::int64_t resident = 0;
  std::int64_t at_start = 0;   // program, libraries and their initial memory
  std::vector<Arrays> arrays;  // by label, largest first
  std::int64_t lists = 0;
  std::int64_t unused_heap = 0;  // freed, but retained by the C library

  // Stacks, MPI messages, files, and memory taken by libraries since the start.
  std::int64_t others() const;
};

// Starts the memory account of this process.
void start_memory_account();

// Counts an array; must be called after its allocation. Nothing is counted before the start of the
// account.
void count_array(const char* label, const void* memory, std::int64_t bytes, bool on_device = false);
// Removes an array from the account; must be called before its release.
void forget_array(const void* memory);

// Returns the account at the time of the largest total of arrays, to 1 per cent, or the present
// account if more memory is resident now. All values are zero if the account was not started.
MemoryAccount memory_account_at_peak();

// Present and peak size in bytes of this process's arrays in device memory.
MemoryUse device_memory_use();

}  // namespace octant
