#include "gravity/level_solver.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"

namespace octant::gravity {

namespace {

// Kind of patch: without masked cells in reach (open); with masked cells, but d = 6 in all other
// cells, as on the finest grid (masked); or with a d for each cell (weighted).
enum class Reach { open, masked, weighted };

// Cells that a pass updates.
template <Reach R, int T>
struct Swept {
  PatchMask<T> mask;

  // Rows of plane k with updated cells, within a depth of 2 (rows), rows that are read for them
  // (near), rows of a coarse plane from which they are interpolated (above), and a bit for each
  // pair of cells of a row whose cell of this parity is updated (unmasked).
  KOKKOS_FORCEINLINE_FUNCTION RowSet rows(int k) const {
    if constexpr (R != Reach::open) return mask.rows->of(k);
    return k >= -2 && k < T + 2 ? rows_within<T>(2) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION RowSet near(int k) const {
    if constexpr (R != Reach::open) return mask.rows->near(k, 1);
    return rows_within<T>(3);
  }
  KOKKOS_FORCEINLINE_FUNCTION RowSet above(int k) const {
    if constexpr (R != Reach::open) return mask.rows->above(k);
    return rows_within<T / 2>(2);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t unmasked(int parity, int j, int k) const {
    if constexpr (R != Reach::open) return mask.pairs(parity, j, k);
    return ~std::uint32_t{0};
  }
  // Selects, in the pack from pair e on, `yes` for updated cells (bits set in `pairs`), else `no`.
  KOKKOS_FORCEINLINE_FUNCTION static SimdDouble choose(std::uint32_t pairs, int e, SimdDouble yes,
                                                       SimdDouble no) {
    if constexpr (R == Reach::open) return yes;
    return select(lanes_of(pairs >> (e + 2)), yes, no);
  }
};

// Scratch memory of a pass: phi, f and, for weighted patches, the diagonal.
template <Reach R, int T, int Depth>
struct PassScratch {
  PatchScratch<T, Depth> phi;
  PatchScratch<T, 2> f, diagonal;

  KOKKOS_FORCEINLINE_FUNCTION PassScratch(const Team& team, int level)
      : phi(team, level), f(team, level), diagonal(f) {
    if constexpr (R == Reach::weighted) diagonal = PatchScratch<T, 2>(team, level);
  }
  static constexpr std::size_t bytes() {
    return PatchScratch<T, Depth>::bytes() +
           (R == Reach::weighted ? 2 : 1) * PatchScratch<T, 2>::bytes();
  }

  // Copies a row of f, and for weighted patches of the diagonal, to scratch memory.
  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void gather_equation(const Part& part, const GridView& grid,
                                                   const RowOffsets<T>& offsets, int j,
                                                   int k) const {
    gather_row(part, offsets, grid.f, j, k, f);
    if constexpr (R == Reach::weighted) gather_row(part, offsets, grid.diagonal, j, k, diagonal);
  }
};

// Over-relaxed Gauss-Seidel update of the cells of one colour in a row of a patch, and of at least
// `Within` ghost cells on both sides.
template <int Within, Reach R, int T, int Depth, class Part>
KOKKOS_FORCEINLINE_FUNCTION void relax(const Part& part, const Swept<R, T>& swept,
                                       const PassScratch<R, T, Depth>& at, int colour, int j,
                                       int k) {
  const int parity = (j + k + colour) & 1;
  const Neighbours<T, Depth> around(at.phi, parity, j, k);
  double* centre = at.phi.pairs(parity, j, k);
  const double* source = at.f.pairs(parity, j, k);
  const double* d = at.diagonal.pairs(parity, j, k);
  const std::uint32_t pairs = swept.unmasked(parity, j, k);
  constexpr int beside = Within > 0 ? 2 : 0;
  for_pairs(part, -beside, T / 2 + 2 * beside, [&](int e) OCTANT_INLINE_LAMBDA {
    SimdDouble weight(k_relaxation / 6.0);
    if constexpr (R == Reach::weighted) weight = SimdDouble(k_relaxation) / PackOf::load(d + e);
    const SimdDouble old = PackOf::load(centre + e);
    const SimdDouble pull = (around.sum(e) - PackOf::load(source + e)) * weight;
    const SimdDouble relaxed = SimdDouble(1.0 - k_relaxation) * old + pull;
    PackOf::store(centre + e, swept.choose(pairs, e, relaxed, old));
  });
}

// Relaxes the cells of one colour in all rows of a plane that the pass updates.
template <int Within, Reach R, int T, int Depth, class Part>
KOKKOS_FORCEINLINE_FUNCTION void relax_plane(const Part& part, const Swept<R, T>& swept,
                                             const PassScratch<R, T, Depth>& at, int colour,
                                             int k) {
  for_rows_in(swept.rows(k) & rows_within<T>(Within) & part.rows,
              [&](int j) OCTANT_INLINE_LAMBDA { relax<Within>(part, swept, at, colour, j, k); });
}

template <Reach R, int T>
KOKKOS_FORCEINLINE_FUNCTION SimdDouble residual(const Swept<R, T>& swept,
                                                const PassScratch<R, T, 3>& at, int parity, int j,
                                                int k, int e) {
  const SimdDouble around =
      PackOf::load(at.f.pairs(parity, j, k) + e) - Neighbours<T, 3>(at.phi, parity, j, k).sum(e);
  SimdDouble d(6.0);
  if constexpr (R == Reach::weighted) d = PackOf::load(at.diagonal.pairs(parity, j, k) + e);
  return swept.choose(swept.unmasked(parity, j, k), e,
                      around + d * PackOf::load(at.phi.pairs(parity, j, k) + e), SimdDouble(0.0));
}

// Number of sums of squared residuals per coarse row: one if a single thread computes the row,
// otherwise one per coarse cell, which are added in the same order.
template <int C>
inline constexpr int norms_of_row = k_one_thread ? 1 : C;

// Computes a row of the coarse right-hand side, 4 times the mean residual because h^2 is 4 times
// larger, and the sum of squared residuals.
template <Reach R, int T, class Part>
KOKKOS_FORCEINLINE_FUNCTION void restrict_residual(const Part& part, const Swept<R, T>& swept,
                                                   const PassScratch<R, T, 3>& at, int j, int k,
                                                   double* row, double* norms) {
  constexpr int C = T / 2, width = PackOf::width;
  double norm = 0.0;
  for_pairs(part, 0, C, [&](int e) OCTANT_INLINE_LAMBDA {
    SimdDouble sum(0.0), squares(0.0);
    for (int line = 0; line < 4; ++line) {
      const int jf = 2 * j + (line & 1), kf = 2 * k + (line >> 1);
      const SimdDouble even = residual(swept, at, 0, jf, kf, e);
      const SimdDouble odd = residual(swept, at, 1, jf, kf, e);
      sum = sum + (even + odd);
      squares = squares + (even * even + odd * odd);
    }
    for (int lane = 0; lane < width && e + lane < C; ++lane) {
      row[split(e + lane, C)] = 0.5 * PackOf::lane(sum, lane);
      norm += PackOf::lane(squares, lane);
    }
    if constexpr (!k_one_thread) norms[e] = PackOf::lane(squares, 0);
  });
  if constexpr (k_one_thread) norms[0] = norm;
}

// Writes the rows of a plane. Rows without active cells are set to 0: on the finest grid those that
// are read for other rows, on coarse grids all, because finer grids interpolate from them.
template <Reach R, int T, int Depth, class Part>
KOKKOS_FORCEINLINE_FUNCTION void write_plane(const Part& part, const Swept<R, T>& swept,
                                             const PatchScratch<T, Depth>& phi, int k,
                                             const GridView& grid, int patch) {
  const RowSet rows = swept.rows(k);
  for_rows_in(rows & rows_within<T>(0) & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
    double* row = row_of(grid.strips, T, grid.next, patch, j, k);
    if (!row) return;
    for (int parity = 0; parity < 2; ++parity)
      copy_pairs<T / 2>(part, phi.pairs(parity, j, k), row + parity * (T / 2));
  });
  const RowSet read = R == Reach::masked ? swept.near(k) : ~RowSet{0};
  for_rows_in(read & ~rows & rows_within<T>(0) & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
    double* row = row_of(grid.strips, T, grid.next, patch, j, k);
    if (row) copy_pairs<T>(part, nullptr, row);
  });
}

// Restricts the residual in planes k - 1 and k to a plane of the coarse right-hand side, and sets
// `norms` of each coarse row.
template <Reach R, int T, class Part>
KOKKOS_FORCEINLINE_FUNCTION void coarsen_planes(const Part& part, const Swept<R, T>& swept,
                                                const PassScratch<R, T, 3>& at, int k,
                                                double* coarse, double* norms) {
  constexpr int C = T / 2;
  constexpr RowSet even_rows = 0xaaaaaaaa & rows_within<T>(0);
  const RowSet fine = swept.rows(k) | swept.rows(k - 1), both = fine | fine >> 1;
  const int first = (k >> 1) * C;
  for_rows_in(both & even_rows & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
    const int row = first + (j >> 1);
    restrict_residual(part, swept, at, j >> 1, k >> 1, coarse + row * C,
                      norms + row * norms_of_row<C>);
  });
  for_rows_in(~both & even_rows & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
    const int row = first + (j >> 1);
    copy_pairs<norms_of_row<C>>(part, nullptr, norms + row * norms_of_row<C>);
    copy_pairs<C>(part, nullptr, coarse + row * C);
  });
}

// Calls body(team, patch, is open), which ends with a barrier, for the patches of a group, with
// scratch memory for passes of the types Open and Other, and packs the halos of other ranks.
template <class Open, class Other, class Body>
void for_patches(const char* name, const PatchGroup& group, const HaloMessage& halo,
                 const Body& body) {
  const auto patches = group.patches;
  const int open = group.open;
  std::uint64_t* const cycles = group.cycles;
  const auto scratch = [](int level) {
    return std::max(Open::level == level ? Open::bytes : 0,
                    Other::level == level ? Other::bytes : 0);
  };
  for_teams(
      name, group.count(),
      {.scratch = scratch(1), .near_scratch = scratch(0), .threads = 32 * Open::side},
      KOKKOS_LAMBDA(const Team& team) {
        const int n = team.league_rank();
        const std::uint64_t begun = cycles ? cycle_count() : 0;
        body(team, patches(n), n < open);
        halo.pack(team, patches(n));
        if (cycles) cycles[patches(n)] += cycle_count() - begun;
      });
}

template <Reach R, int T>
struct Descent {
  static constexpr int side = T, C = T / 2, norms = C * C * norms_of_row<C>;
  static constexpr std::size_t bytes = PassScratch<R, T, 3>::bytes() + norms * sizeof(double) + 64;
  static constexpr int level = scratch_level(bytes);

  KOKKOS_FORCEINLINE_FUNCTION static void run(const Team& team, const GridView& grid, int patch,
                                              bool from_zero, double* coarse_f, double* norm) {
    const PatchTable& table = grid.tables[patch];
    const PassScratch<R, T, 3> at(team, level);
    auto* row_norms = static_cast<double*>(
        team.team_scratch(int{level}).get_shmem_aligned(norms * sizeof(double), 64));
    const Swept<R, T> swept{grid.mask.of<T>(patch)};
    double* coarse = coarse_f + static_cast<std::int64_t>(patch) * C * C * C;
    const auto offsets_of = [&](int j, int k) OCTANT_INLINE_LAMBDA {
      return RowOffsets<T>(table, grid.strips, j, k);
    };
    const auto gather_phi = [&](const auto& part, const RowOffsets<T>& offsets, int j, int k)
                                OCTANT_INLINE_LAMBDA {
                                  if (from_zero) clear_row(at.phi, j, k, part);
                                  else gather_row(part, offsets, grid.phi, j, k, at.phi);
                                };
    const auto gather = [&](int k, const auto& part) OCTANT_INLINE_LAMBDA {
      const RowSet rows = swept.rows(k), beside = swept.near(k) & rows_within<T>(3) & ~rows;
      const RowSet known = k >= -2 && k < T + 2 ? rows_within<T>(2) : 0;
      for_rows_in(rows & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
        const RowOffsets<T> offsets = offsets_of(j, k);
        gather_phi(part, offsets, j, k);
        at.gather_equation(part, grid, offsets, j, k);
      });
      for_rows_in(beside & known & part.rows,
                  [&](int j) OCTANT_INLINE_LAMBDA { clear_row(at.phi, j, k, part); });
      for_rows_in(beside & ~known & part.rows,
                  [&](int j) OCTANT_INLINE_LAMBDA { gather_phi(part, offsets_of(j, k), j, k); });
    };
    const auto red = [&](int k, const auto& part)
                         OCTANT_INLINE_LAMBDA { relax_plane<2>(part, swept, at, 0, k); };
    const auto black = [&](int k, const auto& part)
                           OCTANT_INLINE_LAMBDA { relax_plane<1>(part, swept, at, 1, k); };
    const auto write = [&](int k, const auto& part) OCTANT_INLINE_LAMBDA {
      write_plane(part, swept, at.phi, k, grid, patch);
    };
    const auto coarsen = [&](int k, const auto& part) OCTANT_INLINE_LAMBDA {
      if ((k & 1) != 0) coarsen_planes(part, swept, at, k, coarse, row_norms);
    };
    run_stages<T>(team, within(3, gather), within(2, red), within(1, black), within(0, write),
                  within(0, coarsen));
    if (norm) add_up(team, row_norms, norm[patch]);
  }

 private:
  // Sums the squares of each row, then those of all rows, in the same order for any team size.
  KOKKOS_FORCEINLINE_FUNCTION static void add_up(const Team& team, double* row_norms,
                                                 double& norm) {
    constexpr int of_row = norms_of_row<C>;
    if constexpr (of_row > 1) {
      in_team(team, C * C, [&](int row) {
        double sum = 0.0;
        for (int e = 0; e < of_row; ++e) sum += row_norms[row * of_row + e];
        row_norms[row * of_row] = sum;
      });
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      double sum = 0.0;
      for (int row = 0; row < C * C; ++row) sum += row_norms[row * of_row];
      norm = sum;
    });
  }
};

template <Reach R, int T>
void descend_patches(const GridView& grid, const PatchGroup& group, bool from_zero,
                     double* coarse_f, double* norms, const HaloMessage& halo) {
  for_patches<Descent<Reach::open, T>, Descent<R, T>>(
      "gravity: descend", group, halo, KOKKOS_LAMBDA(const Team& team, int patch, bool open) {
        if (open) Descent<Reach::open, T>::run(team, grid, patch, from_zero, coarse_f, norms);
        else Descent<R, T>::run(team, grid, patch, from_zero, coarse_f, norms);
      });
}

// Prolongation: adds the interpolated coarse correction to a row.
template <Reach R, int T, class Part>
KOKKOS_FORCEINLINE_FUNCTION void prolong(const Part& part, const Swept<R, T>& swept,
                                         const CoarseBox<T>& coarse, const PatchScratch<T, 2>& phi,
                                         int j, int k) {
  const InterpolatedRow<T> correction(coarse, j, k);
  double *even = phi.pairs(0, j, k), *odd = phi.pairs(1, j, k);
  const std::uint32_t even_mask = swept.unmasked(0, j, k), odd_mask = swept.unmasked(1, j, k);
  const auto add = [&](double* to, std::uint32_t pairs, int e, SimdDouble value)
                       OCTANT_INLINE_LAMBDA {
                         const SimdDouble old = PackOf::load(to + e);
                         PackOf::store(to + e, swept.choose(pairs, e, old + value, old));
                       };
  for_pairs(part, -1, T / 2 + 2, [&](int e) OCTANT_INLINE_LAMBDA {
    add(even, even_mask, e, correction.even(e));
    add(odd, odd_mask, e, correction.odd(e));
  });
}

// Copies `Count` cells of a row of C cells, stored in the order of split(), from cell `First` on to
// natural order. Writes zeros if `from` is null.
template <int C, int First, int Count>
KOKKOS_FORCEINLINE_FUNCTION void join_cells(const double* from, double* to) {
  double values[Count] = {};
  if (from)
    for (int i = 0; i < Count; ++i) values[i] = from[split(First + i, C)];
  for (int i = 0; i < Count; ++i) to[i] = values[i];
}
template <int C>
KOKKOS_FORCEINLINE_FUNCTION void join_lines(const WholePlane&, const double* below,
                                            const double* here, const double* above, double* row) {
  join_cells<C, C - 2, 2>(below, row);
  join_cells<C, 0, C>(here, row + 2);
  join_cells<C, 0, 2>(above, row + 2 + C);
}
template <int C, int Threads>
KOKKOS_FORCEINLINE_FUNCTION void join_lines(const PartOfRow<Threads>& part, const double* below,
                                            const double* here, const double* above, double* row) {
  for (int i = part.begin(-2); i < C + 2; i += Threads) {
    const double* const line = i < 0 ? below : i < C ? here : above;
    row[i + 2] = line ? line[split(i & (C - 1), C)] : 0.0;
  }
}

// Copies a row of coarse cells in and around a patch from the coarse grid, with C^3 cells per
// patch, to scratch memory, in natural order.
template <int T, class Part>
KOKKOS_FORCEINLINE_FUNCTION void gather_coarse_row(const Part& part, const PatchTable& table,
                                                   const double* field, int j, int k, double* box) {
  constexpr int C = T / 2;
  const std::int32_t* slots = &table[(zone(k, C) * 3 + zone(j, C)) * 3];
  const int offset = ((k & (C - 1)) * C + (j & (C - 1))) * C;
  double* row = box + ((k + 2) * CoarseBox<T>::side + j + 2) * CoarseBox<T>::row;
  const auto line = [&](int side) {
    return slots[side] < 0 ? nullptr : field + slots[side] * std::int64_t{C * C * C} + offset;
  };
  join_lines<C>(part, line(0), line(1), line(2), row);
  if (part.begin(0) == 0)
    for (int i = CoarseBox<T>::side; i < CoarseBox<T>::row; ++i) row[i] = 0.0;
}

template <Reach R, int T>
struct Ascent {
  static constexpr int side = T;
  static constexpr std::size_t bytes =
      PassScratch<R, T, 2>::bytes() + CoarseBox<T>::doubles * sizeof(double) + 64;
  static constexpr int level = scratch_level(bytes);

  KOKKOS_FORCEINLINE_FUNCTION static void run(const Team& team, const GridView& grid, int patch,
                                              const double* coarse_phi) {
    const PatchTable& table = grid.tables[patch];
    const PassScratch<R, T, 2> at(team, level);
    auto* box =
        static_cast<double*>(team.team_scratch(int{level})
                                 .get_shmem_aligned(CoarseBox<T>::doubles * sizeof(double), 64));
    const Swept<R, T> swept{grid.mask.of<T>(patch)};
    for_parts<T / 2>(team, 2, [&](int k, const auto& part) {
      for_rows_in(swept.above(k) & rows_within<T / 2>(2) & part.rows,
                  [&](int j) OCTANT_INLINE_LAMBDA {
                    gather_coarse_row<T>(part, table, coarse_phi, j, k, box);
                  });
    });
    team.team_barrier();
    const auto correct = [&](int k, const auto& part) OCTANT_INLINE_LAMBDA {
      const RowSet rows = swept.rows(k);
      const RowSet solved = k >= -1 && k < T + 1 ? rows_within<T>(1) : 0;
      for_rows_in(rows & part.rows, [&](int j) OCTANT_INLINE_LAMBDA {
        const RowOffsets<T> offsets(table, grid.strips, j, k);
        if ((solved >> (j + 3) & 1) != 0) at.gather_equation(part, grid, offsets, j, k);
        gather_row(part, offsets, grid.phi, j, k, at.phi);
        prolong(part, swept, CoarseBox<T>{box}, at.phi, j, k);
      });
      for_rows_in(swept.near(k) & rows_within<T>(2) & ~rows & part.rows,
                  [&](int j) OCTANT_INLINE_LAMBDA { clear_row(at.phi, j, k, part); });
    };
    const auto red = [&](int k, const auto& part)
                         OCTANT_INLINE_LAMBDA { relax_plane<1>(part, swept, at, 0, k); };
    const auto black = [&](int k, const auto& part)
                           OCTANT_INLINE_LAMBDA { relax_plane<0>(part, swept, at, 1, k); };
    const auto write = [&](int k, const auto& part) OCTANT_INLINE_LAMBDA {
      write_plane(part, swept, at.phi, k, grid, patch);
    };
    run_stages<T>(team, within(2, correct), within(1, red), within(0, black), within(0, write));
  }
};

template <Reach R, int T>
void ascend_patches(const GridView& grid, const PatchGroup& group, const double* coarse_phi,
                    const HaloMessage& halo) {
  for_patches<Ascent<Reach::open, T>, Ascent<R, T>>(
      "gravity: ascend", group, halo, KOKKOS_LAMBDA(const Team& team, int patch, bool open) {
        if (open) Ascent<Reach::open, T>::run(team, grid, patch, coarse_phi);
        else Ascent<R, T>::run(team, grid, patch, coarse_phi);
      });
}

std::int64_t cells_of(const GridView& grid, const PatchGroup& group) {
  return std::int64_t{group.count()} * grid.side * grid.side * grid.side;
}

// Calls body with the Reach of patches that are not open, and the side of patches, as types.
template <class Body>
void with_kind(const GridView& grid, const PatchGroup& group, const Body& body) {
  const auto with_side = [&](auto reach) {
    switch (grid.side) {
      case 16: return body(reach, std::integral_constant<int, 16>{});
      case 8: return body(reach, std::integral_constant<int, 8>{});
      case 4: return body(reach, std::integral_constant<int, 4>{});
      default: throw RunError("gravity: no multigrid pass for patches of {}^3 cells", grid.side);
    }
  };
  if (group.open == group.count()) with_side(std::integral_constant<Reach, Reach::open>{});
  else if (grid.diagonal) with_side(std::integral_constant<Reach, Reach::weighted>{});
  else with_side(std::integral_constant<Reach, Reach::masked>{});
}

}  // namespace

void descend(const GridView& grid, const PatchGroup& group, bool from_zero, double* coarse_f,
             double* norms, const HaloMessage& halo) {
  if (group.count() == 0) return;
  // Cost: phi and f are read, phi and one coarse f per eight cells are written. Operations per
  // cell: relaxation (9), residual (8), and sums of the residual and of its square (3).
  record_kernel_work("gravity: descend", cells_of(grid, group), {from_zero ? 17.0 : 25.0, 20.0});
  with_kind(grid, group, [&](auto reach, auto T) {
    descend_patches<reach.value, T.value>(grid, group, from_zero, coarse_f, norms, halo);
  });
}

void ascend(const GridView& grid, const PatchGroup& group, const double* coarse_phi,
            const HaloMessage& halo) {
  if (group.count() == 0) return;
  // Cost: phi, f and one coarse phi per eight cells are read, phi is written. Operations per cell:
  // interpolation along y and z (9 per pair of cells) and x (3), addition (1), and relaxation (9).
  record_kernel_work("gravity: ascend", cells_of(grid, group), {25.0, 17.5});
  with_kind(grid, group, [&](auto reach, auto T) {
    ascend_patches<reach.value, T.value>(grid, group, coarse_phi, halo);
  });
}

}  // namespace octant::gravity
