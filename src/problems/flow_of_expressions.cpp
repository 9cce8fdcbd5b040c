// Incompressible flow given by expressions of position in the parameter file.
#include <cmath>

#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_problem.hpp"

namespace octant::problems {

namespace {

class FlowOfExpressions final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity",
                .meaning = "Initial velocity: three expressions for the x, y and z components as "
                           "functions of x, y, z, r and noise"});
    schema.add(
        "problem.pressure", pressure_,
        {.unit = "velocity^2",
         .meaning = "Initial kinematic pressure p / rho, an expression in x, y, z, r and noise"});
    schema.add("problem.scalar", scalar_,
               {.meaning = "Initial scalar, an expression in x, y, z, r and noise"});
    schema.add(
        "problem.centre", centre_,
        {.unit = "length", .meaning = "Origin of the radius r in the expressions in [problem]"});
    schema.add(
        "problem.seed", seed_,
        {.meaning = "Random seed for the variable noise, a random number between -1 and 1 for each "
                    "cell and component",
         .min = 0});
    definitions_.declare(schema, "problem");
  }

  void prepare(const FlowSetting& setup) override {
    if (velocity_.size() != 3)
      throw InputError("problem.velocity: expected 3 expressions, found {}", velocity_.size());
    ExpressionNames names = point_.names();
    names.add_variable("problem", "noise", &noise_);
    names.add_constant("problem", "viscosity", setup.parameters.viscosity);
    for (int axis = 0; axis < 3; ++axis)
      names.add_constant("problem", std::string("size_") + "xyz"[axis], setup.grid.size[axis]);
    definitions_.compile(names, setup.read_text);
    for (std::size_t n = 0; n < velocity_.size(); ++n)
      quantities_.emplace_back(fmt::format("problem.velocity[{}]", n), velocity_[n], names);
    quantities_.emplace_back("problem.pressure", pressure_, names);
    quantities_.emplace_back("problem.scalar", scalar_, names);
  }

  double velocity(int component, const FlowPoint& point) const override {
    return value(component, point);
  }
  double pressure(const FlowPoint& point) const override { return value(k_pressure, point); }
  double scalar(const FlowPoint& point) const override { return value(k_scalar, point); }

 private:
  enum { k_pressure = 3, k_scalar };  // indices of quantities after the velocity

  double value(int quantity, const FlowPoint& point) const {
    if (quantities_[quantity].is_constant()) return quantities_[quantity].value();
    point_.set(point.position, centre_, 0.0);
    const RandomStream random(seed_, point.cell, static_cast<std::uint32_t>(quantity));
    noise_ = 2.0 * random.uniform(0) - 1.0;
    definitions_.evaluate();
    const double value = quantities_[quantity].value();
    if (std::isfinite(value)) return value;
    throw InputError("{} is {} at x = {}, y = {}, z = {}; expected a finite number",
                     quantities_[quantity].description(), value, point_.x, point_.y, point_.z);
  }

  std::vector<std::string> velocity_{"0", "0", "0"};
  std::string pressure_ = "0", scalar_ = "0";
  std::array<double, 3> centre_{};
  std::int64_t seed_ = 1;
  Definitions definitions_;

  std::vector<Expression> quantities_;
  // Values of the names in expressions.
  mutable ExpressionPoint point_;
  mutable double noise_ = 0.0;
};

}  // namespace

std::unique_ptr<FlowProblem> make_flow_of_expressions() {
  return std::make_unique<FlowOfExpressions>();
}

}  // namespace octant::problems
