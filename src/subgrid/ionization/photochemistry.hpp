// Non-equilibrium ionisation and thermal state of hydrogen and helium in a cell under ionising
// photons.
//
// Unknowns y are HII, HeII, HeIII and the thermal energy. F(y) are their changes if the gas stayed
// in state y for a substep h: rates times h, and photoionisations that are all photons absorbed on
// the way, N (1 - exp(-c' h sum of sigma n)) in each group. A substep solves
//   y_1 = y_0 + F(y_1)
// by Newton's method with analytic derivatives. It follows the ideas of others:
// - Photons absorbed and ionisations are counted by the same terms (Abel, Norman & Madau 1999, ApJ
//   523, 66; Mellema et al. 2006, NewA 11, 374), so that ionisation fronts have the right speed
//   even if a step ionises a cell of any optical depth. The density of absorbers is that at the
//   end of the substep: no more photons are absorbed than atoms can be ionised.
// - All unknowns are implicit (Altay, Croft & Pelupessy 2008, MNRAS 386, 1931, and Kim et al. 2023,
//   ApJS 264, 10, treat some of them so): quantities stay positive, and equilibria are exact for
//   any step.
// - Substeps follow from an error estimate instead of the change of 10 % that Rosdahl et al. (2013,
//   MNRAS 436, 2188) allow: cells in equilibrium need one substep of any length.
//
// Error control: e = (F(y_0) - F(y_1)) / 2 is the difference between the trapezoidal rule and the
// implicit step. Filtered twice, d = (1 - F')^-2 e, it is small for stiff components that have
// relaxed (Hairer & Wanner 1996, Solving Ordinary Differential Equations II, section IV.8). A
// substep is accepted if |d| is below `tolerance` times the energy, the densities of ions with
// 0.001 of the nuclei added, and those of atoms with 0.01 of them. The result is y_1 + d, which is
// of second order, as far as it is positive. A component with rate -s / h is multiplied by
// (1 + 2 s + s^2 / 2) / (1 + s)^3, which is positive and vanishes for stiff ones. With the default
// of 0.1, errors of fractions and temperatures are about 0.01 where a front ionises the gas.
//
// Linear relations hold to rounding in each Newton iteration and in d, because the numbers of
// photons absorbed are linearised like F: photons absorbed equal photoionisations, and photoheating
// is their excess energy, whatever the remaining error of the iteration.
#pragma once

#include "subgrid/ionization/increments.hpp"

namespace octant::subgrid::ionization {

// Parts of react().
namespace reacting {

// Factors L and U of the matrix 1 - F' without interchange of rows.
struct Factors {
  double a[k_unknowns][k_unknowns];
  double inverse_pivot[k_unknowns];
  // False if a component grows so much within the substep that iterations would be wasted.
  bool is_stable;

  KOKKOS_FORCEINLINE_FUNCTION explicit Factors(const Increments& f) {
    for (int r = 0; r < k_unknowns; ++r)
      for (int n = 0; n < k_unknowns; ++n) a[r][n] = (r == n ? 1.0 : 0.0) - f.slope[r][n];
    is_stable = true;
    for (int p = 0; p < k_unknowns; ++p) {
      if (!(a[p][p] > 0.2)) is_stable = false;
      inverse_pivot[p] = 1.0 / a[p][p];
      for (int r = p + 1; r < k_unknowns; ++r) {
        const double factor = a[r][p] * inverse_pivot[p];
        a[r][p] = factor;
        for (int n = p + 1; n < k_unknowns; ++n) a[r][n] -= factor * a[p][n];
      }
    }
  }
  // Replaces b by (1 - F')^-1 b.
  KOKKOS_FORCEINLINE_FUNCTION void solve(double (&b)[k_unknowns]) const {
    for (int r = 1; r < k_unknowns; ++r)
      for (int n = 0; n < r; ++n) b[r] -= a[r][n] * b[n];
    for (int r = k_unknowns - 1; r >= 0; --r) {
      for (int n = r + 1; n < k_unknowns; ++n) b[r] -= a[r][n] * b[n];
      b[r] *= inverse_pivot[r];
    }
  }
};

// Largest |d| relative to its tolerance at a state.
KOKKOS_FORCEINLINE_FUNCTION double relative_size(const Photochemistry& chemistry,
                                                 const Contents& cell, const Densities& at,
                                                 const double (&d)[k_unknowns]) {
  constexpr double added = 0.01, added_to_ions = 0.001, least = 1e-300;
  const double hydrogen = cell.hydrogen + least, helium = cell.helium + least;
  double size = absolute(d[0]) / min(at.y[0] + added_to_ions * hydrogen, at.HI + added * hydrogen);
  size = max(size, absolute(d[1]) / (at.y[1] + added * helium));
  size = max(size, absolute(d[2]) / (at.y[2] + added_to_ions * helium));
  size = max(size, absolute(d[1] + d[2]) / (at.HeI + added * helium));
  size = max(size, absolute(d[k_energy]) / at.y[k_energy]);
  return size / chemistry.tolerance;
}

// Photons that these changes leave in group g.
KOKKOS_FORCEINLINE_FUNCTION double remaining_photons(const Contents& cell,
                                                     const double (&change)[k_changes], int g) {
  return (cell.photons[g] + change[k_emitted + g]) - change[k_absorbed + g];
}

// True if no numbers of photons, absorbed or left, are negative, and heat is between nothing and
// the largest excess energy of the photons absorbed, except by rounding and by a background.
KOKKOS_FORCEINLINE_FUNCTION bool is_possible(const Photochemistry& chemistry, const Contents& cell,
                                             const double (&change)[k_changes]) {
  constexpr double rounding = 1e-13;
  bool is_possible = change[k_heated] >= 0.0;
  double most = 0.0;
  for (int g = 0; g < chemistry.groups; ++g) {
    const double emitted = change[k_emitted + g], absorbed = change[k_absorbed + g];
    const double* excess = chemistry.group[g].excess;
    is_possible = is_possible && emitted >= 0.0 && absorbed >= 0.0 &&
                  remaining_photons(cell, change, g) >= -rounding * (cell.photons[g] + emitted);
    most += max(excess[0], max(excess[1], excess[2])) * absorbed;
  }
  if (chemistry.has_background) return is_possible;
  return is_possible && change[k_heated] <= (1.0 + rounding) * most;
}

// Result of a substep.
struct Substep {
  bool is_found;  // true if the implicit equations are solved
  double error;   // estimated error divided by the tolerance
  Densities gas;
  double change[k_changes];  // changes; only those from k_heated on are set
};

// Changes linearised about the last iterate, whose correction is d.
KOKKOS_FORCEINLINE_FUNCTION void linearize(const Increments& f, const double (&d)[k_unknowns],
                                           double (&change)[k_changes]) {
  for (int r = k_heated; r < k_changes; ++r) {
    change[r] = f.value[r];
    for (int n = 0; n < k_unknowns; ++n) change[r] += f.slope[r][n] * d[n];
  }
}

// Adds the correction of second order to a substep that changes the unknowns by `changes`, with
// F(y_0) in `first`, and sets the estimated error.
KOKKOS_INLINE_FUNCTION void correct(const Photochemistry& chemistry, const Contents& cell,
                                    const double (&changes)[k_unknowns],
                                    const double (&first)[k_changes], const Increments& last,
                                    const Factors& factors, Substep& step) {
  double once[k_unknowns], d[k_unknowns], change[k_changes];
  for (int n = 0; n < k_unknowns; ++n) once[n] = 0.5 * (first[n] - changes[n]);
  factors.solve(once);
  for (int n = 0; n < k_unknowns; ++n) d[n] = once[n];
  factors.solve(d);
  step.error = relative_size(chemistry, cell, step.gas, d);
  if (!(step.error <= 1.0)) return;
  for (int r = k_heated; r < k_changes; ++r) {
    change[r] = 0.5 * (first[r] + step.change[r]);
    for (int n = 0; n < k_unknowns; ++n) change[r] += last.slope[r][n] * (once[n] + d[n]);
  }
  Densities gas = step.gas;
  if (!gas.add(d, cell) || !is_possible(chemistry, cell, change)) return;
  step.gas = gas;
  for (int r = k_heated; r < k_changes; ++r) step.change[r] = change[r];
}

// Advances the gas from `start`, where its rates are `rates_0`, by `time`.
KOKKOS_INLINE_FUNCTION Substep advance(const Photochemistry& chemistry, const Contents& cell,
                                       const Densities& start, const GasRates& rates_0,
                                       double time) {
  constexpr int max_iterations = 15;
  // Newton's iteration ends if the correction is below this part of the tolerance, because the
  // remaining error is of second order in the correction.
  constexpr double max_correction = 0.1;
  Substep step;
  step.is_found = false;
  step.error = 0.0;
  step.gas = start;
  double first[k_changes];
  GasRates latest;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const GasState gas(chemistry, cell, step.gas);
    if (iteration > 0 && !(chemistry.temperature > 0.0))
      latest = GasRates(gas.temperature, chemistry.on_the_spot);
    const bool is_initial = iteration == 0 || chemistry.temperature > 0.0;
    const Increments f(chemistry, cell, is_initial ? rates_0 : latest, gas, time);
    if (iteration == 0)
      for (int r = 0; r < k_changes; ++r) first[r] = f.value[r];
    const Factors factors(f);
    if (!factors.is_stable) return step;
    double d[k_unknowns], changes[k_unknowns];
    for (int n = 0; n < k_unknowns; ++n) {
      changes[n] = gas.y[n] - start.y[n];
      d[n] = f.value[n] - changes[n];
    }
    factors.solve(d);
    const bool is_inside = step.gas.add(d, cell),
               is_cool = step.gas.y[k_energy] >= 0.1 * gas.y[k_energy];
    if (!is_cool) step.gas.y[k_energy] = 0.1 * gas.y[k_energy];
    if (!is_inside || !is_cool) continue;
    if (!(relative_size(chemistry, cell, step.gas, d) <= max_correction)) continue;
    linearize(f, d, step.change);
    if (!is_possible(chemistry, cell, step.change)) continue;
    step.is_found = true;
    for (int n = 0; n < k_unknowns; ++n) changes[n] += d[n];
    correct(chemistry, cell, changes, first, f, factors, step);
    return step;
  }
  return step;
}

// True if the state can be advanced.
KOKKOS_FORCEINLINE_FUNCTION bool is_valid(const Photochemistry& chemistry, const IonizedGas& cell) {
  constexpr double most = 1e250;
  const auto holds = [&](double a) { return a >= 0.0 && a < most; };
  bool valid = holds(cell.hydrogen) && holds(cell.helium);
  valid = valid && holds(cell.energy) && (cell.energy > 0.0 || chemistry.temperature > 0.0);
  for (int n = 0; n < 3; ++n) valid = valid && holds(cell.ionized[n]);
  for (int g = 0; g < chemistry.groups; ++g) valid = valid && holds(cell.photons[g]);
  return valid && cell.hydrogen + cell.helium > 0.0;
}

// Densities of a cell. Fractions of ions above 1 are reduced.
KOKKOS_FORCEINLINE_FUNCTION Densities densities_of(const IonizedGas& cell, const Contents& of) {
  Densities gas{{cell.hydrogen * cell.ionized[0], cell.helium * cell.ionized[1],
                 cell.helium * cell.ionized[2], cell.energy},
                0.0,
                0.0};
  gas.HI = cell.hydrogen - gas.y[0];
  gas.HeI = cell.helium - (gas.y[1] + gas.y[2]);
  gas.limit(of);
  return gas;
}

// True if there are neither electrons nor photons nor a background nor metals, without which
// nothing happens.
KOKKOS_FORCEINLINE_FUNCTION bool is_inert(const Photochemistry& chemistry, const Contents& cell,
                                          const Densities& gas) {
  if (chemistry.has_background || cell.metals.amount > 0.0) return false;
  double sum = gas.y[0] + (gas.y[1] + gas.y[2]);
  for (int g = 0; g < chemistry.groups; ++g) sum += cell.photons[g];
  return !(sum > 0.0);
}

// Adds the changes of photons in a substep to the cell and the reaction.
KOKKOS_FORCEINLINE_FUNCTION void count_photons(const Photochemistry& chemistry, const Substep& step,
                                               Contents& cell, Reaction& reaction) {
  for (int g = 0; g < chemistry.groups; ++g) {
    const double emitted = step.change[k_emitted + g], before = cell.photons[g] + emitted;
    double absorbed = min(step.change[k_absorbed + g], before);
    if (!(before - absorbed > k_no_photons)) absorbed = before;
    const double after = before - absorbed;
    reaction.emitted[g] += emitted;
    reaction.absorbed[g] += absorbed;
    if (before > 0.0) reaction.kept[g] *= after / before;
    cell.photons[g] = after;
  }
}

// Factor of the next substep after an accepted one with this error, which grows with its square.
KOKKOS_FORCEINLINE_FUNCTION double step_factor(double error) {
  return min(max(0.9 / square_root(max(error, 1e-4)), 0.1), 5.0);
}

// Advances gas and photons by `seconds` in substeps.
KOKKOS_INLINE_FUNCTION void integrate(const Photochemistry& chemistry, Contents& cell,
                                      Densities& gas, double seconds, Reaction& reaction) {
  double done = 0.0, step = seconds;
  GasRates rates;
  bool has_rates = false;
  for (int attempt = 0; attempt < chemistry.max_attempts; ++attempt) {
    if (is_inert(chemistry, cell, gas)) return;
    if (!has_rates)
      rates = GasRates(GasState(chemistry, cell, gas).temperature, chemistry.on_the_spot);
    has_rates = true;
    // Substeps of equal length reach the end.
    const double left = seconds - done, count = Kokkos::ceil(left / step);
    const bool is_last = !(count > 1.0);
    const double time = is_last ? left : left / count;
    const Substep next = advance(chemistry, cell, gas, rates, time);
    if (!next.is_found || !(next.error <= 1.0)) {
      step = time * (next.is_found ? min(max(0.8 / next.error, 0.01), 0.5) : 0.25);
      continue;
    }
    gas = next.gas;
    count_photons(chemistry, next, cell, reaction);
    reaction.heated += next.change[k_heated];
    ++reaction.substeps;
    if (is_last) return;
    done += time;
    step = time * step_factor(next.error);
    has_rates = chemistry.temperature > 0.0;
  }
  reaction.is_solved = false;
}

}  // namespace reacting

// Advances ions, thermal energy and photons of a cell by `seconds`. The number of substeps is
// limited. States that are not valid (negative, NaN) stay as they are, with is_solved = false.
KOKKOS_INLINE_FUNCTION Reaction react(IonizedGas& cell, const Photochemistry& chemistry,
                                      double seconds) {
  Reaction reaction{};
  reaction.is_solved = seconds >= 0.0 && reacting::is_valid(chemistry, cell);
  for (int g = 0; g < chemistry.groups; ++g) reaction.kept[g] = 1.0;
  if (!reaction.is_solved || !(seconds > 0.0)) return reaction;
  Contents contents{cell.hydrogen, cell.helium, {}, 0.0, {}};
  if (chemistry.has_background)
    contents.background =
        cooling::shielded_fraction(chemistry.shielding, cell.hydrogen, chemistry.shielding_density);
  if (chemistry.has_metals)
    contents.metals = {cell.hydrogen * cell.hydrogen * cell.metallicity,
                       chemistry.metals.rows.position(cooling::log_of_ten(cell.hydrogen))};
  for (int g = 0; g < chemistry.groups; ++g) contents.photons[g] = cell.photons[g];
  Densities gas = reacting::densities_of(cell, contents);
  reacting::integrate(chemistry, contents, gas, seconds, reaction);
  if (cell.hydrogen > 0.0) cell.ionized[0] = min(gas.y[0] / cell.hydrogen, 1.0);
  if (cell.helium > 0.0) {
    cell.ionized[2] = min(gas.y[2] / cell.helium, 1.0);
    cell.ionized[1] = min(gas.y[1] / cell.helium, 1.0 - cell.ionized[2]);
  }
  for (int g = 0; g < chemistry.groups; ++g) cell.photons[g] = contents.photons[g];
  const double before = cell.energy;
  if (chemistry.temperature > 0.0) cell.set_temperature(chemistry.temperature, chemistry.gamma);
  else cell.energy = gas.y[k_energy];
  reaction.radiated = (before - cell.energy) + reaction.heated;
  return reaction;
}

}  // namespace octant::subgrid::ionization
