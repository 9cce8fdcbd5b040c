// Keeping total energy and entropy in step.
//
// With DualEnergy::on, entropy rules where less than a share of the total energy is internal. With
// DualEnergy::overwrite what the velocities around a cell do decides, and the frame of reference
// does not matter. The kinetic energy of cells' mean momenta misses what velocities vary within
// them, and what limiters take from it at crests comes out as heat: truncation errors, of the order
// of density times squared differences of velocity between cells. Cold gas must not believe them.
// A shock heats by as much, but abruptly.
#pragma once

#include "core/unroll.hpp"
#include "hydro/euler.hpp"
#include "hydro/sweep_scratch.hpp"

namespace octant::hydro {

// What of the energy per mass may be truncation error, from how the velocity changes around a cell;
// sums over the velocity's components and the axes.
template <class V>
class Truncation {
 public:
  // Adds a component at five cells in a row, the middle one of which is meant. Slopes that go on
  // are the smaller differences to the neighbours; bends that do so are the second differences on
  // which the cell and its neighbours agree: those are left at crests, where slopes vanish. In a
  // shock differences do not go on.
  KOKKOS_FORCEINLINE_FUNCTION void add(const V& q_2, const V& q_1, const V& q0, const V& q1,
                                       const V& q2) {
    const V left2 = q_1 - q_2, left = q0 - q_1, right = q1 - q0, right2 = q2 - q1;
    const V bend_left = left - left2, bend = right - left, bend_right = right2 - right;
    const V least = min(bend, min(bend_left, bend_right));
    const V most = max(bend, max(bend_left, bend_right));
    const V agreed = max(least, V(0.0)) - min(most, V(0.0));
    const V left_square = left * left, right_square = right * right;
    slopes_ = slopes_ + (left_square + right_square);
    steady_slopes_ = steady_slopes_ + min(left_square, right_square);
    bends_ = fused_multiply_add(agreed, agreed, bends_);
  }

  // At most, whatever the flow.
  KOKKOS_FORCEINLINE_FUNCTION V any() const {
    return V(0.5) * fused_multiply_add(V(k_slopes), slopes_, bends_);
  }
  // Of changes that go on from cell to cell.
  KOKKOS_FORCEINLINE_FUNCTION V steady() const {
    return fused_multiply_add(V(k_slopes), steady_slopes_, V(0.5) * bends_);
  }

 private:
  // The factors lie where the box of tests/physics/test_cosmology.py stays cold (above 0.025 and
  // 0.2) and where Noh's implosion is heated at once (below 0.05).
  static constexpr double k_slopes = 0.03;

  V slopes_ = V(0.0), steady_slopes_ = V(0.0), bends_ = V(0.0);
};

// What is to be known of a pack of cells: how the velocity changes around them, two cells to each
// side. velocity(d, x, y, z) is component d of the cell that lies so many cells away.
template <class V, class Velocity>
KOKKOS_FORCEINLINE_FUNCTION Truncation<V> truncation_around(const Velocity& velocity) {
  Truncation<V> error;
  OCTANT_UNROLL(3)
  for (int d = 0; d < 3; ++d) {
    const V q = velocity(d, 0, 0, 0);
    error.add(velocity(d, -2, 0, 0), velocity(d, -1, 0, 0), q, velocity(d, 1, 0, 0),
              velocity(d, 2, 0, 0));
    error.add(velocity(d, 0, -2, 0), velocity(d, 0, -1, 0), q, velocity(d, 0, 1, 0),
              velocity(d, 0, 2, 0));
    error.add(velocity(d, 0, 0, -2), velocity(d, 0, 0, -1), q, velocity(d, 0, 0, 1),
              velocity(d, 0, 0, 2));
  }
  return error;
}

// Keeps it in planes.truncation(k) for the pack that begins with (i, j, k).
template <class Planes, class V>
KOKKOS_FORCEINLINE_FUNCTION void keep_truncation(const Planes& planes, int k, int j, int i,
                                                 const Truncation<V>& error) {
  double* const to = planes.truncation(k).at(j, i);
  PackTraits<V>::store(to, error.any());
  PackTraits<V>::store(to + Planes::InnerPlane::stride, error.steady());
}

// Finds it for some rows of plane k - 1 of a schedule that goes from plane to plane. Planes that
// have left the ring are remembered.
template <int M, mesh::GhostShape ghosts>
KOKKOS_FORCEINLINE_FUNCTION void estimate_truncation(const SweepCells<M, ghosts>& cells,
                                                     const SweepFaces<M>& faces, int rows, int k) {
  using V = Pack;
  using P = PackTraits<V>;
  using Inner = typename SweepCells<M, ghosts>::InnerPlane;
  using Primitive = typename SweepCells<M, ghosts>::PrimitivePlane;
  const Inner past = cells.past_velocity(k - 2), long_past = cells.past_velocity(k - 3);
  const auto keep = [&](int j, int i) OCTANT_INLINE_LAMBDA {
    const double* const here = cells.primitive(k - 1).at(j, i);
    const double* const next = cells.primitive(k).at(j, i);
    const double* const after = cells.primitive(k + 1).at(j, i);
    const double* const before = past.at(j, i);
    double* const long_before = long_past.at(j, i);
    const auto velocity = [&](int d, int x, int y, int z) OCTANT_INLINE_LAMBDA {
      if (z < 0) return P::load((z == -1 ? before : long_before) + d * Inner::stride);
      return P::load((z == 0   ? here
                      : z == 1 ? next
                               : after) +
                     (k_velocity_x + d) * Primitive::stride + y * Primitive::row + x);
    };
    keep_truncation(faces, k - 1, j, i, truncation_around<V>(velocity));
    OCTANT_UNROLL(3)
    for (int d = 0; d < 3; ++d) P::store(long_before + d * Inner::stride, velocity(d, 0, 0, 0));
  };
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < M; i += P::width) keep(j, i);
}

// Internal energy below this share of the total is lost in its rounding.
inline constexpr double k_rounding_share = 1e-8;
// In gas this many times as warm as steady changes may make it, they still explain small heating.
inline constexpr double k_warm = 10.0;

// Ends a stage with DualEnergy::on: where entropy rules it stays as it was advected, elsewhere it
// is reset from the total energy.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void follow_energy(const State<V>& u, V& entropy, const Gas& gas) {
  V volume;
  const State<V> w = unfloored_primitive(u, gas, volume);
  entropy = select(entropy_rules(w[k_pressure], u[k_energy], gas), entropy,
                   w[k_pressure] / power(w[k_density], gas.gamma - 1.0));
}

// Ends a stage with DualEnergy::overwrite: where the internal energy, or its excess over what the
// entropy says, may be an error by the measures of Truncation, the entropy stays as it was
// advected, and if `overwrite` the total energy is reset from it; elsewhere the entropy is reset
// from the total energy. Energies of states that need repair are left as they are.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void guard_entropy(State<V>& u, V& entropy, const V& any_error,
                                               const V& steady_error, bool overwrite,
                                               const Gas& gas) {
  V volume;
  const State<V> w = unfloored_primitive(u, gas, volume);
  const V scale = power(w[k_density], gas.gamma - 1.0);  // pressure over entropy density
  const V per_pressure = V(1.0 / (gas.gamma - 1.0));
  const V internal = per_pressure * w[k_pressure];
  const V excess = internal - per_pressure * (entropy * scale);
  const V any = max(V(V(k_rounding_share) * u[k_energy]), V(u[k_mass] * any_error));
  const V steady = u[k_mass] * steady_error;
  const auto is_error =
      internal < any || (absolute(excess) < steady && internal < V(k_warm) * steady);
  if (overwrite) {
    const auto sound = entropy > V(0.0) && u[k_mass] >= V(gas.density_floor) && !lacks_energy(u, w);
    u[k_energy] = select(is_error && sound, u[k_energy] - excess, u[k_energy]);
  }
  entropy = select(is_error, entropy, w[k_pressure] / scale);
}

}  // namespace octant::hydro
