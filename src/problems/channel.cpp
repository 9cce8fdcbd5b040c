// Flow between two walls along z, driven along x: a laminar profile with disturbances that make it
// turbulent soon, if the Reynolds number is high enough. Pairs of rolls along x, which lift slow
// fluid off the walls into streaks, and random velocities, which break these up.
#include <cmath>

#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class Channel final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.bulk_velocity", bulk_velocity_,
        {.unit = "velocity", .meaning = "Mean velocity of the initial parabolic profile along x"});
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
    schema.add("problem.seed", seed_, {.meaning = "Seed of the random velocities", .min = 0});
  }

  void prepare(const FlowSetting& setting) override { size_ = setting.grid.size; }

  double velocity(int component, const Place& place) const override {
    const double height = place.position[2] / size_[2];
    const double envelope = 4.0 * height * (1.0 - height);  // 1 half-way, 0 at the walls
    const double noise =
        2.0 * RandomStream(seed_, place.cell, static_cast<std::uint32_t>(component)).uniform(0) -
        1.0;
    return mean(component, place) + bulk_velocity_ * noise_ * envelope * noise;
  }

 private:
  // The parabola, and rolls with the stream function sin^2(pi z / L_z) cos(b y), so that both
  // velocities vanish at the walls.
  double mean(int component, const Place& place) const {
    const double height = place.position[2] / size_[2];
    const double wave = 2.0 * M_PI * roll_pairs_ / size_[1];
    const double phase = wave * place.position[1], speed = rolls_ * bulk_velocity_;
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

}  // namespace

std::unique_ptr<FlowProblem> make_channel() { return std::make_unique<Channel>(); }

}  // namespace octant::problems
