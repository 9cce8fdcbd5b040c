// Gas that the parameter file describes by expressions of position.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/definitions.hpp"
#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/random_field.hpp"

namespace octant::problems {

namespace {

class ExpressionProblem final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Density, by x, y, z, r and t"});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Velocity along x, y, z"});
    schema.add(
        "problem.pressure", pressure_,
        {.unit = "pressure", .meaning = "Pressure; without it and without a temperature: 1"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K",
                .meaning = "Instead of the pressure: temperature over the mean molecular weight, "
                           "where [units] is given, and else pressure over density"});
    schema.add("problem.scalars", scalars_,
               {.meaning = "Concentrations of the passive scalars (hydro.scalars)"});
    definitions_.declare(schema, "problem");
    schema.add(
        "problem.random", random_,
        {.meaning = "A table of random fields by name, as {ripple = \"seed 1, from 1, to 8, slope "
                    "-2, rms 0.1\"}: Gaussian, periodic in the domain, of wave numbers from 1 to "
                    "8 in units of 2 pi over its longest side, power per wave going as k^-2"});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "From where r is the distance"});
    schema.add("problem.samples", samples_,
               {.meaning = "Points along each axis of a cell, which gets the mean of their mass, "
                           "momentum and energy",
                .min = 1,
                .max = 64});
  }

  void prepare(const Setting& setting) override {
    per_pressure_ = 1.0 / (setting.hydro.gamma - 1.0);
    lower_ = setting.geometry.lower();
    if (!temperature_.empty()) prepare_temperature(setting);
    else if (pressure_.empty()) pressure_ = "1";
    if (velocity_.size() != 3)
      throw InputError("problem.velocity: expected 3 expressions, found {}", velocity_.size());
    if (static_cast<int>(scalars_.size()) > passive_scalars(setting.hydro))
      throw InputError(
          "problem.scalars has {} expressions, but there are {} scalars (hydro.scalars)",
          scalars_.size(), passive_scalars(setting.hydro));

    ExpressionNames names = point_.names();
    names.add_constant("problem", "gamma", setting.hydro.gamma);
    add_random_fields(names, setting.geometry);
    definitions_.compile(names);
    compile_quantities(names);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const Position place = on_lattice(centre, cell_size);
    return samples_ == 1 ? state_at(place, 0.0) : mean_around(place, cell_size);
  }

  GasState inflow_state(const InflowPlace& place) const override {
    return state_at(place.centre, place.time);
  }
  bool inflow_moves() const override {
    const auto moves = [](const Expression& expression) { return expression.uses("t"); };
    return definitions_.uses("t") || std::ranges::any_of(quantities_, moves);
  }

  // What an expression gives may be no gas, on one rank alone.
  void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) override {
    mesh.communicator().agree([&] { Problem::initial_level(mesh, level, receive); });
  }

 private:
  enum { k_density, k_pressure, k_velocity, k_scalars = k_velocity + 3 };  // of the quantities

  static int passive_scalars(const hydro::HydroOptions& hydro) {
    int count = 0;
    for (const hydro::GasVariable& scalar : hydro.scalars)
      count += scalar.role == hydro::GasRole::passive;
    return count;
  }

  void prepare_temperature(const Setting& setting) {
    if (!pressure_.empty())
      throw InputError("problem.temperature and problem.pressure: expected one of them");
    if (setting.universe)
      throw InputError(
          "problem.temperature means nothing with cosmology.enabled = true: give problem.pressure");
    is_hot_ = true;
    const CodeUnits& units = setting.units;
    if (units.length != 1.0 || units.mass != 1.0 || units.time != 1.0)
      kelvin_ = units.temperature();
  }

  void add_random_fields(ExpressionNames& names, const mesh::Geometry& geometry) {
    random_values_.resize(random_.size());
    for (std::size_t n = 0; n < random_.size(); ++n) {
      const auto [name, text] = split_definition("problem.random", random_[n]);
      const std::string parameter = "problem.random." + name;
      random_fields_.emplace_back(parameter, text, geometry);
      names.add_variable(parameter, name, &random_values_[n]);
    }
  }

  void compile_quantities(const ExpressionNames& names) {
    quantities_.emplace_back("problem.density", density_, names);
    if (is_hot_) quantities_.emplace_back("problem.temperature", temperature_, names);
    else quantities_.emplace_back("problem.pressure", pressure_, names);
    for (std::size_t n = 0; n < 3; ++n)
      quantities_.emplace_back(fmt::format("problem.velocity[{}]", n), velocity_[n], names);
    for (std::size_t n = 0; n < scalars_.size(); ++n)
      quantities_.emplace_back(fmt::format("problem.scalars[{}]", n), scalars_[n], names);
  }

  // A centre that comes from the corner of its block is rounded as that is. This one has the same
  // bits in blocks of any size.
  Position on_lattice(const Position& centre, double cell_size) const {
    Position place;
    for (int axis = 0; axis < 3; ++axis) {
      const double cell = std::floor((centre[axis] - lower_[axis]) / cell_size);
      place[axis] = lower_[axis] + (cell + 0.5) * cell_size;
    }
    return place;
  }

  GasState state_at(const Position& place, double time) const {
    point_.set(place, centre_, time);
    for (std::size_t n = 0; n < random_fields_.size(); ++n)
      random_values_[n] = random_fields_[n].value(place);
    definitions_.evaluate();
    GasState gas;
    gas.density = positive(k_density);
    gas.pressure = is_hot_ ? gas.density * positive(k_pressure) / kelvin_ : positive(k_pressure);
    for (int axis = 0; axis < 3; ++axis) gas.velocity[axis] = finite(k_velocity + axis);
    for (std::size_t n = k_scalars; n < quantities_.size(); ++n) gas.scalars.push_back(finite(n));
    return gas;
  }

  double positive(std::size_t quantity) const { return checked(quantity, 0.0, "above zero"); }
  double finite(std::size_t quantity) const {
    return checked(quantity, -std::numeric_limits<double>::infinity(), "a finite number");
  }
  double checked(std::size_t quantity, double above, const char* expected) const {
    const double value = quantities_[quantity].value();
    if (std::isfinite(value) && value > above) return value;
    throw InputError("{} is {} at x = {}, y = {}, z = {}, t = {}; expected {}",
                     quantities_[quantity].description(), value, point_.x, point_.y, point_.z,
                     point_.t, expected);
  }

  // Of mass, momentum, energy and the mass of scalars.
  GasState mean_around(const Position& centre, double cell_size) const {
    GasState sum{.density = 0.0, .pressure = 0.0};
    sum.scalars.resize(scalars_.size());
    const int n = samples_;
    for (int point = 0; point < n * n * n; ++point) {
      const std::array<int, 3> index{point % n, point / n % n, point / n / n};
      Position place;
      for (int axis = 0; axis < 3; ++axis)
        place[axis] = centre[axis] + ((index[axis] + 0.5) / n - 0.5) * cell_size;
      const GasState gas = state_at(place, 0.0);
      sum.density += gas.density;
      for (int axis = 0; axis < 3; ++axis) sum.velocity[axis] += gas.density * gas.velocity[axis];
      sum.pressure += gas.pressure * per_pressure_ + kinetic_energy(gas);
      for (std::size_t s = 0; s < scalars_.size(); ++s)
        sum.scalars[s] += gas.density * gas.scalars[s];
    }
    for (double& velocity : sum.velocity) velocity /= sum.density;
    for (double& scalar : sum.scalars) scalar /= sum.density;
    sum.pressure = (sum.pressure - kinetic_energy(sum)) / per_pressure_ / (n * n * n);
    sum.density /= n * n * n;
    return sum;
  }

  static double kinetic_energy(const GasState& gas) {
    const auto& v = gas.velocity;
    return 0.5 * gas.density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }

  std::string density_ = "1", pressure_, temperature_;
  std::vector<std::string> velocity_{"0", "0", "0"}, scalars_, random_;
  Definitions definitions_;
  Position centre_{};
  int samples_ = 1;

  Position lower_{};
  double per_pressure_ = 1.0, kelvin_ = 1.0;
  bool is_hot_ = false;  // the temperature is given
  std::vector<Expression> quantities_;
  std::vector<RandomField> random_fields_;
  // What the names in expressions stand for.
  mutable ExpressionPoint point_;
  mutable std::vector<double> random_values_;
};

}  // namespace

std::unique_ptr<Problem> make_expression() { return std::make_unique<ExpressionProblem>(); }

}  // namespace octant::problems
