#include "problems/flow_problem.hpp"

namespace octant::problems {

namespace {

// Calls visit(i, j, k, centre, upper faces, number) for every cell of this rank.
template <class Visit>
void for_each_cell(const dns::Domain& domain, const Visit& visit) {
  using Position = std::array<double, 3>;
  const dns::Grid& grid = domain.grid;
  for (int k = 0; k < domain.nz; ++k)
    for (int j = 0; j < domain.ny; ++j)
      for (int i = 0; i < domain.nx; ++i) {
        const int at_y = domain.box[1].begin + j, at_z = domain.box[2].begin + k;
        const Position centre{(i + 0.5) * grid.dx, (at_y + 0.5) * grid.dy, grid.centre[at_z]};
        const Position face{(i + 1) * grid.dx, (at_y + 1) * grid.dy, grid.face[at_z]};
        visit(i, j, k, centre, face,
              (static_cast<std::uint64_t>(at_z) * grid.cells[1] + at_y) * grid.cells[0] + i);
      }
}

}  // namespace

void FlowProblem::set(const dns::Domain& domain, dns::State& state) const {
  for_each_cell(domain,
                [&](int i, int j, int k, const auto& centre, const auto& face, std::uint64_t cell) {
                  for (int c = 0; c < dns::k_components; ++c) {
                    Place place{centre, cell};
                    place.position[c] = face[c];
                    state.velocity(c)(i, j, k) = velocity(c, place);
                  }
                  state.p(i, j, k) = pressure({centre, cell});
                });
}

void FlowProblem::set_scalar(const dns::Domain& domain, dns::Field& scalar_field) const {
  for_each_cell(domain,
                [&](int i, int j, int k, const auto& centre, const auto&, std::uint64_t cell) {
                  scalar_field(i, j, k) = scalar({centre, cell});
                });
}

}  // namespace octant::problems
