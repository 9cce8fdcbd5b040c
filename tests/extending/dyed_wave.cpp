// Worked example of a kind of particles (docs/extending.md): dye in a wave of density, which moves
// with the gas and keeps the colour of the half of the domain that it began in.
#include <cmath>
#include <numbers>

#include "core/parameters.hpp"
#include "io/row_range.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

class DyedWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Gas velocity along x; the gas pressure is 1"});
    schema.add("problem.grains", grains_,
               {.meaning = "Number of dye particles along the diagonal", .min = 1});
  }

  void prepare(const ProblemSetup& setup) override {
    lower_ = setup.geometry.lower();
    for (int d = 0; d < 3; ++d) size_[d] = setup.geometry.upper()[d] - lower_[d];
  }

  GasState initial_state(const Position& centre, double) const override {
    const double phase = 2.0 * std::numbers::pi * (centre[0] - lower_[0]) / size_[0];
    return {.density = 1.0 + 0.2 * std::sin(phase), .velocity = {speed_, 0.0, 0.0}};
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {{.name = "dye",
             .description = "grains of dye",
             .columns = {{"origin", "length", "x at which the grain began"},
                         {"colour", "1", "half of the domain that it began in", std::int64_t{0}}},
             .has_mass = false,
             .motion = particles::Motion::flows}};
  }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    particles::ParticleBatch batch;
    std::vector<double> origin;
    std::vector<std::int64_t> colour;
    const RowRange own = even_share(grains_, communicator.rank(), communicator.size());
    for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
      const double fraction = (static_cast<double>(n) + 0.5) / static_cast<double>(grains_);
      batch.id.push_back(static_cast<std::uint64_t>(n));
      batch.position.push_back({lower_[0] + fraction * size_[0], lower_[1] + fraction * size_[1],
                                lower_[2] + fraction * size_[2]});
      batch.velocity.push_back({0.0, 0.0, 0.0});
      origin.push_back(batch.position.back()[0]);
      colour.push_back(fraction < 0.5 ? 1 : 2);
    }
    batch.columns = {{"origin", origin}, {"colour", colour}};
    return batch;
  }

 private:
  double speed_ = 1.0;
  std::int64_t grains_ = 1000;
  Position lower_{}, size_{};
};

}  // namespace

std::unique_ptr<Problem> make_dyed_wave() { return std::make_unique<DyedWave>(); }

}  // namespace octant::problems
