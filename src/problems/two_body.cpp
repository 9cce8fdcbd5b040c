// Two heavy particles on ellipses around their centre of mass (Kepler 1609), in the plane of x and
// y. They begin where they are farthest from each other, beside each other along x.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class TwoBody final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mass", mass_[0],
               {.unit = "mass", .meaning = "Mass of the first particle", .above = 0.0});
    schema.add("problem.companion_mass", mass_[1],
               {.unit = "mass", .meaning = "Mass of the second particle", .above = 0.0});
    schema.add("problem.separation", separation_,
               {.unit = "length",
                .meaning = "Initial separation of the particles, which is their apocentre distance",
                .above = 0.0});
    schema.add("problem.eccentricity", eccentricity_,
               {.meaning = "Eccentricity of the orbit", .min = 0, .below = 1.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of mass"});
    schema.add(
        "problem.ambient_density", ambient_density_,
        {.unit = "density", .meaning = "Uniform gas density, with hydro.enabled", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    if (setting.G == 0.0)
      throw InputError("problem.name = \"two_body\" requires gravity.enabled = true");
    G_ = setting.G;
  }

  double begin(const Communicator& communicator) override {
    is_root_ = communicator.is_root();
    return 0.0;
  }

  GasState initial_state(const Position&, double) const override {
    return {.density = ambient_density_, .pressure = ambient_density_ * relative_speed_squared()};
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&) override {
    particles::ParticleBatch batch;
    if (!is_root_) return batch;
    const double speed = std::sqrt(relative_speed_squared()), sum = mass_[0] + mass_[1];
    for (int n = 0; n < 2; ++n) {
      const double share = (n == 0 ? -mass_[1] : mass_[0]) / sum;
      batch.position.push_back({centre_[0] + share * separation_, centre_[1], centre_[2]});
      batch.velocity.push_back({0.0, share * speed, 0.0});
      batch.mass.push_back(mass_[n]);
      batch.id.push_back(static_cast<std::uint64_t>(n));
    }
    return batch;
  }

 private:
  // Where they are farthest apart.
  double relative_speed_squared() const {
    return G_ * (mass_[0] + mass_[1]) / separation_ * (1.0 - eccentricity_);
  }

  double mass_[2] = {1.0, 1.0};
  double separation_ = 0.3, eccentricity_ = 0.0, ambient_density_ = 1e-8;
  Position centre_{0.5, 0.5, 0.5};

  double G_ = 1.0;
  bool is_root_ = true;
};

}  // namespace

std::unique_ptr<Problem> make_two_body() { return std::make_unique<TwoBody>(); }

}  // namespace octant::problems
