#include "gravity/smoothing.hpp"

#include "core/error.hpp"
#include "gravity/patch_scratch.hpp"

namespace octant::gravity {

namespace {

// What is in reach of a patch: no masked cell; masked cells among others of d = 6, as on the finest
// grid; or cells each with a d of its own.
enum class Reach { open, masked, weighted };

// The cells that a pass works on.
template <Reach R, int T>
struct Swept {
  PatchMask<T> mask;

  KOKKOS_FORCEINLINE_FUNCTION bool has(int j, int k) const {
    if constexpr (R != Reach::open) return mask.rows->has(j, k);
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_near(int j, int k) const {
    if constexpr (R != Reach::open) return mask.rows->is_near(j, k, 1);
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_above(int j, int k) const {
    if constexpr (R != Reach::open) return mask.rows->has_above(j, k);
    return true;
  }
};

// The team's scratch of a pass: phi, f and, of weighted patches, the diagonal.
template <Reach R, int T, int Depth>
struct PassScratch {
  PatchScratch<T, Depth> phi;
  PatchScratch<T, 2> f, diagonal;

  KOKKOS_FORCEINLINE_FUNCTION explicit PassScratch(const Team& team)
      : phi(team), f(team), diagonal(f) {
    if constexpr (R == Reach::weighted) diagonal = PatchScratch<T, 2>(team);
  }
  static constexpr std::size_t bytes() {
    return PatchScratch<T, Depth>::bytes() +
           (R == Reach::weighted ? 2 : 1) * PatchScratch<T, 2>::bytes();
  }

  // Of f, and of what it is divided by.
  KOKKOS_FORCEINLINE_FUNCTION void gather_equation(const PatchTable& table, const GridView& grid,
                                                   int j, int k) const {
    gather_row<T>(table, grid.f, j, k, f);
    if constexpr (R == Reach::weighted) gather_row<T>(table, grid.diagonal, j, k, diagonal);
  }
};

// Over-relaxed Gauss-Seidel on the cells of one colour in a row.
template <Reach R, int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void relax(const Swept<R, T>& swept, const PassScratch<R, T, Depth>& at,
                                       int colour, int j, int k) {
  const int parity = (j + k + colour) & 1;
  const Neighbours<T, Depth> around(at.phi, parity, j, k);
  double* centre = at.phi.pairs(parity, j, k);
  const double* source = at.f.pairs(parity, j, k);
  const double* d = at.diagonal.pairs(parity, j, k);
  const auto relaxed = [&](int e) OCTANT_INLINE_LAMBDA {
    Pack weight(k_relaxation / 6.0);
    if constexpr (R == Reach::weighted) weight = Pack(k_relaxation) / PackOf::load(d + e);
    const Pack pull = (around.sum(e) - PackOf::load(source + e)) * weight;
    return Pack(1.0 - k_relaxation) * PackOf::load(centre + e) + pull;
  };
  if constexpr (R == Reach::open) {
    for_pairs(-2, T / 2 + 4,
              [&](int e) OCTANT_INLINE_LAMBDA { PackOf::store(centre + e, relaxed(e)); });
  } else {
    for_active_pairs(swept.mask.pairs(parity, j, k),
                     [&](int e, PackOf::Mask active) OCTANT_INLINE_LAMBDA {
                       const Pack old = PackOf::load(centre + e);
                       PackOf::store(centre + e, select(active, relaxed(e), old));
                     });
  }
}

template <Reach R, int T>
KOKKOS_FORCEINLINE_FUNCTION Pack residual(const Swept<R, T>& swept, const PassScratch<R, T, 3>& at,
                                          int parity, int j, int k, int e) {
  const Pack around =
      PackOf::load(at.f.pairs(parity, j, k) + e) - Neighbours<T, 3>(at.phi, parity, j, k).sum(e);
  Pack d(6.0);
  if constexpr (R == Reach::weighted) d = PackOf::load(at.diagonal.pairs(parity, j, k) + e);
  const Pack all = around + d * PackOf::load(at.phi.pairs(parity, j, k) + e);
  if constexpr (R == Reach::open) return all;
  return select(lanes_of(swept.mask.pairs(parity, j, k) >> (e + 2)), all, Pack(0.0));
}

// A row of the coarse right-hand side, which is 4 times the mean residual, because h^2 is 4 times
// as large; returns the sum of the squares of the residual.
template <Reach R, int T>
KOKKOS_FORCEINLINE_FUNCTION double restrict_residual(const Swept<R, T>& swept,
                                                     const PassScratch<R, T, 3>& at, int j, int k,
                                                     double* row) {
  constexpr int C = T / 2, width = PackOf::width;
  double norm = 0.0;
  for_pairs(0, C, [&](int e) OCTANT_INLINE_LAMBDA {
    Pack sum(0.0), squares(0.0);
    for (int line = 0; line < 4; ++line) {
      const int jf = 2 * j + (line & 1), kf = 2 * k + (line >> 1);
      if (!swept.has(jf, kf)) continue;
      const Pack even = residual(swept, at, 0, jf, kf, e);
      const Pack odd = residual(swept, at, 1, jf, kf, e);
      sum = sum + (even + odd);
      squares = squares + (even * even + odd * odd);
    }
    for (int lane = 0; lane < width && e + lane < C; ++lane) {
      row[split(e + lane, C)] = 0.5 * PackOf::lane(sum, lane);
      norm += PackOf::lane(squares, lane);
    }
  });
  return norm;
}

// 0 to masked rows.
template <Reach R, int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void write_row(const Swept<R, T>& swept,
                                           const PatchScratch<T, Depth>& phi, int j, int k,
                                           double* patch) {
  double* row = patch + (k * T + j) * T;
  const bool has = swept.has(j, k);
  for (int parity = 0; parity < 2; ++parity)
    copy_pairs<T / 2>(has ? phi.pairs(parity, j, k) : nullptr, row + parity * (T / 2));
}

template <Reach R, int T>
void descend_patches(const GridView& grid, const DeviceArray<const std::int32_t>& patches,
                     bool from_zero, double* coarse_f, double* norms) {
  constexpr int C = T / 2;
  const std::size_t bytes = PassScratch<R, T, 3>::bytes() + C * C * sizeof(double) + 64;
  Kokkos::parallel_for(
      "gravity: descend", teams(static_cast<int>(patches.extent(0)), bytes),
      KOKKOS_LAMBDA(const Team& team) {
        const int patch = patches(team.league_rank());
        const PatchTable& table = grid.tables[patch];
        const PassScratch<R, T, 3> at(team);
        auto* row_norms = static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(C * C * sizeof(double), 64));
        const Swept<R, T> swept{grid.mask.of<T>(patch)};
        double* next = grid.next + static_cast<std::int64_t>(patch) * T * T * T;
        double* coarse = coarse_f + static_cast<std::int64_t>(patch) * C * C * C;
        const auto gather = [&](int j, int k) OCTANT_INLINE_LAMBDA {
          if (!swept.is_near(j, k)) return;
          const bool inside = is_within<T>(2, j, k), active = inside && swept.has(j, k);
          if (from_zero || active != inside) clear_row(at.phi, j, k);
          else gather_row<T>(table, grid.phi, j, k, at.phi);
          if (active) at.gather_equation(table, grid, j, k);
        };
        const auto relax_colour = [&](int colour) {
          return [&, colour](int j, int k) OCTANT_INLINE_LAMBDA { relax(swept, at, colour, j, k); };
        };
        const auto write = [&](int j, int k)
                               OCTANT_INLINE_LAMBDA { write_row(swept, at.phi, j, k, next); };
        const auto coarsen = [&](int j, int k) OCTANT_INLINE_LAMBDA {
          if ((j & k & 1) == 0) return;
          const int row = (k >> 1) * C + (j >> 1);
          row_norms[row] = restrict_residual(swept, at, j >> 1, k >> 1, coarse + row * C);
        };
        run_stages<T>(team, Stage{3, gather}, Stage{2, relax_colour(0)}, Stage{1, relax_colour(1)},
                      Stage{0, write}, Stage{0, coarsen});
        if (norms == nullptr) return;
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          double norm = 0.0;
          for (int n = 0; n < C * C; ++n) norm += row_norms[n];
          norms[patch] = norm;
        });
      });
}

// Adds the interpolated coarse correction to a row.
template <Reach R, int T>
KOKKOS_FORCEINLINE_FUNCTION void prolong(const Swept<R, T>& swept, const CoarseBox<T>& coarse,
                                         const PatchScratch<T, 2>& phi, int j, int k) {
  const InterpolatedRow<T> correction(coarse, j, k);
  double *even = phi.pairs(0, j, k), *odd = phi.pairs(1, j, k);
  const auto add = [](double* to, Pack value)
                       OCTANT_INLINE_LAMBDA { PackOf::store(to, PackOf::load(to) + value); };
  if constexpr (R == Reach::open) {
    for_pairs(-1, T / 2 + 2, [&](int e) OCTANT_INLINE_LAMBDA {
      add(even + e, correction.even(e));
      add(odd + e, correction.odd(e));
    });
  } else {
    const std::uint32_t even_pairs = swept.mask.pairs(0, j, k),
                        odd_pairs = swept.mask.pairs(1, j, k);
    for_active_pairs(even_pairs | odd_pairs, [&](int e, PackOf::Mask) OCTANT_INLINE_LAMBDA {
      add(even + e, select(lanes_of(even_pairs >> (e + 2)), correction.even(e), Pack(0.0)));
      add(odd + e, select(lanes_of(odd_pairs >> (e + 2)), correction.odd(e), Pack(0.0)));
    });
  }
}

// `Count` cells from cell `First` on of a row of C cells, in natural order; zeros where there is no
// row.
template <int C, int First, int Count>
KOKKOS_FORCEINLINE_FUNCTION void join_cells(const double* from, double* to) {
  double values[Count] = {};
  if (from)
    for (int i = 0; i < Count; ++i) values[i] = from[split(First + i, C)];
  for (int i = 0; i < Count; ++i) to[i] = values[i];
}

// A row of the coarse cells around a patch, in natural order, from the coarse grid of C^3 cells per
// patch.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION void gather_coarse_row(const PatchTable& table, const double* field,
                                                   int j, int k, double* box) {
  constexpr int C = T / 2;
  const std::int32_t* slots = &table[(zone(k, C) * 3 + zone(j, C)) * 3];
  const int offset = ((k & (C - 1)) * C + (j & (C - 1))) * C;
  double* row = box + ((k + 2) * CoarseBox<T>::side + j + 2) * CoarseBox<T>::row;
  const auto line = [&](int side) {
    return slots[side] < 0 ? nullptr : field + slots[side] * std::int64_t{C * C * C} + offset;
  };
  join_cells<C, C - 2, 2>(line(0), row);
  join_cells<C, 0, C>(line(1), row + 2);
  join_cells<C, 0, 2>(line(2), row + 2 + C);
  for (int i = CoarseBox<T>::side; i < CoarseBox<T>::row; ++i) row[i] = 0.0;
}

template <Reach R, int T>
void ascend_patches(const GridView& grid, const DeviceArray<const std::int32_t>& patches,
                    const double* coarse_phi) {
  constexpr std::size_t box_bytes = CoarseBox<T>::doubles * sizeof(double);
  const std::size_t bytes = PassScratch<R, T, 2>::bytes() + box_bytes + 64;
  Kokkos::parallel_for(
      "gravity: ascend", teams(static_cast<int>(patches.extent(0)), bytes),
      KOKKOS_LAMBDA(const Team& team) {
        const int patch = patches(team.league_rank());
        const PatchTable& table = grid.tables[patch];
        const PassScratch<R, T, 2> at(team);
        auto* box = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(box_bytes, 64));
        const Swept<R, T> swept{grid.mask.of<T>(patch)};
        double* next = grid.next + static_cast<std::int64_t>(patch) * T * T * T;
        for_rows<T / 2>(team, 2, [&](int j, int k) {
          if (swept.has_above(j, k)) gather_coarse_row<T>(table, coarse_phi, j, k, box);
        });
        team.team_barrier();
        const auto correct = [&](int j, int k) OCTANT_INLINE_LAMBDA {
          if (!swept.is_near(j, k)) return;
          if (!swept.has(j, k)) return clear_row(at.phi, j, k);
          gather_row<T>(table, grid.phi, j, k, at.phi);
          if (is_within<T>(1, j, k)) at.gather_equation(table, grid, j, k);
          prolong(swept, CoarseBox<T>{box}, at.phi, j, k);
        };
        const auto relax_colour = [&](int colour) {
          return [&, colour](int j, int k) OCTANT_INLINE_LAMBDA { relax(swept, at, colour, j, k); };
        };
        const auto write = [&](int j, int k)
                               OCTANT_INLINE_LAMBDA { write_row(swept, at.phi, j, k, next); };
        run_stages<T>(team, Stage{2, correct}, Stage{1, relax_colour(0)}, Stage{0, relax_colour(1)},
                      Stage{0, write});
      });
}

// Calls body with what is in reach of patches, and their side, as types.
template <class Body>
void with_kind(const GridView& grid, bool masked, const Body& body) {
  const auto with_side = [&](auto reach) {
    switch (grid.side) {
      case 16: return body(reach, std::integral_constant<int, 16>{});
      case 8: return body(reach, std::integral_constant<int, 8>{});
      case 4: return body(reach, std::integral_constant<int, 4>{});
      default: throw RunError("gravity: no multigrid pass for patches of {}^3 cells", grid.side);
    }
  };
  if (!masked) with_side(std::integral_constant<Reach, Reach::open>{});
  else if (grid.diagonal) with_side(std::integral_constant<Reach, Reach::weighted>{});
  else with_side(std::integral_constant<Reach, Reach::masked>{});
}

}  // namespace

void descend(const GridView& grid, bool masked, const DeviceArray<const std::int32_t>& patches,
             bool from_zero, double* coarse_f, double* norms) {
  if (patches.extent(0) == 0) return;
  with_kind(grid, masked, [&](auto reach, auto T) {
    descend_patches<reach.value, T.value>(grid, patches, from_zero, coarse_f, norms);
  });
}

void ascend(const GridView& grid, bool masked, const DeviceArray<const std::int32_t>& patches,
            const double* coarse_phi) {
  if (patches.extent(0) == 0) return;
  with_kind(grid, masked, [&](auto reach, auto T) {
    ascend_patches<reach.value, T.value>(grid, patches, coarse_phi);
  });
}

}  // namespace octant::gravity
