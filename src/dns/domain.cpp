#include "dns/domain.hpp"

namespace octant::dns {

Domain::Domain(const Communicator& communicator, const Grid& grid_, const Boundaries& boundaries_,
               pencil::ProcessGrid processes)
    : grid(grid_),
      boundaries(boundaries_),
      pencils(communicator, grid.cells, processes),
      box(pencils.box(pencil::Orientation::x)),
      nx(box[0].count()),
      ny(box[1].count()),
      nz(box[2].count()),
      dz_cell(grid.dz_cell.part(box[2].begin, nz)),
      dz_face(grid.dz_face.part(box[2].begin, nz)) {}

bool Domain::ends(int axis, int end) const {
  if (boundaries.periodic(axis)) return false;
  return end == 0 ? box[axis].begin == 0 : box[axis].end == grid.cells[axis];
}

int Domain::unknowns(int component, int axis) const {
  return box[axis].count() - (component == axis && ends(axis, 1) ? 1 : 0);
}

}  // namespace octant::dns
