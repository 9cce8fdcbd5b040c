#include "subgrid/cell_expressions.hpp"

#include <cmath>
#include <utility>

namespace octant::subgrid {

CellNames::CellNames(const hydro::Gas& gas, std::vector<std::string> scalars,
                     const std::array<double, 3>& lower, const std::array<double, 3>& centre)
    : lower_(lower),
      centre_(centre),
      gas_(gas),
      scalars_(std::move(scalars)),
      concentrations_(scalars_.size(), 0.0) {}

ExpressionNames CellNames::names() {
  ExpressionNames names = point_.names();
  names.add_constant("", "gamma", gas_.gamma);
  names.add_variable("", "density", &density_);
  names.add_variable("", "velocity_x", &velocity_[0]);
  names.add_variable("", "velocity_y", &velocity_[1]);
  names.add_variable("", "velocity_z", &velocity_[2]);
  names.add_variable("", "pressure", &pressure_);
  for (std::size_t n = 0; n < scalars_.size(); ++n)
    names.add_variable("", scalars_[n], &concentrations_[n]);
  return names;
}

void CellNames::set(const hydro::GasCell& cell, const std::array<double, 3>& place, double time) {
  point_.set(place, centre_, time);
  density_ = cell.density();
  for (int d = 0; d < 3; ++d) velocity_[d] = cell.velocity(d);
  pressure_ = cell.pressure();
  const int first = hydro::k_hydro_variables + gas_.dual_energy;
  for (std::size_t n = 0; n < scalars_.size(); ++n)
    concentrations_[n] = cell[first + static_cast<int>(n)] / density_;
}

}  // namespace octant::subgrid
