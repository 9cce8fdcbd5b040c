// Memory of working fields that last from one call to the next at most, used again by whoever comes
// next: fresh memory costs a page fault per 512 cells, a fifth of a solve for the potential.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mesh/cell_range.hpp"
#include "mesh/device.hpp"

namespace octant::mesh {

class FieldPool {
 public:
  // Memory for `count` values, which may hold anything. Fields lie beside each other in an array,
  // as many as it has room for; it is empty again when nobody refers to any of them. Where none has
  // room, the largest empty one gives way to one that has.
  DeviceArray<double> allocate(const std::string& label, std::int64_t count) {
    if (count == 0) return {};
    const auto values = static_cast<std::size_t>(count);
    const std::size_t size = (values + k_line - 1) / k_line * k_line;
    Memory* tightest = nullptr;
    Memory* largest_empty = nullptr;
    for (Memory& memory : memories_) {
      if (memory.array.use_count() == 1) memory.used = 0;
      if (memory.room() >= size) {
        if (!tightest || memory.room() < tightest->room()) tightest = &memory;
      } else if (memory.used == 0) {
        if (!largest_empty || memory.room() > largest_empty->room()) largest_empty = &memory;
      }
    }
    if (!tightest) {
      tightest = largest_empty ? largest_empty : &memories_.emplace_back();
      tightest->array = {};
      tightest->array = uninitialised<double>("working memory (" + label + ")", size);
    }
    const std::size_t begin = tightest->used;
    tightest->used += size;
    return Kokkos::subview(tightest->array, std::pair(begin, begin + values));
  }

 private:
  static constexpr std::size_t k_line = 8;  // fields begin with a line of the cache
  struct Memory {
    DeviceArray<double> array;
    std::size_t used = 0;

    std::size_t room() const { return array.size() - used; }
  };
  std::vector<Memory> memories_;
};

// A field of blocks; where it was made for the asker alone, with the memory that it lies in.
struct LentField {
  BlockField field;
  DeviceArray<double> memory = {};

  LentField(const BlockField& lasting) : field(lasting) {}
  LentField(const BlockField& made, DeviceArray<double> in) : field(made), memory(std::move(in)) {}
};

}  // namespace octant::mesh
