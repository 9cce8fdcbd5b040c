// Forces between the cells of a level, and across coarse-fine boundaries.
#include "gravity/fmm_kernels.hpp"
#include "gravity/patch_scratch.hpp"

namespace octant::gravity::fmm {

namespace {

enum class Take { leaves, refined, all };

KOKKOS_FORCEINLINE_FUNCTION unsigned taken(Take take, const BrickCells& cells) {
  return take == Take::leaves    ? cells.leaves
         : take == Take::refined ? cells.refined
                                 : cells.leaves | cells.refined;
}

// The two bricks, adjacent along x, over which a row of sources extends after a shift along x.
struct RowSource {
  std::int32_t middle, beside;           // slots of the bricks; -1 if a brick has no sources
  unsigned middle_bits, neighbour_bits;  // halves of the row with sources in each brick, as masks
  int from;  // position of the row among the values of a component; -1 if no pack reads the row
};

// Sources in and around a brick, of one octant or of all, copied for each offset dx in x so that
// every load reads consecutive cells: [octant][dx][component][K][J][I], with a margin of parents in
// K and J. One octant with all moments fits into the second-level cache; all octants do not.
struct SourcePatch {
  int reach, components;
  double* data;
  RowSource* sources;    // [dx][K][J]
  std::uint8_t* filled;  // [dx][K][J]: true if a pack that begins in this row has sources

  KOKKOS_FORCEINLINE_FUNCTION int edge() const { return k_parents + 2 * reach; }
  KOKKOS_FORCEINLINE_FUNCTION int stride() const { return patch_stride(reach); }
  KOKKOS_FORCEINLINE_FUNCTION int row_count() const { return (2 * reach + 1) * edge() * edge(); }
  KOKKOS_FORCEINLINE_FUNCTION double* chunk(int octant, int dx) const {
    return data + std::int64_t{octant * (2 * reach + 1) + dx + reach} * components * stride();
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint8_t* rows(int dx) const {
    return filled + (dx + reach) * edge() * edge();
  }

  KOKKOS_FORCEINLINE_FUNCTION static std::size_t doubles(int reach, int octants, int components) {
    return std::size_t(octants) * (2 * reach + 1) * components * patch_stride(reach);
  }
  static std::size_t bytes(const Lists& lists, int octants, int components) {
    const std::size_t rows = std::size_t(lists.span()) * lists.edge() * lists.edge();
    return doubles(lists.reach, octants, components) * sizeof(double) +
           rows * (sizeof(RowSource) + 2) + 256;
  }
  KOKKOS_FORCEINLINE_FUNCTION SourcePatch(const Team& team, int reach, int octants, int components)
      : reach(reach), components(components) {
    const std::size_t rows = row_count();
    data = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(
        doubles(reach, octants, components) * sizeof(double), 64));
    sources = static_cast<RowSource*>(
        team.team_scratch(1).get_shmem_aligned(rows * sizeof(RowSource), 64));
    filled = static_cast<std::uint8_t*>(team.team_scratch(1).get_shmem_aligned(2 * rows, 64));
  }
};

// Value i of a row of four parents, shifted by dx, from the rows in a brick and in its neighbour
// along x; 0 if the brick is missing.
KOKKOS_FORCEINLINE_FUNCTION double shifted(int dx, int i, const double* middle,
                                           const double* beside) {
  const int from = i + dx;
  if (from < 0) return beside ? beside[from + k_parents] : 0.0;
  if (from >= k_parents) return beside ? beside[from - k_parents] : 0.0;
  return middle ? middle[from] : 0.0;
}

template <int dx>
KOKKOS_FORCEINLINE_FUNCTION void copy_shifted(const double* middle, const double* beside,
                                              double* to) {
  for (int i = 0; i < k_parents; ++i) to[i] = shifted(dx, i, middle, beside);
}

// Copies a shifted row with sources in some octants only. Two bits select the halves of each row.
KOKKOS_FORCEINLINE_FUNCTION void copy_masked(int dx, const double* middle, unsigned middle_bits,
                                             const double* beside, unsigned neighbour_bits,
                                             double* to) {
  for (int i = 0; i < k_parents; ++i) {
    const int from = i + dx;
    const bool inside = from >= 0 && from < k_parents;
    const unsigned bits = inside ? middle_bits : neighbour_bits;
    const int half = (from & (k_parents - 1)) >> 1;
    to[i] = bits >> half & 1 ? shifted(dx, i, middle, beside) : 0.0;
  }
}

KOKKOS_FORCEINLINE_FUNCTION RowSource row_source(const BrickFields& fields, const PatchTable& near,
                                                 Take take, int dx, int J, int K) {
  const int side = part(K, k_parents) * 9 + part(J, k_parents) * 3;
  const int j = J & (k_parents - 1), k = K & (k_parents - 1);
  const auto bits = [&](std::int32_t slot) {
    return slot < 0 ? 0u : taken(take, fields.cells(slot)) >> row_octant(j, k) & 3u;
  };
  RowSource row{near[side + 1], dx == 0 ? -1 : near[side + (dx < 0 ? 0 : 2)], 0, 0,
                (k * k_parents + j) * k_parents};
  row.middle_bits = bits(row.middle);
  row.neighbour_bits = bits(row.beside);
  if (!row.middle_bits) row.middle = -1;
  if (!row.neighbour_bits) row.beside = -1;
  return row;
}

// Number of rows that a pack covers.
inline constexpr int k_rows = k_simd_width > k_parents ? k_simd_width / k_parents : 1;

// Copies a row for `octants` octants from `first` on, which become octants 0 .. of the patch.
template <int dx>
KOKKOS_FORCEINLINE_FUNCTION void copy_row(const BrickFields& fields, const SourcePatch& patch,
                                          int first, int octants, const RowSource& row, int place) {
  const auto masses = [&](std::int32_t slot) {
    return slot < 0 ? nullptr : fields.mass.data() + std::int64_t{slot} * k_stride + row.from;
  };
  const auto moments = [&](std::int32_t slot) -> const double* {
    const std::int32_t at = slot < 0 ? -1 : fields.with_refined(slot);
    return at < 0
               ? nullptr
               : fields.moments.data() + std::int64_t{at} * (k_moments - 1) * k_stride + row.from;
  };
  const double *middle_mass = masses(row.middle), *neighbour_mass = masses(row.beside);
  const double *middle = moments(row.middle), *beside = moments(row.beside);
  for (int s = first; s < first + octants; ++s) {
    double* to = patch.chunk(s - first, dx) + place;
    const auto at = [&](const double* from, int c) {
      return from ? from + c * k_stride + s * k_octet : nullptr;
    };
    copy_masked(dx, at(middle_mass, 0), row.middle_bits, at(neighbour_mass, 0), row.neighbour_bits,
                to);
    for (int c = 1; c < patch.components; ++c)
      copy_shifted<dx>(at(middle, c - 1), at(beside, c - 1), to + c * patch.stride());
  }
}

// Finds the bricks that contain rows of a patch: rows read by packs with sources, or all rows.
KOKKOS_FORCEINLINE_FUNCTION void find_rows(const Team& team, const BrickFields& fields, int slot,
                                           Take take, bool all_rows, const SourcePatch& patch) {
  const int H = patch.reach, E = patch.edge(), rows = patch.row_count();
  const PatchTable& near = fields.near(slot);
  std::uint8_t* present = patch.filled + rows;
  in_team(team, rows, [&](int n) {
    const int dx = n / (E * E) - H, K = n / E % E - H, J = n % E - H;
    const RowSource row = row_source(fields, near, take, dx, J, K);
    patch.sources[n] = row;
    present[n] = row.middle >= 0 || row.beside >= 0;
  });
  team.team_barrier();
  in_team(team, rows, [&](int n) {
    const int J = n % E;
    bool begins = false, touched = all_rows;
    for (int r = 1 - k_rows; r < k_rows; ++r) {
      if (J + r < 0 || J + r >= E) continue;
      touched = touched || present[n + r];
      if (r >= 0) begins = begins || present[n + r];
    }
    patch.filled[n] = begins;
    if (!touched) patch.sources[n].from = -1;
  });
}

// Fills a patch with `octants` octants from `first` on. Rows that no pack reads are unchanged.
KOKKOS_FORCEINLINE_FUNCTION void copy_octants(const Team& team, const BrickFields& fields,
                                              int first, int octants, const SourcePatch& patch) {
  const int H = patch.reach, E = patch.edge();
  team.team_barrier();
  in_team(team, patch.row_count(), [&](int n) {
    const RowSource& row = patch.sources[n];
    if (row.from < 0) return;
    const int place = n % (E * E) * k_parents;
    switch (n / (E * E) - H) {
      case -2: return copy_row<-2>(fields, patch, first, octants, row, place);
      case -1: return copy_row<-1>(fields, patch, first, octants, row, place);
      case 0: return copy_row<0>(fields, patch, first, octants, row, place);
      case 1: return copy_row<1>(fields, patch, first, octants, row, place);
      default: return copy_row<2>(fields, patch, first, octants, row, place);
    }
  });
  team.team_barrier();
}

// Returns true if a pack of parents from cell e of plane K lies in the octants of a mask.
KOKKOS_FORCEINLINE_FUNCTION bool wanted(unsigned mask, int K, int e) {
  const unsigned bits = mask >> row_octant(e / k_parents, K);
  return k_simd_width >= k_parents ? bits & 3u : bits >> (e % k_parents >> 1) & 1u;
}

// Calls interact_with(entry, address of the first source) for the far sources in octant s of a
// patch, for the pack of targets that begins at cell e of octant t and plane K.
template <class Interact>
KOKKOS_FORCEINLINE_FUNCTION void for_far(const Lists& lists, const SourcePatch& patch, int s, int t,
                                         int K, int e, const Interact& interact_with) {
  const int H = patch.reach, E = patch.edge();
  for (int dx = -H; dx <= H; ++dx) {
    const double* chunk = patch.chunk(0, dx) + ((K + H) * E + H) * k_parents + e;
    const std::uint8_t* rows = patch.rows(dx) + (K + H) * E + H + e / k_parents;
    const int list = (s * (2 * H + 1) + dx + H) * 8 + t;
    const FarSource* entry = lists.far.data() + lists.far_begin(list);
    const FarSource* end = lists.far.data() + lists.far_begin(list + 1);
    for (; entry != end; ++entry)
      if (rows[entry->row]) interact_with(*entry, chunk + entry->row * k_parents);
  }
}

}  // namespace

// --- forces ------------------------------------------------------------------------------------

void attract_points(const BrickFields& fields, const Lists& lists) {
  constexpr int group = k_simd_width == 8 ? 4 : k_simd_width == 4 ? 2 : 1;  // packs per group
  for_teams(
      "fmm: points", fields.leaf_bricks.extent(0), teams(SourcePatch::bytes(lists, 8, 1)),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.leaf_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, 8, 1);
        find_rows(team, fields, slot, Take::leaves, true, patch);
        copy_octants(team, fields, 0, 8, patch);
        const int H = lists.reach, E = patch.edge();
        double* field = fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        const int groups = k_packs / group;
        in_team(team, 8 * groups, [&](int n) {
          const int t = n / groups, first = n % groups * group * k_simd_width;
          Wide f[4][group];
          const double* from[group];
          for (int i = 0; i < group; ++i) {
            const int e = first + i * k_simd_width;
            from[i] = patch.data + ((e / 16 + H) * E + H) * k_parents + e % 16;
            for (int c = 0; c < 4; ++c) f[c][i] = Wide{};
          }
          const PointSource* end = lists.points.data() + lists.point_begin(t + 1);
          for (const PointSource* p = lists.points.data() + lists.point_begin(t); p != end; ++p)
            for (int i = 0; i < group; ++i) {
              const Wide m = load<Wide>(from[i] + p->place);
              for (int c = 0; c < 4; ++c) f[c][i] = fma(Wide{} + p->field[c], m, f[c][i]);
            }
          for (int c = 0; c < 4; ++c)
            for (int i = 0; i < group; ++i)
              store(field + c * k_stride + t * k_octet + first + i * k_simd_width, f[c][i]);
        });
      });
}

void attract_leaves(const BrickFields& fields, const Lists& lists) {
  for_teams(
      "fmm: refined on leaves", fields.boundary_bricks.extent(0),
      teams(SourcePatch::bytes(lists, 1, k_moments)), KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.boundary_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, 1, k_moments);
        find_rows(team, fields, slot, Take::refined, false, patch);
        const unsigned leaves = fields.cells(slot).leaves;
        const int stride = patch.stride();
        double* field = fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        for (int s = 0; s < 8; ++s) {
          copy_octants(team, fields, s, 1, patch);
          in_team(team, 8 * k_packs, [&](int n) {
            const int t = n / k_packs, e = n % k_packs * k_simd_width, K = e / 16;
            if (!wanted(leaves, K, e % 16)) return;
            double* to = field + t * k_octet + e;
            Wide F[4];
            for (int c = 0; c < 4; ++c) F[c] = load<Wide>(to + c * k_stride);
            for_far(lists, patch, s, t, K, e % 16,
                    [&](const FarSource& o, const double* b) OCTANT_INLINE_LAMBDA {
                      const auto source = [&](int c) OCTANT_INLINE_LAMBDA {
                        return load<Wide>(b + c * stride);
                      };
                      const Wide x = -o.x - source(k_centre), y = -o.y - source(k_centre + 1),
                                 z = -o.z - source(k_centre + 2);
                      if (o.close) interact_point<true, Wide>(source, x, y, z, F);
                      else interact_point<false, Wide>(source, x, y, z, F);
                    });
            for (int c = 0; c < 4; ++c) store(to + c * k_stride, F[c]);
          });
        }
      });
}

void attract_refined(const BrickFields& fields, const Lists& lists) {
  // number of octupole and hexadecapole components, which are divided by the mass
  constexpr int ratios = k_moments - k_octupole;
  constexpr int targets = 3 + ratios;  // with the centre of mass
  for_teams(
      "fmm: refined", fields.refined_bricks.extent(0),
      teams(SourcePatch::bytes(lists, 1, k_moments) + targets * k_stride * sizeof(double)),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.refined_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, 1, k_moments);
        auto* const target = static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(targets * k_stride * sizeof(double), 64));
        find_rows(team, fields, slot, Take::all, false, patch);
        const int refined_index = fields.with_refined(slot), stride = patch.stride();
        const double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        const double* moments =
            fields.moments.data() + std::int64_t{refined_index} * (k_moments - 1) * k_stride;
        double* terms = fields.terms.data() + std::int64_t{refined_index} * k_terms * k_stride;
        in_team(team, k_cells, [&](int n) {
          const double inverse = mass[n] != 0.0 ? 1.0 / mass[n] : 0.0;
          for (int d = 0; d < 3; ++d)
            target[d * k_stride + n] = moments[(k_centre - 1 + d) * k_stride + n];
          for (int c = 0; c < ratios; ++c)
            target[(3 + c) * k_stride + n] = inverse * moments[(k_octupole - 1 + c) * k_stride + n];
        });
        team.team_barrier();
        const unsigned refined = fields.cells(slot).refined;
        for (int s = 0; s < 8; ++s) {
          copy_octants(team, fields, s, 1, patch);
          in_team(team, 8 * k_packs, [&](int n) {
            const int K = n / (k_packs / k_parents) / 8, t = n / (k_packs / k_parents) % 8;
            const int e = n % (k_packs / k_parents) * k_simd_width;
            if (!wanted(refined, K, e)) return;
            const int at = t * k_octet + K * 16 + e;
            const double* a = target + at;
            Wide L[k_terms];
            for (int c = 0; c < k_terms; ++c)
              L[c] = s == 0 ? Wide{} : load<Wide>(terms + c * k_stride + at);
            for_far(lists, patch, s, t, K, e,
                    [&](const FarSource& o, const double* b) OCTANT_INLINE_LAMBDA {
                      const auto source = [&](int c) OCTANT_INLINE_LAMBDA {
                        return load<Wide>(b + c * stride);
                      };
                      const auto ratio = [&](int c) OCTANT_INLINE_LAMBDA {
                        return load<Wide>(a + (3 + c) * k_stride);
                      };
                      const Wide x = (load<Wide>(a) - o.x) - source(k_centre);
                      const Wide y = (load<Wide>(a + k_stride) - o.y) - source(k_centre + 1);
                      const Wide z = (load<Wide>(a + 2 * k_stride) - o.z) - source(k_centre + 2);
                      if (o.close) interact<true, Wide>(source, ratio, x, y, z, L);
                      else interact<false, Wide>(source, ratio, x, y, z, L);
                    });
            if (s == 7) finish_second(L + k_second);
            for (int c = 0; c < k_terms; ++c) store(terms + c * k_stride + at, L[c]);
          });
        }
      });
}

// Moments of refined cells are inaccurate at near leaf cells, so their children are point masses.
void attract_across(const BrickFields& fields, const Lists& lists) {
  const int r = lists.near, edge = k_side + 2 * r, cells = edge * edge * edge;
  for_teams(
      "fmm: across levels", fields.boundary_bricks.extent(0),
      teams((std::size_t(k_child_fields) * cells + k_simd_width) * sizeof(double) + 64),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.boundary_bricks(team.league_rank());
        auto* const masses = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(
            (std::size_t(k_child_fields) * cells + k_simd_width) * sizeof(double), 64));
        const PatchTable& near = fields.near(slot);
        in_team(team, cells, [&](int n) {
          const int i = n % edge - r, j = n / edge % edge - r, k = n / (edge * edge) - r;
          const int from = near[part(k, k_side) * 9 + part(j, k_side) * 3 + part(i, k_side)];
          const int refined_index = from < 0 ? -1 : fields.with_refined(from);
          const double* child = refined_index < 0
                                    ? nullptr
                                    : fields.children.data() +
                                          std::int64_t{refined_index} * k_child_fields * k_stride +
                                          cell_at(i & 7, j & 7, k & 7);
          for (int c = 0; c < k_child_fields; ++c)
            masses[c * cells + n] = child ? child[c * k_stride] : 0.0;
        });
        team.team_barrier();
        double* field = fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        const auto count = static_cast<int>(lists.near_cells.extent(0));
        constexpr int packs = k_simd_width > k_side ? 1 : k_side / k_simd_width;
        in_team(team, k_side * k_side * packs, [&](int n) {
          const int i = n % packs * k_simd_width, j = n / packs % k_side, k = n / packs / k_side;
          Wide F[4] = {Wide{}, Wide{}, Wide{}, Wide{}};
          const double* here = masses + ((k + r) * edge + j + r) * edge + i + r;
          for (int o = 0; o < count; ++o) {
            const NearCell& cell = lists.near_cells(o);
            const double* from = here + (cell.z * edge + cell.y) * edge + cell.x;
            for (int s = 0; s < 8; ++s) {
              const Wide m = load<Wide>(from + s * cells);
              for (int c = 0; c < 4; ++c) F[c] = fma(Wide{} + cell.field[s][c], m, F[c]);
            }
          }
          double values[4][k_simd_width];
          for (int c = 0; c < 4; ++c) store(values[c], F[c]);
          for (int lane = 0; lane < k_simd_width; ++lane)
            for (int c = 0; c < 4; ++c)
              field[c * k_stride + cell_at(i + lane, j, k)] += values[c][lane];
        });
      });
}

}  // namespace octant::gravity::fmm
