// What the memory of this process is used for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.hpp"

namespace octant {

// Resident bytes of this process at one moment. Arrays are those that were counted, by labels that
// tell what they are for; lists are everything else on the heap that was not there at the start.
struct MemoryAccount {
  struct Arrays {
    std::string label;
    std::int64_t bytes;  // pages of the host that were never touched are not counted
    bool on_device;      // and no part of what is resident
  };
  std::int64_t resident = 0;
  std::int64_t at_start = 0;   // the program, its libraries and what they had taken before
  std::vector<Arrays> arrays;  // by label, largest first
  std::int64_t lists = 0;
  std::int64_t unused_heap = 0;  // freed, and kept by the C library

  // Stacks, messages of the MPI library, files, and what libraries have taken since.
  std::int64_t others() const;
};

void start_memory_account();

// An array that was made, and one that is about to go. Nothing counts before the start.
void count_array(const char* label, const void* memory, std::int64_t bytes, bool on_device = false);
void forget_array(const void* memory);

// When most was held in arrays, to a hundredth; now, if more memory is resident than then.
// All zero where it was not started.
MemoryAccount memory_account_at_peak();

// Bytes of this process's arrays in the memory of a device.
MemoryUse device_memory_use();

}  // namespace octant
