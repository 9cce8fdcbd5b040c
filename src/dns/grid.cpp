#include "dns/grid.hpp"

#include "dns/stretching.hpp"

namespace octant::dns {

ZLine ZLine::part(int first, int count) const {
  ZLine line(count);
  for (int k = -1; k <= count; ++k) line[k] = (*this)[first + k];
  return line;
}

Grid::Grid(const GridOptions& options, bool z_periodic)
    : cells(options.cells),
      size(options.size),
      dx(size[0] / cells[0]),
      dy(size[1] / cells[1]),
      face(cells[2]),
      centre(cells[2]),
      dz_cell(cells[2]),
      dz_face(cells[2]) {
  const int n = cells[2];
  const std::vector<double> faces = z_faces(options);
  for (int k = 0; k < n; ++k)
    dz_cell[k] = options.stretching == Stretching::uniform ? size[2] / n : faces[k + 1] - faces[k];
  dz_cell[-1] = dz_cell[z_periodic ? n - 1 : 0];
  dz_cell[n] = dz_cell[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) dz_face[k] = 0.5 * (dz_cell[k] + dz_cell[k + 1]);
  dz_face[n] = dz_face[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) face[k] = faces[k + 1];
  face[n] = face[n - 1] + dz_cell[n];
  for (int k = -1; k <= n; ++k) centre[k] = face[k] - 0.5 * dz_cell[k];
}

}  // namespace octant::dns
