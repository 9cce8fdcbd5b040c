// What kernels work through, told where they are launched: a profile sets it against their time.
#pragma once

#include <cstdint>
#include <string_view>

namespace octant {

// Of one item: a cell, a face, a particle.
struct KernelCost {
  double bytes = 0.0;       // that a kernel must read and write, each value once
  double operations = 0.0;  // additions, multiplications, divisions and roots of real numbers
};

struct KernelWork {
  std::int64_t items = 0, bytes = 0, operations = 0;
};

// Who hears of it; null: nobody. As with Kokkos' hooks, nothing comes along to find it by.
using HearOfKernel = void (*)(std::string_view kernel, const KernelWork& work);
inline HearOfKernel hear_of_kernel = nullptr;

// A kernel of this name is about to be launched, or several that share the work.
inline void announce_kernel(std::string_view kernel, std::int64_t items, const KernelCost& of_one) {
  if (!hear_of_kernel) return;
  const auto all = [items](double one) {
    return static_cast<std::int64_t>(static_cast<double>(items) * one);
  };
  hear_of_kernel(kernel, {items, all(of_one.bytes), all(of_one.operations)});
}

}  // namespace octant
