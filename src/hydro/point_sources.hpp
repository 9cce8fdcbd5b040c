// What acts on the gas at a point beside its neighbours.
#pragma once

#include "hydro/sweep.hpp"

namespace octant::hydro {

template <class V>
struct Vector {
  V value[3];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int axis) { return value[axis]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int axis) const { return value[axis]; }
};

// Accelerations: functions of the gas's velocity, its place and the time, as those of a rotating
// frame and of an external potential are. So far there is one that is uniform.
class PointSources {
 public:
  PointSources(const HydroOptions& options, const SweepArguments& sweep)
      : any_(options.acceleration != std::array<double, 3>{}) {
    for (int n = 0; n < 3; ++n) uniform_[n] = sweep.dt * options.acceleration[n];
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any() const { return any_; }

  // What the gas's velocity changes by in the whole step. Asked twice by Hancock's scheme, about
  // the state at the beginning of the step for half of it, and about that in the middle; and in
  // every stage of a Runge-Kutta scheme about the one that its fluxes come from.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> kick(const Vector<V>& /*velocity*/,
                                             const Vector<V>& /*place*/) const {
    return {V(uniform_[0]), V(uniform_[1]), V(uniform_[2])};
  }

 private:
  bool any_;
  double uniform_[3];  // acceleration times dt
};

}  // namespace octant::hydro
