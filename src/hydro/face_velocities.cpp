#include "hydro/face_velocities.hpp"

#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

namespace {

// A cell of a tile's patch.
struct TileCell {
  const mesh::TileSet& tiles;
  const mesh::FieldPointers& state;
  TileView view;
  int index[3];

  // Slot of this rank's block that contains the cell; -1 if the cell belongs to another tile or
  // rank.
  KOKKOS_INLINE_FUNCTION int own_slot() const {
    const int box = view.entry(view.block_row(index[1], index[2]), index[0]);
    return box >= 0 && view.box(box).buffer == mesh::k_own ? box : -1;
  }

  KOKKOS_INLINE_FUNCTION double velocity(int axis, int step) const {
    const int at[3] = {index[0] + (axis == 0 ? step : 0), index[1] + (axis == 1 ? step : 0),
                       index[2] + (axis == 2 ? step : 0)};
    const CellPointer cell = view.cell(state, view.block_row(at[1], at[2]), at[0]);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a cell and its neighbours have data
    return cell.from[(k_momentum_x + axis) * cell.stride] / cell.from[k_mass * cell.stride];
  }

  // Sets the velocity on the cell's lower face along each axis, and on its upper face at the end of
  // a block.
  KOKKOS_INLINE_FUNCTION void set_faces(int slot, const mesh::StaggeredView& faces) const {
    const int N = tiles.block_size;
    int point[3];
    for (int d = 0; d < 3; ++d) point[d] = (index[d] + view.tile().origin[d]) & (N - 1);
    for (int axis = 0; axis < 3; ++axis) {
      const double here = velocity(axis, 0);
      faces(slot, axis, point) = 0.5 * (velocity(axis, -1) + here);
      if (point[axis] < N - 1) continue;
      int upper[3] = {point[0], point[1], point[2]};
      ++upper[axis];
      faces(slot, axis, upper) = 0.5 * (here + velocity(axis, 1));
    }
  }
};

}  // namespace

void find_face_velocities(const mesh::Mesh& mesh, int level, const mesh::StaggeredView& velocity) {
  const mesh::TileSet tiles = mesh.halo(level).tiles;
  const mesh::FieldPointers state = mesh.pointers(level, mesh::LevelFields::k_now);
  const int M = tiles.patch, cells = M * M * M;
  mesh::for_items(
      {"face velocities"}, std::int64_t{tiles.count()} * cells, KOKKOS_LAMBDA(std::int64_t n) {
        const auto m = static_cast<int>(n % cells);
        const TileCell cell{tiles,
                            state,
                            TileView(tiles, static_cast<int>(n / cells)),
                            {m % M, m / M % M, m / (M * M)}};
        if (const int slot = cell.own_slot(); slot >= 0) cell.set_faces(slot, velocity);
      });
}

}  // namespace octant::hydro
