// Local exchange of energy and momentum between gas and grey radiation with the M1 closure.
//
// Moments E and F in the frame of the grid, opacities in the frame of the gas, to first order in
// v/c (Mihalas & Mihalas 1984; Lowrie, Morel & Hittinger 1999; Krumholz et al. 2007), with a
// reduced speed of light c' (Skinner & Ostriker 2013; He, Wibking & Krumholz 2024):
//   dE/dt = -(c'/c) (H + v.G),         dF/dt = -c' c G,
//   d(e + rho v^2/2)/dt = H + v.G,     d(rho v)/dt = G,
//   H = c rho kappa_P (E0 - a T^4),    G = rho (kappa_R + scattering) (F - v.(E + P)) / c.
// E0 = E - 2 v.F/c^2 + v.(E + P).v/c^2 is the energy density in the frame of the gas. Its last term
// is of second order, keeps E0 positive and makes E0 = a T^4 with F = v.(E + P) correct to second
// order. P is the pressure tensor of Levermore (1984). The force v/c rho kappa_P (a T^4 - E), the
// change of momentum by the inertia of the exchanged heat, is left out: the momentum rho v of the
// gas contains no inertia of its internal energy, and radiation that gas emits isotropically in its
// own frame does not slow it down.
#pragma once

#include "core/compiler.hpp"
#include "core/simd.hpp"
#include "radiation/heat_balance.hpp"
#include "radiation/opacity.hpp"

namespace octant::radiation {

// Speed of light, reduced speed of light, and radiation constant (energy density a T^4).
struct Light {
  double c = 1.0, reduced = 1.0, constant = 1.0;
};

// Relation between temperature and internal energy density e of the gas, and motion of the gas.
struct Material {
  double heat_capacity = 0.0;  // per mass: e = heat_capacity rho T, unless `cubic` is positive
  double cubic = 0.0;          // e = cubic a T^4 at any density (Su & Olson 1996)
  bool moves = true;           // false: v = 0 in all terms, and the momentum is not changed
  // True if the gas exchanges heat with its surroundings, so that radiation does not change its
  // temperature.
  bool has_surroundings = false;

  // Temperature of gas with this density and internal energy density.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V temperature(const V& rho, const V& internal,
                                            const Light& light) const {
    if (cubic > 0.0) return square_root(square_root(internal / V(cubic * light.constant)));
    return internal / (V(heat_capacity) * rho);
  }
};

// States of the cells of a pack: densities per volume. `internal` excludes the kinetic energy.
template <class V>
struct RadiatingCells {
  V density;
  V momentum[3];
  V internal;
  V energy;             // E
  V flux[3];            // F, energy per area and time
  V surroundings{0.0};  // temperature of the surroundings; unused if there are none
};
using RadiatingCell = RadiatingCells<double>;

// Parts of exchange(). Velocities are in units of c, and fluxes divided by c. Iterations end at
// different times in the cells of a pack; masks keep the results of those whose iteration has
// ended, so that every cell has the bits that it would have alone.
namespace exchanging {

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V dot(const V (&a)[3], const V (&b)[3]) {
  return fused_multiply_add(a[0], b[0], fused_multiply_add(a[1], b[1], a[2] * b[2]));
}

// Replaces `to` by `from` where the mask is true.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void assign(V& to, const typename SimdTraits<V>::Mask& mask,
                                        const V& from) {
  to = select(mask, from, to);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void assign(V (&to)[3], const typename SimdTraits<V>::Mask& mask,
                                        const V (&from)[3]) {
  for (int d = 0; d < 3; ++d) to[d] = select(mask, from[d], to[d]);
}

// The tensor (E + P) / E = h + g n n, with n = F / |F| and the reduced flux f = |F| / (c E):
//   h = (2 + sqrt(4 - 3 f^2)) / 3,  g = f^2 / h.
// These are (3 - chi) / 2 and (3 chi - 1) / 2 of Levermore's chi = (5 - 2 sqrt(4 - 3 f^2)) / 3.
template <class V>
struct Closure {
  using Mask = typename SimdTraits<V>::Mask;

  V reduced[3];  // F / (c E)
  V h, inverse_h;
  V inverse_energy;

  // Closure for F / c and E. Divisions and root depend on each other as little as possible.
  KOKKOS_FORCEINLINE_FUNCTION Closure(const V (&flux)[3], const V& energy) {
    const V most = energy * energy;
    const V root =
        square_root(max(fused_multiply_add(V(-3.0), dot(flux, flux), V(4.0) * most), most));
    const V scaled = max((V(2.0) * energy + root) * V(1.0 / 3.0), V(1e-300));
    inverse_energy = V(1.0) / max(energy, V(1e-300));
    inverse_h = energy * (V(1.0) / scaled);
    h = scaled * inverse_energy;
    for (int d = 0; d < 3; ++d) reduced[d] = flux[d] * inverse_energy;
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(const Mask& mask, const Closure& other) {
    assign(reduced, mask, other.reduced);
    assign(h, mask, other.h);
    assign(inverse_h, mask, other.inverse_h);
    assign(inverse_energy, mask, other.inverse_energy);
  }
  // Component d of the tensor times a vector v, of which `along` = reduced . v / h.
  KOKKOS_FORCEINLINE_FUNCTION V times(const V (&v)[3], const V& along, int d) const {
    return fused_multiply_add(h, v[d], reduced[d] * along);
  }
  // E0 / E in gas with this velocity.
  KOKKOS_FORCEINLINE_FUNCTION V comoving(const V (&beta)[3], const V& square) const {
    const V along = dot(reduced, beta);
    return V(1.0) +
           fused_multiply_add(fused_multiply_add(along, inverse_h, V(-2.0)), along, h * square);
  }
  // Squared distance to another reduced flux.
  KOKKOS_FORCEINLINE_FUNCTION V squared_distance(const Closure& other) const {
    const V x = reduced[0] - other.reduced[0], y = reduced[1] - other.reduced[1],
            z = reduced[2] - other.reduced[2];
    return fused_multiply_add(x, x, fused_multiply_add(y, y, z * z));
  }
};

// States before the step.
template <class V>
struct Before {
  V internal, energy;
  V beta[3] = {V(0.0), V(0.0), V(0.0)};
  V flux[3];
  double ratio, inverse_ratio;  // c / c'
  V kick, inverse_kick;         // change of velocity per flux, (c / c') / (rho c^2)

  KOKKOS_FORCEINLINE_FUNCTION Before(const RadiatingCells<V>& cells, const Light& light, bool moves)
      : internal(cells.internal), energy(cells.energy) {
    const double inverse_c = 1.0 / light.c;
    const V inertia = cells.density * V(light.c), inverse_inertia = V(1.0) / inertia;
    ratio = light.c / light.reduced;
    inverse_ratio = light.reduced * inverse_c;
    kick = V(ratio) * inverse_inertia * V(inverse_c);
    inverse_kick = inertia * V(light.reduced);
    for (int d = 0; d < 3; ++d) {
      flux[d] = cells.flux[d] * V(inverse_c);
      if (moves) beta[d] = cells.momentum[d] * inverse_inertia;
    }
  }
};

// States after the step.
template <class V>
struct After {
  using Mask = typename SimdTraits<V>::Mask;

  V internal, energy;
  V change[3] = {V(0.0), V(0.0), V(0.0)};  // change of the velocity
  V beta[3], flux[3];
  V work = V(0.0);  // loss of radiation energy to the kinetic energy of the gas
  ImplicitFraction<V> absorbed{V(0.0)};

  // The state before the step, unchanged.
  KOKKOS_FORCEINLINE_FUNCTION explicit After(const Before<V>& old)
      : internal(old.internal), energy(old.energy) {
    for (int d = 0; d < 3; ++d) {
      beta[d] = old.beta[d];
      flux[d] = old.flux[d];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(const Mask& mask, const After& other) {
    assign(internal, mask, other.internal);
    assign(energy, mask, other.energy);
    assign(change, mask, other.change);
    assign(beta, mask, other.beta);
    assign(flux, mask, other.flux);
    assign(work, mask, other.work);
    assign(absorbed.theta, mask, other.absorbed.theta);
    assign(absorbed.rest, mask, other.absorbed.rest);
  }

  // Sets velocity and work from the change of velocity.
  KOKKOS_FORCEINLINE_FUNCTION void move(const Before<V>& old) {
    V sum(0.0);
    for (int d = 0; d < 3; ++d) {
      beta[d] = old.beta[d] + change[d];
      sum = fused_multiply_add(change[d], old.beta[d] + beta[d], sum);
    }
    work = V(0.5) * old.inverse_kick * sum;
  }
  // Reduces the flux to the energy where it is larger, and returns true there. The gas takes the
  // momentum of the difference.
  KOKKOS_FORCEINLINE_FUNCTION Mask limit_flux(const Before<V>& old, bool moves) {
    const V square = dot(flux, flux);
    const Mask exceeds = square > energy * energy;
    if (!any(exceeds)) return exceeds;
    const V scale = energy / square_root(square) * V(1.0 - 1e-15);
    for (int d = 0; d < 3; ++d) {
      if (moves) assign(change[d], exceeds, change[d] + flux[d] * (V(1.0) - scale) * old.kick);
      assign(flux[d], exceeds, flux[d] * scale);
    }
    if (moves) move(old);
    return exceeds;
  }
  // Step of backward Euler of momentum and flux for given energy, pressure tensor and opacity. Both
  // are computed from their own linear equations, without cancellation.
  KOKKOS_FORCEINLINE_FUNCTION void push(const Before<V>& old, const Closure<V>& closure,
                                        const ImplicitFraction<V>& damped) {
    V force[3];
    const V along = dot(closure.reduced, old.beta) * closure.inverse_h;
    const V strength = damped.theta * old.kick;
    for (int d = 0; d < 3; ++d)
      force[d] =
          strength * fused_multiply_add(-energy, closure.times(old.beta, along, d), old.flux[d]);

    // (diagonal + beam reduced reduced) change = force
    const V inertia = strength * energy;
    const V diagonal = fused_multiply_add(inertia, closure.h, V(1.0)),
            beam = inertia * closure.inverse_h;
    const V determinant = fused_multiply_add(beam, dot(closure.reduced, closure.reduced), diagonal);
    const V inverse = V(1.0) / (diagonal * determinant);
    const V part = beam * dot(closure.reduced, force);
    for (int d = 0; d < 3; ++d)
      change[d] = fused_multiply_add(force[d], determinant, -closure.reduced[d] * part) * inverse;
    move(old);
    const V ahead = dot(closure.reduced, beta) * closure.inverse_h;
    const V carried = damped.theta * energy;
    for (int d = 0; d < 3; ++d)
      flux[d] =
          fused_multiply_add(damped.rest, old.flux[d], carried * closure.times(beta, ahead, d));
  }
  // True where energies are positive and the flux is at most c E. False for NaN.
  KOKKOS_FORCEINLINE_FUNCTION Mask is_physical() const {
    return energy > V(0.0) && internal > V(0.0) && dot(flux, flux) <= energy * energy;
  }
  // Returns the state after this fraction of the exchange of heat and momentum.
  KOKKOS_INLINE_FUNCTION After part(const Before<V>& old, const V& fraction) const {
    After state = *this;
    const V heat = fraction * (internal - old.internal);
    for (int d = 0; d < 3; ++d) {
      state.change[d] = fraction * change[d];
      state.flux[d] = old.flux[d] + fraction * (flux[d] - old.flux[d]);
    }
    state.move(old);
    state.internal = old.internal + heat;
    state.energy = old.energy - heat * V(old.inverse_ratio) - state.work;
    return state;
  }
  // Replaces unphysical states by those after the largest fraction of the exchange that leaves
  // them physical, or by `old`. These fractions form an interval that begins at 0, because internal
  // energy and flux are linear functions of the fraction, and E is a concave one.
  OCTANT_OUT_OF_LINE void keep_physical_part(const Before<V>& old, const Mask& unphysical) {
    V least(0.0), most(1.0);
    for (int n = 0; n < 50; ++n) {
      const V fraction = V(0.5) * (least + most);
      const Mask is_possible = part(old, fraction).is_physical();
      least = select(is_possible, fraction, least);
      most = select(is_possible, most, fraction);
    }
    After found = part(old, least);
    found.set(!(least > V(0.0)), After(old));
    set(unphysical, found);
  }
};

// Coupled equations of one call. Temperature and E are solved for given motion, then motion and
// flux for given E, in turn: the equations depend on each other through terms of order v/c alone.
template <class V>
struct Equations {
  using Mask = typename SimdTraits<V>::Mask;

  Before<V> old;
  OpacityAtDensity<V> planck, rosseland;
  double scattering, constant;
  V path;             // optical depth per opacity
  V linear, quartic;  // internal energy, see HeatBalance
  V initial;          // temperature
  V initial_opacity;  // kappa_P
  bool is_cubic;      // see HeatBalance
  bool moves;

  KOKKOS_FORCEINLINE_FUNCTION Equations(const RadiatingCells<V>& cells, const Light& light,
                                        const Material& material, const Opacity& opacity, double dt)
      : old(cells, light, material.moves),
        planck(opacity.planck.at_density(cells.density)),
        rosseland(opacity.rosseland.at_density(cells.density)),
        scattering(opacity.scattering),
        constant(light.constant),
        path(V(light.reduced * dt) * cells.density),
        is_cubic(material.cubic > 0.0 && !material.has_surroundings),
        moves(material.moves) {
    if (material.has_surroundings) {
      keep_temperature(cells.surroundings);
    } else {
      linear = is_cubic ? V(0.0) : V(material.heat_capacity) * cells.density;
      quartic = V(is_cubic ? material.cubic * constant : 0.0);
      const V internal = max(cells.internal, V(0.0));
      const V T = is_cubic ? square_root(square_root(internal / quartic)) : internal / linear;
      initial = max(T, V(1e-200));
    }
    initial_opacity = planck.at(initial);
  }

  // Sets a heat capacity so large that the temperature does not change.
  KOKKOS_FORCEINLINE_FUNCTION void keep_temperature(const V& T) {
    const V emission = V(old.ratio * constant) * (T * T) * (T * T);
    old.internal = V(1e40) * (old.internal + V(old.ratio) * old.energy + emission);
    linear = old.internal / T;
    quartic = V(0.0);
    initial = T;
  }

  // True where radiation and gas do not affect each other.
  KOKKOS_FORCEINLINE_FUNCTION Mask are_trivial() const {
    const Mask keep_energy = path * initial_opacity == V(0.0);
    if (!any(keep_energy)) return keep_energy;
    return keep_energy && path * (rosseland.at(initial) + V(scattering)) == V(0.0);
  }

  // Solves the equations from the state `s` before the step; returns true where there is a
  // solution. `Constant`: the opacity kappa_P does not depend on the temperature.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION Mask solve(After<V>& s) const {
    return moves ? solve_moving<Constant>(s) : solve_at_rest<Constant>(s);
  }

  // solve() for gas that does not move: E0 = E, and the flux does not affect the energies.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION Mask solve_at_rest(After<V>& s) const {
    V T = initial;
    const Mask solved = heat<Constant>(s, T, V(1.0), V(0.0));
    const ImplicitFraction<V> damped(path * (rosseland.at(T) + V(scattering)));
    for (int d = 0; d < 3; ++d) s.flux[d] = damped.rest * old.flux[d];
    conserve(s, V(0.0));
    s.set(!solved, After<V>(old));
    return solved;
  }

  // solve() for gas that the radiation accelerates.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION Mask solve_moving(After<V>& s) const {
    constexpr int most = 50;
    // Bound of the last relative change of E and F. Conservation does not depend on it.
    constexpr double tolerance = 1e-10;
    V work(0.0);  // with which the energies of `s` were computed
    Closure<V> closure(old.flux, old.energy);
    V comoving = closure.comoving(old.beta, dot(old.beta, old.beta));
    V T = initial;
    const V inverse_total = V(1.0) / (old.energy + old.internal * V(old.inverse_ratio));
    Mask active(true), failed(false), solved(false);
    for (int pass = 0; pass < most && any(active); ++pass) {
      After<V> next = s;
      const Mask has_energies = heat<Constant>(next, T, comoving, work);
      failed = failed || (active && !has_energies);
      active = active && has_energies;
      const ImplicitFraction<V> damped(path * (rosseland.at(T) + V(scattering)));
      next.push(old, closure, damped);
      next.limit_flux(old, true);
      const Closure<V> now(next.flux, next.energy);
      const V square = dot(next.beta, next.beta);
      const V shifted = now.comoving(next.beta, square);
      const V of_energy = next.absorbed.theta * (shifted - comoving);
      const V of_work =
          (next.work - work) * (next.absorbed.rest * now.inverse_energy + inverse_total);
      const V of_flux = damped.theta * damped.theta * square * now.squared_distance(closure);
      const Mask is_last =
          of_energy * of_energy + of_work * of_work + of_flux <= V(tolerance * tolerance);
      s.set(active, next);
      solved = solved || (active && is_last);
      active = active && !is_last;
      if (pass + 1 == most) break;
      closure.set(active, now);
      assign(comoving, active, shifted);
      // E stays positive while the motion converges.
      assign(work, active, min(s.work, V(0.9) * old.energy));
    }
    conserve(s, work);
    s.set(failed, After<V>(old));
    return solved;
  }

  // Sets the energies and the temperature T, initially a guess, for a given ratio E0 / E and work.
  // Returns true where there is a solution with positive energies.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION Mask heat(After<V>& s, V& T, const V& comoving, const V& work) const {
    const V left = old.energy - work, emission = V(constant) * (V(1.0) / comoving);
    const HeatBalance<V> equation{
        is_cubic,       linear, quartic, old.internal, V(old.ratio) * left, V(old.ratio) * emission,
        path * comoving};
    Temperature<V> now{T, V(0.0), V(0.0)};
    if constexpr (Constant) {
      now = equation.at_opacity(initial_opacity, T);
    } else {
      const Mask is_first = T == initial;
      if (any(is_first)) assign(now.value, is_first, equation.at_opacity(initial_opacity, T).value);
      now = equation.at_implicit_opacity(planck, initial, now.value);
    }
    const ImplicitFraction<V> absorbed(equation.path * now.opacity);
    T = now.value;
    s.energy = absorbed.rest * left + absorbed.theta * emission * now.fourth;
    s.internal = select(absorbed.theta > V(0.0), equation.internal_at(now), old.internal);
    s.absorbed = absorbed;
    return equation.total() > V(0.0) && s.energy > V(0.0);
  }

  // Makes the sum of all energies exact, and limits the flux. The energies were computed with this
  // `work`.
  KOKKOS_FORCEINLINE_FUNCTION void conserve(After<V>& s, const V& work) const {
    constexpr int most = 12;
    balance(s, s.work - work, Mask(true));
    for (int n = 0; n < most; ++n) {  // changes of the order of v/c of the last one
      const V spent = s.work;
      const Mask limited = s.limit_flux(old, moves);
      if (!any(limited)) break;
      balance(s, s.work - spent, limited);
    }
  }

  // The larger one of the energies of gas and radiation becomes the difference of the sum of all
  // energies and the smaller one. `change` is that of the work since the last call.
  KOKKOS_FORCEINLINE_FUNCTION void balance(After<V>& s, const V& change, const Mask& mask) const {
    const V left = old.energy - s.work;
    const Mask is_radiation = s.internal < V(old.ratio) * s.energy;  // has more energy
    const V rest = left + (old.internal - s.internal) * V(old.inverse_ratio);
    const V energy = select(is_radiation, rest, s.energy - s.absorbed.rest * change);
    assign(s.internal, mask && !is_radiation && s.absorbed.theta > V(0.0),
           old.internal + V(old.ratio) * (left - energy));
    assign(s.energy, mask, energy);
  }
};

}  // namespace exchanging

// Exchanges energy and momentum over the time dt, by one step of backward Euler in T, E, F and the
// momentum of the gas, with opacities and velocity at its end. The cells must have a positive
// density, a positive E, and |F| <= c E; the heat capacity must be positive.
//
// Conserved to round-off: e + kinetic energy + (c/c') E, and rho v + F / (c c'). The work of the
// radiation force is the change of the kinetic energy, momentum change times mean velocity, and is
// taken from the radiation; e changes by absorption and emission alone. Afterwards e > 0, E > 0,
// and |F| <= c E to round-off: where the energy is absorbed faster than the flux, the gas absorbs
// as much of the flux as |F| <= c E requires. If the equations have no such solution, or the
// iteration finds none, which happens where the radiation would accelerate the gas to speeds near
// c, the largest physical part of the last iterate's exchange takes place. A cell that neither
// absorbs nor scatters keeps its bits.
//
// Gas with surroundings keeps its temperature: e changes by the heat that it passes to them, and
// may become negative.
//
// Returns 1 for each cell whose equations are solved, 0 for one that neither absorbs nor scatters,
// and -1 if the equations are not solved. The bits of a cell do not depend on the other cells of
// its pack. Iterations also end if values are NaN.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exchange(RadiatingCells<V>& cells, const Light& light,
                                       const Material& material, const Opacity& opacity,
                                       double dt) {
  using exchanging::assign;
  using Mask = typename SimdTraits<V>::Mask;
  const exchanging::Equations<V> equations(cells, light, material, opacity, dt);
  const Mask changes = !equations.are_trivial();
  if (!any(changes)) return V(0.0);
  exchanging::After<V> after(equations.old);
  Mask solved = equations.planck.is_constant() ? equations.template solve<true>(after)
                                               : equations.template solve<false>(after);
  const Mask unphysical = changes && !after.is_physical();
  if (any(unphysical)) after.keep_physical_part(equations.old, unphysical);
  solved = solved && !unphysical;
  V internal = after.internal;
  if (material.has_surroundings)
    internal = cells.internal + V(equations.old.ratio) * (cells.energy - after.work - after.energy);
  assign(cells.internal, changes, internal);
  assign(cells.energy, changes, after.energy);
  const V inertia = cells.density * V(light.c);
  for (int d = 0; d < 3; ++d) {
    if (material.moves)
      assign(cells.momentum[d], changes, cells.momentum[d] + inertia * after.change[d]);
    assign(cells.flux[d], changes, V(light.c) * after.flux[d]);
  }
  return select(changes, select(solved, V(1.0), V(-1.0)), V(0.0));
}

}  // namespace octant::radiation
