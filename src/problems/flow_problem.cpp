#include "problems/flow_problem.hpp"

#include <algorithm>

namespace octant::problems {

namespace {

constexpr int k_centres = dns::k_components;

// Calls visit(i, j, k, point) for every face of a velocity component on this rank, or for every
// cell centre if `component` is k_centres.
template <class Visit>
void for_each_point(const dns::Domain& domain, int component, const Visit& visit) {
  const dns::Grid& grid = domain.grid;
  for (int k = domain.first(component, 2); k < domain.nz; ++k)
    for (int j = domain.first(component, 1); j < domain.ny; ++j)
      for (int i = domain.first(component, 0); i < domain.nx; ++i) {
        const int at_y = domain.box[1].begin + j, at_z = domain.box[2].begin + k;
        const std::array<double, 3> face{(i + 1) * grid.dx, (at_y + 1) * grid.dy, grid.face[at_z]};
        FlowPoint point{{(i + 0.5) * grid.dx, (at_y + 0.5) * grid.dy, grid.centre[at_z]}, 0};
        if (component != k_centres) point.position[component] = face[component];
        const std::uint64_t x = std::max(i, 0), y = std::max(at_y, 0), z = std::max(at_z, 0);
        point.cell = (z * grid.cells[1] + y) * grid.cells[0] + x;
        visit(i, j, k, point);
      }
}

}  // namespace

void FlowProblem::set(const dns::Domain& domain, dns::State& state) const {
  for (int c = 0; c < dns::k_components; ++c)
    for_each_point(domain, c, [&](int i, int j, int k, const FlowPoint& point) {
      state.velocity(c)(i, j, k) = velocity(c, point);
    });
  for_each_point(domain, k_centres, [&](int i, int j, int k, const FlowPoint& point) {
    state.p(i, j, k) = pressure(point);
  });
}

void FlowProblem::set_scalar(const dns::Domain& domain, dns::Field& scalar_field) const {
  for_each_point(domain, k_centres, [&](int i, int j, int k, const FlowPoint& point) {
    scalar_field(i, j, k) = scalar(point);
  });
}

}  // namespace octant::problems
