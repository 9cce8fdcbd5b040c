#include "driver/energy_budget.hpp"

#include <cmath>

namespace octant::driver {

void EnergyBudget::update(double a, double kinetic_and_internal, double new_potential) {
  energy = kinetic_and_internal + new_potential;
  const double new_log_a = std::log(a);
  if (begun) work += 0.5 * (potential + new_potential) * (new_log_a - log_a);
  else initial = energy;
  begun = true;
  log_a = new_log_a;
  potential = new_potential;
}

double EnergyBudget::error() const {
  return potential == 0.0 ? 0.0 : (energy - initial - work) / std::abs(potential);
}

}  // namespace octant::driver
