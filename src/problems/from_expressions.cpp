// Gas given by expressions of position in the parameter file.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/lattice_expressions.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "problems/particle_table.hpp"
#include "problems/problem.hpp"
#include "problems/random_field.hpp"

namespace octant::problems {

namespace {

class ExpressionProblem final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.density", density_,
        {.unit = "density", .meaning = "Density, an expression in x, y, z, r, t and cell_size"});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity",
                .meaning = "Velocity: three expressions for the components along x, y, z"});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure",
                .meaning = "Pressure, an expression; empty: 1, unless problem.temperature is set"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K",
                .meaning = "Temperature divided by the mean molecular weight, an expression that "
                           "replaces problem.pressure; if [units] is not set: pressure divided by "
                           "density, in code units"});
    schema.add("problem.scalars", scalars_,
               {.meaning = "Concentrations of the passive scalars, one expression per scalar"});
    schema.add("problem.species", species_,
               {.meaning = "Mass fractions of variables that physical processes add to the gas: a "
                           "table that maps names to expressions, such as {metals = \"0.02\"}; "
                           "variables without an entry keep the default of their process",
                .is_table = true});
    schema.add("problem.fields", fields_,
               {.meaning = "Values of fields that are stored beside the gas, such as those of "
                           "radiation: a table that maps names to expressions, such as "
                           "{radiation_energy = \"exp(-r^2)\"}",
                .is_table = true});
    definitions_.declare(schema, "problem");
    schema.add(
        "problem.random", random_,
        {.meaning =
             "Named Gaussian random fields for the expressions in [problem], periodic in the "
             "domain: a table that maps names to settings, such as {ripple = \"seed 1, from 1, to "
             "8, slope -2, rms 0.1\"}: wavenumbers from 1 to 8, in units of 2 pi over the longest "
             "side of the domain, with power per mode proportional to k^-2",
         .is_table = true});
    schema.add(
        "problem.centre", centre_,
        {.unit = "length", .meaning = "Origin of the radius r in the expressions in [problem]"});
    schema.add("problem.samples", samples_,
               {.meaning = "Number of sampling points along each axis of a cell for averaging "
                           "mass, momentum and energy",
                .min = 1,
                .max = 64});
    particles_.declare(schema);
  }

  void prepare(const ProblemSetup& setup) override {
    per_pressure_ = 1.0 / (setup.hydro.gamma - 1.0);
    gas_ = setup.hydro.gas();
    lower_ = setup.geometry.lower();
    upper_ = setup.geometry.upper();
    base_cell_size_ = setup.geometry.cell_size(0);
    if (!temperature_.empty()) prepare_temperature(setup);
    else if (pressure_.empty()) pressure_ = "1";
    if (velocity_.size() != 3)
      throw InputError("problem.velocity: expected 3 expressions, found {}", velocity_.size());
    if (static_cast<int>(scalars_.size()) > passive_scalars(setup.hydro))
      throw InputError(
          "problem.scalars has {} expressions, but there are {} scalars (hydro.scalars)",
          scalars_.size(), passive_scalars(setup.hydro));

    allowed_ = {Allowed::positive, Allowed::positive};
    allowed_.resize(k_scalars + scalars_.size(), Allowed::finite);
    find_species(setup.hydro);
    find_fields(setup.hydro);
    formulas_.set_centre(centre_);
    formulas_.names().add_constant("problem", "gamma", setup.hydro.gamma);
    formulas_.names().add_variable("problem", "cell_size", &cell_size_);
    add_random_fields(setup.geometry);
    definitions_.compile(formulas_.names(), setup.read_text);
    formulas_.add_terms(definitions_);
    add_quantities();
  }

  std::vector<particles::Kind> particle_kinds() const override { return particles_.kinds(); }
  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    return particles_.share(communicator);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    GasState found;
    const auto one = [](double x) { return std::vector{x}; };
    initial_states({{one(centre[0]), one(centre[1]), one(centre[2])}}, cell_size,
                   [&](std::int64_t, const GasState& gas) { found = gas; });
    return found;
  }

  // Errors from invalid values may occur on a single rank and are therefore made collective.
  void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) override {
    const int N = mesh.layout().block_size;
    const double dx = mesh.geometry().cell_size(level);
    mesh.communicator().collective_try([&] {
      for (const int slot : mesh.blocks(level).own()) {
        const auto corner =
            mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
        Lattice centres;
        for (int d = 0; d < 3; ++d)
          for (int i = 0; i < N; ++i) centres.along[d].push_back(corner[d] + (i + 0.5) * dx);
        initial_states(centres, dx, [&](std::int64_t cell, const GasState& gas) {
          receive(slot, static_cast<int>(cell), gas);
        });
      }
    });
  }

  LatticeStates inflow_states(int axis, int side, const Lattice& centres) const override {
    const double wall = (side == 0 ? lower_ : upper_)[axis];
    double nearest = std::numeric_limits<double>::infinity();  // half the size of a cell
    for (const double x : centres.along[axis]) nearest = std::min(nearest, std::abs(x - wall));
    const double level = std::rint(std::log2(base_cell_size_ / (2.0 * nearest)));
    return [this, cell_size = base_cell_size_ * std::exp2(-level), values = LatticeValues(centres)](
               double time, const PointReceiver& receive) mutable {
      cell_size_ = cell_size;
      evaluate_states(values, time, receive);
    };
  }
  bool inflow_moves() const override {
    const auto moves = [&](int quantity) { return formulas_.moves(quantity); };
    return std::ranges::any_of(quantities_, moves);
  }

 private:
  // Indices of the quantities, which are followed by species and fields.
  enum { k_density, k_pressure, k_velocity, k_scalars = k_velocity + 3 };

  // Values that a quantity may have.
  enum class Allowed { finite, positive, not_negative, fraction };

  static int passive_scalars(const hydro::HydroOptions& hydro) {
    int count = 0;
    for (const hydro::GasVariable& scalar : hydro.scalars)
      count += scalar.role == hydro::GasRole::passive;
    return count;
  }

  // Finds the index of each of problem.species among the variables of a cell.
  void find_species(const hydro::HydroOptions& hydro) {
    std::vector<std::string> known, given;
    for (const hydro::GasVariable& scalar : hydro.scalars)
      if (scalar.role == hydro::GasRole::species) known.push_back(scalar.name);
    const auto variables = hydro.variables();
    for (const std::string& definition : species_) {
      const std::string name = split_definition("problem.species", definition).first;
      if (std::ranges::find(known, name) == known.end())
        throw InputError("problem.species: no process of this run adds a variable \"{}\"; {}", name,
                         known.empty() ? "metals are added by [cooling], [stars] and [supernovae]"
                                       : fmt::format("expected {}", fmt::join(known, ", ")));
      given.push_back(name);
      species_indices_.push_back(hydro.variable_index(name).value());
      const bool is_fraction = variables[species_indices_.back()].unit == "1";
      allowed_.push_back(is_fraction ? Allowed::fraction : Allowed::finite);
    }
    require_different("problem.species", given);
  }

  // Finds the index of each of problem.fields among the variables of a cell.
  void find_fields(const hydro::HydroOptions& hydro) {
    const std::vector<std::string> known = hydro::shown_names(hydro.separate);
    const auto variables = hydro.variables();
    std::vector<std::string> given;
    for (const std::string& definition : fields_) {
      const std::string name = split_definition("problem.fields", definition).first;
      if (std::ranges::find(known, name) == known.end())
        throw InputError("problem.fields: this run has no field \"{}\"; {}", name,
                         known.empty() ? "[radiation] adds fields"
                                       : fmt::format("expected {}", fmt::join(known, ", ")));
      given.push_back(name);
      field_indices_.push_back(hydro.variable_index(name).value());
      const bool is_density = variables[field_indices_.back()].vector_axis < 0;
      allowed_.push_back(is_density ? Allowed::not_negative : Allowed::finite);
    }
    require_different("problem.fields", given);
  }

  void prepare_temperature(const ProblemSetup& setup) {
    if (!pressure_.empty())
      throw InputError("problem.temperature and problem.pressure: expected exactly one of the two");
    if (setup.universe)
      throw InputError(
          "problem.temperature is not supported with cosmology.enabled = true; set "
          "problem.pressure");
    if (setup.hydro.eos.kind == hydro::EquationOfState::table)
      throw InputError(
          "problem.temperature is not supported with hydro.equation_of_state = \"table\"; set "
          "problem.pressure");
    is_hot_ = true;
    const CodeUnits& units = setup.units;
    if (units.length != 1.0 || units.mass != 1.0 || units.time != 1.0)
      kelvin_ = units.temperature();
  }

  void add_random_fields(const mesh::Geometry& geometry) {
    for (const std::string& definition : random_) {
      const auto [name, text] = split_definition("problem.random", definition);
      const std::string parameter = "problem.random." + name;
      formulas_.add_function(
          parameter, name, [field = RandomField(parameter, text, geometry)](const Position& place) {
            return field.value(place);
          });
    }
  }

  void add_quantities() {
    const auto add = [&](const std::string& parameter, const std::string& text) {
      quantities_.push_back(formulas_.add(parameter, text));
    };
    add("problem.density", density_);
    if (is_hot_) add("problem.temperature", temperature_);
    else add("problem.pressure", pressure_);
    for (std::size_t n = 0; n < 3; ++n) add(fmt::format("problem.velocity[{}]", n), velocity_[n]);
    for (std::size_t n = 0; n < scalars_.size(); ++n)
      add(fmt::format("problem.scalars[{}]", n), scalars_[n]);
    for (const std::string& definition : species_) {
      const auto [name, text] = split_definition("problem.species", definition);
      add("problem.species." + name, text);
    }
    for (const std::string& definition : fields_) {
      const auto [name, text] = split_definition("problem.fields", definition);
      add("problem.fields." + name, text);
    }
  }

  // States of cells with these centres. Rounding errors of the centres depend on the block size;
  // recomputing the centres gives bitwise-identical evaluation points for any block size.
  void initial_states(Lattice centres, double cell_size, const PointReceiver& receive) const {
    cell_size_ = cell_size;
    for (int axis = 0; axis < 3; ++axis)
      for (double& x : centres.along[axis]) {
        const double cell = std::floor((x - lower_[axis]) / cell_size);
        x = lower_[axis] + (cell + 0.5) * cell_size;
      }
    if (samples_ == 1) {
      LatticeValues values(std::move(centres));
      evaluate_states(values, 0.0, receive);
      return;
    }
    evaluate_means(centres, cell_size, receive);
  }

  void evaluate_states(LatticeValues& values, double time, const PointReceiver& receive) const {
    formulas_.evaluate(values, time);
    for (std::size_t n = 0; n < quantities_.size(); ++n) require_gas(values, n, time);
    const auto& along = values.lattice().along;
    std::vector<const double*> row(quantities_.size());
    std::vector<std::size_t> step;
    for (const int quantity : quantities_) step.push_back(values[quantity].stride[0]);
    GasState gas = empty_state();
    std::int64_t point = 0;
    for (std::size_t k = 0; k < along[2].size(); ++k)
      for (std::size_t j = 0; j < along[1].size(); ++j) {
        for (std::size_t n = 0; n < quantities_.size(); ++n)
          row[n] = values[quantities_[n]].from({0, j, k});
        for (std::size_t i = 0; i < along[0].size(); ++i, ++point) {
          set_state(gas, [&](std::size_t n) { return row[n][i * step[n]]; });
          receive(point, gas);
        }
      }
  }

  template <class Quantity>
  void set_state(GasState& gas, const Quantity& value) const {
    gas.density = value(k_density);
    gas.pressure = value(k_pressure);
    if (is_hot_) {
      const double thermal = gas.density * value(k_pressure) / kelvin_;
      gas.pressure =
          gas_.real.kind == hydro::RealGas::radiation
              ? gas_.real.with_radiation.pressure_of_theta(gas.density, thermal / gas.density)
              : cold_state(gas.density, gas_).total_pressure(thermal);
    }
    for (int axis = 0; axis < 3; ++axis) gas.velocity[axis] = value(k_velocity + axis);
    for (std::size_t n = 0; n < gas.scalars.size(); ++n) gas.scalars[n] = value(k_scalars + n);
    for (std::size_t n = 0; n < gas.others.size(); ++n)
      gas.others[n].second = value(k_scalars + gas.scalars.size() + n);
    const std::size_t first_field = k_scalars + gas.scalars.size() + gas.others.size();
    for (std::size_t n = 0; n < gas.fields.size(); ++n)
      gas.fields[n].second = value(first_field + n);
  }

  // State with all variables that expressions set, each 0.
  GasState empty_state() const {
    GasState gas{.density = 0.0, .pressure = 0.0};
    gas.scalars.resize(scalars_.size());
    for (const int place : species_indices_) gas.others.emplace_back(place, 0.0);
    for (const int place : field_indices_) gas.fields.emplace_back(place, 0.0);
    return gas;
  }

  static bool is_allowed(Allowed allowed, double value) {
    if (!std::isfinite(value)) return false;
    switch (allowed) {
      case Allowed::finite: return true;
      case Allowed::positive: return value > 0.0;
      case Allowed::not_negative: return value >= 0.0;
      case Allowed::fraction: return value >= 0.0 && value <= 1.0;
    }
    return false;
  }

  static const char* description_of(Allowed allowed) {
    switch (allowed) {
      case Allowed::finite: return "a finite number";
      case Allowed::positive: return "a positive number";
      case Allowed::not_negative: return "a finite number of at least 0";
      case Allowed::fraction: return "a fraction between 0 and 1";
    }
    return "";
  }

  // Throws unless all values of a quantity are allowed.
  void require_gas(const LatticeValues& values, std::size_t quantity, double time) const {
    const auto is_gas = [&](double value) { return is_allowed(allowed_[quantity], value); };
    const LatticeValues::Table& table = values[quantities_[quantity]];
    if (std::ranges::all_of(table.values, is_gas)) return;
    for (std::int64_t point = 0;; ++point) {
      const double value = *table.from(values.lattice().index(point));
      if (is_gas(value)) continue;
      const auto [x, y, z] = values.lattice().position(point);
      throw InputError("{} is {} at x = {}, y = {}, z = {}, t = {}; expected {}",
                       formulas_[quantities_[quantity]].description(), value, x, y, z, time,
                       description_of(allowed_[quantity]));
    }
  }

  // Passes the means over the samples of each cell to `receive`. Samples are evaluated plane by
  // plane, because most parts of an expression depend on one or two coordinates.
  void evaluate_means(const Lattice& centres, double cell_size,
                      const PointReceiver& receive) const {
    const auto samples_in = [&](const std::vector<double>& cells) {
      std::vector<double> positions;
      for (const double centre : cells)
        for (int i = 0; i < samples_; ++i)
          positions.push_back(centre + ((i + 0.5) / samples_ - 0.5) * cell_size);
      return positions;
    };
    const auto& [x, y, z] = centres.along;
    const auto xs = samples_in(x), ys = samples_in(y);
    std::vector<std::size_t> cell_of;  // cell of each sample in its layer
    for (std::size_t j = 0; j < ys.size(); ++j)
      for (std::size_t i = 0; i < xs.size(); ++i)
        cell_of.push_back(j / samples_ * x.size() + i / samples_);
    const GasState nothing = empty_state();
    std::int64_t cell = 0;
    for (const double middle : z) {
      std::vector<GasState> sums(x.size() * y.size(), nothing);
      for (const double height : samples_in({middle})) {
        LatticeValues plane(Lattice{{xs, ys, {height}}});
        evaluate_states(plane, 0.0, [&](std::int64_t sample, const GasState& gas) {
          add_sample(gas, sums[cell_of[sample]]);
        });
      }
      for (GasState& sum : sums) {
        make_mean(sum);
        receive(cell++, sum);
      }
    }
  }

  // Adds mass, momentum, energy and scalar mass, stored in the members for density, velocity,
  // pressure and scalars.
  void add_sample(const GasState& gas, GasState& sum) const {
    sum.density += gas.density;
    for (int axis = 0; axis < 3; ++axis) sum.velocity[axis] += gas.density * gas.velocity[axis];
    const auto cold = cold_state(gas.density, gas_);
    sum.pressure += cold.internal_energy(gas.pressure, per_pressure_) + kinetic_energy(gas);
    for (std::size_t n = 0; n < sum.scalars.size(); ++n)
      sum.scalars[n] += gas.density * gas.scalars[n];
    for (std::size_t n = 0; n < sum.others.size(); ++n)
      sum.others[n].second += gas.density * gas.others[n].second;
    for (std::size_t n = 0; n < sum.fields.size(); ++n)
      sum.fields[n].second += gas.fields[n].second;
  }

  void make_mean(GasState& sum) const {
    const int samples = samples_ * samples_ * samples_;
    for (double& velocity : sum.velocity) velocity /= sum.density;
    for (double& scalar : sum.scalars) scalar /= sum.density;
    for (auto& [place, fraction] : sum.others) fraction /= sum.density;
    for (auto& [place, value] : sum.fields) value /= samples;
    const auto cold = cold_state(sum.density / samples, gas_);
    const double thermal =
        cold.thermal_energy((sum.pressure - kinetic_energy(sum)) / samples) / per_pressure_;
    sum.pressure = cold.total_pressure(thermal);
    sum.density /= samples;
  }

  static double kinetic_energy(const GasState& gas) {
    const auto& v = gas.velocity;
    return 0.5 * gas.density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }

  std::string density_ = "1", pressure_, temperature_;
  std::vector<std::string> velocity_{"0", "0", "0"}, scalars_, species_, random_, fields_;
  Definitions definitions_;
  Position centre_{};
  int samples_ = 1;
  ParticleTable particles_;

  Position lower_{}, upper_{};
  double base_cell_size_ = 1.0;
  mutable double cell_size_ = 1.0;  // value of cell_size in the expressions
  double per_pressure_ = 1.0, kelvin_ = 1.0;
  hydro::Gas gas_;
  bool is_hot_ = false;                               // true if problem.temperature is set
  std::vector<int> species_indices_, field_indices_;  // indices among the variables of a cell
  LatticeExpressions formulas_;
  std::vector<int> quantities_;   // indices of the formulas
  std::vector<Allowed> allowed_;  // allowed values of the quantities
};

}  // namespace

std::unique_ptr<Problem> make_expression() { return std::make_unique<ExpressionProblem>(); }

}  // namespace octant::problems
