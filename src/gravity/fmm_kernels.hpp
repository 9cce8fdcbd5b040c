// The kernels of the fast multipole method, each over all bricks of a level: a team for each brick.
#pragma once

#include "gravity/block_kernels.hpp"
#include "gravity/fmm_tree.hpp"

namespace octant::gravity::fmm {

// --- places ------------------------------------------------------------------------------------

// The place of a cell in a brick's component, from its coordinates 0..7.
KOKKOS_FORCEINLINE_FUNCTION int cell_at(int i, int j, int k) {
  const int octant = (i & 1) + 2 * (j & 1) + 4 * (k & 1);
  return octant * k_octet + ((k >> 1) * k_parents + (j >> 1)) * k_parents + (i >> 1);
}

// The octant of a brick in which its parents' row (J, K) begins; the next one is beside it in x.
KOKKOS_FORCEINLINE_FUNCTION int row_octant(int J, int K) { return 4 * (K >> 1) + 2 * (J >> 1); }

// The brick that holds cells or parents beyond a brick, of `side` each.
KOKKOS_FORCEINLINE_FUNCTION int part(int i, int side) { return i < 0 ? 0 : i < side ? 1 : 2; }

// Whether a cell, by its place in a component, lies in octants of the brick that a mask names.
KOKKOS_FORCEINLINE_FUNCTION bool is_in(unsigned octants, int at) {
  const int q = at % k_octet;
  return octants >> (row_octant(q / 4 % 4, q / 16) + (q % 4 >> 1)) & 1u;
}

inline constexpr int k_packs = k_octet / k_wide;  // of an octant

// --- fields ------------------------------------------------------------------------------------

// The fields of one level's bricks. Every component has k_stride doubles, of which the first
// k_cells are cells: [octant][K][J][I], K, J and I being their parents. Lengths are in cells of the
// level. What cells are not, of leaves and refined ones, is 0 in sources and anything in results.
struct BrickFields {
  // Tables. Of own slots: the bricks around. Of all slots: what cells they have, and their places
  // among those with refined cells (own ones first), or -1. Of own slots: their places among those
  // with leaf cells, or -1.
  DeviceArray<const PatchTable> near;
  DeviceArray<const BrickCells> cells;
  DeviceArray<const std::int32_t> with_refined, with_leaves;
  // Own slots with leaf cells, and those of them near refined cells; own slots with refined cells.
  DeviceArray<const std::int32_t> leaf_bricks, jump_bricks, refined_bricks;
  // Sources: [slot]; [with_refined][all moments but the mass]; [with_refined][k_child_fields].
  DeviceArray<double> mass, moments, children;
  // Results: [with_leaves][potential, force]; [own with_refined][k_terms].
  DeviceArray<double> field, terms;
};

BrickFields make_fields(const BrickLevel& level);

// Sources from density: the masses of leaf cells are density times `scale`.
void set_masses(const BrickLevel& level, const BrickFields& fields, const CellRange& blocks,
                const BlockField& density, double scale);

// --- messages ----------------------------------------------------------------------------------
// Copies of bricks around, by the plan of BrickLevel::copies().
void pack_copies(const BrickFields& fields, bool with_children,
                 const DeviceArray<const SharedBrick>& shared, double* message);
void unpack_copies(const BrickFields& fields, bool with_children,
                   const DeviceArray<const SharedBrick>& shared, const double* message);

// Upwards, [brick][k_up][octet]: the bodies that own bricks are to their parents, and their masses.
inline constexpr int k_up = k_moments + k_child_fields;
void combine_bricks(const BrickFields& fields, const DeviceArray<const std::int32_t>& leaving,
                    double* message);
void take_children(const BrickFields& fields, const DeviceArray<const ChildBrick>& children,
                   const double* message);

// Downwards, [brick]: 1 if there are leaf cells of the coarser level near, else 0; the expansions
// of its octet of parents, [k_terms][octet]; and with jumps the masses of leaf cells around,
// plain, [k][j][i], as far as they are near.
inline constexpr int margin_of(const Lists& lists) { return k_parents + 2 * lists.near; }
inline std::int64_t down_doubles(const Lists& lists, bool with_jumps) {
  const int edge = margin_of(lists);
  return 1 + k_terms * k_octet + (with_jumps ? edge * edge * edge : 0);
}
void give_children(const BrickFields& fields, const Lists& lists, bool with_jumps,
                   const DeviceArray<const ChildBrick>& children, double* message);
// `up`: what these bricks sent upwards.
void take_parents(const BrickFields& fields, const Lists& lists, bool with_jumps,
                  const DeviceArray<const std::int32_t>& leaving, const double* up,
                  const double* message);

// Means of eight cells of own blocks, upwards, [brick][4][octet]: of potential and acceleration.
struct StoredCells {
  CellRange blocks;
  BlockField potential;
  VectorField acceleration;
};
void average_bricks(const StoredCells& stored, const DeviceArray<const std::int32_t>& leaving,
                    double* message);
void take_averages(const StoredCells& stored, const DeviceArray<const ChildBrick>& children,
                   const double* message);

// --- forces ------------------------------------------------------------------------------------
// Points on points, which sets the field of leaf cells; refined cells on leaf cells; all on refined
// cells, which sets their expansions.
void attract_points(const BrickFields& fields, const Lists& lists);
void attract_leaves(const BrickFields& fields, const Lists& lists);
void attract_refined(const BrickFields& fields, const Lists& lists);
// Of a level with jumps: children, as points, of near refined cells on leaf cells.
void attract_across(const BrickFields& fields, const Lists& lists);

// What is stored of leaf cells: potential and force by these factors.
void store_leaves(const BrickLevel& level, const BrickFields& fields, const StoredCells& stored,
                  double potential_factor, double force_factor);

}  // namespace octant::gravity::fmm
