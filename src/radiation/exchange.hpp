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

#include <Kokkos_MathematicalFunctions.hpp>

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
  // Temperature of gas that exchanges heat with its surroundings, which no exchange with radiation
  // changes; 0: there are no surroundings
  double surroundings = 0.0;

  // Temperature of gas with this density and internal energy density.
  KOKKOS_FORCEINLINE_FUNCTION double temperature(double rho, double internal,
                                                 const Light& light) const {
    if (cubic > 0.0) return Kokkos::sqrt(Kokkos::sqrt(internal / (cubic * light.constant)));
    return internal / (heat_capacity * rho);
  }
};

// State of a cell: densities per volume. `internal` excludes the kinetic energy.
struct RadiatingCell {
  double density;
  double momentum[3];
  double internal;
  double energy;   // E
  double flux[3];  // F, energy per area and time
};

// Parts of exchange(). Velocities are in units of c, and fluxes divided by c.
namespace exchanging {

KOKKOS_FORCEINLINE_FUNCTION double dot(const double (&a)[3], const double (&b)[3]) {
  return fused_multiply_add(a[0], b[0], fused_multiply_add(a[1], b[1], a[2] * b[2]));
}

// The tensor (E + P) / E = h + g n n, with n = F / |F| and the reduced flux f = |F| / (c E):
//   h = (2 + sqrt(4 - 3 f^2)) / 3,  g = f^2 / h.
// These are (3 - chi) / 2 and (3 chi - 1) / 2 of Levermore's chi = (5 - 2 sqrt(4 - 3 f^2)) / 3.
struct Closure {
  double reduced[3];  // F / (c E)
  double h, inverse_h;
  double inverse_energy;

  // Closure for F / c and E. Divisions and root depend on each other as little as possible.
  KOKKOS_FORCEINLINE_FUNCTION Closure(const double (&flux)[3], double energy) {
    const double most = energy * energy;
    const double root =
        Kokkos::sqrt(max(fused_multiply_add(-3.0, dot(flux, flux), 4.0 * most), most));
    const double scaled = max((2.0 * energy + root) * (1.0 / 3.0), 1e-300);
    inverse_energy = 1.0 / max(energy, 1e-300);
    inverse_h = energy * (1.0 / scaled);
    h = scaled * inverse_energy;
    for (int d = 0; d < 3; ++d) reduced[d] = flux[d] * inverse_energy;
  }
  // Component d of the tensor times a vector v, of which `along` = reduced . v / h.
  KOKKOS_FORCEINLINE_FUNCTION double times(const double (&v)[3], double along, int d) const {
    return fused_multiply_add(h, v[d], reduced[d] * along);
  }
  // E0 / E in gas with this velocity.
  KOKKOS_FORCEINLINE_FUNCTION double comoving(const double (&beta)[3], double square) const {
    const double along = dot(reduced, beta);
    return 1.0 + fused_multiply_add(fused_multiply_add(along, inverse_h, -2.0), along, h * square);
  }
  // Squared distance to another reduced flux.
  KOKKOS_FORCEINLINE_FUNCTION double squared_distance(const Closure& other) const {
    const double x = reduced[0] - other.reduced[0], y = reduced[1] - other.reduced[1],
                 z = reduced[2] - other.reduced[2];
    return fused_multiply_add(x, x, fused_multiply_add(y, y, z * z));
  }
};

// State before the step.
struct Before {
  double internal, energy;
  double beta[3] = {0.0, 0.0, 0.0};
  double flux[3];
  double ratio, inverse_ratio;  // c / c'
  double kick, inverse_kick;    // change of velocity per flux, (c / c') / (rho c^2)

  KOKKOS_FORCEINLINE_FUNCTION Before(const RadiatingCell& cell, const Light& light, bool moves)
      : internal(cell.internal), energy(cell.energy) {
    const double inverse_c = 1.0 / light.c, inertia = cell.density * light.c;
    const double inverse_inertia = 1.0 / inertia;
    ratio = light.c / light.reduced;
    inverse_ratio = light.reduced * inverse_c;
    kick = ratio * inverse_inertia * inverse_c;
    inverse_kick = inertia * light.reduced;
    for (int d = 0; d < 3; ++d) {
      flux[d] = cell.flux[d] * inverse_c;
      if (moves) beta[d] = cell.momentum[d] * inverse_inertia;
    }
  }
};

// State after the step.
struct After {
  double internal, energy;
  double change[3] = {0.0, 0.0, 0.0};  // change of the velocity
  double beta[3], flux[3];
  double work = 0.0;  // loss of radiation energy to the kinetic energy of the gas
  ImplicitFraction absorbed{0.0};
  int iterations = 0;
  bool converged = false;

  // The state before the step, unchanged.
  KOKKOS_FORCEINLINE_FUNCTION explicit After(const Before& old)
      : internal(old.internal), energy(old.energy) {
    for (int d = 0; d < 3; ++d) {
      beta[d] = old.beta[d];
      flux[d] = old.flux[d];
    }
  }

  // Sets velocity and work from the change of velocity.
  KOKKOS_FORCEINLINE_FUNCTION void move(const Before& old) {
    double sum = 0.0;
    for (int d = 0; d < 3; ++d) {
      beta[d] = old.beta[d] + change[d];
      sum = fused_multiply_add(change[d], old.beta[d] + beta[d], sum);
    }
    work = 0.5 * old.inverse_kick * sum;
  }
  // Reduces the flux to the energy, if it is larger, and returns true then. The gas takes the
  // momentum of the difference.
  KOKKOS_FORCEINLINE_FUNCTION bool limit_flux(const Before& old, bool moves) {
    const double square = dot(flux, flux);
    if (!(square > energy * energy)) return false;
    const double scale = energy / Kokkos::sqrt(square) * (1.0 - 1e-15);
    for (int d = 0; d < 3; ++d) {
      if (moves) change[d] += flux[d] * (1.0 - scale) * old.kick;
      flux[d] *= scale;
    }
    if (moves) move(old);
    return true;
  }
  // Step of backward Euler of momentum and flux for given energy, pressure tensor and opacity. Both
  // are computed from their own linear equations, without cancellation.
  KOKKOS_FORCEINLINE_FUNCTION void push(const Before& old, const Closure& closure,
                                        const ImplicitFraction& damped) {
    double force[3];
    const double along = dot(closure.reduced, old.beta) * closure.inverse_h;
    const double strength = damped.theta * old.kick;
    for (int d = 0; d < 3; ++d)
      force[d] =
          strength * fused_multiply_add(-energy, closure.times(old.beta, along, d), old.flux[d]);

    // (diagonal + beam reduced reduced) change = force
    const double inertia = strength * energy;
    const double diagonal = fused_multiply_add(inertia, closure.h, 1.0),
                 beam = inertia * closure.inverse_h;
    const double determinant =
        fused_multiply_add(beam, dot(closure.reduced, closure.reduced), diagonal);
    const double inverse = 1.0 / (diagonal * determinant);
    const double part = beam * dot(closure.reduced, force);
    for (int d = 0; d < 3; ++d)
      change[d] = fused_multiply_add(force[d], determinant, -closure.reduced[d] * part) * inverse;
    move(old);
    const double ahead = dot(closure.reduced, beta) * closure.inverse_h;
    const double carried = damped.theta * energy;
    for (int d = 0; d < 3; ++d)
      flux[d] =
          fused_multiply_add(damped.rest, old.flux[d], carried * closure.times(beta, ahead, d));
  }
  // True if energies are positive and the flux is at most c E. False for NaN.
  KOKKOS_FORCEINLINE_FUNCTION bool is_physical() const {
    return energy > 0.0 && internal > 0.0 && dot(flux, flux) <= energy * energy;
  }
  // Returns the state after this fraction of the exchange of heat and momentum.
  KOKKOS_INLINE_FUNCTION After part(const Before& old, double fraction) const {
    After state = *this;
    const double heat = fraction * (internal - old.internal);
    for (int d = 0; d < 3; ++d) {
      state.change[d] = fraction * change[d];
      state.flux[d] = old.flux[d] + fraction * (flux[d] - old.flux[d]);
    }
    state.move(old);
    state.internal = old.internal + heat;
    state.energy = old.energy - heat * old.inverse_ratio - state.work;
    return state;
  }
  // Returns the state after the largest fraction of the exchange that leaves it physical, or `old`.
  // These fractions form an interval that begins at 0, because internal energy and flux are linear
  // functions of the fraction, and E is a concave one.
  KOKKOS_INLINE_FUNCTION After largest_part(const Before& old) const {
    double least = 0.0, most = 1.0;
    for (int n = 0; n < 50; ++n) {
      const double fraction = 0.5 * (least + most);
      (part(old, fraction).is_physical() ? least : most) = fraction;
    }
    return least > 0.0 ? part(old, least) : After(old);
  }
};

// Coupled equations of one call. Temperature and E are solved for given motion, then motion and
// flux for given E, in turn: the equations depend on each other through terms of order v/c alone.
struct Equations {
  Before old;
  OpacityAtDensity planck, rosseland;
  double scattering, constant;
  double path;             // optical depth per opacity
  double linear, quartic;  // internal energy, see HeatBalance
  double initial;          // temperature
  double initial_opacity;  // kappa_P
  bool moves;

  KOKKOS_FORCEINLINE_FUNCTION Equations(const RadiatingCell& cell, const Light& light,
                                        const Material& material, const Opacity& opacity, double dt)
      : old(cell, light, material.moves),
        planck(opacity.planck.at_density(cell.density)),
        rosseland(opacity.rosseland.at_density(cell.density)),
        scattering(opacity.scattering),
        constant(light.constant),
        path(light.reduced * dt * cell.density),
        moves(material.moves) {
    if (material.surroundings > 0.0) {
      keep_temperature(material.surroundings);
      return;
    }
    const bool is_cubic = material.cubic > 0.0;
    linear = is_cubic ? 0.0 : material.heat_capacity * cell.density;
    quartic = is_cubic ? material.cubic * constant : 0.0;
    const double internal = max(cell.internal, 0.0);
    const double T = is_cubic ? Kokkos::sqrt(Kokkos::sqrt(internal / quartic)) : internal / linear;
    initial = max(T, 1e-200);
    initial_opacity = planck.at(initial);
  }

  // Sets a heat capacity so large that the temperature does not change.
  KOKKOS_FORCEINLINE_FUNCTION void keep_temperature(double T) {
    const double emission = old.ratio * constant * (T * T) * (T * T);
    old.internal = 1e40 * (old.internal + old.ratio * old.energy + emission);
    linear = old.internal / T;
    quartic = 0.0;
    initial = T;
    initial_opacity = planck.at(T);
  }

  // True if radiation and gas do not affect each other.
  KOKKOS_FORCEINLINE_FUNCTION bool are_trivial() const {
    return path * initial_opacity == 0.0 && path * (rosseland.at(initial) + scattering) == 0.0;
  }

  // Solution of the equations. `Constant`: the opacity kappa_P does not depend on the temperature.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION After solve() const {
    return moves ? solve_moving<Constant>() : solve_at_rest<Constant>();
  }

  // solve() for gas that does not move: E0 = E, and the flux does not affect the energies.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION After solve_at_rest() const {
    After s(old);
    double T = initial;
    if (!heat<Constant>(s, T, 1.0, 0.0)) return After(old);
    const ImplicitFraction damped(path * (rosseland.at(T) + scattering));
    for (int d = 0; d < 3; ++d) s.flux[d] = damped.rest * old.flux[d];
    s.converged = true;
    conserve(s, 0.0);
    return s;
  }

  // solve() for gas that the radiation accelerates.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION After solve_moving() const {
    constexpr int most = 50;
    // Bound of the last relative change of E and F. Conservation does not depend on it.
    constexpr double tolerance = 1e-10;
    After s(old);
    double square = dot(old.beta, old.beta), work = 0.0;
    Closure closure(old.flux, old.energy);
    double comoving = closure.comoving(old.beta, square);
    double T = initial;
    const double inverse_total = 1.0 / (old.energy + old.internal * old.inverse_ratio);
    for (int pass = 0; pass < most; ++pass) {
      if (!heat<Constant>(s, T, comoving, work)) return After(old);
      const ImplicitFraction damped(path * (rosseland.at(T) + scattering));
      s.push(old, closure, damped);
      s.limit_flux(old, true);
      const Closure now(s.flux, s.energy);
      square = dot(s.beta, s.beta);
      const double shifted = now.comoving(s.beta, square);
      const double of_energy = s.absorbed.theta * (shifted - comoving);
      const double of_work =
          (s.work - work) * (s.absorbed.rest * now.inverse_energy + inverse_total);
      const double of_flux = damped.theta * damped.theta * square * now.squared_distance(closure);
      s.converged = of_energy * of_energy + of_work * of_work + of_flux <= tolerance * tolerance;
      if (s.converged || pass + 1 == most) break;
      closure = now;
      comoving = shifted;
      work = min(s.work, 0.9 * old.energy);  // E stays positive while the motion converges
    }
    conserve(s, work);
    return s;
  }

  // Sets the energies and the temperature T, initially a guess, for a given ratio E0 / E and work.
  // Returns false if there is no solution with positive energies.
  template <bool Constant>
  KOKKOS_FORCEINLINE_FUNCTION bool heat(After& s, double& T, double comoving, double work) const {
    const double left = old.energy - work, emission = constant * (1.0 / comoving);
    const HeatBalance equation{
        linear, quartic, old.internal, old.ratio * left, old.ratio * emission, path * comoving};
    if (!(equation.total() > 0.0)) return false;
    Temperature now{T, 0.0, 0.0};
    if (Constant || T == initial) now = equation.at_opacity(initial_opacity, T, s.iterations);
    if (!Constant) now = equation.at_implicit_opacity(planck, initial, now.value, s.iterations);
    const ImplicitFraction absorbed(equation.path * now.opacity);
    T = now.value;
    s.energy = absorbed.rest * left + absorbed.theta * emission * now.fourth;
    s.internal = absorbed.theta > 0.0 ? equation.internal_at(now) : old.internal;
    s.absorbed = absorbed;
    return s.energy > 0.0;
  }

  // Makes the sum of all energies exact, and limits the flux. The energies were computed with this
  // `work`.
  KOKKOS_FORCEINLINE_FUNCTION void conserve(After& s, double work) const {
    constexpr int most = 12;
    balance(s, s.work - work);
    for (int n = 0; n < most; ++n) {  // changes of the order of v/c of the last one
      const double spent = s.work;
      if (!s.limit_flux(old, moves)) break;
      balance(s, s.work - spent);
    }
  }

  // The larger one of the energies of gas and radiation becomes the difference of the sum of all
  // energies and the smaller one. `change` is that of the work since the last call.
  KOKKOS_FORCEINLINE_FUNCTION void balance(After& s, double change) const {
    const double left = old.energy - s.work;
    if (s.internal < old.ratio * s.energy) {
      s.energy = left + (old.internal - s.internal) * old.inverse_ratio;
    } else {
      s.energy -= s.absorbed.rest * change;
      if (s.absorbed.theta > 0.0) s.internal = old.internal + old.ratio * (left - s.energy);
    }
  }
};

}  // namespace exchanging

// Exchanges energy and momentum over the time dt, by one step of backward Euler in T, E, F and the
// momentum of the gas, with opacities and velocity at its end. The cell must have a positive
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
// Returns the number of iterations for the temperature, and its negative (at most -1) if the
// equations are not solved. Both are bounded, also for numbers that are not numbers.
KOKKOS_FORCEINLINE_FUNCTION int exchange(RadiatingCell& cell, const Light& light,
                                         const Material& material, const Opacity& opacity,
                                         double dt) {
  const exchanging::Equations equations(cell, light, material, opacity, dt);
  if (equations.are_trivial()) return 0;
  exchanging::After after =
      equations.planck.is_constant() ? equations.solve<true>() : equations.solve<false>();
  if (!after.is_physical()) {
    after = after.largest_part(equations.old);
    after.converged = false;
  }
  if (material.surroundings > 0.0)
    cell.internal += equations.old.ratio * (cell.energy - after.work - after.energy);
  else cell.internal = after.internal;
  cell.energy = after.energy;
  const double inertia = cell.density * light.c;
  for (int d = 0; d < 3; ++d) {
    if (material.moves) cell.momentum[d] += inertia * after.change[d];
    cell.flux[d] = light.c * after.flux[d];
  }
  const int count = after.iterations > 0 ? after.iterations : 1;
  return after.converged ? count : -count;
}

}  // namespace octant::radiation
