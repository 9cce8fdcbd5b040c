// The Riemann problem: two uniform states that meet at a plane. The defaults are those of Sod
// (1978).
#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/mixture.hpp"

namespace octant::problems {

namespace {

class Riemann final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    const std::string unit = "density, velocity, pressure";
    schema.add("problem.left", left_,
               {.unit = unit, .meaning = "Left state, below the initial discontinuity"});
    schema.add("problem.right", right_,
               {.unit = unit, .meaning = "Right state, above the initial discontinuity"});
    schema.add("problem.position", position_,
               {.unit = "length", .meaning = "Position of the initial discontinuity"});
    schema.add("problem.axis", along_,
               {.meaning = "Normal of the initial discontinuity, and direction of the velocities "
                           "in problem.left and problem.right"});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Bulk velocity added to both states"});
  }

  void prepare(const Setting& setting) override {
    axis_ = index_of(along_);
    gamma_ = setting.hydro.gamma;
    below_ = gas_of("problem.left", left_);
    above_ = gas_of("problem.right", right_);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double fraction_below = (position_ - centre[axis_]) / cell_size + 0.5;
    return mixture(below_, above_, snapped(fraction_below), gamma_);
  }

  GasState inflow_state(const InflowPlace& place) const override {
    return place.side == 0 ? below_ : above_;
  }

 private:
  GasState gas_of(const char* name, const std::array<double, 3>& numbers) const {
    if (!(numbers[0] > 0.0) || !(numbers[2] > 0.0))
      throw InputError(
          "{} = [{}, {}, {}]: expected [density, velocity, pressure] with density and "
          "pressure above zero",
          name, numbers[0], numbers[1], numbers[2]);
    GasState gas;
    gas.density = numbers[0];
    gas.velocity = velocity_;
    gas.velocity[axis_] += numbers[1];
    gas.pressure = numbers[2];
    return gas;
  }

  // A plane between cells must not leave a trace of the wrong gas through round-off.
  static double snapped(double fraction) {
    constexpr double noise = 1e-9;
    return fraction < noise ? 0.0 : fraction > 1.0 - noise ? 1.0 : fraction;
  }

  std::array<double, 3> left_{1.0, 0.0, 1.0}, right_{0.125, 0.0, 0.1};
  double position_ = 0.5;
  std::array<double, 3> velocity_{};
  Axis along_ = Axis::x;

  int axis_ = 0;
  double gamma_ = 1.4;
  GasState below_, above_;
};

}  // namespace

std::unique_ptr<Problem> make_riemann() { return std::make_unique<Riemann>(); }

}  // namespace octant::problems
