#include "dns/domain.hpp"

#include "core/error.hpp"

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
      dz_face(grid.dz_face.part(box[2].begin, nz)) {
  communicator.agree([&] {
    for (int axis = 1; axis < 3; ++axis)
      if (ends(axis, 1) && boundaries.side(axis, 1) == Side::outflow && box[axis].count() < 2)
        throw InputError(
            "an outflow at the upper side along {} needs two cells of that axis on each rank "
            "beside "
            "it, but grid.process_grid = \"{}\" leaves one; use fewer ranks along {}",
            static_cast<char>('x' + axis), pencil::to_string(processes),
            static_cast<char>('x' + axis));
  });
}

bool Domain::ends(int axis, int end) const {
  if (boundaries.periodic(axis)) return false;
  return end == 0 ? box[axis].begin == 0 : box[axis].end == grid.cells[axis];
}

int Domain::unknowns(int component, int axis) const {
  return box[axis].count() - (component == axis && ends(axis, 1) ? 1 : 0);
}

}  // namespace octant::dns
