// A flow whose fields are set from functions of position and compared with such functions, on all
// ranks of a test.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dns/incompressible_flow.hpp"

namespace octant::dns {

struct FlowSetup {
  GridOptions grid;
  FlowParameters flow;
  ScalarOptions scalar;
};

// All process grids of the ranks that leave at least two rows and two planes to each.
inline std::vector<pencil::ProcessGrid> process_grids_of(const std::array<int, 3>& cells) {
  const int ranks = Communicator::world().size();
  std::vector<pencil::ProcessGrid> grids;
  for (int y = 1; y <= ranks; ++y)
    if (ranks % y == 0 && 2 * y <= cells[1] && 2 * (ranks / y) <= cells[2])
      grids.push_back({y, ranks / y});
  return grids;
}

class TestFlow {
 public:
  using Point = std::array<double, 3>;

  TestFlow(const FlowSetup& setup, pencil::ProcessGrid processes, const BodyForce* force = nullptr)
      : boundaries_(setup.flow, setup.grid.size),
        domain_(Communicator::world(), Grid(setup.grid, boundaries_.periodic(2)), boundaries_,
                processes) {
    pencil::PoissonOptions solvers;
    solvers.tridiagonal.method = setup.flow.poisson;
    flow_ =
        std::make_unique<Flow>(domain_, setup.flow, setup.scalar, solvers, CommOptions{}, force);
  }

  const Domain& domain() const { return domain_; }
  Flow& flow() { return *flow_; }
  State& state() { return flow_->state(); }

  // The position of a velocity component (-1: pressure or scalar) of a cell of this rank.
  Point place(int component, int i, int j, int k) const {
    const Grid& grid = domain_.grid;
    const double half[] = {component == k_u ? 1.0 : 0.5, component == k_v ? 1.0 : 0.5};
    const int z = domain_.box[2].begin + k;
    return {(i + half[0]) * grid.dx, (domain_.box[1].begin + j + half[1]) * grid.dy,
            component == k_w ? grid.face[z] : grid.centre[z]};
  }

  // Sets a field to function(place), with the faces on lower outflow sides.
  template <class Function>
  void set(Field& field, int component, const Function& function) {
    for_each(component, true,
             [&](int i, int j, int k) { field(i, j, k) = function(place(component, i, j, k)); });
  }
  // Sets the velocity to function(component, place), and fills all ghosts. Collective.
  template <class Function>
  void set_velocity(const Function& function) {
    for (int c = 0; c < k_components; ++c)
      set(state().velocity(c), c, [&](const Point& x) { return function(c, x); });
    flow_->complete();
  }

  // The largest difference of a field from function(place) on all ranks. Collective.
  template <class Function>
  double error(const Field& field, int component, const Function& function) const {
    double largest = 0.0;
    for_each(component, false, [&](int i, int j, int k) {
      largest = std::max(largest, std::abs(field(i, j, k) - function(place(component, i, j, k))));
    });
    return Communicator::world().max(largest);
  }
  template <class Function>
  double velocity_error(const Function& function) {
    double largest = 0.0;
    for (int c = 0; c < k_components; ++c)
      largest = std::max(
          largest, error(state().velocity(c), c, [&](const Point& x) { return function(c, x); }));
    return largest;
  }

 private:
  template <class Body>
  void for_each(int component, bool with_lower_faces, const Body& body) const {
    const auto first = [&](int axis) {
      return with_lower_faces && component >= 0 ? domain_.first(component, axis) : 0;
    };
    for (int k = first(2); k < domain_.nz; ++k)
      for (int j = first(1); j < domain_.ny; ++j)
        for (int i = first(0); i < domain_.nx; ++i) body(i, j, k);
  }

  Boundaries boundaries_;
  Domain domain_;
  std::unique_ptr<Flow> flow_;
};

// The message of the error of type Error that a step throws; "" if it throws none.
template <class Error, class Step>
std::string error_of(const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace octant::dns
