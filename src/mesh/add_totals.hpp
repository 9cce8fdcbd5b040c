// Adds the totals of the blocks of a range to sums over the whole mesh.
//
// Cells of a block are added in a fixed order. Block totals are added exactly, in any order. With a
// separate device memory they are added there, and only a few numbers are copied to the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/exact_sums.hpp"

namespace octant::mesh {

namespace loops {

// Number of blocks below which the host adds their totals; copying them is then faster than
// kernels.
inline constexpr int k_max_host_blocks = 512;

// Functor for a Kokkos reduction: the maximum of each term over all blocks, at least 0.
template <int Count>
struct LargestValues {
  double value[Count] = {};
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const LargestValues& other) {
    for (int n = 0; n < Count; ++n) value[n] = max(value[n], other.value[n]);
  }
};

// Totals of blocks, multiplied by a scale, as terms of exact sums.
template <int Count, int Sums>
struct ScaledTotals {
  const double* totals;
  Kokkos::Array<double, Sums> scale;

  KOKKOS_FORCEINLINE_FUNCTION Kokkos::Array<double, Sums> operator()(std::int64_t block) const {
    Kokkos::Array<double, Sums> terms;
    for (int n = 0; n < Sums; ++n) terms[n] = scale[n] * totals[block * Count + n];
    return terms;
  }
};

// Functor for a Kokkos reduction: the maxima over all blocks.
template <int Count, int Sums>
struct LargestOfTotals {
  const double* totals;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t block,
                                              LargestValues<Count - Sums>& most) const {
    for (int n = Sums; n < Count; ++n)
      most.value[n - Sums] = max(most.value[n - Sums], totals[block * Count + n]);
  }
};

template <class Terms>
using Maxima = std::array<double, int{Terms::count} - int{Terms::sums}>;

// Implements add_totals() on the host, for few blocks.
template <class Schedule, class Terms>
Maxima<Terms> add_on_host(const char* name, const CellRange& range, const Terms& terms,
                          const std::array<double, Terms::sums>& scales,
                          std::span<ReproducibleSum> sums) {
  Maxima<Terms> largest{};
  for (const auto& totals : block_totals<Schedule>(name, range, terms)) {
    for (int n = 0; n < Terms::sums; ++n) sums[n] += scales[n] * totals[n];
    for (int n = Terms::sums; n < Terms::count; ++n)
      largest[n - Terms::sums] = std::max(largest[n - Terms::sums], totals[n]);
  }
  return largest;
}

// Implements add_totals() on the device.
template <class Schedule, class Terms>
Maxima<Terms> add_on_device(const char* name, const CellRange& range, const Terms& terms,
                            const std::array<double, Terms::sums>& scales,
                            std::span<ReproducibleSum> sums) {
  constexpr int count = Terms::count, sum_count = Terms::sums;
  const auto found = uninitialised<double>("block totals", std::int64_t{range.count()} * count);
  find_block_totals<Schedule>(name, range, terms, found.data());
  const double* const totals = found.data();
  if constexpr (sum_count > 0) {
    std::array<ReproducibleSum*, sum_count> to;
    Kokkos::Array<double, sum_count> scale;
    for (int n = 0; n < sum_count; ++n) {
      to[n] = &sums[n];
      scale[n] = scales[n];
    }
    add_terms(to, range.count(), {8.0 * sum_count, 1.0 * sum_count},
              ScaledTotals<count, sum_count>{totals, scale});
  }
  Maxima<Terms> largest{};
  if constexpr (count > sum_count) {
    LargestValues<count - sum_count> most;
    Kokkos::parallel_reduce("largest totals", range.count(),
                            LargestOfTotals<count, sum_count>{totals}, most);
    std::copy(std::begin(most.value), std::end(most.value), largest.begin());
  }
  return largest;
}

}  // namespace loops

// Adds the sums of the cells of a range, each times its scale, to `sums`, and returns the largest
// values. `Terms` is described at find_block_totals(). Local.
template <class Schedule = NativeSchedule, class Terms>
loops::Maxima<Terms> add_totals(const char* name, const CellRange& range, const Terms& terms,
                                const std::array<double, Terms::sums>& scales,
                                std::span<ReproducibleSum> sums) {
  if constexpr (!k_device_is_host)
    if (range.count() >= loops::k_max_host_blocks)
      return loops::add_on_device<Schedule>(name, range, terms, scales, sums);
  return loops::add_on_host<Schedule>(name, range, terms, scales, sums);
}

// The same with one scale for all sums, such as the cell volume if the terms are densities.
template <class Schedule = NativeSchedule, class Terms>
loops::Maxima<Terms> add_totals(const char* name, const CellRange& range, const Terms& terms,
                                double scale, std::span<ReproducibleSum> sums) {
  std::array<double, Terms::sums> scales;
  scales.fill(scale);
  return add_totals<Schedule>(name, range, terms, scales, sums);
}

}  // namespace octant::mesh
