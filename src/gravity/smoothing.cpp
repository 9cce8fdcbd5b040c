#include "gravity/smoothing.hpp"

#include "core/error.hpp"
#include "gravity/patch_scratch.hpp"

namespace octant::gravity {

namespace {

// The rows of a patch that a pass works on: all of them, or those with cells that are not masked.
template <bool Masked>
struct Swept {
  const PatchRows* rows;

  KOKKOS_FORCEINLINE_FUNCTION bool has(int j, int k) const {
    if constexpr (Masked) return rows->has(j, k);
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_near(int j, int k) const {
    if constexpr (Masked) return rows->is_near(j, k, 1);
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_above(int j, int k) const {
    if constexpr (Masked) return rows->has_above(j, k);
    return true;
  }
};

template <int T, class Wanted>
KOKKOS_FORCEINLINE_FUNCTION void gather_diagonal(const Team& team, const PatchTable& table,
                                                 const GridView& grid, const PatchScratch<T, 2>& to,
                                                 const Wanted& wanted) {
  if (grid.finest_diagonal) gather(team, table, grid.finest_diagonal, 2, to, wanted);
  else gather(team, table, grid.diagonal, 2, to, wanted);
}

// Over-relaxed Gauss-Seidel on the cells of one colour within `depth`.
template <bool Masked, int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void relax(const Team& team, const Swept<Masked>& swept,
                                       const PatchScratch<T, Depth>& phi,
                                       const PatchScratch<T, 2>& f,
                                       const PatchScratch<T, 2>& diagonal, int depth, int colour) {
  for_rows<T>(team, depth, [&](int j, int k) {
    if (!swept.has(j, k)) return;
    const int parity = (j + k + colour) & 1;
    const Neighbours around(phi, parity, j, k);
    double* centre = phi.pairs(parity, j, k);
    const double* source = f.pairs(parity, j, k);
    const double* d = diagonal.pairs(parity, j, k);
    for_pairs(-2, T / 2 + 4, [&](int e) OCTANT_INLINE_LAMBDA {
      Pack weight(k_relaxation / 6.0);
      if constexpr (Masked) {
        const Pack own = PackOf::load(d + e);
        weight = select(own > Pack(0.0), Pack(k_relaxation) / own, Pack(0.0));
      }
      const Pack pull = (around.sum(e) - PackOf::load(source + e)) * weight;
      PackOf::store(centre + e, Pack(1.0 - k_relaxation) * PackOf::load(centre + e) + pull);
    });
  });
  team.team_barrier();
}

template <bool Masked, int T>
KOKKOS_FORCEINLINE_FUNCTION Pack residual(const PatchScratch<T, 3>& phi,
                                          const PatchScratch<T, 2>& f,
                                          const PatchScratch<T, 2>& diagonal, int parity, int j,
                                          int k, int e) {
  const Pack around =
      PackOf::load(f.pairs(parity, j, k) + e) - Neighbours<T, 3>(phi, parity, j, k).sum(e);
  const Pack centre = PackOf::load(phi.pairs(parity, j, k) + e);
  if constexpr (!Masked) return around + Pack(6.0) * centre;
  const Pack d = PackOf::load(diagonal.pairs(parity, j, k) + e);
  return select(d > Pack(0.0), around + d * centre, Pack(0.0));
}

// The coarse right-hand side is 4 times the mean residual, because h^2 is 4 times as large.
template <bool Masked, int T>
KOKKOS_FORCEINLINE_FUNCTION void restrict_residual(const Team& team, const Swept<Masked>& swept,
                                                   const PatchScratch<T, 3>& phi,
                                                   const PatchScratch<T, 2>& f,
                                                   const PatchScratch<T, 2>& diagonal,
                                                   double* coarse, double* row_norms) {
  constexpr int C = T / 2, width = PackOf::width;
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, C * C), [&](int n) {
    const int j = n % C, k = n / C;
    double* row = coarse + n * C;
    double norm = 0.0;
    for_pairs(0, C, [&](int e) OCTANT_INLINE_LAMBDA {
      Pack sum(0.0), squares(0.0);
      for (int line = 0; line < 4; ++line) {
        const int jf = 2 * j + (line & 1), kf = 2 * k + (line >> 1);
        if (!swept.has(jf, kf)) continue;
        const Pack even = residual<Masked>(phi, f, diagonal, 0, jf, kf, e);
        const Pack odd = residual<Masked>(phi, f, diagonal, 1, jf, kf, e);
        sum = sum + (even + odd);
        squares = squares + (even * even + odd * odd);
      }
      for (int lane = 0; lane < width && e + lane < C; ++lane) {
        row[split(e + lane, C)] = 0.5 * PackOf::lane(sum, lane);
        norm += PackOf::lane(squares, lane);
      }
    });
    row_norms[n] = norm;
  });
}

// 0 to masked rows.
template <bool Masked, int T, int Depth>
KOKKOS_FORCEINLINE_FUNCTION void write(const Team& team, const Swept<Masked>& swept,
                                       const PatchScratch<T, Depth>& phi, double* patch) {
  for_rows<T>(team, 0, [&](int j, int k) {
    double* row = patch + (k * T + j) * T;
    const bool has = swept.has(j, k);
    for (int parity = 0; parity < 2; ++parity)
      copy_pairs<T / 2>(has ? phi.pairs(parity, j, k) : nullptr, row + parity * (T / 2));
  });
}

template <int T, bool Masked>
void descend_patches(const GridView& grid, const DeviceArray<const std::int32_t>& patches,
                     bool from_zero, double* coarse_f, double* norms) {
  constexpr int C = T / 2;
  const std::size_t bytes = PatchScratch<T, 3>::bytes() +
                            (Masked ? 2 : 1) * PatchScratch<T, 2>::bytes() +
                            C * C * sizeof(double) + 64;
  Kokkos::parallel_for(
      "gravity: descend", teams(static_cast<int>(patches.extent(0)), bytes),
      KOKKOS_LAMBDA(const Team& team) {
        const int patch = patches(team.league_rank());
        const PatchTable& table = grid.tables[patch];
        const PatchScratch<T, 3> phi(team);
        const PatchScratch<T, 2> f(team);
        PatchScratch<T, 2> diagonal = f;
        auto* row_norms = static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(C * C * sizeof(double), 64));
        const Swept<Masked> swept{grid.rows + patch};
        const auto near = [&](int j, int k) { return swept.is_near(j, k); };
        const auto inside = [&](int j, int k) { return swept.has(j, k); };
        if (from_zero) {
          for_rows<T>(team, 3, [&](int j, int k) {
            if (!near(j, k)) return;
            for (int e = 0; e < PatchScratch<T, 3>::row; ++e) phi.pairs(0, j, k)[e - 2] = 0.0;
          });
        } else {
          gather(team, table, grid.phi, 3, phi, near);
        }
        gather(team, table, grid.f, 2, f, inside);
        if constexpr (Masked) {
          diagonal = PatchScratch<T, 2>(team);
          gather_diagonal(team, table, grid, diagonal, inside);
        }
        team.team_barrier();
        relax(team, swept, phi, f, diagonal, 2, 0);
        relax(team, swept, phi, f, diagonal, 1, 1);
        write(team, swept, phi, grid.next + static_cast<std::int64_t>(patch) * T * T * T);
        restrict_residual(team, swept, phi, f, diagonal,
                          coarse_f + static_cast<std::int64_t>(patch) * C * C * C, row_norms);
        if (norms == nullptr) return;
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          double norm = 0.0;
          for (int n = 0; n < C * C; ++n) norm += row_norms[n];
          norms[patch] = norm;
        });
      });
}

// Adds the coarse correction to the cells within a depth of 2.
template <bool Masked, int T>
KOKKOS_FORCEINLINE_FUNCTION void prolong(const Team& team, const Swept<Masked>& swept,
                                         const CoarseBox<T>& coarse,
                                         const PatchScratch<T, 2>& diagonal,
                                         const PatchScratch<T, 2>& phi) {
  for_rows<T>(team, 2, [&](int j, int k) {
    if (!swept.has(j, k)) return;
    double *even = phi.pairs(0, j, k), *odd = phi.pairs(1, j, k);
    const double *even_d = diagonal.pairs(0, j, k), *odd_d = diagonal.pairs(1, j, k);
    const auto add = [&](double* to, const double* d, int e, Pack correction) OCTANT_INLINE_LAMBDA {
      if constexpr (Masked)
        correction = select(PackOf::load(d + e) > Pack(0.0), correction, Pack(0.0));
      PackOf::store(to + e, PackOf::load(to + e) + correction);
    };
    interpolate_row(coarse, j, k, [&](int e, Pack even_value, Pack odd_value) OCTANT_INLINE_LAMBDA {
      add(even, even_d, e, even_value);
      add(odd, odd_d, e, odd_value);
    });
  });
}

// The coarse cells around a patch, in natural order, from the coarse grid of C^3 cells per patch.
template <int T, bool Masked>
KOKKOS_FORCEINLINE_FUNCTION void gather_coarse(const Team& team, const Swept<Masked>& swept,
                                               const PatchTable& table, const double* field,
                                               double* box) {
  constexpr int C = T / 2;
  for_rows<C>(team, 2, [&](int j, int k) {
    if (!swept.has_above(j, k)) return;
    const std::int32_t* slots = &table[(zone(k, C) * 3 + zone(j, C)) * 3];
    const int offset = ((k & (C - 1)) * C + (j & (C - 1))) * C;
    double* row = box + ((k + 2) * CoarseBox<T>::side + j + 2) * CoarseBox<T>::row;
    const auto value = [&](int side, int i) {
      return slots[side] < 0 ? 0.0
                             : field[slots[side] * std::int64_t{C * C * C} + offset + split(i, C)];
    };
    for (int i = -2; i < 0; ++i) row[i + 2] = value(0, C + i);
    for (int i = 0; i < C; ++i) row[i + 2] = value(1, i);
    for (int i = 0; i < 2; ++i) row[C + i + 2] = value(2, i);
    for (int i = CoarseBox<T>::side; i < CoarseBox<T>::row; ++i) row[i] = 0.0;
  });
}

template <int T, bool Masked>
void ascend_patches(const GridView& grid, const DeviceArray<const std::int32_t>& patches,
                    const double* coarse_phi) {
  constexpr std::size_t box_bytes = CoarseBox<T>::doubles * sizeof(double);
  const std::size_t bytes = (Masked ? 3 : 2) * PatchScratch<T, 2>::bytes() + box_bytes + 64;
  Kokkos::parallel_for(
      "gravity: ascend", teams(static_cast<int>(patches.extent(0)), bytes),
      KOKKOS_LAMBDA(const Team& team) {
        const int patch = patches(team.league_rank());
        const PatchTable& table = grid.tables[patch];
        const PatchScratch<T, 2> phi(team), f(team);
        PatchScratch<T, 2> diagonal = f;
        auto* box = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(box_bytes, 64));
        const Swept<Masked> swept{grid.rows + patch};
        const auto near = [&](int j, int k) { return swept.is_near(j, k); };
        const auto inside = [&](int j, int k) { return swept.has(j, k); };
        gather(team, table, grid.phi, 2, phi, near);
        gather(team, table, grid.f, 1, f, inside);
        gather_coarse<T>(team, swept, table, coarse_phi, box);
        if constexpr (Masked) {
          diagonal = PatchScratch<T, 2>(team);
          gather_diagonal(team, table, grid, diagonal, inside);
        }
        team.team_barrier();
        prolong(team, swept, CoarseBox<T>{box}, diagonal, phi);
        team.team_barrier();
        relax(team, swept, phi, f, diagonal, 1, 0);
        relax(team, swept, phi, f, diagonal, 0, 1);
        write(team, swept, phi, grid.next + static_cast<std::int64_t>(patch) * T * T * T);
      });
}

// Calls body with the side of a grid and whether it is masked, as types.
template <class Body>
void with_kind(int side, bool masked, const Body& body) {
  const auto with_side = [&](auto T) {
    masked ? body(T, std::true_type{}) : body(T, std::false_type{});
  };
  switch (side) {
    case 16: return with_side(std::integral_constant<int, 16>{});
    case 8: return with_side(std::integral_constant<int, 8>{});
    case 4: return with_side(std::integral_constant<int, 4>{});
    default: throw RunError("gravity: no multigrid pass for patches of {}^3 cells", side);
  }
}

}  // namespace

void descend(const GridView& grid, bool masked, const DeviceArray<const std::int32_t>& patches,
             bool from_zero, double* coarse_f, double* norms) {
  if (patches.extent(0) == 0) return;
  with_kind(grid.side, masked, [&](auto T, auto kind) {
    descend_patches<T.value, kind.value>(grid, patches, from_zero, coarse_f, norms);
  });
}

void ascend(const GridView& grid, bool masked, const DeviceArray<const std::int32_t>& patches,
            const double* coarse_phi) {
  if (patches.extent(0) == 0) return;
  with_kind(grid.side, masked, [&](auto T, auto kind) {
    ascend_patches<T.value, kind.value>(grid, patches, coarse_phi);
  });
}

}  // namespace octant::gravity
