// The options and arguments of a sweep as its kernels want them.
#pragma once

#include "hydro/euler.hpp"
#include "hydro/sweep.hpp"

namespace octant::hydro {

struct KernelArguments {
  KernelArguments(const HydroOptions& options, const SweepArguments& a)
      : sweep(a),
        gas(options.gas()),
        variables(options.variable_count()),
        hancock(options.scheme == Scheme::muscl_hancock),
        accelerated(options.acceleration != std::array<double, 3>{}),
        guards_entropy(options.dual_energy == DualEnergy::overwrite),
        overwrites_energy(guards_entropy && a.ends_step),
        blended(a.a0 != 0.0 || a.a1 != 1.0),
        dt_over_dx(a.dt / a.dx),
        cells_per_block(static_cast<std::int64_t>(a.tiles.block_size) * a.tiles.block_size *
                        a.tiles.block_size) {
    for (int n = 0; n < 3; ++n) kick[n] = a.dt * options.acceleration[n];
  }

  // The primitive state whose face values the Riemann problems take: half a step on for Hancock.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION State<V> middle(const State<V>& w, const HalfStep<V>& half_step,
                                              const State<V>& dx, const State<V>& dy,
                                              const State<V>& dz) const {
    State<V> mid = w;
    if (hancock) {
      mid = half_step(w, dx, dy, dz, 0.5 * dt_over_dx, gas);
#pragma GCC unroll 8
      for (int n = 0; n < 3; ++n) mid[k_velocity_x + n] = mid[k_velocity_x + n] + V(0.5 * kick[n]);
    }
    return mid;
  }

  SweepArguments sweep;
  Gas gas;
  int variables;
  bool hancock, accelerated;
  bool guards_entropy;     // from truncation errors of the energy: DualEnergy::overwrite
  bool overwrites_energy;  // resets the total energy from the entropy that was guarded
  bool blended;            // whether next is more than current + dt L(current)
  double dt_over_dx;
  std::int64_t cells_per_block;
  double kick[3];  // acceleration times dt
};

}  // namespace octant::hydro
