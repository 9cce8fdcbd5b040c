// Gravitating particles: a Plummer sphere, and two bodies.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "io/row_range.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Plummer sphere of dark matter in equilibrium: density 3 M / (4 pi a^3) (1 + r^2 / a^2)^(-5/2),
// potential -G M / (r^2 + a^2)^(1/2), and velocities from the corresponding isotropic distribution
// function, f ~ (-energy)^(7/2), sampled as by Aarseth, Henon & Wielen (1974, appendix).
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
               {.meaning = "Random seed for the positions and velocities", .min = 0});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "mass / length^3",
                .meaning = "Uniform gas density, used only if hydro.enabled = true",
                .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    G_ = setup.require_gravity("plummer");
    const auto lower = setup.geometry.lower(), upper = setup.geometry.upper();
    for (int axis = 0; axis < 3; ++axis)
      if (centre_[axis] - extent_ * radius_ < lower[axis] ||
          centre_[axis] + extent_ * radius_ > upper[axis])
        throw InputError(
            "problem.extent = {}: the sphere does not fit into the domain along {}; enlarge the "
            "domain (mesh.lower, mesh.upper)",
            extent_, static_cast<char>('x' + axis));
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    particles::ParticleBatch batch;
    const RowRange own = even_share(particles_ / 2, communicator.rank(), communicator.size());
    for (std::int64_t pair = own.begin; pair < own.begin + own.count; ++pair)
      add_pair(static_cast<std::uint64_t>(pair), batch);
    return batch;
  }

  GasState initial_state(const Position&, double) const override {
    return {.density = ambient_density_, .pressure = ambient_density_ * G_ * mass_ / radius_};
  }

 private:
  // Returns a direction, uniform on the sphere.
  static Position direction(const RandomStream& random, std::uint32_t draw) {
    const double z = 2.0 * random.uniform(draw) - 1.0, phi = 2.0 * M_PI * random.uniform(draw + 1);
    const double across = std::sqrt(1.0 - z * z);
    return {across * std::cos(phi), across * std::sin(phi), z};
  }

  // Samples the radius by inversion of the enclosed mass M (1 + a^2 / r^2)^(-3/2).
  double drawn_radius(const RandomStream& random) const {
    const double most = std::pow(1.0 + 1.0 / (extent_ * extent_), -1.5);
    const double share = most * (1.0 - random.uniform(0));
    return radius_ / std::sqrt(std::pow(share, -2.0 / 3.0) - 1.0);
  }

  // Samples the speed in units of the escape speed from q^2 (1 - q^2)^(7/2), which is below 0.1.
  static double drawn_speed(const RandomStream& random) {
    for (std::uint32_t draw = 5;; draw += 2) {
      const double q = random.uniform(draw), density = q * q * std::pow(1.0 - q * q, 3.5);
      if (0.1 * random.uniform(draw + 1) < density) return q;
    }
  }

  // Adds a pair of mirror images, which keeps the centre of mass at rest at problem.centre.
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
};

// Kepler problem: two massive particles on ellipses around their centre of mass in the xy plane,
// starting at apocentre on a line along x.
class TwoBody final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mass", mass_[0],
               {.unit = "mass", .meaning = "Mass of the first particle", .above = 0.0});
    schema.add("problem.companion_mass", mass_[1],
               {.unit = "mass", .meaning = "Mass of the second particle", .above = 0.0});
    schema.add("problem.separation", separation_,
               {.unit = "length",
                .meaning = "Initial separation of the particles (apocentre distance)",
                .above = 0.0});
    schema.add("problem.eccentricity", eccentricity_,
               {.meaning = "Eccentricity of the orbit", .min = 0, .below = 1.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of mass"});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "density",
                .meaning = "Uniform gas density, used only if hydro.enabled = true",
                .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override { G_ = setup.require_gravity("two_body"); }

  GasState initial_state(const Position&, double) const override {
    return {.density = ambient_density_, .pressure = ambient_density_ * relative_speed_squared()};
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    particles::ParticleBatch batch;
    if (!communicator.is_root()) return batch;
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
  // Squared relative speed at apocentre.
  double relative_speed_squared() const {
    return G_ * (mass_[0] + mass_[1]) / separation_ * (1.0 - eccentricity_);
  }

  double mass_[2] = {1.0, 1.0};
  double separation_ = 0.3, eccentricity_ = 0.0, ambient_density_ = 1e-8;
  Position centre_{0.5, 0.5, 0.5};

  double G_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_plummer() { return std::make_unique<Plummer>(); }

std::unique_ptr<Problem> make_two_body() { return std::make_unique<TwoBody>(); }

}  // namespace octant::problems
