// Shock problems: Riemann problems, two implosions, and a radiative shock at a wall.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

namespace {

// Riemann problem: two uniform states separated by a plane. The defaults are those of Sod (1978).
class Riemann final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    const std::string unit = "density, velocity, pressure";
    schema.add("problem.left", left_,
               {.unit = unit,
                .meaning = "State on the left of the initial discontinuity (smaller coordinates)"});
    schema.add("problem.right", right_,
               {.unit = unit,
                .meaning = "State on the right of the initial discontinuity (larger coordinates)"});
    schema.add("problem.position", position_,
               {.unit = "length", .meaning = "Position of the initial discontinuity"});
    schema.add("problem.axis", normal_,
               {.meaning = "Normal of the initial discontinuity, and direction of the velocities "
                           "in problem.left and problem.right"});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Bulk velocity added to both states"});
  }

  void prepare(const ProblemSetup& setup) override {
    axis_ = index_of(normal_);
    gamma_ = setup.hydro.gamma;
    below_ = gas_of("problem.left", left_);
    above_ = gas_of("problem.right", right_);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double fraction_below = (position_ - centre[axis_]) / cell_size + 0.5;
    return mixture(below_, above_, snapped(fraction_below), gamma_);
  }

  GasState inflow_state(const InflowPoint& place) const override {
    return place.side == 0 ? below_ : above_;
  }

 private:
  GasState gas_of(const char* name, const std::array<double, 3>& numbers) const {
    if (!(numbers[0] > 0.0) || !(numbers[2] > 0.0))
      throw InputError(
          "{} = [{}, {}, {}]: expected [density, velocity, pressure] with positive density and "
          "pressure",
          name, numbers[0], numbers[1], numbers[2]);
    GasState gas;
    gas.density = numbers[0];
    gas.velocity = velocity_;
    gas.velocity[axis_] += numbers[1];
    gas.pressure = numbers[2];
    return gas;
  }

  // Removes round-off, so that a discontinuity on cell faces creates no mixed cells.
  static double snapped(double fraction) {
    constexpr double noise = 1e-9;
    return fraction < noise ? 0.0 : fraction > 1.0 - noise ? 1.0 : fraction;
  }

  std::array<double, 3> left_{1.0, 0.0, 1.0}, right_{0.125, 0.0, 0.1};
  double position_ = 0.5;
  std::array<double, 3> velocity_{};
  Axis normal_ = Axis::x;

  int axis_ = 0;
  double gamma_ = 1.4;
  GasState below_, above_;
};

// Implosion of Liska & Wendroff (2003, section 4.7): rarefied gas behind a diagonal membrane in the
// corner of a box with reflecting walls, uniform along z. A jet along the diagonal x = y tests how
// well a scheme preserves symmetry.
class Implosion final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.inner_density", inner_.density,
               {.unit = "density",
                .meaning = "Density in the lower corner, below the diagonal",
                .above = 0.0});
    schema.add("problem.inner_pressure", inner_.pressure,
               {.unit = "pressure",
                .meaning = "Pressure in the lower corner, below the diagonal",
                .above = 0.0});
    schema.add("problem.outer_density", outer_.density,
               {.unit = "density", .meaning = "Density above the diagonal", .above = 0.0});
    schema.add("problem.outer_pressure", outer_.pressure,
               {.unit = "pressure", .meaning = "Pressure above the diagonal", .above = 0.0});
    schema.add("problem.diagonal", diagonal_,
               {.unit = "length",
                .meaning = "Position of the diagonal discontinuity: x + y, measured from the lower "
                           "corner of the domain",
                .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    lower_ = setup.geometry.lower();
    gamma_ = setup.hydro.gamma;
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double x = centre[0] - lower_[0], y = centre[1] - lower_[1];
    return mixture(inner_, outer_, fraction_below((diagonal_ - (x + y)) / cell_size), gamma_);
  }

 private:
  // Area fraction of a unit square below a 45 degree line at the distance `s` above the centre of
  // the square, along x or y.
  static double fraction_below(double s) {
    if (s <= -1.0) return 0.0;
    if (s >= 1.0) return 1.0;
    return s < 0.0 ? 0.5 * (1.0 + s) * (1.0 + s) : 1.0 - 0.5 * (1.0 - s) * (1.0 - s);
  }

  GasState inner_{.density = 0.125, .pressure = 0.14};
  GasState outer_{.density = 1.0, .pressure = 1.0};
  double diagonal_ = 0.15;

  Position lower_{};
  double gamma_ = 1.4;
};

// Noh implosion (Noh 1987): cold gas converges on a point, and a shock moves outwards at a third of
// the infall speed (for gamma = 5/3). The density behind the shock is 64 times the initial one.
//
// The domain is an octant with reflecting lower walls, or a box around the centre, with outflow
// elsewhere. Gas enters there at the density of the outermost cells instead of (1 + t/r)^2, so that
// the solution is wrong within a distance t of the boundary; errors move with the gas. The shock at
// r = t/3 is valid until t = 3/4 of the distance from the centre to the boundary.
class Noh final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Initial gas density", .above = 0.0});
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Infall speed towards the centre", .above = 0.0});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure",
                .meaning = "Initial pressure, zero in the analytic solution",
                .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the implosion"});
  }

  GasState initial_state(const Position& centre, double) const override {
    const Position offset{centre[0] - centre_[0], centre[1] - centre_[1], centre[2] - centre_[2]};
    const double radius =
        std::sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
    GasState gas;
    gas.density = density_;
    gas.pressure = pressure_;
    if (radius > 0.0)
      for (int axis = 0; axis < 3; ++axis) gas.velocity[axis] = -speed_ * offset[axis] / radius;
    return gas;
  }

 private:
  double density_ = 1.0, speed_ = 1.0, pressure_ = 1e-6;
  Position centre_{0.0, 0.0, 0.0};
};

// Radiative shock: gas that flows onto a wall, mesh.boundary_x = ["inflow", "reflecting"], and
// cools behind the reflected shock. The region between the shock and the cold layer at the wall is
// steady if the cooling rate rises steeply enough with temperature (Chevalier & Imamura 1982, ApJ
// 261, 543).
class RadiativeShock final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.speed", speed_,
        {.unit = "km/s",
         .meaning = "Gas velocity in the x direction, towards the wall at the upper x boundary",
         .above = 0.0});
    schema.add("problem.hydrogen_density", hydrogen_density_,
               {.unit = "cm^-3", .meaning = "Number density n_H of hydrogen nuclei", .above = 0.0});
    schema.add(
        "problem.temperature_over_mu", temperature_over_mu_,
        {.unit = "K", .meaning = "Temperature divided by the mean molecular weight", .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    const subgrid::GasUnits units(setup.units);
    gas_.density = hydrogen_density_ / units.hydrogen;
    gas_.velocity = {1e5 * speed_ / units.velocity, 0.0, 0.0};
    gas_.pressure = gas_.density * temperature_over_mu_ / units.temperature;
  }

  GasState initial_state(const Position&, double) const override { return gas_; }
  GasState inflow_state(const InflowPoint&) const override { return gas_; }

 private:
  double speed_ = 200.0, hydrogen_density_ = 1.0, temperature_over_mu_ = 1e4;
  GasState gas_;
};

}  // namespace

std::unique_ptr<Problem> make_riemann() { return std::make_unique<Riemann>(); }

std::unique_ptr<Problem> make_implosion() { return std::make_unique<Implosion>(); }

std::unique_ptr<Problem> make_noh() { return std::make_unique<Noh>(); }

std::unique_ptr<Problem> make_radiative_shock() { return std::make_unique<RadiativeShock>(); }

}  // namespace octant::problems
