// A Plummer sphere of dark matter in equilibrium: density 3 M / (4 pi a^3) (1 + r^2 / a^2)^(-5/2),
// potential -G M / (r^2 + a^2)^(1/2), and velocities of the isotropic distribution function that
// belongs to them, f ~ (-energy)^(7/2), drawn as by Aarseth, Henon & Wielen (1974, appendix).
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "io/row_range.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class Plummer final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mass", mass_,
               {.unit = "mass", .meaning = "Total mass of the Plummer sphere", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Plummer scale radius a", .above = 0.0});
    schema.add("problem.extent", extent_,
               {.unit = "radius", .meaning = "Truncation radius of the sphere", .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the sphere"});
    schema.add(
        "problem.particles", particles_,
        {.meaning = "Number of particles, in pairs on opposite sides of the centre", .min = 2});
    schema.add("problem.seed", seed_,
               {.meaning = "Seed of the random positions and velocities", .min = 0});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "mass / length^3",
                .meaning = "Uniform gas density, with hydro.enabled",
                .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    if (setting.G == 0.0)
      throw InputError("problem.name = \"plummer\" requires gravity.enabled = true");
    G_ = setting.G;
    const auto lower = setting.geometry.lower(), upper = setting.geometry.upper();
    for (int axis = 0; axis < 3; ++axis)
      if (centre_[axis] - extent_ * radius_ < lower[axis] ||
          centre_[axis] + extent_ * radius_ > upper[axis])
        throw InputError(
            "problem.extent = {}: the sphere does not fit into the domain along {}; enlarge the "
            "domain (mesh.lower, mesh.upper)",
            extent_, static_cast<char>('x' + axis));
  }

  double begin(const Communicator& communicator) override {
    rank_ = communicator.rank();
    ranks_ = communicator.size();
    return 0.0;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&) override {
    particles::ParticleBatch batch;
    const RowRange own = even_share(particles_ / 2, rank_, ranks_);
    for (std::int64_t pair = own.begin; pair < own.begin + own.count; ++pair)
      add_pair(static_cast<std::uint64_t>(pair), batch);
    return batch;
  }

  GasState initial_state(const Position&, double) const override {
    return {.density = ambient_density_, .pressure = ambient_density_ * G_ * mass_ / radius_};
  }

 private:
  // A direction, uniform on the sphere.
  static Position direction(const RandomStream& random, std::uint32_t draw) {
    const double z = 2.0 * random.uniform(draw) - 1.0, phi = 2.0 * M_PI * random.uniform(draw + 1);
    const double across = std::sqrt(1.0 - z * z);
    return {across * std::cos(phi), across * std::sin(phi), z};
  }

  // The mass within r is M (1 + a^2 / r^2)^(-3/2).
  double drawn_radius(const RandomStream& random) const {
    const double most = std::pow(1.0 + 1.0 / (extent_ * extent_), -1.5);
    const double share = most * (1.0 - random.uniform(0));
    return radius_ / std::sqrt(std::pow(share, -2.0 / 3.0) - 1.0);
  }

  // The speed in units of the escape speed has the density q^2 (1 - q^2)^(7/2), below 0.1.
  static double drawn_speed(const RandomStream& random) {
    for (std::uint32_t draw = 5;; draw += 2) {
      const double q = random.uniform(draw), density = q * q * std::pow(1.0 - q * q, 3.5);
      if (0.1 * random.uniform(draw + 1) < density) return q;
    }
  }

  // Mirror images: the centre of mass lies in the centre, at rest.
  void add_pair(std::uint64_t pair, particles::ParticleBatch& batch) const {
    const RandomStream random(static_cast<std::uint64_t>(seed_), pair, 0);
    const double r = drawn_radius(random);
    const double escape = std::sqrt(2.0 * G_ * mass_ / std::hypot(r, radius_));
    const double speed = escape * drawn_speed(random);
    const Position place = direction(random, 1), motion = direction(random, 3);
    const double share = std::pow(1.0 + 1.0 / (extent_ * extent_), -1.5);
    for (const int sign : {1, -1}) {
      Position x, v;
      for (int d = 0; d < 3; ++d) {
        x[d] = centre_[d] + sign * r * place[d];
        v[d] = sign * speed * motion[d];
      }
      batch.position.push_back(x);
      batch.velocity.push_back(v);
      batch.mass.push_back(share * mass_ / static_cast<double>(particles_ / 2 * 2));
      batch.id.push_back(2 * pair + (sign < 0));
    }
  }

  double mass_ = 1.0, radius_ = 0.3, extent_ = 6.0, ambient_density_ = 1e-8;
  Position centre_{0.0, 0.0, 0.0};
  int particles_ = 100000, seed_ = 1;

  double G_ = 1.0;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace

std::unique_ptr<Problem> make_plummer() { return std::make_unique<Plummer>(); }

}  // namespace octant::problems
