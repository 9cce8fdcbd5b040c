#include "subgrid/cell_expressions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"

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

struct Integrals::Compiled {
  CellNames cell;
  std::vector<Expression> expressions;
};

Integrals::Integrals() = default;
Integrals::Integrals(Integrals&&) noexcept = default;
Integrals& Integrals::operator=(Integrals&&) noexcept = default;
Integrals::~Integrals() = default;

void Integrals::declare(ParameterSchema& schema) {
  schema.add(
      "output.integrals", definitions_,
      {.meaning =
           "Volume integrals in history.csv: a table that maps column names to expressions in x, "
           "y, z, r, t, density, velocity_x, velocity_y, velocity_z, pressure and scalars",
       .is_table = true});
}

void Integrals::compile(const mesh::Geometry& geometry, const hydro::Gas& gas,
                        const std::vector<std::string>& scalars) {
  if (definitions_.empty()) return;
  compiled_.reset(new Compiled{{gas, scalars, geometry.lower(), {}}, {}});
  const ExpressionNames names = compiled_->cell.names();
  for (const std::string& definition : definitions_) {
    const auto [name, text] = split_definition("output.integrals", definition);
    require_name("output.integrals", name);
    if (std::ranges::find(names_, name) != names_.end())
      throw InputError("output.integrals: the name \"{}\" is given twice", name);
    names_.push_back(name);
    compiled_->expressions.emplace_back("output.integrals." + name, text, names);
  }
}

void Integrals::add(const GasLevel& level, std::vector<ReproducibleSum>& sums) const {
  if (!compiled_) return;
  compiled_->cell.for_leaf_cells(level, [&](const hydro::GasCell&) {
    for (std::size_t n = 0; n < sums.size(); ++n)
      sums[n] += level.cell_volume * compiled_->expressions[n].value();
  });
}

}  // namespace octant::subgrid
