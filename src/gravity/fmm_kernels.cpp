#include "gravity/fmm_kernels.hpp"

#include <string>

#include "gravity/patch_scratch.hpp"

namespace octant::gravity::fmm {

namespace {

// The place of a cell in a brick's component, from its coordinates 0..7.
KOKKOS_FORCEINLINE_FUNCTION int cell_at(int i, int j, int k) {
  const int octant = (i & 1) + 2 * (j & 1) + 4 * (k & 1);
  return octant * k_octet + ((k >> 1) * k_parents + (j >> 1)) * k_parents + (i >> 1);
}

// The octant of a brick in which its parents' row (J, K) begins; the next one is beside it in x.
KOKKOS_FORCEINLINE_FUNCTION int row_octant(int J, int K) { return 4 * (K >> 1) + 2 * (J >> 1); }

// The place in a brick of the parent q of an octet of children in one of its octants.
KOKKOS_FORCEINLINE_FUNCTION int parent_at(int octant, int q) {
  return cell_at(4 * (octant & 1) + q % 4, 4 * (octant >> 1 & 1) + q / 4 % 4,
                 4 * (octant >> 2) + q / 16);
}

// The brick that holds cells or parents beyond a brick, of `side` each.
KOKKOS_FORCEINLINE_FUNCTION int part(int i, int side) { return i < 0 ? 0 : i < side ? 1 : 2; }

enum class Take { leaves, refined, all };

KOKKOS_FORCEINLINE_FUNCTION unsigned taken(Take take, const BrickCells& cells) {
  return take == Take::leaves    ? cells.leaves
         : take == Take::refined ? cells.refined
                                 : cells.leaves | cells.refined;
}

// The sources of one brick and around it, copied once per offset in x, so that every load is of
// consecutive cells: [octant][dx][component][K][J][I], with a margin of parents in K and J.
struct SourcePatch {
  int reach, components;
  double* data;
  std::uint8_t* filled;  // [dx][K][J]: whether the rows of a pack that begins there hold anything

  KOKKOS_FORCEINLINE_FUNCTION int edge() const { return k_parents + 2 * reach; }
  KOKKOS_FORCEINLINE_FUNCTION int stride() const { return edge() * edge() * k_parents; }
  KOKKOS_FORCEINLINE_FUNCTION double* chunk(int octant, int dx) const {
    return data + std::int64_t{octant * (2 * reach + 1) + dx + reach} * components * stride();
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint8_t* rows(int dx) const {
    return filled + (dx + reach) * edge() * edge();
  }

  static std::size_t doubles(const Lists& lists, int components) {
    return std::size_t(8) * lists.span() * components * lists.edge() * lists.edge() * k_parents;
  }
  static std::size_t bytes(const Lists& lists, int components) {
    const std::size_t flags = std::size_t(2) * lists.span() * lists.edge() * lists.edge();
    return doubles(lists, components) * sizeof(double) + flags + 192;
  }
  KOKKOS_FORCEINLINE_FUNCTION SourcePatch(const Team& team, int reach, int components)
      : reach(reach), components(components) {
    const std::size_t rows = std::size_t(2 * reach + 1) * edge() * edge();
    data = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(
        8 * components * rows * k_parents * sizeof(double), 64));
    filled =
        static_cast<std::uint8_t*>(team.team_scratch(1).get_shmem_aligned(2 * rows, 64));
  }
};

// A row of four of a component, shifted by dx: from the brick itself and the one beside it. Missing
// bricks, and halves of a row that are not taken, are 0.
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

// The same where only some octants of the bricks are taken: two bits for the halves of each row.
KOKKOS_FORCEINLINE_FUNCTION void copy_masked(int dx, const double* middle, unsigned middle_bits,
                                             const double* beside, unsigned beside_bits,
                                             double* to) {
  for (int i = 0; i < k_parents; ++i) {
    const int from = i + dx;
    const bool inside = from >= 0 && from < k_parents;
    const unsigned bits = inside ? middle_bits : beside_bits;
    const int half = (from & (k_parents - 1)) >> 1;
    to[i] = bits >> half & 1 ? shifted(dx, i, middle, beside) : 0.0;
  }
}

struct RowSource {
  std::int32_t middle, beside;        // slots; -1: nothing there is taken
  unsigned middle_bits, beside_bits;  // halves that are
  int from;                           // in an octant of a component
};

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
  row.beside_bits = bits(row.beside);
  if (!row.middle_bits) row.middle = -1;
  if (!row.beside_bits) row.beside = -1;
  return row;
}

// Whether a pack that begins in row J takes in row J + r as well.
inline constexpr int k_rows = k_wide > k_parents ? k_wide / k_parents : 1;

template <int dx>
KOKKOS_FORCEINLINE_FUNCTION void copy_row(const BrickFields& fields, const SourcePatch& patch,
                                          const RowSource& row, int place) {
  const auto masses = [&](std::int32_t slot) {
    return slot < 0 ? nullptr : fields.mass.data() + std::int64_t{slot} * k_stride + row.from;
  };
  const auto moments = [&](std::int32_t slot) -> const double* {
    const std::int32_t at = slot < 0 ? -1 : fields.with_refined(slot);
    return at < 0 ? nullptr
                  : fields.moments.data() + std::int64_t{at} * (k_moments - 1) * k_stride + row.from;
  };
  const double *middle_mass = masses(row.middle), *beside_mass = masses(row.beside);
  const double *middle = moments(row.middle), *beside = moments(row.beside);
  for (int s = 0; s < 8; ++s) {
    double* to = patch.chunk(s, dx) + place;
    const auto at = [&](const double* from, int c) {
      return from ? from + c * k_stride + s * k_octet : nullptr;
    };
    copy_masked(dx, at(middle_mass, 0), row.middle_bits, at(beside_mass, 0), row.beside_bits, to);
    for (int c = 1; c < patch.components; ++c)
      copy_shifted<dx>(at(middle, c - 1), at(beside, c - 1), to + c * patch.stride());
  }
}

// Fills a patch from the bricks around. Rows that no pack with sources touches are left as they
// are, unless all are asked for.
KOKKOS_FORCEINLINE_FUNCTION void gather(const Team& team, const BrickFields& fields, int slot,
                                        Take take, bool all_rows, const SourcePatch& patch) {
  const int H = patch.reach, E = patch.edge(), span = 2 * H + 1;
  const PatchTable& near = fields.near(slot);
  std::uint8_t* present = patch.filled + span * E * E;
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, span * E * E), [&](int n) {
    const int dx = n / (E * E) - H, K = n / E % E - H, J = n % E - H;
    const RowSource row = row_source(fields, near, take, dx, J, K);
    present[n] = row.middle >= 0 || row.beside >= 0;
  });
  team.team_barrier();
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, span * E * E), [&](int n) {
    const int dx = n / (E * E) - H, K = n / E % E - H, J = n % E - H;
    bool begins = false, touched = all_rows;
    for (int r = 1 - k_rows; r < k_rows; ++r) {
      if (J + H + r < 0 || J + H + r >= E) continue;
      touched = touched || present[n + r];
      if (r >= 0) begins = begins || present[n + r];
    }
    patch.filled[n] = begins;
    if (!touched) return;
    const RowSource row = row_source(fields, near, take, dx, J, K);
    const int place = ((K + H) * E + J + H) * k_parents;
    switch (dx) {
      case -2: return copy_row<-2>(fields, patch, row, place);
      case -1: return copy_row<-1>(fields, patch, row, place);
      case 0: return copy_row<0>(fields, patch, row, place);
      case 1: return copy_row<1>(fields, patch, row, place);
      default: return copy_row<2>(fields, patch, row, place);
    }
  });
  team.team_barrier();
}

// Whether a pack of parents from cell e of plane K lies in octants that a mask names.
KOKKOS_FORCEINLINE_FUNCTION bool wanted(unsigned mask, int K, int e) {
  const unsigned bits = mask >> row_octant(e / k_parents, K);
  return k_wide >= k_parents ? bits & 3u : bits >> (e % k_parents >> 1) & 1u;
}

// The far sources of targets in octant t and plane K, of octant s of the patch: calls
// meet(entry, place of the first source of the pack that begins at cell e).
template <class Meet>
KOKKOS_FORCEINLINE_FUNCTION void for_far(const Lists& lists, const SourcePatch& patch, int s, int t,
                                         int K, int e, const Meet& meet) {
  const int H = patch.reach, E = patch.edge();
  for (int dx = -H; dx <= H; ++dx) {
    const double* chunk = patch.chunk(s, dx) + ((K + H) * E + H) * k_parents + e;
    const std::uint8_t* rows = patch.rows(dx) + (K + H) * E + H + e / k_parents;
    const int list = (s * (2 * H + 1) + dx + H) * 8 + t;
    const FarSource* entry = lists.far.data() + lists.far_begin(list);
    const FarSource* end = lists.far.data() + lists.far_begin(list + 1);
    for (; entry != end; ++entry)
      if (rows[entry->row]) meet(*entry, chunk + entry->row * k_parents);
  }
}

inline constexpr int k_packs = k_octet / k_wide;  // of an octant

}  // namespace

// --- forces ------------------------------------------------------------------------------------

void attract_points(const BrickFields& fields, const Lists& lists) {
  const auto bricks = static_cast<int>(fields.leaf_bricks.extent(0));
  if (bricks == 0) return;
  constexpr int group = k_wide == 8 ? 4 : k_wide == 4 ? 2 : 1;  // packs at a time
  Kokkos::parallel_for(
      "fmm: points", teams(bricks, SourcePatch::bytes(lists, 1)), KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.leaf_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, 1);
        gather(team, fields, slot, Take::leaves, true, patch);
        const int H = lists.reach, E = patch.edge();
        double* field =
            fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        const int groups = k_packs / group;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * groups), [&](int n) {
          const int t = n / groups, first = n % groups * group * k_wide;
          Wide f[4][group];
          const double* from[group];
          for (int i = 0; i < group; ++i) {
            const int e = first + i * k_wide;
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
              store(field + c * k_stride + t * k_octet + first + i * k_wide, f[c][i]);
        });
      });
}

void attract_leaves(const BrickFields& fields, const Lists& lists) {
  const auto bricks = static_cast<int>(fields.jump_bricks.extent(0));
  if (bricks == 0) return;
  Kokkos::parallel_for(
      "fmm: refined on leaves", teams(bricks, SourcePatch::bytes(lists, k_moments)),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.jump_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, k_moments);
        gather(team, fields, slot, Take::refined, false, patch);
        const unsigned leaves = fields.cells(slot).leaves;
        const int stride = patch.stride();
        double* field =
            fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        for (int s = 0; s < 8; ++s)
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * k_packs), [&](int n) {
            const int t = n / k_packs, e = n % k_packs * k_wide, K = e / 16;
            if (!wanted(leaves, K, e % 16)) return;
            double* to = field + t * k_octet + e;
            Wide F[4];
            for (int c = 0; c < 4; ++c) F[c] = load<Wide>(to + c * k_stride);
            for_far(lists, patch, s, t, K, e % 16,
                    [&](const FarSource& o, const double* b) OCTANT_INLINE_LAMBDA {
                      const auto source = [&](int c) OCTANT_INLINE_LAMBDA {
                        return load<Wide>(b + c * stride);
                      };
                      interact_point<Wide>(source, -o.x - source(k_centre),
                                           -o.y - source(k_centre + 1),
                                           -o.z - source(k_centre + 2), F);
                    });
            for (int c = 0; c < 4; ++c) store(to + c * k_stride, F[c]);
          });
      });
}

void attract_refined(const BrickFields& fields, const Lists& lists) {
  const auto bricks = static_cast<int>(fields.refined_bricks.extent(0));
  if (bricks == 0) return;
  constexpr int targets = 12;  // centre, and the octupole over the mass
  Kokkos::parallel_for(
      "fmm: refined",
      teams(bricks, SourcePatch::bytes(lists, k_moments) + targets * k_stride * sizeof(double)),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.refined_bricks(team.league_rank());
        const SourcePatch patch(team, lists.reach, k_moments);
        auto* const target = static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(targets * k_stride * sizeof(double), 64));
        gather(team, fields, slot, Take::all, false, patch);
        const int place = fields.with_refined(slot), stride = patch.stride();
        const double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        const double* moments =
            fields.moments.data() + std::int64_t{place} * (k_moments - 1) * k_stride;
        double* terms = fields.terms.data() + std::int64_t{place} * k_terms * k_stride;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_cells), [&](int n) {
          const double inverse = mass[n] != 0.0 ? 1.0 / mass[n] : 0.0;
          for (int d = 0; d < 3; ++d)
            target[d * k_stride + n] = moments[(k_centre - 1 + d) * k_stride + n];
          for (int c = 0; c < 9; ++c)
            target[(3 + c) * k_stride + n] = inverse * moments[(k_octupole - 1 + c) * k_stride + n];
        });
        team.team_barrier();
        const unsigned refined = fields.cells(slot).refined;
        for (int s = 0; s < 8; ++s)
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * k_packs), [&](int n) {
            const int K = n / (k_packs / k_parents) / 8, t = n / (k_packs / k_parents) % 8;
            const int e = n % (k_packs / k_parents) * k_wide;
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
                      interact<Wide>(source, ratio, x, y, z, L);
                    });
            if (s == 7) finish_second(L + k_second);
            for (int c = 0; c < k_terms; ++c) store(terms + c * k_stride + at, L[c]);
          });
      });
}

// Leaf cells and the children, as points, of refined cells that are too near for their moments; a
// refined cell whose children have children themselves is met as a whole.
void attract_across(const BrickFields& fields, const Lists& lists) {
  const auto bricks = static_cast<int>(fields.jump_bricks.extent(0));
  if (bricks == 0) return;
  const int r = lists.near, edge = k_side + 2 * r, cells = edge * edge * edge;
  Kokkos::parallel_for(
      "fmm: across levels",
      teams(bricks, (std::size_t(k_child_fields) * cells + k_wide) * sizeof(double) + 64),
      KOKKOS_LAMBDA(const Team& team) {
        const int slot = fields.jump_bricks(team.league_rank());
        auto* const masses = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(
            (std::size_t(k_child_fields) * cells + k_wide) * sizeof(double), 64));
        const PatchTable& near = fields.near(slot);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, cells), [&](int n) {
          const int i = n % edge - r, j = n / edge % edge - r, k = n / (edge * edge) - r;
          const int from =
              near[part(k, k_side) * 9 + part(j, k_side) * 3 + part(i, k_side)];
          const int place = from < 0 ? -1 : fields.with_refined(from);
          const double* child =
              place < 0 ? nullptr
                        : fields.children.data() +
                              std::int64_t{place} * k_child_fields * k_stride +
                              cell_at(i & 7, j & 7, k & 7);
          for (int c = 0; c < k_child_fields; ++c)
            masses[c * cells + n] = child ? child[c * k_stride] : 0.0;
        });
        team.team_barrier();
        double* field =
            fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
        const auto count = static_cast<int>(lists.near_cells.extent(0));
        constexpr int packs = k_wide > k_side ? 1 : k_side / k_wide;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_side * k_side * packs), [&](int n) {
          const int i = n % packs * k_wide, j = n / packs % k_side, k = n / packs / k_side;
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
          double values[4][k_wide];
          for (int c = 0; c < 4; ++c) store(values[c], F[c]);
          for (int lane = 0; lane < k_wide; ++lane)
            for (int c = 0; c < 4; ++c)
              field[c * k_stride + cell_at(i + lane, j, k)] += values[c][lane];
        });
      });
}

// --- from level to level -----------------------------------------------------------------------

void combine_bricks(const BrickFields& fields, const DeviceArray<const std::int32_t>& leaving,
                    double* message) {
  const auto bricks = static_cast<int>(leaving.extent(0));
  if (bricks == 0) return;
  Kokkos::parallel_for(
      "fmm: combine", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = leaving(team.league_rank()), place = fields.with_refined(slot);
        double* to = message + std::int64_t{team.league_rank()} * k_up * k_octet;
        const double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        const double* moments =
            fields.moments.data() + std::int64_t{place} * (k_moments - 1) * k_stride;
        const BrickCells cells = fields.cells(slot);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_packs), [&](int n) {
          const int e = n * k_wide;
          const auto child = [&](int s, int c) {
            return load<Wide>((c == 0 ? mass : moments + (c - 1) * k_stride) + s * k_octet + e);
          };
          Wide body[k_moments];
          if (place < 0) combine<true>(child, body);
          else combine<false>(child, body);
          for (int c = 0; c < k_moments; ++c) store(to + c * k_octet + e, body[c]);
          for (int lane = 0; lane < k_wide; ++lane) {
            const int q = e + lane;
            const int octant = row_octant(q / 4 % 4, q / 16) + (q % 4 >> 1);
            const bool points = cells.leaves >> octant & 1;
            double* of_children = to + k_moments * k_octet + q;
            for (int s = 0; s < 8; ++s)
              of_children[s * k_octet] = points ? mass[s * k_octet + q] : 0.0;
            of_children[8 * k_octet] = cells.refined >> octant & 1 ? 1.0 : 0.0;
          }
        });
      });
}

void take_children(const BrickFields& fields, const DeviceArray<const ChildBrick>& children,
                   const double* message) {
  const auto bricks = static_cast<int>(children.extent(0));
  if (bricks == 0) return;
  const bool jumps = fields.children.size() > 0;
  Kokkos::parallel_for(
      "fmm: take children", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        const double* from = message + std::int64_t{team.league_rank()} * k_up * k_octet;
        const int place = fields.with_refined(child.parent);
        double* mass = fields.mass.data() + std::int64_t{child.parent} * k_stride;
        double* moments =
            fields.moments.data() + std::int64_t{place} * (k_moments - 1) * k_stride;
        double* of_children =
            fields.children.data() + std::int64_t{place} * k_child_fields * k_stride;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_octet), [&](int q) {
          const int at = parent_at(child.octant, q);
          mass[at] = from[q];
          for (int c = 1; c < k_moments; ++c)
            moments[(c - 1) * k_stride + at] = from[c * k_octet + q];
          for (int c = 0; jumps && c < k_child_fields; ++c)
            of_children[c * k_stride + at] = from[(k_moments + c) * k_octet + q];
        });
      });
}

void give_children(const BrickFields& fields, const Lists& lists, bool with_jumps,
                   const DeviceArray<const ChildBrick>& children, double* message) {
  const auto bricks = static_cast<int>(children.extent(0));
  if (bricks == 0) return;
  const std::int64_t doubles = down_doubles(lists, with_jumps);
  const int r = lists.near, edge = margin_of(lists);
  Kokkos::parallel_for(
      "fmm: give children", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        double* to = message + team.league_rank() * doubles;
        const double* terms = fields.terms.data() +
                              std::int64_t{fields.with_refined(child.parent)} * k_terms * k_stride;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_octet), [&](int q) {
          const int at = parent_at(child.octant, q);
          for (int c = 0; c < k_terms; ++c) to[1 + c * k_octet + q] = terms[c * k_stride + at];
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { to[0] = 0.0; });
        if (!with_jumps) return;
        const PatchTable& near = fields.near(child.parent);
        bool any = false;
        for (int n = 0; n < 27; ++n) any = any || (near[n] >= 0 && fields.cells(near[n]).leaves);
        if (!any) return;
        Kokkos::single(Kokkos::PerTeam(team), [&] { to[0] = 1.0; });
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, edge * edge * edge), [&](int n) {
          const int i = n % edge - r + 4 * (child.octant & 1),
                    j = n / edge % edge - r + 4 * (child.octant >> 1 & 1),
                    k = n / (edge * edge) - r + 4 * (child.octant >> 2);
          const int from =
              near[part(k, k_side) * 9 + part(j, k_side) * 3 + part(i, k_side)];
          const int octant = ((i & 7) >> 2) + 2 * ((j & 7) >> 2) + 4 * ((k & 7) >> 2);
          const bool leaf = from >= 0 && (fields.cells(from).leaves >> octant & 1);
          to[1 + k_terms * k_octet + n] =
              leaf ? fields.mass(std::int64_t{from} * k_stride + cell_at(i & 7, j & 7, k & 7))
                   : 0.0;
        });
      });
}

void take_parents(const BrickFields& fields, const Lists& lists, bool with_jumps,
                  const DeviceArray<const std::int32_t>& leaving, const double* up,
                  const double* message) {
  const auto bricks = static_cast<int>(leaving.extent(0));
  if (bricks == 0) return;
  const std::int64_t doubles = down_doubles(lists, with_jumps);
  const int r = lists.near, edge = margin_of(lists);
  Kokkos::parallel_for(
      "fmm: take parents", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = leaving(team.league_rank()), place = fields.with_refined(slot),
                  leaf_place = fields.with_leaves(slot);
        const double* from = message + team.league_rank() * doubles;
        const double* centre =
            up + (std::int64_t{team.league_rank()} * k_up + k_centre) * k_octet;
        double* field = fields.field.data() + std::int64_t{leaf_place} * 4 * k_stride;
        double* terms = fields.terms.data() + std::int64_t{place} * k_terms * k_stride;
        const double* own_centre =
            fields.moments.data() +
            (std::int64_t{place} * (k_moments - 1) + k_centre - 1) * k_stride;

        // Leaf cells of the coarser level that are near the parents.
        if (with_jumps && leaf_place >= 0 && from[0] != 0.0) {
          const double* masses = from + 1 + k_terms * k_octet;
          const auto count = static_cast<int>(lists.near_cells.extent(0));
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * 16), [&](int n) {
            const int s = n / 16, J = n % 4, K = n / 4 % 4;
            double F[4][k_parents] = {};
            for (int o = 0; o < count; ++o) {
              const NearCell& cell = lists.near_cells(o);
              // The way from the leaf to the parent: the leaf lies on the other side.
              const double* m =
                  masses + ((K + r - cell.z) * edge + J + r - cell.y) * edge + r - cell.x;
              for (int c = 0; c < 4; ++c)
                for (int i = 0; i < k_parents; ++i) F[c][i] += cell.field[s][c] * m[i];
            }
            double* to = field + s * k_octet + (K * k_parents + J) * k_parents;
            for (int c = 0; c < 4; ++c)
              for (int i = 0; i < k_parents; ++i)
                to[c * k_stride + i] += (c == 0 ? 0.5 : -0.25) * F[c][i];
          });
          team.team_barrier();
        }

        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 8 * k_packs), [&](int n) {
          const int s = n / k_packs, e = n % k_packs * k_wide;
          const auto parent = [&](int c) OCTANT_INLINE_LAMBDA {
            return load<Wide>(from + 1 + c * k_octet + e);
          };
          Wide x[3];
          for (int d = 0; d < 3; ++d)
            x[d] = 0.5 * offset_of(s, d) - load<Wide>(centre + d * k_octet + e);
          if (leaf_place >= 0) {
            const Expanded<Wide> at(parent, x[0], x[1], x[2]);
            double* to = field + s * k_octet + e;
            store(to, load<Wide>(to) + 0.5 * at.value);
            for (int d = 0; d < 3; ++d) {
              double* force = to + (1 + d) * k_stride;
              store(force, load<Wide>(force) + 0.25 * (at.gradient[d] + parent(k_couple + d)));
            }
          }
          if (place < 0) return;
          double* to = terms + s * k_octet + e;
          for (int d = 0; d < 3; ++d)
            x[d] += 0.5 * load<Wide>(own_centre + d * k_stride + s * k_octet + e);
          const Expanded<Wide> at(parent, x[0], x[1], x[2]);
          const auto add = [&](int c, Wide value) OCTANT_INLINE_LAMBDA {
            store(to + c * k_stride, load<Wide>(to + c * k_stride) + value);
          };
          add(k_value, 0.5 * at.value);
          for (int d = 0; d < 3; ++d) add(k_gradient + d, 0.25 * at.gradient[d]);
          for (int c = 0; c < 6; ++c) add(k_second + c, 0.125 * at.second[c]);
          for (int c = 0; c < 7; ++c) add(k_third + c, 0.0625 * parent(k_third + c));
          for (int d = 0; d < 3; ++d) add(k_couple + d, 0.25 * parent(k_couple + d));
        });
      });
}

// --- cells of two levels' difference ------------------------------------------------------------

namespace {

// A near cell of a brick's cell.
struct Neighbour {
  std::int32_t slot, at;
};
KOKKOS_FORCEINLINE_FUNCTION Neighbour near_of(const BrickFields& fields, int slot, int i, int j,
                                              int k) {
  const PatchTable& near = fields.near(slot);
  return {near[part(k, k_side) * 9 + part(j, k_side) * 3 + part(i, k_side)],
          cell_at(i & 7, j & 7, k & 7)};
}

KOKKOS_FORCEINLINE_FUNCTION bool is_in(unsigned octants, int at) {
  // A place is [octant of parity][K][J][I]; the octant of the brick is that of I, J, K.
  const int q = at % k_octet;
  return octants >> (row_octant(q / 4 % 4, q / 16) + (q % 4 >> 1)) & 1u;
}

KOKKOS_FORCEINLINE_FUNCTION bool is_deep(const BrickFields& fields, const Neighbour& n) {
  const std::int32_t place = n.slot < 0 ? -1 : fields.with_refined(n.slot);
  return place >= 0 && is_in(fields.cells(n.slot).refined, n.at) &&
         fields.children((std::int64_t{place} * k_child_fields + 8) * k_stride + n.at) != 0.0;
}

KOKKOS_FORCEINLINE_FUNCTION double moment(const BrickFields& fields, const Neighbour& n, int c) {
  return c == 0 ? fields.mass(std::int64_t{n.slot} * k_stride + n.at)
                : fields.moments((std::int64_t{fields.with_refined(n.slot)} * (k_moments - 1) + c -
                                  1) * k_stride + n.at);
}

}  // namespace

void attract_deep(const BrickFields& fields, const Lists& lists) {
  const auto near_cells = static_cast<int>(lists.near_cells.extent(0));
  if (fields.jump_bricks.extent(0) > 0)
    Kokkos::parallel_for(
        "fmm: deep on leaves", teams(static_cast<int>(fields.jump_bricks.extent(0)), 0),
        KOKKOS_LAMBDA(const Team& team) {
          const int slot = fields.jump_bricks(team.league_rank());
          double* field =
              fields.field.data() + std::int64_t{fields.with_leaves(slot)} * 4 * k_stride;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_cells), [&](int n) {
            const int i = n % 8, j = n / 8 % 8, k = n / 64, at = cell_at(i, j, k);
            if (!is_in(fields.cells(slot).leaves, at)) return;
            double F[4] = {};
            for (int o = 0; o < near_cells; ++o) {
              const NearCell& cell = lists.near_cells(o);
              const Neighbour from = near_of(fields, slot, i + cell.x, j + cell.y, k + cell.z);
              if (!is_deep(fields, from)) continue;
              const auto source = [&](int c) { return moment(fields, from, c); };
              interact_point<double>(source, -cell.x - source(k_centre),
                                     -cell.y - source(k_centre + 1),
                                     -cell.z - source(k_centre + 2), F);
            }
            for (int c = 0; c < 4; ++c) field[c * k_stride + at] += F[c];
          });
        });
  if (fields.border_bricks.extent(0) > 0)
    Kokkos::parallel_for(
        "fmm: leaves on deep", teams(static_cast<int>(fields.border_bricks.extent(0)), 0),
        KOKKOS_LAMBDA(const Team& team) {
          const int slot = fields.border_bricks(team.league_rank());
          double* terms =
              fields.terms.data() + std::int64_t{fields.with_refined(slot)} * k_terms * k_stride;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_cells), [&](int n) {
            const int i = n % 8, j = n / 8 % 8, k = n / 64;
            const Neighbour here{slot, cell_at(i, j, k)};
            if (!is_deep(fields, here)) return;
            const double mass = moment(fields, here, 0), inverse = mass != 0.0 ? 1.0 / mass : 0.0;
            double L[k_terms] = {};
            for (int o = 0; o < near_cells; ++o) {
              const NearCell& cell = lists.near_cells(o);
              const Neighbour from = near_of(fields, slot, i + cell.x, j + cell.y, k + cell.z);
              if (from.slot < 0 || !is_in(fields.cells(from.slot).leaves, from.at)) continue;
              const auto source = [&](int c) { return c == 0 ? moment(fields, from, 0) : 0.0; };
              const auto ratio = [&](int c) {
                return inverse * moment(fields, here, k_octupole + c);
              };
              interact<double>(source, ratio, moment(fields, here, k_centre) - cell.x,
                               moment(fields, here, k_centre + 1) - cell.y,
                               moment(fields, here, k_centre + 2) - cell.z, L);
            }
            finish_second(L + k_second);
            for (int c = 0; c < k_terms; ++c) terms[c * k_stride + here.at] += L[c];
          });
        });
}

// --- fields and messages -----------------------------------------------------------------------

BrickFields make_fields(const BrickLevel& level) {
  BrickFields fields;
  std::vector<std::int32_t> with_refined(level.slots(), -1), with_leaves(level.own(), -1);
  std::vector<std::int32_t> leaves, jumps, refined, borders;
  std::int64_t refined_bricks = 0;
  for (int slot = 0; slot < level.slots(); ++slot) {
    const BrickCells& cells = level.cells()[slot];
    if (cells.refined) with_refined[slot] = static_cast<std::int32_t>(refined_bricks++);
    if (slot >= level.own()) continue;
    bool near_refined = false, near_leaves = false;
    for (const int near : level.near()[slot]) {
      if (near < 0) continue;
      near_refined = near_refined || level.cells()[near].refined;
      near_leaves = near_leaves || level.cells()[near].leaves;
    }
    if (cells.leaves) {
      with_leaves[slot] = static_cast<std::int32_t>(leaves.size());
      leaves.push_back(slot);
      if (near_refined) jumps.push_back(slot);
    }
    if (cells.refined) {
      refined.push_back(slot);
      if (near_leaves) borders.push_back(slot);
    }
  }
  fields.near = mesh::to_device("bricks near", level.near());
  fields.cells = mesh::to_device("brick cells", level.cells());
  fields.with_refined = mesh::to_device("bricks", with_refined);
  fields.with_leaves = mesh::to_device("bricks", with_leaves);
  fields.leaf_bricks = mesh::to_device("bricks", leaves);
  fields.jump_bricks = mesh::to_device("bricks", jumps);
  fields.refined_bricks = mesh::to_device("bricks", refined);
  fields.border_bricks = mesh::to_device("bricks", borders);
  const auto array = [](const std::string& label, std::int64_t components) {
    return DeviceArray<double>(label, components * k_stride);
  };
  fields.mass = array("fmm masses", level.slots());
  fields.moments = array("fmm moments", refined_bricks * (k_moments - 1));
  if (level.has_jumps()) fields.children = array("fmm children", refined_bricks * k_child_fields);
  fields.field = array("fmm field", std::ssize(leaves) * 4);
  fields.terms = array("fmm terms", std::ssize(refined) * k_terms);
  return fields;
}

namespace {

// Calls copy(a double of a brick's fields, the one of the message) for all parts that are shared.
template <class Copy>
void for_shared(const char* name, const BrickFields& fields,
                const DeviceArray<const SharedBrick>& shared, bool with_children,
                const Copy& copy) {
  const auto bricks = static_cast<int>(shared.extent(0));
  if (bricks == 0) return;
  Kokkos::parallel_for(
      name, teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const SharedBrick& brick = shared(team.league_rank());
        const int ni = brick.end[0] - brick.begin[0], nj = brick.end[1] - brick.begin[1],
                  octets = ni * nj * (brick.end[2] - brick.begin[2]);
        const int place = fields.with_refined(brick.slot);
        const int components =
            place < 0 ? 1 : k_moments + (with_children ? k_child_fields : 0);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, components * 8), [&](int n) {
          const int c = n / 8, s = n % 8;
          double* from =
              c == 0 ? fields.mass.data() + std::int64_t{brick.slot} * k_stride
              : c < k_moments
                  ? fields.moments.data() + (std::int64_t{place} * (k_moments - 1) + c - 1) * k_stride
                  : fields.children.data() +
                        (std::int64_t{place} * k_child_fields + c - k_moments) * k_stride;
          from += s * k_octet;
          const std::int64_t to = brick.offset + std::int64_t{n} * octets;
          for (int q = 0; q < octets; ++q) {
            const int I = q % ni + brick.begin[0], J = q / ni % nj + brick.begin[1],
                      K = q / (ni * nj) + brick.begin[2];
            copy(from[(K * k_parents + J) * k_parents + I], to + q);
          }
        });
      });
}

// A brick's part of a block: the place of its block in the level, and of its lower corner there.
struct BrickCorner {
  std::int32_t place;
  int x, y, z;
};
KOKKOS_FORCEINLINE_FUNCTION BrickCorner corner_of(int brick, int log2_block_size) {
  const int shift = 3 * (log2_block_size - 3), part = brick & ((1 << shift) - 1);
  BrickCorner corner{brick >> shift, 0, 0, 0};
  for (int bit = 0; bit < shift / 3; ++bit) {
    corner.x |= (part >> (3 * bit) & 1) << (bit + 3);
    corner.y |= (part >> (3 * bit + 1) & 1) << (bit + 3);
    corner.z |= (part >> (3 * bit + 2) & 1) << (bit + 3);
  }
  return corner;
}
KOKKOS_FORCEINLINE_FUNCTION mesh::Cell cell_of(const CellRange& blocks, const BrickCorner& corner,
                                               int i, int j, int k) {
  const int b = blocks.log2_block_size;
  return {corner.place, blocks.blocks(corner.place).slot,
          ((((corner.z + k) << b) + corner.y + j) << b) + corner.x + i};
}

}  // namespace

void pack_copies(const BrickFields& fields, bool with_children,
                 const DeviceArray<const SharedBrick>& shared, double* message) {
  for_shared(
      "fmm: pack copies", fields, shared, with_children,
      KOKKOS_LAMBDA(const double& value, std::int64_t to) { message[to] = value; });
}

void unpack_copies(const BrickFields& fields, bool with_children,
                   const DeviceArray<const SharedBrick>& shared, const double* message) {
  for_shared(
      "fmm: unpack copies", fields, shared, with_children,
      KOKKOS_LAMBDA(double& value, std::int64_t from) { value = message[from]; });
}

void set_masses(const BrickLevel& level, const BrickFields& fields, const CellRange& blocks,
                const BlockField& density, double scale) {
  if (level.own() == 0) return;
  Kokkos::parallel_for(
      "fmm: masses", teams(level.own(), 0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = team.league_rank();
        const BrickCorner corner = corner_of(slot, blocks.log2_block_size);
        const unsigned leaves = fields.cells(slot).leaves;
        double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 64), [&](int row) {
          const int j = row % 8, k = row / 8;
          const double* rho = density.at(cell_of(blocks, corner, 0, j, k));
          for (int i = 0; i < 8; ++i) {
            const int at = cell_at(i, j, k);
            if (is_in(leaves, at)) mass[at] = scale * rho[i];
          }
        });
      });
}

void store_leaves(const BrickLevel& level, const BrickFields& fields, const StoredCells& stored,
                  double potential_factor, double force_factor) {
  if (level.own() == 0) return;
  Kokkos::parallel_for(
      "fmm: store", teams(level.own(), 0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = team.league_rank(), place = fields.with_leaves(slot);
        if (place < 0) return;
        const BrickCorner corner = corner_of(slot, stored.blocks.log2_block_size);
        const unsigned leaves = fields.cells(slot).leaves;
        const double* field = fields.field.data() + std::int64_t{place} * 4 * k_stride;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 64), [&](int row) {
          const int j = row % 8, k = row / 8;
          const mesh::Cell first = cell_of(stored.blocks, corner, 0, j, k);
          double* phi = stored.potential.at(first);
          double* g = stored.acceleration.at(first);
          for (int i = 0; i < 8; ++i) {
            const int at = cell_at(i, j, k);
            if (!is_in(leaves, at)) continue;
            phi[i] = potential_factor * field[at];
            for (int d = 0; d < 3; ++d)
              g[d * stored.acceleration.stride_component + i] =
                  force_factor * field[(1 + d) * k_stride + at];
          }
        });
      });
}

void average_bricks(const StoredCells& stored, const DeviceArray<const std::int32_t>& leaving,
                    double* message) {
  const auto bricks = static_cast<int>(leaving.extent(0));
  if (bricks == 0) return;
  Kokkos::parallel_for(
      "fmm: averages", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const BrickCorner corner =
            corner_of(leaving(team.league_rank()), stored.blocks.log2_block_size);
        double* to = message + std::int64_t{team.league_rank()} * 4 * k_octet;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_octet), [&](int q) {
          double sum[4] = {};
          for (int s = 0; s < 8; ++s) {
            const mesh::Cell cell =
                cell_of(stored.blocks, corner, 2 * (q % 4) + (s & 1),
                        2 * (q / 4 % 4) + (s >> 1 & 1), 2 * (q / 16) + (s >> 2));
            sum[0] += *stored.potential.at(cell);
            for (int d = 0; d < 3; ++d)
              sum[1 + d] += stored.acceleration.at(cell)[d * stored.acceleration.stride_component];
          }
          for (int c = 0; c < 4; ++c) to[c * k_octet + q] = 0.125 * sum[c];
        });
      });
}

void take_averages(const StoredCells& stored, const DeviceArray<const ChildBrick>& children,
                   const double* message) {
  const auto bricks = static_cast<int>(children.extent(0));
  if (bricks == 0) return;
  Kokkos::parallel_for(
      "fmm: take averages", teams(bricks, 0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        const BrickCorner corner = corner_of(child.parent, stored.blocks.log2_block_size);
        const double* from = message + std::int64_t{team.league_rank()} * 4 * k_octet;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k_octet), [&](int q) {
          const int o = child.octant;
          const mesh::Cell cell =
              cell_of(stored.blocks, corner, 4 * (o & 1) + q % 4, 4 * (o >> 1 & 1) + q / 4 % 4,
                      4 * (o >> 2) + q / 16);
          *stored.potential.at(cell) = from[q];
          for (int d = 0; d < 3; ++d)
            stored.acceleration.at(cell)[d * stored.acceleration.stride_component] =
                from[(1 + d) * k_octet + q];
        });
      });
}

}  // namespace octant::gravity::fmm
