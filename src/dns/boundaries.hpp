// What holds at the six sides of the domain, as tables that the solvers read.
#pragma once

#include <array>

#include "dns/options.hpp"
#include "pencil/boundary.hpp"

namespace octant::dns {

// What that means for one quantity: it continues at the other side, has a value at the boundary, or
// no gradient across it.
using pencil::Condition;

class Boundaries {
 public:
  // Throws InputError, naming the parameters and both kinds of a pair, where two sides do not go
  // together, a side does not go with the forcing, or more fluid enters than leaves.
  Boundaries(const FlowParameters& parameters, const Vector& size);

  Side side(int axis, int end) const { return sides_[axis][end]; }
  bool periodic(int axis) const { return sides_[axis][0] == Side::periodic; }
  const Vector& velocity(int axis, int end) const { return velocities_[axis][end]; }

  // The condition of a velocity component, and of the pressure correction. What has no gradient in
  // the velocity normal to a side has the value 0 in the pressure there: the predicted velocity on
  // that face is the one of the next face inside, and the correction makes it solenoidal.
  Condition of_velocity(int component, int axis, int end) const;
  Condition of_pressure(int axis, int end) const;

 private:
  void check_pair(int axis) const;
  void check_velocities(int axis) const;
  void check_balance(const Vector& size) const;

  std::array<std::array<Side, 2>, 3> sides_;
  std::array<std::array<Vector, 2>, 3> velocities_;
};

}  // namespace octant::dns
