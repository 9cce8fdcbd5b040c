// The grid, its boundaries, and the part of it that this rank holds.
#pragma once

#include <array>

#include "dns/staggered_grid.hpp"
#include "pencil/boundary.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::dns {

using pencil::Field;
using pencil::Range;
using pencil::Team;

// What a side means for one quantity: it continues at the other side, has a value at the boundary,
// or no gradient across it.
using pencil::Condition;

// What holds at the six sides of the domain, as tables that the solvers read.
class Boundaries {
 public:
  // Throws InputError, naming the parameters and both kinds of a pair, where two sides do not go
  // together, a side does not go with the forcing, or more fluid enters than leaves.
  Boundaries(const FlowParameters& parameters, const Vector& size);

  Side side(int axis, int end) const { return sides_[axis][end]; }
  bool periodic(int axis) const { return sides_[axis][0] == Side::periodic; }
  const Vector& velocity(int axis, int end) const { return velocities_[axis][end]; }

  // The condition of a velocity component, and of the pressure correction. What has no gradient in
  // the velocity normal to a side has the value 0 in the pressure there: the velocity on that face
  // is predicted (outflow_sides.hpp), and the correction makes it solenoidal.
  Condition of_velocity(int component, int axis, int end) const;
  Condition of_pressure(int axis, int end) const;

 private:
  void check_pair(int axis) const;
  void check_velocities(int axis) const;
  void check_balance(const Vector& size) const;

  std::array<std::array<Side, 2>, 3> sides_;
  std::array<std::array<Vector, 2>, 3> velocities_;
};

enum Component { k_u, k_v, k_w, k_components };

struct Domain {
  Grid grid;
  Boundaries boundaries;
  pencil::PencilGrid pencils;
  pencil::Box box;         // of this rank: x is whole
  int nx, ny, nz;          // its cells
  ZLine dz_cell, dz_face;  // its part of the grid's lines

  // Collective. Throws InputError if a rank at an upper outflow has too few cells.
  Domain(const Communicator& communicator, const Grid& grid, const Boundaries& boundaries,
         pencil::ProcessGrid processes);

  // Whether this rank's cells end at a side of the domain that is not periodic.
  bool ends(int axis, int end) const;
  // Rows, or planes, or cells of a row along an axis in which the momentum equation holds for a
  // component: the face on an upper side that is not periodic has a value of its own.
  int unknowns(int component, int axis) const;
  // The first of those that hold what must be kept from stage to stage: 0, or -1 where fluid leaves
  // through the lower side, on whose faces the component is part of the state.
  int first(int quantity, int axis) const {
    return quantity == axis && ends(axis, 0) && boundaries.side(axis, 0) == Side::outflow ? -1 : 0;
  }
  // Whether other ranks hold parts of this rank's lines along an axis.
  bool is_cut(int axis) const {
    const auto [y, z] = pencils.processes();
    return (axis == 1 && y > 1) || (axis == 2 && z > 1);
  }
};

// A rank's velocity and pressure, in the cells and on the lower faces that Domain::first tells of.
struct State {
  Field u, v, w, p;

  explicit State(const Domain& domain)
      : u(domain.box), v(domain.box), w(domain.box), p(domain.box) {}

  Field& velocity(int component) { return component == k_u ? u : component == k_v ? v : w; }
  const Field& velocity(int component) const {
    return const_cast<State*>(this)->velocity(component);
  }
};

}  // namespace octant::dns
