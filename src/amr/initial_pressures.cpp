#include "amr/initial_pressures.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/log.hpp"
#include "hydro/eos/eos_table.hpp"
#include "hydro/euler.hpp"

namespace octant {

namespace {

// Relative difference of pressures and densities that may result from rounding.
constexpr double k_rounding = 1e-9;

}  // namespace

void InitialPressures::add(const problems::GasState& state, const problems::Position& centre) {
  const auto cold = hydro::cold_state(state.density, gas_);
  const double thermal = cold.thermal_pressure(state.pressure);
  if (options_.eos.table) {
    const bool is_cold = !(thermal > gas_.pressure_floor * (1.0 + k_rounding));
    if (!is_cold && hydro::outside_table<double>(state.density, thermal, gas_.real) == 0.0) return;
    if (outside_++ == 0) first_outside_ = {centre, state.density, state.pressure};
    return;
  }
  const double change = (cold.pressure - state.pressure) / std::abs(state.pressure);
  if (!(change > k_rounding)) return;
  ++raised_;
  largest_ = std::max(largest_, change);
}

void InitialPressures::report(const Communicator& communicator) const {
  if (!are_limited()) return;
  const std::int64_t raised = communicator.sum(raised_), outside = communicator.sum(outside_);
  const double largest = communicator.max(largest_);
  communicator.collective_try([&] {
    if (first_outside_) refuse(*first_outside_, outside);
  });
  if (raised > 0)
    log::warn(
        "raised the initial pressures of {} cells to the cold pressure of "
        "hydro.equation_of_state = \"{}\", by up to {:.3g} times their values",
        raised, name_of(options_.eos.kind), largest);
}

void InitialPressures::refuse(const Cell& first, std::int64_t cells) const {
  const hydro::TabulatedGas& table = *options_.eos.table;
  const auto [least, largest] = table.pressures_at(first.density);
  throw InputError(
      "hydro.eos_table: {} cells of the initial state are outside the table, such as that at x = "
      "{}, y = {}, z = {} with the density {:.6g} and the pressure {:.6g}; the table has densities "
      "{:.6g} to {:.6g} and temperatures {:.6g} to {:.6g} K, and at the nearest density pressures "
      "above {:.6g} and up to {:.6g}, in code units; use a table with larger ranges, or other "
      "initial conditions",
      cells, first.centre[0], first.centre[1], first.centre[2], first.density, first.pressure,
      table.grid().least_density, table.grid().largest_density, table.temperatures().first,
      table.temperatures().second, least, largest);
}

}  // namespace octant
