// Sources, messages, and transfer of moments and expansions between levels.
#include <string>

#include "gravity/fmm_kernels.hpp"
#include "gravity/patch_scratch.hpp"

namespace octant::gravity::fmm {

namespace {

// Index in a brick of the parent q of a finer brick, one of 4^3 parents in an octant.
KOKKOS_FORCEINLINE_FUNCTION int parent_at(int octant, int q) {
  return cell_at(4 * (octant & 1) + q % 4, 4 * (octant >> 1 & 1) + q / 4 % 4,
                 4 * (octant >> 2) + q / 16);
}

}  // namespace

// --- between levels ----------------------------------------------------------------------------

void pack_moments(const BrickFields& fields, const DeviceArray<const std::int32_t>& leaving,
                  double* message) {
  for_teams(
      "fmm: pack moments", leaving.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = leaving(team.league_rank()), refined_index = fields.with_refined(slot);
        double* to = message + std::int64_t{team.league_rank()} * k_up * k_octet;
        const double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        const double* moments =
            fields.moments.data() + std::int64_t{refined_index} * (k_moments - 1) * k_stride;
        in_team(team, k_packs, [&](int n) {
          const int e = n * k_simd_width;
          const auto child = [&](int s, int c) {
            return load<Wide>((c == 0 ? mass : moments + (c - 1) * k_stride) + s * k_octet + e);
          };
          Wide body[k_moments];
          if (refined_index < 0) combine<true>(child, body);
          else combine<false>(child, body);
          for (int c = 0; c < k_moments; ++c) store(to + c * k_octet + e, body[c]);
          double* of_children = to + k_moments * k_octet + e;
          for (int t = 0; t < 8; ++t)
            store(of_children + t * k_octet, load<Wide>(mass + t * k_octet + e));
        });
      });
}

void unpack_moments(const BrickFields& fields, const DeviceArray<const ChildBrick>& children,
                    const double* message) {
  const bool jumps = fields.children.size() > 0;
  for_teams(
      "fmm: unpack moments", children.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        const double* from = message + std::int64_t{team.league_rank()} * k_up * k_octet;
        const int refined_index = fields.with_refined(child.parent);
        double* mass = fields.mass.data() + std::int64_t{child.parent} * k_stride;
        double* moments =
            fields.moments.data() + std::int64_t{refined_index} * (k_moments - 1) * k_stride;
        double* of_children =
            fields.children.data() + std::int64_t{refined_index} * k_child_fields * k_stride;
        in_team(team, k_octet, [&](int q) {
          const int at = parent_at(child.octant, q);
          mass[at] = from[q];
          for (int c = 1; c < k_moments; ++c)
            moments[(c - 1) * k_stride + at] = from[c * k_octet + q];
          for (int c = 0; jumps && c < k_child_fields; ++c)
            of_children[c * k_stride + at] = from[(k_moments + c) * k_octet + q];
        });
      });
}

void pack_expansions(const BrickFields& fields, const Lists& lists, bool with_boundary,
                     const DeviceArray<const ChildBrick>& children, double* message) {
  const std::int64_t doubles = down_doubles(lists, with_boundary);
  const int r = lists.near, edge = margin_of(lists);
  for_teams(
      "fmm: pack expansions", children.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        double* to = message + team.league_rank() * doubles;
        const double* terms = fields.terms.data() +
                              std::int64_t{fields.with_refined(child.parent)} * k_terms * k_stride;
        in_team(team, k_octet, [&](int q) {
          const int at = parent_at(child.octant, q);
          for (int c = 0; c < k_terms; ++c) to[1 + c * k_octet + q] = terms[c * k_stride + at];
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { to[0] = 0.0; });
        if (!with_boundary) return;
        const PatchTable& near = fields.near(child.parent);
        bool any = false;
        for (int n = 0; n < 27; ++n) any = any || (near[n] >= 0 && fields.cells(near[n]).leaves);
        if (!any) return;
        Kokkos::single(Kokkos::PerTeam(team), [&] { to[0] = 1.0; });
        in_team(team, edge * edge * edge, [&](int n) {
          const int i = n % edge - r + 4 * (child.octant & 1),
                    j = n / edge % edge - r + 4 * (child.octant >> 1 & 1),
                    k = n / (edge * edge) - r + 4 * (child.octant >> 2);
          const int from = near[part(k, k_side) * 9 + part(j, k_side) * 3 + part(i, k_side)];
          const int octant = ((i & 7) >> 2) + 2 * ((j & 7) >> 2) + 4 * ((k & 7) >> 2);
          const bool leaf = from >= 0 && (fields.cells(from).leaves >> octant & 1);
          to[1 + k_terms * k_octet + n] =
              leaf ? fields.mass(std::int64_t{from} * k_stride + cell_at(i & 7, j & 7, k & 7))
                   : 0.0;
        });
      });
}

void unpack_expansions(const BrickFields& fields, const Lists& lists, bool with_boundary,
                       const DeviceArray<const std::int32_t>& leaving, const double* up,
                       const double* message) {
  const std::int64_t doubles = down_doubles(lists, with_boundary);
  const int r = lists.near, edge = margin_of(lists);
  for_teams(
      "fmm: unpack expansions", leaving.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = leaving(team.league_rank()), refined_index = fields.with_refined(slot),
                  leaf_index = fields.with_leaves(slot);
        const double* from = message + team.league_rank() * doubles;
        const double* centre = up + (std::int64_t{team.league_rank()} * k_up + k_centre) * k_octet;
        double* field = fields.field.data() + std::int64_t{leaf_index} * 4 * k_stride;
        double* terms = fields.terms.data() + std::int64_t{refined_index} * k_terms * k_stride;
        const double* own_centre =
            fields.moments.data() +
            (std::int64_t{refined_index} * (k_moments - 1) + k_centre - 1) * k_stride;

        // Adds the field of nearby leaf cells of the coarser level to leaf cells.
        if (with_boundary && leaf_index >= 0 && from[0] != 0.0) {
          const double* masses = from + 1 + k_terms * k_octet;
          const auto count = static_cast<int>(lists.near_cells.extent(0));
          in_team(team, 8 * 16, [&](int n) {
            const int s = n / 16, J = n % 4, K = n / 4 % 4;
            double F[4][k_parents] = {};
            for (int o = 0; o < count; ++o) {
              const NearCell& cell = lists.near_cells(o);
              // NearCell::field is the force on the leaf. The force on the child has the opposite
              // sign.
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

        in_team(team, 8 * k_packs, [&](int n) {
          const int s = n / k_packs, e = n % k_packs * k_simd_width;
          const auto parent = [&](int c) OCTANT_INLINE_LAMBDA {
            return load<Wide>(from + 1 + c * k_octet + e);
          };
          Wide x[3];
          for (int d = 0; d < 3; ++d)
            x[d] = 0.5 * offset_of(s, d) - load<Wide>(centre + d * k_octet + e);
          if (leaf_index >= 0) {
            const Expanded<Wide> at(parent, x[0], x[1], x[2]);
            double* to = field + s * k_octet + e;
            store(to, load<Wide>(to) + 0.5 * at.value);
            for (int d = 0; d < 3; ++d) {
              double* force = to + (1 + d) * k_stride;
              store(force, load<Wide>(force) + 0.25 * (at.gradient[d] + parent(k_couple + d)));
            }
          }
          if (refined_index < 0) return;
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
          for (int c = 0; c < 7; ++c) add(k_third + c, 0.0625 * at.third[c]);
          for (int c = 0; c < 9; ++c) add(k_fourth + c, 0.03125 * parent(k_fourth + c));
          for (int d = 0; d < 3; ++d) add(k_couple + d, 0.25 * parent(k_couple + d));
        });
      });
}

// --- fields and messages -----------------------------------------------------------------------

BrickFields make_fields(const BrickLevel& level) {
  BrickFields fields;
  std::vector<std::int32_t> with_refined(level.slots(), -1), with_leaves(level.own(), -1);
  std::vector<std::int32_t> leaves, jumps, refined;
  std::int64_t refined_bricks = 0;
  for (int slot = 0; slot < level.slots(); ++slot) {
    const BrickCells& cells = level.cells()[slot];
    if (cells.refined) with_refined[slot] = static_cast<std::int32_t>(refined_bricks++);
    if (slot >= level.own()) continue;
    bool near_refined = false;
    for (const int near : level.tables()[slot])
      near_refined = near_refined || (near >= 0 && level.cells()[near].refined);
    if (cells.leaves) {
      with_leaves[slot] = static_cast<std::int32_t>(leaves.size());
      leaves.push_back(slot);
      if (near_refined) jumps.push_back(slot);
    }
    if (cells.refined) refined.push_back(slot);
  }
  fields.near = mesh::to_device("bricks near", level.tables());
  fields.cells = mesh::to_device("brick cells", level.cells());
  fields.with_refined = mesh::to_device("bricks", with_refined);
  fields.with_leaves = mesh::to_device("bricks", with_leaves);
  fields.leaf_bricks = mesh::to_device("bricks", leaves);
  fields.boundary_bricks = mesh::to_device("bricks", jumps);
  fields.refined_bricks = mesh::to_device("bricks", refined);
  const auto array = [](const std::string& label, std::int64_t components) {
    return DeviceArray<double>(label, components * k_stride);
  };
  fields.mass = array("fmm masses", level.slots());
  fields.moments = array("fmm moments", refined_bricks * (k_moments - 1));
  if (level.has_coarse_fine_boundary())
    fields.children = array("fmm children", refined_bricks * k_child_fields);
  fields.field = array("fmm field", std::ssize(leaves) * 4);
  fields.terms = array("fmm terms", std::ssize(refined) * k_terms);
  return fields;
}

namespace {

// Calls copy(value in a brick's fields, index in the message) for all values of shared parts.
template <class Copy>
void for_shared(const char* name, const BrickFields& fields,
                const DeviceArray<const PatchCopy>& shared, bool with_children, const Copy& copy) {
  for_teams(
      name, shared.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const PatchCopy& brick = shared(team.league_rank());
        const int ni = brick.end[0] - brick.begin[0], nj = brick.end[1] - brick.begin[1],
                  octets = ni * nj * (brick.end[2] - brick.begin[2]);
        const int refined_index = fields.with_refined(brick.slot);
        const int components =
            refined_index < 0 ? 1 : k_moments + (with_children ? k_child_fields : 0);
        in_team(team, components * 8, [&](int n) {
          const int c = n / 8, s = n % 8;
          double* from =
              c == 0 ? fields.mass.data() + std::int64_t{brick.slot} * k_stride
              : c < k_moments
                  ? fields.moments.data() +
                        (std::int64_t{refined_index} * (k_moments - 1) + c - 1) * k_stride
                  : fields.children.data() +
                        (std::int64_t{refined_index} * k_child_fields + c - k_moments) * k_stride;
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

// Position of a brick: index of the block in the level, and lower corner of the brick in the block.
struct BrickCorner {
  std::int32_t block_index;
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
  return {corner.block_index, blocks.blocks(corner.block_index).slot,
          ((((corner.z + k) << b) + corner.y + j) << b) + corner.x + i};
}

}  // namespace

void pack_copies(const BrickFields& fields, bool with_children,
                 const DeviceArray<const PatchCopy>& shared, double* message) {
  for_shared(
      "fmm: pack copies", fields, shared, with_children,
      KOKKOS_LAMBDA(const double& value, std::int64_t to) { message[to] = value; });
}

void unpack_copies(const BrickFields& fields, bool with_children,
                   const DeviceArray<const PatchCopy>& shared, const double* message) {
  for_shared(
      "fmm: unpack copies", fields, shared, with_children,
      KOKKOS_LAMBDA(double& value, std::int64_t from) { value = message[from]; });
}

void set_masses(const BrickLevel& level, const BrickFields& fields, const CellRange& blocks,
                const BlockField& density, double scale) {
  for_teams(
      "fmm: masses", level.own(), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = team.league_rank();
        const BrickCorner corner = corner_of(slot, blocks.log2_block_size);
        const unsigned leaves = fields.cells(slot).leaves;
        double* mass = fields.mass.data() + std::int64_t{slot} * k_stride;
        in_team(team, 64, [&](int row) {
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
  for_teams(
      "fmm: store", level.own(), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const int slot = team.league_rank(), leaf_index = fields.with_leaves(slot);
        if (leaf_index < 0) return;
        const BrickCorner corner = corner_of(slot, stored.blocks.log2_block_size);
        const unsigned leaves = fields.cells(slot).leaves;
        const double* field = fields.field.data() + std::int64_t{leaf_index} * 4 * k_stride;
        in_team(team, 64, [&](int row) {
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

void pack_averages(const StoredCells& stored, const DeviceArray<const std::int32_t>& leaving,
                   double* message) {
  for_teams(
      "fmm: pack averages", leaving.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const BrickCorner corner =
            corner_of(leaving(team.league_rank()), stored.blocks.log2_block_size);
        double* to = message + std::int64_t{team.league_rank()} * 4 * k_octet;
        in_team(team, k_octet, [&](int q) {
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

void unpack_averages(const StoredCells& stored, const DeviceArray<const ChildBrick>& children,
                     const double* message) {
  for_teams(
      "fmm: unpack averages", children.extent(0), teams(0), KOKKOS_LAMBDA(const Team& team) {
        const ChildBrick child = children(team.league_rank());
        const BrickCorner corner = corner_of(child.parent, stored.blocks.log2_block_size);
        const double* from = message + std::int64_t{team.league_rank()} * 4 * k_octet;
        in_team(team, k_octet, [&](int q) {
          const int o = child.octant;
          const mesh::Cell cell = cell_of(stored.blocks, corner, 4 * (o & 1) + q % 4,
                                          4 * (o >> 1 & 1) + q / 4 % 4, 4 * (o >> 2) + q / 16);
          *stored.potential.at(cell) = from[q];
          for (int d = 0; d < 3; ++d)
            stored.acceleration.at(cell)[d * stored.acceleration.stride_component] =
                from[(1 + d) * k_octet + q];
        });
      });
}

}  // namespace octant::gravity::fmm
