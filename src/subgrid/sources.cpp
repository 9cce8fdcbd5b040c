// Source terms from expressions in the parameter file: acceleration, heating and sources of passive
// scalars, as functions of position, time and gas state.
//
// The sources are applied for half a coarse step before the hydro sweeps and for half a step after
// them, evaluated at the midpoint of each half step. Acceleration, whose work is exactly the change
// of the kinetic energy, precedes heating and scalars.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/parameters.hpp"
#include "subgrid/cell_expressions.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

class Sources final : public Process {
 public:
  const char* name() const override { return "sources"; }

  void declare(ParameterSchema& schema) override {
    schema.add("sources.acceleration", acceleration_,
               {.unit = "length / time^2",
                .meaning = "External acceleration of the gas: three expressions for the components "
                           "along x, y, z, in x, y, z, r, t, density, velocity_x, velocity_y, "
                           "velocity_z, pressure and scalars"});
    schema.add("sources.heating", heating_,
               {.unit = "energy / (volume time)",
                .meaning = "Volumetric heating rate of the gas (negative: cooling), an expression "
                           "in the same variables as sources.acceleration"});
    schema.add("sources.scalars", scalars_,
               {.unit = "density / time",
                .meaning = "Source terms of the passive-scalar densities, one expression per "
                           "scalar, in the same variables as sources.acceleration"});
    schema.add(
        "sources.centre", centre_,
        {.unit = "length", .meaning = "Origin of the radius r in the expressions in [sources]"});
    schema.add("sources.largest_change", largest_change_,
               {.meaning = "Maximum relative change in the internal energy of a cell per step due "
                           "to sources; limits the time step",
                .above = 0.0});
    definitions_.declare(schema, "sources");
  }

  bool is_wanted() const override {
    return !acceleration_.empty() || !heating_.empty() || !scalars_.empty();
  }
  bool needs_heat() const override { return !heating_.empty(); }
  bool supports_cold_curve() const override { return true; }
  std::vector<std::string> accounts() const override {
    return {"work", "heat", "momentum_x", "momentum_y", "momentum_z"};
  }
  double added_energy(const Ledger& ledger) const override {
    return ledger.total("work") + ledger.total("heat");
  }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[sources] requires hydro.enabled = true");
    if (setup.expands) throw InputError("[sources] is not supported with cosmology.enabled = true");
    if (!acceleration_.empty() && acceleration_.size() != 3)
      throw InputError("sources.acceleration: expected 3 expressions, found {}",
                       acceleration_.size());
    if (!acceleration_.empty() && setup.is_balanced)
      throw InputError(
          "sources.acceleration is not supported with hydro.well_balanced, which keeps equilibrium "
          "under hydro.acceleration: [sources] are applied between the sweeps");
    if (scalars_.size() > setup.scalars.size())
      throw InputError("sources.scalars has {} expressions, but the gas has {} scalars",
                       scalars_.size(), setup.scalars.size());
    first_scalar_ = hydro::k_hydro_variables + setup.gas.dual_energy;
    cell_ = std::make_unique<CellNames>(setup.gas, setup.scalars, setup.geometry.lower(), centre_);
    ExpressionNames names = cell_->names();
    definitions_.compile(names, setup.read_text);
    for (std::size_t n = 0; n < acceleration_.size(); ++n)
      pull_.emplace_back(fmt::format("sources.acceleration[{}]", n), acceleration_[n], names);
    if (!heating_.empty()) heat_.emplace("sources.heating", heating_, names);
    for (std::size_t n = 0; n < scalars_.size(); ++n)
      dye_.emplace_back(fmt::format("sources.scalars[{}]", n), scalars_[n], names);
  }

  // Limits the relative change of the internal energy by heating, and the displacement of gas that
  // is accelerated from rest to an eighth of a cell.
  double longest_step(const GasLevel& level) const override {
    double fastest = 0.0, strongest = 0.0;
    cell_->for_leaf_cells(level, [&](const hydro::GasCell& cell) {
      definitions_.evaluate();
      if (heat_) {
        const double energy = cell.density() * cell.internal_energy();
        fastest = std::max(fastest, std::abs(value(*heat_)) / energy);
      }
      double square = 0.0;
      for (const Expression& pull : pull_) square += value(pull) * value(pull);
      strongest = std::max(strongest, std::sqrt(square));
    });
    double longest = std::numeric_limits<double>::infinity();
    if (fastest > 0.0) longest = largest_change_ / fastest;
    if (strongest > 0.0)
      longest = std::min(longest, std::sqrt(0.25 * level.cells.cell_size / strongest));
    return longest;
  }

  bool acts_around_coarse_steps() const override { return true; }
  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    ReproducibleSum work, heat, momentum[3];
    const double volume = level.cell_volume;
    cell_->for_leaf_cells(level, [&](const hydro::GasCell& cell) {
      definitions_.evaluate();
      const double heated = heat_ ? dt * value(*heat_) : 0.0;
      double dyed[mesh::k_max_variables];
      for (std::size_t n = 0; n < dye_.size(); ++n) dyed[n] = dt * value(dye_[n]);
      double kick[3] = {0.0, 0.0, 0.0};
      for (std::size_t d = 0; d < pull_.size(); ++d) kick[d] = dt * value(pull_[d]);
      if (!pull_.empty()) work += volume * accelerate(cell, kick);
      for (std::size_t d = 0; d < pull_.size(); ++d)
        momentum[d] += volume * cell.density() * kick[d];
      if (heat_)
        heat += volume * cell.set_internal_energy(cell.internal_energy() + heated / cell.density());
      for (std::size_t n = 0; n < dye_.size(); ++n)
        cell[first_scalar_ + static_cast<int>(n)] += dyed[n];
    });
    ledger["work"] += work;
    ledger["heat"] += heat;
    for (int d = 0; d < 3; ++d) ledger[std::string("momentum_") + "xyz"[d]] += momentum[d];
  }

 private:
  static double value(const Expression& expression) {
    const double value = expression.value();
    if (!std::isfinite(value))
      throw RunError("{} is {}; expected a finite number", expression.description(), value);
    return value;
  }

  // Accelerates the gas of a cell. Returns the increase of its energy density.
  static double accelerate(const hydro::GasCell& cell, const double (&kick)[3]) {
    double work = 0.0;
    for (int d = 0; d < 3; ++d) {
      double& momentum = cell[hydro::k_momentum_x + d];
      work += kick[d] * (momentum + 0.5 * cell.density() * kick[d]);
      momentum += cell.density() * kick[d];
    }
    const double before = cell[hydro::k_energy];
    cell[hydro::k_energy] = before + work;
    return cell[hydro::k_energy] - before;
  }

  std::vector<std::string> acceleration_, scalars_;
  std::string heating_;
  std::array<double, 3> centre_{};
  double largest_change_ = 0.1;
  Definitions definitions_;

  int first_scalar_ = 0;
  std::unique_ptr<CellNames> cell_;  // on the heap, so that its address is stable
  std::vector<Expression> pull_, dye_;
  std::optional<Expression> heat_;
};

template <>
std::unique_ptr<Process> make_process<Sources>() {
  return std::make_unique<Sources>();
}

}  // namespace octant::subgrid
