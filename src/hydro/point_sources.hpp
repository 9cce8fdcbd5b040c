// What acts on the gas at a point beside its neighbours.
#pragma once

#include "hydro/euler.hpp"
#include "hydro/sweep.hpp"

namespace octant::hydro {

template <class V>
struct Vector {
  V value[3];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int axis) { return value[axis]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int axis) const { return value[axis]; }
};

// Accelerations: functions of the gas's velocity, its place and the time. There are a uniform one,
// and those that are felt where the frame turns.
class PointSources {
 public:
  PointSources(const HydroOptions& options, const SweepArguments& sweep)
      : any_(options.acceleration != std::array<double, 3>{}),
        frame_(options.frame),
        angle_(sweep.dt * options.frame.angular_velocity) {
    for (int n = 0; n < 3; ++n) {
      uniform_[n] = sweep.dt * options.acceleration[n];
      across_cell_[n] = sweep.dx * options.acceleration[n];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any() const { return any_; }
  // Acceleration along an axis times the size of a cell.
  KOKKOS_FORCEINLINE_FUNCTION double across_cell(int axis) const { return across_cell_[axis]; }

  // What the gas's velocity changes by in the whole step. Asked twice by Hancock's scheme, about
  // the state at the beginning of the step for half of it, and about that in the middle; and in
  // every stage of a Runge-Kutta scheme about the one that its fluxes come from.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> kick(const Vector<V>& /*velocity*/,
                                             const Vector<V>& /*place*/) const {
    return {V(uniform_[0]), V(uniform_[1]), V(uniform_[2])};
  }

  // The same in the frame, for the velocity there: with what acts because it turns, the forces of
  // Coriolis and the centrifugal one. place() is asked only if it does.
  template <class V, class Place>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> kick_in_frame(const Vector<V>& velocity,
                                                      const Place& place) const {
    const Vector<V> x = place();
    Vector<V> change = kick(velocity, x);
    if (!frame_.turns()) return change;
    const V angle(angle_), twice(2.0 * angle_);
    change[0] = change[0] + twice * velocity[1] + angle * frame_.velocity_y(x[0]);
    change[1] = change[1] - twice * velocity[0] - angle * frame_.velocity_x(x[1]);
    return change;
  }

 private:
  bool any_;
  mesh::Frame frame_;
  double angle_;                        // by which the frame turns
  double uniform_[3], across_cell_[3];  // acceleration times dt, times dx
};

// Takes the frame's velocity at a place from that of a primitive state.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void to_frame(const mesh::Frame& frame, const Vector<V>& place,
                                          State<V>& w) {
  w[k_velocity_x] = w[k_velocity_x] - frame.velocity_x(place[1]);
  w[k_velocity_y] = w[k_velocity_y] - frame.velocity_y(place[0]);
}

// A flux of mass, momentum and energy, seen by somebody against whom the former observer moves with
// a velocity along x and y.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> boosted(const State<V>& flux, const V& x, const V& y) {
  State<V> seen = flux;
  const V mass = flux[k_mass];
  seen[k_momentum_x] = flux[k_momentum_x] + x * mass;
  seen[k_momentum_y] = flux[k_momentum_y] + y * mass;
  seen[k_energy] = flux[k_energy] + (x * (flux[k_momentum_x] + V(0.5) * (x * mass)) +
                                     y * (flux[k_momentum_y] + V(0.5) * (y * mass)));
  return seen;
}

}  // namespace octant::hydro
