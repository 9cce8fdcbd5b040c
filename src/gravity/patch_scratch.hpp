// Patches with ghost cells in the scratch memory of a team, and operations on them for kernels.
#pragma once

#include <type_traits>

#include "core/error.hpp"
#include "core/simd.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_exchange.hpp"

namespace octant::gravity {

using PackOf = SimdTraits<SimdDouble>;

// Smallest multiple of the pack width that is not less than n.
constexpr int rounded_up(int n) { return (n + PackOf::width - 1) / PackOf::width * PackOf::width; }

// True if a team is one thread, as on a CPU, where a pack has several lanes.
inline constexpr bool k_one_thread = PackOf::width > 1;

// Calls body with the side of patches as a std::integral_constant.
template <class Body>
void with_patch_side(int side, const Body& body) {
  switch (side) {
    case 16: return body(std::integral_constant<int, 16>{});
    case 8: return body(std::integral_constant<int, 8>{});
    case 4: return body(std::integral_constant<int, 4>{});
    case 2: return body(std::integral_constant<int, 2>{});
    default: throw RunError("gravity: no kernel for patches of {}^3 cells", side);
  }
}
// Calls body with the side of the patches of a level, unless this rank has no patches.
template <class Body>
void with_side(const LevelPatches& patches, const Body& body) {
  if (patches.own() > 0) with_patch_side(patches.side(), body);
}

// Level of scratch memory for this size: 0 on a GPU if it fits into shared memory, of which Kokkos
// offers 48 kB to a team and uses a part itself; else 1.
constexpr int scratch_level(std::size_t bytes) {
  return !k_one_thread && bytes <= 46 * 1024 ? 0 : 1;
}

// Shape of teams with `bytes` of scratch of level 1; 64 threads on a GPU.
inline mesh::TeamShape teams(std::size_t bytes) { return {.scratch = bytes, .threads = 64}; }
// Shape of teams that each work on a patch of T^3 cells.
template <int T>
mesh::TeamShape patch_teams(std::size_t bytes) {
  return {.scratch = bytes, .threads = 64, .items = T * T * T};
}

// Patch with ghost cells in scratch memory: cells -Depth .. T-1+Depth along y and z. Along x, rows
// contain the pairs (even cell, odd cell) -2 .. T/2+1, all even cells first. Kernels work on whole
// packs of pairs, so the outermost pairs may become undefined.
template <int T, int Depth>
struct PatchScratch {
  static constexpr int half = rounded_up(T / 2 + 4), row = 2 * half, rows = T + 2 * Depth;
  static constexpr int margin = 8, doubles = rows * rows * row + 2 * margin;
  double* data;

  KOKKOS_FORCEINLINE_FUNCTION explicit PatchScratch(const Team& team, int level = 1)
      : data(static_cast<double*>(
            team.team_scratch(level).get_shmem_aligned(doubles * sizeof(double), 64))) {}
  // Bytes of scratch memory.
  static constexpr std::size_t bytes() { return doubles * sizeof(double) + 64; }

  // Address of pair 0 of the even (parity 0) or odd cells of a row. Pairs are contiguous.
  KOKKOS_FORCEINLINE_FUNCTION double* pairs(int parity, int j, int k) const {
    return data + margin + ((k + Depth) * rows + j + Depth) * row + parity * half + 2;
  }
};

// Coarse cells -2 .. T/2+1 along each axis around a patch of T^3 fine cells, in natural order.
template <int T>
struct CoarseBox {
  static constexpr int side = T / 2 + 4, row = rounded_up(side), doubles = side * side * row;
  const double* data;
  KOKKOS_FORCEINLINE_FUNCTION const double* line(int j, int k) const {  // cell -2 of a row
    return data + ((k + 2) * side + j + 2) * row;
  }
};

// Calls body(j) for the rows j of a set.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_rows_in(RowSet rows, const Body& body) {
  for (; rows != 0; rows &= rows - 1) body(Kokkos::Experimental::countr_zero_builtin(rows) - 3);
}

// Calls body(k) for all planes within `depth` of a patch.
template <int T, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_planes(const Team& team, int depth, const Body& body) {
  in_team(team, T + 2 * depth, [&](int plane) { body(plane - depth); });
}

// Part of a plane that one thread works on, for teams of one thread (CPU): the whole plane.
struct WholePlane {
  static constexpr RowSet rows = ~RowSet{0};
  static constexpr int step = PackOf::width;
  // First pair of this part from pair `first` on.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int begin(int first) { return first; }
};
// Part of a plane for one of many threads (GPU): every `step`-th pair of one row, so that memory
// accesses of neighbouring threads coalesce.
template <int Threads>
struct PartOfRow {
  RowSet rows;
  int thread;
  static constexpr int step = Threads;
  // First pair of this part from pair `first` on. Pairs always belong to the same thread.
  KOKKOS_FORCEINLINE_FUNCTION constexpr int begin(int first) const {
    return first + ((thread - first) & (Threads - 1));
  }
};

// Calls body(k, part) for all parts of all planes within `depth` of a patch.
template <int T, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_parts(const Team& team, int depth, const Body& body) {
  if constexpr (k_one_thread) {
    for (int k = -depth; k < T + depth; ++k) body(k, WholePlane{});
  } else {
    constexpr int of_row = T / 2;
    const int rows = T + 2 * depth;
    in_team(team, rows * rows * of_row, [&](int n) {
      const int j = n / of_row % rows - depth, k = n / (of_row * rows) - depth;
      body(k, PartOfRow<of_row>{RowSet{1} << (j + 3), n % of_row});
    });
  }
}

// Calls body(j, k) for all rows within `depth` of a patch.
template <int T, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_rows(const Team& team, int depth, const Body& body) {
  for_planes<T>(team, depth, [&](int k) {
    for (int j = -depth; j < T + depth; ++j) body(j, k);
  });
}

// Stage of a pass over a patch: body(k, part) for all planes within `depth` of the patch.
template <class Body>
struct Stage {
  int depth;
  Body body;
};
// Returns a stage. Clang accepts no deduction guide of Stage in a kernel for AMD GPUs.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION Stage<Body> within(int depth, const Body& body) {
  return {depth, body};
}

// Runs a stage for plane k.
template <int T, class Body>
KOKKOS_FORCEINLINE_FUNCTION void run_plane(const Stage<Body>& stage, int k) {
  if (k >= -stage.depth && k < T + stage.depth) stage.body(k, WholePlane{});
}

// Runs the stages of a pass in order. A stage may read results of earlier stages up to one plane
// beyond its plane. A single thread alternates between the stages, each one plane behind the
// previous stage, so that the input of a stage is still in the first-level cache.
template <int T, class... Bodies>
KOKKOS_FORCEINLINE_FUNCTION void run_stages(const Team& team, const Stage<Bodies>&... stages) {
  if constexpr (k_one_thread) {
    constexpr int count = sizeof...(Bodies), furthest = 3;
    for (int step = -furthest; step < T + furthest + count; ++step) {
      int k = step;
      (run_plane<T>(stages, k--), ...);
    }
  } else {
    ((for_parts<T>(team, stages.depth, stages.body), team.team_barrier()), ...);
  }
}

// Returns the mask of the lanes whose bits are set.
template <class V = SimdDouble>
KOKKOS_FORCEINLINE_FUNCTION typename SimdTraits<V>::Mask lanes_of(std::uint32_t bits) {
  if constexpr (SimdTraits<V>::width == 1) {
    return (bits & 1) != 0;
  } else {
    const typename V::Bits lane{1, 2, 4, 8},
        all = typename V::Bits{} + static_cast<long long>(bits);
    return typename V::Mask((all & lane) != 0);
  }
}

// Calls body(e) for the packs of a part that cover `count` pairs from pair `first` on.
template <class Part, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_pairs(const Part& part, int first, int count,
                                           const Body& body) {
  for (int e = part.begin(first); e < first + count; e += Part::step) body(e);
}
// Calls body(e) for all packs that cover `count` pairs from pair `first` on, on a single thread.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_pairs(int first, int count, const Body& body) {
  for (int e = first; e < first + count; e += PackOf::width) body(e);
}

// Stores the lanes of a pack in cells e, e + 1, ... of a row of `Count` cells, up to its end.
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION void store_within(double* row, int e, SimdDouble value) {
  if constexpr (Count % PackOf::width == 0) {
    PackOf::store(row + e, value);
  } else {
    for (int lane = 0; lane < PackOf::width && e + lane < Count; ++lane)
      row[e + lane] = PackOf::lane(value, lane);
  }
}

// Stores the cells of a pack of pairs in natural order. A template, as plain doubles have no lanes.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void store_pairs(double* to, V even, V odd) {
  using Traits = SimdTraits<V>;
  if constexpr (Traits::width == 1) {
    to[0] = Traits::lane(even, 0);
    to[1] = Traits::lane(odd, 0);
  } else {
    Traits::store(to, V(__builtin_shufflevector(even.lanes(), odd.lanes(), 0, 4, 1, 5)));
    Traits::store(to + Traits::width,
                  V(__builtin_shufflevector(even.lanes(), odd.lanes(), 2, 6, 3, 7)));
  }
}

// Position of cell i along an axis relative to a patch: 0 below, 1 inside, 2 above.
KOKKOS_FORCEINLINE_FUNCTION constexpr int zone(int i, int side) {
  return i < 0 ? 0 : i < side ? 1 : 2;
}

// Copies `Count` values, or zeros if `from` is null.
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION void copy_pairs(const double* from, double* to) {
  double values[Count] = {};
  if (from)
    for (int n = 0; n < Count; ++n) values[n] = from[n];
  for (int n = 0; n < Count; ++n) to[n] = values[n];
}
// Copies the `Count` values of a row, or writes zeros if `from` is null.
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION void copy_pairs(const WholePlane&, const double* from, double* to) {
  copy_pairs<Count>(from, to);
}
// Copies the values of one thread in a row, or writes zeros if `from` is null.
template <int Count, int Threads>
KOKKOS_FORCEINLINE_FUNCTION void copy_pairs(const PartOfRow<Threads>& part, const double* from,
                                            double* to) {
  for (int n = part.begin(0); n < Count; n += Threads) to[n] = from ? from[n] : 0.0;
}

// Sets the part of a thread in a row to 0.
template <int T, int Depth, class Part = WholePlane>
KOKKOS_FORCEINLINE_FUNCTION void clear_row(const PatchScratch<T, Depth>& field, int j, int k,
                                           const Part& part = {}) {
  for (int e = part.begin(0); e < PatchScratch<T, Depth>::row; e += Part::step)
    PackOf::store(field.pairs(0, j, k) - 2 + e, SimdDouble(0.0));
}

// Indices in fields of the three parts of a row of an own patch and its ghost cells: the rows in
// the patch below along x, in the patch, and in the patch above; negative if there is no patch.
template <int T>
struct RowOffsets {
  std::int64_t below, here, above;

  KOKKOS_FORCEINLINE_FUNCTION RowOffsets(const PatchTable& table, const StripTable* strips, int j,
                                         int k) {
    const std::int32_t* slots = &table[(zone(k, T) * 3 + zone(j, T)) * 3];
    const auto offset = [&](int side) -> std::int64_t {
      return slots[side] < 0 ? -1 : offset_of_row(strips, T, slots[side], j & (T - 1), k & (T - 1));
    };
    below = offset(0), here = offset(1), above = offset(2);
  }
};

// Copies a row of a patch and its ghost cells from a field; 0 where there is no patch.
template <int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void gather_row(const RowOffsets<T>& offsets, const double* field,
                                            int j, int k, const PatchScratch<T, Depth>& to) {
  constexpr int near = T / 2 < 2 ? T / 2 : 2;
  for (int parity = 0; parity < 2; ++parity) {
    double* pairs = to.pairs(parity, j, k);
    const auto cells = [&](std::int64_t offset) {
      return offset < 0 ? nullptr : field + (offset + parity * (T / 2));
    };
    const double *below = cells(offsets.below), *here = cells(offsets.here),
                 *above = cells(offsets.above);
    copy_pairs<near>(below ? below + T / 2 - near : nullptr, pairs - near);
    copy_pairs<T / 2>(here, pairs);
    copy_pairs<near>(above, pairs + T / 2);
  }
}

// Copies a whole row on one thread.
template <int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void gather_row(const WholePlane&, const RowOffsets<T>& offsets,
                                            const double* field, int j, int k,
                                            const PatchScratch<T, Depth>& to) {
  gather_row(offsets, field, j, k, to);
}
// Copies the part of one thread in a row.
template <int T, int Depth, int Threads>
KOKKOS_FORCEINLINE_FUNCTION void gather_row(const PartOfRow<Threads>& part,
                                            const RowOffsets<T>& offsets, const double* field,
                                            int j, int k, const PatchScratch<T, Depth>& to) {
  constexpr int half = T / 2, near = half < 2 ? half : 2;
  for_pairs(part, -near, half + 2 * near, [&](int e) {
    const std::int64_t offset = e < 0 ? offsets.below : e < half ? offsets.here : offsets.above;
    const std::int64_t from = offset + (e < 0 ? e + half : e < half ? e : e - half);
    to.pairs(0, j, k)[e] = offset < 0 ? 0.0 : field[from];
    to.pairs(1, j, k)[e] = offset < 0 ? 0.0 : field[from + half];
  });
}

// Copies all rows within `depth` of the patch.
template <int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void gather(const Team& team, const PatchTable& table,
                                        const StripTable* strips, const double* field, int depth,
                                        const PatchScratch<T, Depth>& to) {
  for_rows<T>(team, depth, [&](int j, int k) {
    gather_row(RowOffsets<T>(table, strips, j, k), field, j, k, to);
  });
}

// Addresses of the six neighbours of the cells of one parity in a row.
template <int T, int Depth>
struct Neighbours {
  const double *left, *right, *below_y, *above_y, *below_z, *above_z;

  KOKKOS_FORCEINLINE_FUNCTION Neighbours(const PatchScratch<T, Depth>& field, int parity, int j,
                                         int k)
      // An even cell lies between the odd cells of the previous pair and of its pair, an odd cell
      // between the even cells of its pair and of the next pair.
      : left(field.pairs(1 - parity, j, k) - 1 + parity),
        right(left + 1),
        below_y(field.pairs(parity, j - 1, k)),
        above_y(field.pairs(parity, j + 1, k)),
        below_z(field.pairs(parity, j, k - 1)),
        above_z(field.pairs(parity, j, k + 1)) {}

  // Sum of the neighbours of the cells of pairs e, e + 1, ....
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble sum(int e) const {
    return ((PackOf::load(left + e) + PackOf::load(right + e)) +
            (PackOf::load(below_y + e) + PackOf::load(above_y + e))) +
           (PackOf::load(below_z + e) + PackOf::load(above_z + e));
  }
};

// Trilinear interpolation to a row of fine cells: weights 3/4 and 1/4 along each axis.
template <int T>
class InterpolatedRow {
 public:
  KOKKOS_FORCEINLINE_FUNCTION InterpolatedRow(const CoarseBox<T>& coarse, int j, int k) {
    const int jc = j >> 1, jn = jc + ((j & 1) ? 1 : -1), kc = k >> 1, kn = kc + ((k & 1) ? 1 : -1);
    cc_ = coarse.line(jc, kc), nc_ = coarse.line(jn, kc);
    cn_ = coarse.line(jc, kn), nn_ = coarse.line(jn, kn);
    if constexpr (k_one_thread) {
      for (int i = 0; i < entries; i += width) PackOf::store(y_ + i, along_x(i));
      for (int i = entries; i < entries + 2 * width; ++i) y_[i] = 0.0;
    }
  }

  // Even cells of the pairs from e on.
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble even(int e) const { return between(e, 1); }
  // Odd cells of the pairs from e on.
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble odd(int e) const { return between(e, 3); }

 private:
  static constexpr int width = PackOf::width, entries = CoarseBox<T>::row;

  // Values in coarse cells i - 2, ..., interpolated along y and z.
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble along_x(int i) const {
    const SimdDouble near(0.75), far(0.25);
    return near * (near * PackOf::load(cc_ + i) + far * PackOf::load(cn_ + i)) +
           far * (near * PackOf::load(nc_ + i) + far * PackOf::load(nn_ + i));
  }
  // Value of along_x(i), computed if a team has several threads, read from y_ on a single thread.
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble at(int i) const {
    if constexpr (k_one_thread) return PackOf::load(y_ + i);
    else return i < entries ? along_x(i) : SimdDouble(0.0);
  }
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble between(int e, int other) const {
    return SimdDouble(0.75) * at(e + 2) + SimdDouble(0.25) * at(e + other);
  }

  const double *cc_, *nc_, *cn_, *nn_;
  // values of along_x(), from coarse cell -2 on
  double y_[k_one_thread ? entries + 2 * width : 1];
};

}  // namespace octant::gravity
