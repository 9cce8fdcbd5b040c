// Kernels of the fast multipole method over all bricks of a level, with one team per brick.
#pragma once

#include "gravity/block_kernels.hpp"
#include "gravity/fmm_tree.hpp"

namespace octant::gravity::fmm {

// --- indices -----------------------------------------------------------------------------------

// Index of a cell in a brick's component, from its coordinates 0..7.
KOKKOS_FORCEINLINE_FUNCTION int cell_at(int i, int j, int k) {
  const int octant = (i & 1) + 2 * (j & 1) + 4 * (k & 1);
  return octant * k_octet + ((k >> 1) * k_parents + (j >> 1)) * k_parents + (i >> 1);
}

// Octant of a brick in which the row (J, K) of parents begins. The row ends in the next octant.
KOKKOS_FORCEINLINE_FUNCTION int row_octant(int J, int K) { return 4 * (K >> 1) + 2 * (J >> 1); }

// Offset (0, 1, 2) of the brick that contains coordinate i of a brick with `side` cells or parents.
KOKKOS_FORCEINLINE_FUNCTION int part(int i, int side) { return i < 0 ? 0 : i < side ? 1 : 2; }

// Returns true if a cell, given by its index in a component, lies in the octants of a mask.
KOKKOS_FORCEINLINE_FUNCTION bool is_in(unsigned octants, int at) {
  const int q = at % k_octet;
  return octants >> (row_octant(q / 4 % 4, q / 16) + (q % 4 >> 1)) & 1u;
}

inline constexpr int k_packs = k_octet / k_simd_width;  // packs per octant

// --- fields ------------------------------------------------------------------------------------

// Fields of the bricks of a level. Every component has k_stride doubles, of which the first k_cells
// are cells: [octant][K][J][I], with the coordinates of parents. Lengths are in cells of the level.
// Sources of leaf cells are 0 in refined cells and vice versa. Results of leaf cells are undefined
// in refined cells and vice versa.
struct BrickFields {
  // Tables. `near`: surrounding bricks of own slots. `cells`: octants of leaf and refined cells, of
  // all slots. `with_refined`: index among slots with refined cells (own ones first), or -1.
  // `with_leaves`: index among own slots with leaf cells, or -1.
  DeviceArray<const PatchTable> near;
  DeviceArray<const BrickCells> cells;
  DeviceArray<const std::int32_t> with_refined, with_leaves;
  // Slots of own bricks with leaf cells, of those with leaf cells near refined cells, and of own
  // bricks with refined cells.
  DeviceArray<const std::int32_t> leaf_bricks, boundary_bricks, refined_bricks;
  // Sources: [slot]; [with_refined][all moments but the mass]; [with_refined][k_child_fields].
  DeviceArray<double> mass, moments, children;
  // Results: [with_leaves][potential, force]; [own with_refined][k_terms].
  DeviceArray<double> field, terms;
};

// Allocates the fields of a level.
BrickFields make_fields(const BrickLevel& level);

// Sets the sources from the density: masses of leaf cells are density times `scale`.
void set_masses(const BrickLevel& level, const BrickFields& fields, const CellRange& blocks,
                const BlockField& density, double scale);

// --- messages ----------------------------------------------------------------------------------
//
// Copies of surrounding bricks, exchanged by the plan of BrickLevel::copies(). pack_copies() writes
// the parts that other ranks need into `message`.
void pack_copies(const BrickFields& fields, bool with_children,
                 const DeviceArray<const PatchCopy>& shared, double* message);
// Stores received parts in the copies.
void unpack_copies(const BrickFields& fields, bool with_children,
                   const DeviceArray<const PatchCopy>& shared, const double* message);

// Messages to the coarser level, [brick][k_up][octet]: bodies of parents, masses of children.
inline constexpr int k_up = k_moments + k_child_fields;
// Combines the moments of eight children into those of each parent (M2M), for the bricks `leaving`
// to the coarser level.
void pack_moments(const BrickFields& fields, const DeviceArray<const std::int32_t>& leaving,
                  double* message);
// Stores the messages of pack_moments() as moments of refined cells.
void unpack_moments(const BrickFields& fields, const DeviceArray<const ChildBrick>& children,
                    const double* message);

// Number of cells along an edge of the region for which leaf-cell masses are sent. A message to the
// finer level has, for each brick: 1 if leaf cells of the coarser level are near, else 0; the
// expansions of the brick's parents, [k_terms][octet]; and at coarse-fine boundaries the masses of
// nearby leaf cells, [k][j][i].
inline constexpr int margin_of(const Lists& lists) { return k_parents + 2 * lists.near; }
// Number of doubles per brick in a message to the finer level.
inline std::int64_t down_doubles(const Lists& lists, bool with_boundary) {
  const int edge = margin_of(lists);
  return 1 + k_terms * k_octet + (with_boundary ? edge * edge * edge : 0);
}
// Writes the messages to the bricks of the finer level.
void pack_expansions(const BrickFields& fields, const Lists& lists, bool with_boundary,
                     const DeviceArray<const ChildBrick>& children, double* message);
// Adds the expansions of the parents to the cells of each brick (L2L). `up` are the messages of
// pack_moments() for these bricks.
void unpack_expansions(const BrickFields& fields, const Lists& lists, bool with_boundary,
                       const DeviceArray<const std::int32_t>& leaving, const double* up,
                       const double* message);

// Potential and acceleration in blocks of the mesh.
struct StoredCells {
  CellRange blocks;
  BlockField potential;
  VectorField acceleration;
};
// Packs averages of the fields over eight cells, for the bricks in the list `leaving`, into a
// message to the coarser level: [brick][4][octet].
void pack_averages(const StoredCells& stored, const DeviceArray<const std::int32_t>& leaving,
                   double* message);
// Unpacks the messages of pack_averages() into refined cells.
void unpack_averages(const StoredCells& stored, const DeviceArray<const ChildBrick>& children,
                     const double* message);

// --- forces ------------------------------------------------------------------------------------
//
// Contributions to the field of leaf cells by leaf cells as point masses (P2P) and by the
// multipoles of refined cells (M2P), and to the local expansions of refined cells by all cells
// (M2L).
//
// Sets the field of leaf cells to the field of other leaf cells (P2P).
void attract_points(const BrickFields& fields, const Lists& lists);
// Adds the field of refined cells to that of leaf cells (M2P).
void attract_leaves(const BrickFields& fields, const Lists& lists);
// Sets the expansions of refined cells to those of the field of all cells (M2L).
void attract_refined(const BrickFields& fields, const Lists& lists);
// Adds the field of the children of near refined cells, as point masses, to that of leaf cells at
// coarse-fine boundaries.
void attract_across(const BrickFields& fields, const Lists& lists);

// Stores potential and force of leaf cells, multiplied by the factors, in blocks of the mesh.
void store_leaves(const BrickLevel& level, const BrickFields& fields, const StoredCells& stored,
                  double potential_factor, double force_factor);

}  // namespace octant::gravity::fmm
