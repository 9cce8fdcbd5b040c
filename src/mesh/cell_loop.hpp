// Loops over the cells of own blocks: visits, extrema, sums, searches and flags.
//
// A loop takes a KOKKOS_LAMBDA, or a plain struct, that captures plain values. The functor is
// called on the device for all cells of a range, in any order or concurrently, and may change its
// own cell. Kernels launched later, and copies to the host, see the results. A loop that returns a
// value waits for the kernel. Results do not depend on the number of threads, on the schedule or on
// the slots of blocks.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/compiler.hpp"
#include "core/simd.hpp"
#include "core/teams.hpp"
#include "mesh/cell_range.hpp"
#include "mesh/device.hpp"

namespace octant::mesh {

// Schedule with one thread per block, which processes rows of cells in sequence.
struct ThreadPerBlock {};
// Schedule with one team of threads per block, whose threads process different cells.
struct TeamPerBlock {};
using NativeSchedule = std::conditional_t<k_device_is_host, ThreadPerBlock, TeamPerBlock>;

// Number of partial sums of a block, which fixes the order of summation: cell c is added to part
// c % k_sum_parts, and the parts are added at the end. On a CPU the parts are the lanes of a SIMD
// vector.
inline constexpr int k_sum_parts = 4;

namespace loops {

using Team = Kokkos::TeamPolicy<TeamPerBlock>::member_type;

// Execution policy for a range.
inline auto policy(ThreadPerBlock, const CellRange& range, std::size_t) {
  return Kokkos::RangePolicy<ThreadPerBlock>(0, range.count());
}
// Execution policy for a range, with `scratch` bytes per team.
inline auto policy(TeamPerBlock, const CellRange& range, std::size_t scratch) {
  Kokkos::TeamPolicy<TeamPerBlock> policy(range.count(), team_threads());
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch));
  return policy;
}

// Launches a kernel over the blocks of a range, and records its name for profiling.
template <class Schedule, class Kernel>
void launch(const char* name, const CellRange& range, const Kernel& kernel,
            std::size_t scratch = 0) {
  if (range.count() == 0) return;
  Kokkos::parallel_for(name, policy(Schedule{}, range, scratch), kernel);
}

// Mask of the octants of a block that are not in the range.
KOKKOS_FORCEINLINE_FUNCTION unsigned left_out(const CellRange& range, const OwnBlock& block) {
  return range.leaves_only ? block.refined : 0;
}
// True if the octant of cell `index` of a block is not in the range.
KOKKOS_FORCEINLINE_FUNCTION bool is_left_out(const CellRange& range, const OwnBlock& block,
                                             int index) {
  return left_out(range, block) >> range.octant_of(index) & 1;
}

// Calls run(begin, end, is_marked) for all cells of a block, in runs of maximal length: one run, or
// rows of octants if a mask marks octants.
template <class Run>
KOKKOS_FORCEINLINE_FUNCTION void for_runs(const CellRange& range, unsigned marked, const Run& run) {
  const int length = marked ? range.block_size() / 2 : range.cells_per_block();
  for (int begin = 0; begin < range.cells_per_block(); begin += length)
    run(begin, begin + length, marked >> range.octant_of(begin) & 1);
}

// Calls run(begin, end) for runs of the cells that are in the range.
template <class Run>
KOKKOS_FORCEINLINE_FUNCTION void for_runs_inside(const CellRange& range, const OwnBlock& block,
                                                 const Run& run) {
  for_runs(range, left_out(range, block), [&](int begin, int end, bool out) OCTANT_INLINE_LAMBDA {
    if (!out) run(begin, end);
  });
}

// Kernel of for_cells().
template <class Body>
struct Visit {
  CellRange range;
  Body body;

  KOKKOS_INLINE_FUNCTION void operator()(ThreadPerBlock, int block_index) const {
    const OwnBlock block = range.blocks(block_index);
    const BlockCycles counted(range, block.slot);
    for_runs_inside(range, block, [&](int begin, int end) OCTANT_INLINE_LAMBDA {
#if !defined(OCTANT_GPU_COMPILER) && !defined(__clang__)  // clang has no such pragma
#pragma GCC ivdep
#endif
      for (int c = begin; c < end; ++c) body(Cell{block_index, block.slot, c});
    });
  }
  KOKKOS_INLINE_FUNCTION void operator()(TeamPerBlock, const Team& team) const {
    const int block_index = team.league_rank();
    const OwnBlock block = range.blocks(block_index);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, range.cells_per_block()), [&](int c) {
      if (!is_left_out(range, block, c)) body(Cell{block_index, block.slot, c});
    });
  }
};

// Reduction of largest().
template <class Value>
struct Largest {
  CellRange range;
  Value value;

  KOKKOS_INLINE_FUNCTION void operator()(ThreadPerBlock, int block_index, double& largest) const {
    const OwnBlock block = range.blocks(block_index);
    const BlockCycles counted(range, block.slot);
    for_runs_inside(range, block, [&](int begin, int end) OCTANT_INLINE_LAMBDA {
      for (int c = begin; c < end; ++c)
        largest = max(largest, value(Cell{block_index, block.slot, c}));
    });
  }
  KOKKOS_INLINE_FUNCTION void operator()(TeamPerBlock, const Team& team, double& largest) const {
    const int block_index = team.league_rank();
    const OwnBlock block = range.blocks(block_index);
    double of_block = largest;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, range.cells_per_block()),
        [&](int c, double& most) {
          if (!is_left_out(range, block, c))
            most = max(most, value(Cell{block_index, block.slot, c}));
        },
        Kokkos::Max<double>(of_block));
    largest = max(largest, of_block);
  }
};

// Kernel that combines the masks of a block's cells.
template <class MaskOf>
struct JoinMasks {
  CellRange range;
  DeviceArray<std::uint64_t> masks;
  MaskOf mask_of;

  KOKKOS_INLINE_FUNCTION void operator()(ThreadPerBlock, int block_index) const {
    const OwnBlock block = range.blocks(block_index);
    const BlockCycles counted(range, block.slot);
    std::uint64_t mask = 0;
    for_runs_inside(range, block, [&](int begin, int end) OCTANT_INLINE_LAMBDA {
      for (int c = begin; c < end; ++c) mask |= mask_of(Cell{block_index, block.slot, c});
    });
    masks(block.slot) |= mask;
  }
  KOKKOS_INLINE_FUNCTION void operator()(TeamPerBlock, const Team& team) const {
    const int block_index = team.league_rank();
    const OwnBlock block = range.blocks(block_index);
    std::uint64_t mask = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, range.cells_per_block()),
        [&](int c, std::uint64_t& joined) {
          if (!is_left_out(range, block, c)) joined |= mask_of(Cell{block_index, block.slot, c});
        },
        Kokkos::BOr<std::uint64_t>(mask));
    Kokkos::single(Kokkos::PerTeam(team), [&] { masks(block.slot) |= mask; });
  }
};

// Concept: terms that can be evaluated for a SIMD vector of cells at once.
template <class Terms>
concept TermsOfPacks = requires(const Terms& terms, const Cell& cell, SimdDouble* values) {
  terms(cell, values);
};

// Computes totals of a block whose cells add to `parts` partial sums.
template <int parts, class Terms>
struct Totals {
  static constexpr int count = Terms::count, chunk = 256;
  using V = std::conditional_t<parts == SimdTraits<SimdDouble>::width, SimdDouble, double>;

  CellRange range;
  Terms terms;
  double* totals;  // [block of the range][term]

  // Joins the parts of one term, [part].
  KOKKOS_FORCEINLINE_FUNCTION static double join(int term, const double* part) {
    double total = 0.0;
    for (int p = 0; p < parts; ++p)
      total = term < Terms::sums ? total + part[p] : max(total, part[p]);
    return total;
  }

  // True if terms are evaluated for SIMD vectors but added cell by cell, because sums have one part
  // (Terms::parts is 1, or octants are smaller than a vector).
  static constexpr bool k_adds_lanes =
      parts == 1 && SimdTraits<SimdDouble>::width > 1 && TermsOfPacks<Terms>;
  // Adds the terms of SIMD vectors lane by lane, in the order of the cells.
  KOKKOS_FORCEINLINE_FUNCTION void add_lanes(int block_index, int slot, int begin, int end,
                                             double* partial) const {
    for (int c = begin; c < end; c += SimdTraits<SimdDouble>::width) {
      SimdDouble values[count];
      terms(Cell{block_index, slot, c}, values);
      OCTANT_UNROLL(16)
      for (int t = 0; t < count; ++t)
        for (int lane = 0; lane < SimdTraits<SimdDouble>::width; ++lane) {
          const double value = SimdTraits<SimdDouble>::lane(values[t], lane);
          partial[t] = t < Terms::sums ? partial[t] + value : max(partial[t], value);
        }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(ThreadPerBlock, int block_index) const {
    static_assert(SimdTraits<V>::width == parts || std::is_same_v<NativeSchedule, TeamPerBlock>);
    const OwnBlock block = range.blocks(block_index);
    const BlockCycles counted(range, block.slot);
    V partial[count];
    for (V& p : partial) p = V(0.0);
    for_runs(range, block.refined, [&](int begin, int end, bool refined) OCTANT_INLINE_LAMBDA {
      if (refined && range.leaves_only) return;
      if constexpr (k_adds_lanes)
        if (!refined && (end - begin) % SimdTraits<SimdDouble>::width == 0)
          return add_lanes(block_index, block.slot, begin, end, partial);
      for (int c = begin; c < end; c += SimdTraits<V>::width) {
        V values[count];
        terms(Cell{block_index, block.slot, c}, values);
        OCTANT_UNROLL(16)
        for (int t = 0; t < Terms::sums; ++t)
          if (!refined) partial[t] = partial[t] + values[t];
        OCTANT_UNROLL(16)
        for (int t = Terms::sums; t < count; ++t) partial[t] = max(partial[t], values[t]);
      }
    });
    for (int t = 0; t < count; ++t) {
      double lanes[SimdTraits<V>::width];
      SimdTraits<V>::store(lanes, partial[t]);
      totals[std::int64_t{block_index} * count + t] = join(t, lanes);
    }
  }

  // Computes the totals with a team per block: all threads evaluate the terms of a chunk of cells;
  // then each thread updates some of the partial sums. Excluded cells add 0, which does not change
  // sums that begin with 0.
  KOKKOS_INLINE_FUNCTION void operator()(TeamPerBlock, const Team& team) const {
    const int block_index = team.league_rank();
    const OwnBlock block = range.blocks(block_index);
    auto* const partial = static_cast<double*>(team.team_scratch(0).get_shmem(scratch()));
    double* const values = partial + count * parts;  // [term][cell of the chunk]
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count * parts),
                         [&](int n) { partial[n] = 0.0; });
    for (int begin = 0; begin < range.cells_per_block(); begin += chunk) {
      const int rest = range.cells_per_block() - begin, cells = rest < chunk ? rest : chunk;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, cells), [&](int c) {
        const bool leaf = !(block.refined >> range.octant_of(begin + c) & 1);
        double of_cell[count] = {};
        if (leaf || !range.leaves_only) terms(Cell{block_index, block.slot, begin + c}, of_cell);
        for (int t = 0; t < count; ++t)
          values[t * chunk + c] = leaf || t >= Terms::sums ? of_cell[t] : 0.0;
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count * parts), [&](int n) {
        const int t = n / parts;
        double& sum = partial[n];
        for (int c = n % parts; c < cells; c += parts) {
          const double value = values[t * chunk + c];
          sum = t < Terms::sums ? sum + value : max(sum, value);
        }
      });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int t) {
      totals[std::int64_t{block_index} * count + t] = join(t, partial + t * parts);
    });
  }
  // Bytes of scratch memory per team.
  static constexpr std::size_t scratch() { return sizeof(double) * count * (parts + chunk); }
};

}  // namespace loops

// Calls body(cell) for all cells of a range.
template <class Schedule = NativeSchedule, class Body>
void for_cells(const char* name, const CellRange& range, const Body& body) {
  loops::launch<Schedule>(name, range, loops::Visit<Body>{range, body});
}

// Returns the largest value(cell), or the lowest double for an empty range. NaN is ignored.
template <class Schedule = NativeSchedule, class Value>
double largest(const char* name, const CellRange& range, const Value& value) {
  double result = std::numeric_limits<double>::lowest();
  if (range.count() > 0)
    Kokkos::parallel_reduce(name, loops::policy(Schedule{}, range, 0),
                            loops::Largest<Value>{range, value}, Kokkos::Max<double>(result));
  return result;
}

// Returns the smallest value(cell), or the largest double for an empty range. NaN is ignored.
template <class Schedule = NativeSchedule, class Value>
double smallest(const char* name, const CellRange& range, const Value& value) {
  return -largest<Schedule>(
      name, range, KOKKOS_LAMBDA(const Cell& cell) { return -value(cell); });
}

// Sets the bits of mask_of(cell) in masks(slot), for all cells of the blocks of the range; other
// bits are unchanged.
template <class Schedule = NativeSchedule, class MaskOf>
void join_masks(const char* name, const CellRange& range, const DeviceArray<std::uint64_t>& masks,
                const MaskOf& mask_of) {
  loops::launch<Schedule>(name, range, loops::JoinMasks<MaskOf>{range, masks, mask_of});
}

// Returns the cells for which condition(cell) holds, ordered by block of the range, then by cell.
template <class Schedule = NativeSchedule, class Condition>
std::vector<Cell> find_cells(const char* name, const CellRange& range, const Condition& condition) {
  const auto count = zeros<std::int64_t>("cells found", 1);
  for_cells<Schedule>(
      name, range, KOKKOS_LAMBDA(const Cell& cell) {
        if (condition(cell)) Kokkos::atomic_inc(&count(0));
      });
  const auto total = on_host(TransferKind::numbers, count)(0);
  std::vector<Cell> found(static_cast<std::size_t>(total));
  if (total == 0) return found;
  const auto cells = uninitialised<Cell>("cells found", total);
  for_cells<Schedule>(
      name, range, KOKKOS_LAMBDA(const Cell& cell) {
        if (condition(cell)) cells(Kokkos::atomic_fetch_dec(&count(0)) - 1) = cell;
      });
  copy_to_host(TransferKind::lists, host_view(found), cells);
  std::sort(found.begin(), found.end(), [](const Cell& a, const Cell& b) {
    return a.block_index != b.block_index ? a.block_index < b.block_index : a.index < b.index;
  });
  return found;
}

// Computes totals of every block, in the order of the range, in device memory. `Terms` declares:
//   static constexpr int count;  // number of totals
//   static constexpr int sums;   // the first totals are sums over leaf cells, the others maxima
//                                // over all cells of the range, leaves or not, and at least 0
//   static constexpr int parts;  // partial sums per sum: k_sum_parts, or 1
//   void operator()(const Cell& cell, V* values) const;  // the terms of a V of cells
// V is SimdDouble or double. The cells of a SIMD vector lie in one octant, or in a block without
// refined octants. The operator is called once for each cell of the range and may change this cell.
template <class Schedule = NativeSchedule, class Terms>
void find_block_totals(const char* name, const CellRange& range, const Terms& terms,
                       double* totals) {
  const auto launch = [&](const auto& kernel) {
    loops::launch<Schedule>(name, range, kernel, kernel.scratch());
  };
  if (Terms::parts > 1 && range.block_size() / 2 >= Terms::parts)
    launch(loops::Totals<Terms::parts, Terms>{range, terms, totals});
  else launch(loops::Totals<1, Terms>{range, terms, totals});
}

// Returns the totals of each block on the host. add_totals.hpp sums them over the mesh.
template <class Schedule = NativeSchedule, class Terms>
std::vector<std::array<double, Terms::count>> block_totals(const char* name, const CellRange& range,
                                                           const Terms& terms) {
  std::vector<std::array<double, Terms::count>> totals(range.count());
  const auto host =
      host_view(totals.empty() ? nullptr : totals.front().data(), totals.size() * Terms::count);
  const auto found = Kokkos::create_mirror_view(DeviceSpace{}, host);
  find_block_totals<Schedule>(name, range, terms, found.data());
  copy_to_host(TransferKind::numbers, host, found);
  return totals;
}

}  // namespace octant::mesh
