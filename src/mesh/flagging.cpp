#include "mesh/flagging.hpp"

#include "mesh/cell_range.hpp"

namespace octant::mesh {

void flag_dense_cells(const Mesh& mesh, int level, const DenseCells& wanted, int buffer,
                      const DeviceArray<std::uint64_t>& masks) {
  const CellRange& cells = mesh.cells(level);
  const int half = mesh.geometry().octant_size();
  record_cells("flag dense cells", cells, {wanted.weighted.data ? 16.0 : 8.0, 2.0});
  join_masks(
      "flag dense cells", cells, masks, KOKKOS_LAMBDA(const Cell& cell) {
        const double more =
            wanted.weighted.data ? wanted.more_weight * *wanted.weighted.at(cell) : 0.0;
        bool flagged = *wanted.field.at(cell) + more > wanted.threshold;
        if (flagged && wanted.share.data)
          flagged = *wanted.share.at(cell) > wanted.least_share * *wanted.whole.at(cell);
        if (!flagged) return std::uint64_t{0};
        return octant_mask(octants_near(cells.coordinate(cell.index, 0), buffer, half),
                           octants_near(cells.coordinate(cell.index, 1), buffer, half),
                           octants_near(cells.coordinate(cell.index, 2), buffer, half));
      });
}

}  // namespace octant::mesh
