// Wall-bounded flows: channel, Couette flow, convection, and cavity.
#include <cmath>

#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_problem.hpp"

namespace octant::problems {

namespace {

// Channel flow between two walls along z, driven along x: a laminar profile with disturbances that
// trigger turbulence at sufficient Reynolds number. Pairs of streamwise rolls create streaks, and
// random velocities break the streaks up.
class Channel final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.bulk_velocity", bulk_velocity_,
        {.unit = "velocity",
         .meaning =
             "Bulk velocity of the initial parabolic profile; the flow is in the x direction"});
    schema.add(
        "problem.rolls", rolls_,
        {.meaning =
             "Amplitude of the initial streamwise vortices (rolls), relative to the bulk velocity",
         .min = 0.0});
    schema.add("problem.roll_pairs", roll_pairs_,
               {.meaning = "Number of pairs of initial streamwise vortices along y", .min = 1});
    schema.add(
        "problem.noise", noise_,
        {.meaning = "Amplitude of the initial random velocities, relative to the bulk velocity",
         .min = 0.0});
    schema.add("problem.seed", seed_, {.meaning = "Random seed for the velocities", .min = 0});
  }

  void prepare(const FlowSetting& setup) override { size_ = setup.grid.size; }

  double velocity(int component, const FlowPoint& point) const override {
    const double height = point.position[2] / size_[2];
    const double envelope = 4.0 * height * (1.0 - height);  // 1 at half height, 0 at the walls
    const double noise =
        2.0 * RandomStream(seed_, point.cell, static_cast<std::uint32_t>(component)).uniform(0) -
        1.0;
    return mean(component, point) + bulk_velocity_ * noise_ * envelope * noise;
  }

 private:
  // Parabolic profile, and rolls with the stream function sin^2(pi z / L_z) cos(b y), so that the
  // velocities v and w vanish at the walls.
  double mean(int component, const FlowPoint& point) const {
    const double height = point.position[2] / size_[2];
    const double wave = 2.0 * M_PI * roll_pairs_ / size_[1];
    const double phase = wave * point.position[1], speed = rolls_ * bulk_velocity_;
    if (component == dns::k_u) return 6.0 * bulk_velocity_ * height * (1.0 - height);
    if (component == dns::k_v) return -speed * std::sin(2.0 * M_PI * height) * std::cos(phase);
    const double sine = std::sin(M_PI * height);
    return -speed * wave * size_[2] / M_PI * sine * sine * std::sin(phase);
  }

  double bulk_velocity_ = 1.0, rolls_ = 0.1, noise_ = 0.1;
  int roll_pairs_ = 1;
  std::int64_t seed_ = 1;
  std::array<double, 3> size_{};
};

// Couette flow between walls along z with different velocities: the linear profile with random
// disturbances.
class Couette final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.noise", noise_,
        {.unit = "velocity", .meaning = "Amplitude of the initial random velocities", .min = 0.0});
    schema.add("problem.at_rest", at_rest_,
               {.meaning = "Initial state at rest instead of the linear profile"});
    schema.add("problem.seed", seed_, {.meaning = "Random seed for the velocities", .min = 0});
  }

  void prepare(const FlowSetting& setup) override {
    height_ = setup.grid.size[2];
    lower_ = setup.boundaries.velocity(2, 0);
    upper_ = setup.boundaries.velocity(2, 1);
  }

  double velocity(int component, const FlowPoint& point) const override {
    const double s = point.position[2] / height_;
    const double profile =
        at_rest_ ? 0.0 : lower_[component] + s * (upper_[component] - lower_[component]);
    const RandomStream random(seed_, point.cell, static_cast<std::uint32_t>(component));
    return profile + noise_ * 4.0 * s * (1.0 - s) * (2.0 * random.uniform(0) - 1.0);
  }

 private:
  double noise_ = 0.0, height_ = 1.0;
  bool at_rest_ = false;
  std::int64_t seed_ = 1;
  std::array<double, 3> lower_{}, upper_{};
};

// Rayleigh-Benard convection between two plates along z at different temperatures: the conductive
// state at rest with random temperature disturbances. The scalar is the temperature. With the
// height H and the temperature difference D the Rayleigh number is scalar.buoyancy D H^3 /
// (viscosity diffusivity); convection sets in above 1708.
class RayleighBenard final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.lower", lower_, {.meaning = "Initial temperature at the lower plate"});
    schema.add("problem.upper", upper_, {.meaning = "Initial temperature at the upper plate"});
    schema.add("problem.noise", noise_,
               {.meaning = "Amplitude of the initial temperature perturbations", .min = 0.0});
    schema.add("problem.seed", seed_,
               {.meaning = "Random seed for the initial perturbations", .min = 0});
  }

  void prepare(const FlowSetting& setup) override { height_ = setup.grid.size[2]; }

  double velocity(int, const FlowPoint&) const override { return 0.0; }

  double scalar(const FlowPoint& point) const override {
    const double s = point.position[2] / height_;
    const double random = 2.0 * RandomStream(seed_, point.cell, 0).uniform(0) - 1.0;
    return lower_ + s * (upper_ - lower_) + noise_ * 4.0 * s * (1.0 - s) * random;
  }

 private:
  double lower_ = 0.5, upper_ = -0.5, noise_ = 0.01, height_ = 1.0;
  std::int64_t seed_ = 1;
};

// Fluid with a uniform initial velocity, at rest by default, that moving boundaries drive: a
// lid-driven cavity, or other flows defined by dns.boundary_* and dns.velocity_*.
class Cavity final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Initial velocity of the fluid"});
  }
  double velocity(int component, const FlowPoint&) const override { return velocity_[component]; }

 private:
  std::array<double, 3> velocity_{};
};

}  // namespace

std::unique_ptr<FlowProblem> make_channel() { return std::make_unique<Channel>(); }

std::unique_ptr<FlowProblem> make_couette() { return std::make_unique<Couette>(); }

std::unique_ptr<FlowProblem> make_rayleigh_benard() { return std::make_unique<RayleighBenard>(); }

std::unique_ptr<FlowProblem> make_cavity() { return std::make_unique<Cavity>(); }

}  // namespace octant::problems
