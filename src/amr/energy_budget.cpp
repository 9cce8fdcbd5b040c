#include "amr/energy_budget.hpp"

#include <cmath>

namespace octant {

namespace {

// Mean over ln a of a quantity that follows a power law of the scale factor between the values
// `from` and `to`, such as the potential energy during structure formation; the arithmetic mean if
// there is no such power law.
double mean_of_power_law(double from, double to) {
  const double ratio = to / from;
  if (!(ratio > 0.0) || std::abs(ratio - 1.0) < 1e-6) return 0.5 * (from + to);
  return (to - from) / std::log(ratio);
}

}  // namespace

void EnergyBudget::update(double a, double kinetic_and_internal, double new_potential,
                          double added_so_far) {
  energy = kinetic_and_internal + new_potential;
  added = added_so_far;
  const double new_log_a = std::log(a);
  const double grown = new_potential - (resolution - resolution_before);
  if (begun) work += mean_of_power_law(potential, grown) * (new_log_a - log_a);
  else initial = energy;
  resolution_before = resolution;
  begun = true;
  log_a = new_log_a;
  potential = new_potential;
}

double EnergyBudget::error() const {
  if (potential == 0.0) return 0.0;
  return (energy - initial - work - added - resolution - withheld_work) / std::abs(potential);
}

}  // namespace octant
