#include "problems/flow_problem.hpp"

namespace octant::problems {

void FlowProblem::set(const dns::Domain& domain, dns::State& state) const {
  const dns::Grid& grid = domain.grid;
  for (int k = 0; k < domain.nz; ++k)
    for (int j = 0; j < domain.ny; ++j)
      for (int i = 0; i < domain.nx; ++i) {
        const int at_y = domain.box[1].begin + j, at_z = domain.box[2].begin + k;
        const std::array<double, 3> centre{(i + 0.5) * grid.dx, (at_y + 0.5) * grid.dy,
                                           grid.centre[at_z]};
        const std::array<double, 3> face{(i + 1) * grid.dx, (at_y + 1) * grid.dy, grid.face[at_z]};
        const std::uint64_t cell =
            (static_cast<std::uint64_t>(at_z) * grid.cells[1] + at_y) * grid.cells[0] + i;
        for (int c = 0; c < dns::k_components; ++c) {
          Place place{centre, cell};
          place.position[c] = face[c];
          state.velocity(c)(i, j, k) = velocity(c, place);
        }
        state.p(i, j, k) = pressure({centre, cell});
      }
}

}  // namespace octant::problems
