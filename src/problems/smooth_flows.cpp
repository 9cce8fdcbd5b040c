// Smooth gas flows: a balanced vortex, shear layers, and an advected sphere.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Gresho vortex (Gresho & Chan 1990): steady rotation about the z axis in which pressure balances
// the centrifugal force, at any Mach number (Miczek, Roepke & Edelmann 2015, section 5.1).
class Gresho final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mach", mach_,
               {.meaning = "Maximum Mach number of the vortex", .above = 0.0});
    schema.add(
        "problem.speed", speed_,
        {.unit = "velocity", .meaning = "Maximum azimuthal velocity of the vortex", .above = 0.0});
    schema.add(
        "problem.radius", radius_,
        {.unit = "length",
         .meaning = "Outer radius of the vortex; the azimuthal velocity peaks at half this radius",
         .above = 0.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Uniform gas density", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Advection velocity of the vortex"});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Position of the axis of the vortex"});
  }

  void prepare(const ProblemSetup& setup) override {
    // The pressure at the radius of maximum speed is the central pressure plus rho speed^2 / 2.
    central_pressure_ =
        speed_ * speed_ * (density_ * (1.0 / (setup.hydro.gamma * mach_ * mach_) - 0.5));
    if (central_pressure_ <= 0.0)
      throw InputError(
          "problem.mach = {}: the pressure at the centre would be negative; expected less "
          "than {}",
          mach_, std::sqrt(2.0 / setup.hydro.gamma));
  }

  GasState initial_state(const Position& centre, double) const override {
    const double x = centre[0] - centre_[0], y = centre[1] - centre_[1];
    const double radius = std::sqrt(x * x + y * y);
    const double scaled = radius / (radius_ / k_radius);
    const double speed = speed_ * rotation(scaled);
    GasState gas;
    gas.density = density_;
    gas.velocity = velocity_;
    if (radius > 0.0) {
      gas.velocity[0] -= speed * y / radius;
      gas.velocity[1] += speed * x / radius;
    }
    gas.pressure = central_pressure_ + speed_ * speed_ * (density_ * pressure_rise(scaled));
    return gas;
  }

 private:
  // Radius of the vortex in the papers, whose maximum speed and density are 1.
  static constexpr double k_radius = 0.4;
  static double rotation(double r) { return r < 0.2 ? 5.0 * r : r < 0.4 ? 2.0 - 5.0 * r : 0.0; }

  // Integral of rotation^2 / r from the axis outwards.
  static double pressure_rise(double r) {
    if (r < 0.2) return 12.5 * r * r;
    if (r < 0.4) return 12.5 * r * r + 4.0 * (1.0 - 5.0 * r + std::log(5.0 * r));
    return 4.0 * std::log(2.0) - 2.0;
  }

  double mach_ = 0.36, speed_ = 1.0, radius_ = k_radius, density_ = 1.0;
  std::array<double, 3> velocity_{};
  Position centre_{0.5, 0.5, 0.5};
  double central_pressure_ = 0.0;
};

// Kelvin-Helmholtz instability of two smooth shear layers, seeded with one mode (McNally, Lyra &
// Passy 2012). Lengths are in units of the periodic domain; the dense layer lies between y = 1/4
// and 3/4.
class KelvinHelmholtz final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.outer_density", outer_density_,
               {.unit = "density", .meaning = "Density outside the layer", .above = 0.0});
    schema.add("problem.inner_density", inner_density_,
               {.unit = "density", .meaning = "Density of the layer", .above = 0.0});
    schema.add("problem.outer_velocity", outer_velocity_,
               {.unit = "velocity", .meaning = "Velocity along x outside the layer"});
    schema.add("problem.inner_velocity", inner_velocity_,
               {.unit = "velocity", .meaning = "Velocity along x in the layer"});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure", .meaning = "Uniform gas pressure", .above = 0.0});
    schema.add("problem.width", width_,
               {.unit = "domain",
                .meaning = "Width of the shear layers, as a fraction of the domain height",
                .above = 0.0});
    schema.add(
        "problem.amplitude", amplitude_,
        {.unit = "velocity", .meaning = "Amplitude of the seed perturbation of the y velocity"});
    schema.add("problem.mode", mode_,
               {.meaning = "Number of wavelengths of the seed perturbation along x", .min = 1});
  }

  void prepare(const ProblemSetup& setup) override {
    lower_ = setup.geometry.lower();
    for (int axis = 0; axis < 3; ++axis)
      length_[axis] = setup.geometry.upper()[axis] - lower_[axis];
  }

  GasState initial_state(const Position& centre, double) const override {
    const double x = (centre[0] - lower_[0]) / length_[0], y = (centre[1] - lower_[1]) / length_[1];
    const double inside = layer(y);
    GasState gas;
    gas.density = outer_density_ + (inner_density_ - outer_density_) * inside;
    gas.velocity[0] = outer_velocity_ + (inner_velocity_ - outer_velocity_) * inside;
    gas.velocity[1] = amplitude_ * std::sin(2.0 * M_PI * mode_ * x);
    gas.pressure = pressure_;
    gas.scalars = {inside};
    return gas;
  }

 private:
  // Smooth profile: 0 far outside the layer, 1 far inside, 1/2 at its edges, with continuous slopes
  // (McNally et al. 2012, eq. 1).
  double layer(double y) const {
    const double outward = std::abs(y - 0.5) - 0.25;
    const double half = 0.5 * std::exp(-std::abs(outward) / width_);
    return outward > 0.0 ? half : 1.0 - half;
  }

  double outer_density_ = 1.0, inner_density_ = 2.0;
  double outer_velocity_ = 0.5, inner_velocity_ = -0.5;
  double pressure_ = 2.5, width_ = 0.025, amplitude_ = 0.01;
  int mode_ = 2;

  Position lower_{}, length_{1.0, 1.0, 1.0};
};

// Advected sphere: a dense sphere that drifts through a periodic domain in pressure equilibrium and
// should keep its shape. Two passive scalars are advected: one marks the sphere, the other is a
// smooth profile.
class Blob final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Ambient density", .above = 0.0});
    schema.add(
        "problem.contrast", contrast_,
        {.meaning = "Density contrast between the sphere and the ambient gas", .above = 0.0});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure", .meaning = "Uniform gas pressure", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Uniform gas velocity"});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Initial centre of the sphere"});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the sphere", .above = 0.0});
    schema.add(
        "problem.width", width_,
        {.unit = "length", .meaning = "Width of the smooth edge of the sphere", .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    for (int axis = 0; axis < 3; ++axis)
      period_[axis] = setup.geometry.periodic(axis)
                          ? setup.geometry.upper()[axis] - setup.geometry.lower()[axis]
                          : 0.0;
  }

  GasState initial_state(const Position& centre, double) const override {
    const double r = distance(centre);
    const double ball = 0.5 * (1.0 - std::tanh((r - radius_) / width_));
    const double hill = std::exp(-(r * r) / (radius_ * radius_));
    GasState gas;
    gas.density = density_ * (1.0 + (contrast_ - 1.0) * ball);
    gas.velocity = velocity_;
    gas.pressure = pressure_;
    gas.scalars = {ball, hill};
    return gas;
  }

 private:
  // Distance to the nearest periodic image of the centre.
  double distance(const Position& position) const {
    double squared = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      double offset = position[axis] - centre_[axis];
      if (period_[axis] > 0.0) offset -= period_[axis] * std::round(offset / period_[axis]);
      squared += offset * offset;
    }
    return std::sqrt(squared);
  }

  double density_ = 1.0, contrast_ = 10.0, pressure_ = 1.0;
  std::array<double, 3> velocity_{1.0, 0.5, 0.25};
  Position centre_{0.5, 0.5, 0.5};
  double radius_ = 0.2, width_ = 0.02;

  Position period_{};
};

}  // namespace

std::unique_ptr<Problem> make_gresho() { return std::make_unique<Gresho>(); }

std::unique_ptr<Problem> make_kelvin_helmholtz() { return std::make_unique<KelvinHelmholtz>(); }

std::unique_ptr<Problem> make_blob() { return std::make_unique<Blob>(); }

}  // namespace octant::problems
