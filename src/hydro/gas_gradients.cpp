#include "hydro/gas_gradients.hpp"

#include <vector>

#include "core/error.hpp"
#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

namespace {

// Cell of a tile's patch.
struct PatchCell {
  std::int32_t tile;
  std::int32_t index[3];
};

// Tiles of a level, by the blocks whose cells they update. find() locates a cell in a tile's patch.
class Patches {
 public:
  Patches(const mesh::Mesh& mesh, int level)
      : level_(level),
        halo_(mesh.halo(level)),
        blocks_(mesh.blocks(level)),
        cells_(mesh.cells(level)),
        first_(blocks_.slots() + 1) {
    for (const std::int32_t slot : halo_.tile_slots) ++first_[slot + 1];
    for (std::size_t slot = 1; slot < first_.size(); ++slot) first_[slot] += first_[slot - 1];
    tiles_.resize(halo_.tile_slots.size());
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (int tile = 0; tile < halo_.tiles.count(); ++tile)
      for (int n = halo_.tile_slot_begin[tile]; n < halo_.tile_slot_begin[tile + 1]; ++n)
        tiles_[next[halo_.tile_slots[n]]++] = tile;
  }

  PatchCell find(const mesh::Cell& cell) const {
    const BlockCoordinates block = morton_decode(blocks_.key(cell.slot));
    for (int n = first_[cell.slot]; n < first_[cell.slot + 1]; ++n) {
      const mesh::Tile& tile = halo_.tile_list[tiles_[n]];
      PatchCell at{tiles_[n], {}};
      bool is_inside = true;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t in_level =
            std::int64_t{block[d]} * cells_.block_size() + cells_.coordinate(cell.index, d);
        at.index[d] = static_cast<std::int32_t>(in_level - tile.first[d]);
        is_inside = is_inside && at.index[d] >= 0 && at.index[d] < halo_.tiles.patch;
      }
      if (is_inside) return at;
    }
    throw RunError("gas gradients: no tile of level {} updates cell {} of slot {}", level_,
                   cell.index, cell.slot);
  }

 private:
  int level_;
  const mesh::LevelHalo& halo_;
  const mesh::TreeLevel& blocks_;
  const mesh::CellRange& cells_;
  std::vector<std::int32_t> first_, tiles_;  // tiles of slot s: tiles_[first_[s]] and following
};

struct FindGradients {
  mesh::TileSet tiles;
  mesh::FieldPointers state;
  double dx;
  mesh::DeviceArray<const PatchCell> cells;
  mesh::DeviceArray<GasGradients> gradients;

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    const PatchCell& at = cells(n);
    const TileView view(tiles, at.tile);
    const auto gas = [&](int axis, int step) {
      const int i = at.index[0] + (axis == 0 ? step : 0), j = at.index[1] + (axis == 1 ? step : 0),
                k = at.index[2] + (axis == 2 ? step : 0);
      return view.cell(state, view.block_row(j, k), i);
    };
    GasGradients& found = gradients(n);
    const double here = *gas(0, 0).from;
    found.density_laplacian = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      const CellPointer below = gas(axis, -1), above = gas(axis, 1);
      const double lower = *below.from, upper = *above.from;
      found.density_laplacian += ((upper - here) - (here - lower)) / (dx * dx);
      for (int v = 0; v < 3; ++v)
        found.velocity[v][axis] = (above.from[(k_momentum_x + v) * above.stride] / upper -
                                   below.from[(k_momentum_x + v) * below.stride] / lower) /
                                  (2.0 * dx);
    }
  }
};

}  // namespace

mesh::DeviceArray<const GasGradients> gas_gradients(const mesh::Mesh& mesh, int level,
                                                    std::span<const mesh::Cell> cells) {
  const auto count = static_cast<std::int64_t>(cells.size());
  const auto gradients = mesh::uninitialised<GasGradients>("gas gradients", count);
  if (count == 0) return gradients;
  const Patches patches(mesh, level);
  std::vector<PatchCell> patch_cells;
  patch_cells.reserve(cells.size());
  for (const mesh::Cell& cell : cells) patch_cells.push_back(patches.find(cell));
  const FindGradients kernel{
      mesh.halo(level).tiles, mesh.pointers(level, mesh::LevelFields::k_now),
      mesh.geometry().cell_size(level),
      mesh::to_device("cells of gas gradients", patch_cells, TransferKind::lists), gradients};
  mesh::for_items("gas gradients", count, kernel);
  return gradients;
}

}  // namespace octant::hydro
