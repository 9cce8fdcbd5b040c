// The collapse of a ball of uniform density in an expanding universe (Gunn & Gott 1972). A shell
// around it has just as much less mass than the mean, so that matter farther out feels nothing of
// both; the ball then follows the equation of motion of a closed universe of its own density,
//   d^2 r / dtau^2 = -Omega_m a / 2 (m / r^3 - 1) r,  m = r_0^3 (1 + overdensity),
// until it is small.
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/particle_lattice.hpp"

namespace octant::problems {

namespace {

constexpr int k_samples = 4;  // of a cell along each axis, for the mean of its gas

class TopHat final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.overdensity", overdensity_,
               {.meaning = "Initial overdensity of the ball", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Initial radius of the ball", .above = 0.0});
    schema.add("problem.outer_radius", outer_radius_,
               {.unit = "length",
                .meaning = "Outer radius of the shell around the ball whose density deficit "
                           "compensates the overdensity",
                .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the ball"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K", .meaning = "Initial gas temperature", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    if (setting.universe == nullptr)
      throw InputError("problem.name = \"top_hat\" requires cosmology.enabled = true");
    const auto& o = setting.universe->options();
    if (o.start.empty())
      throw InputError("cosmology.start is missing: give the start of the run, such as \"z = 50\"");
    geometry_.emplace(setting.geometry);
    check_room();
    gas_share_ = setting.hydro.enabled ? o.omega_b / o.omega_m : 0.0;
    const double a = cosmology::scale_factor_of(o.start, "cosmology.start");
    start_ = setting.universe->time(a);
    // The growing mode: d ln overdensity / d tau = f d ln a / d tau.
    const cosmology::Expansion& expansion = setting.universe->expansion();
    const double rate = expansion.growth(a).first_rate * a * a * expansion.background().hubble(a);
    change_ = overdensity_ * rate;
    pressure_per_density_ =
        temperature_ / cosmology::k_molecular_weight / setting.universe->units(a).temperature();
  }

  double begin(const Communicator& communicator) override {
    communicator_.emplace(communicator);
    return start_;
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    constexpr int samples = k_samples * k_samples * k_samples;
    double mass = 0.0;
    Position momentum{};
    for (int n = 0; n < samples; ++n) {
      const auto offset = [&](int place) {
        return ((place % k_samples + 0.5) / k_samples - 0.5) * cell_size;
      };
      const Position x = from_centre({centre[0] + offset(n), centre[1] + offset(n / k_samples),
                                      centre[2] + offset(n / (k_samples * k_samples))});
      const double r = std::hypot(x[0], x[1], x[2]), rho = density(r);
      mass += rho / samples;
      for (int d = 0; d < 3; ++d)
        momentum[d] += rho * speed_per_radius(origin_of(r)) * x[d] / samples;
    }
    GasState gas;
    gas.density = gas_share_ * mass;
    for (int d = 0; d < 3; ++d) gas.velocity[d] = momentum[d] / mass;
    gas.pressure = gas.density * pressure_per_density_;
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&) override {
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry_->upper()[d] - geometry_->lower()[d];
    return lattice_particles(*geometry_, 1, (1.0 - gas_share_) * volume, *communicator_,
                             [this](const Position& point, Position& position, Position& velocity) {
                               const Position q = from_centre(point);
                               const double origin = std::hypot(q[0], q[1], q[2]),
                                            r = radius_from(origin);
                               for (int d = 0; d < 3; ++d) {
                                 const double x = origin > 0.0 ? q[d] / origin * r : 0.0;
                                 position[d] = centre_[d] + x;
                                 velocity[d] = speed_per_radius(origin) * x;
                               }
                             });
  }

 private:
  static double cube(double x) { return x * x * x; }

  void check_room() const {
    if (!(cube(outer_radius_) > cube(radius_) * (1.0 + overdensity_)))
      throw InputError(
          "problem.outer_radius = {}: the density of the shell around the ball would be negative; "
          "expected more than {:.6g}",
          outer_radius_, std::cbrt(cube(radius_) * (1.0 + overdensity_)));
    for (int d = 0; d < 3; ++d)
      if (2.0 * outer_radius_ > geometry_->upper()[d] - geometry_->lower()[d])
        throw InputError("problem.outer_radius = {}: the shell does not fit into the box",
                         outer_radius_);
  }

  // The nearest image.
  Position from_centre(const Position& point) const {
    Position x;
    for (int d = 0; d < 3; ++d) {
      const double size = geometry_->upper()[d] - geometry_->lower()[d];
      x[d] = point[d] - centre_[d];
      x[d] -= size * std::round(x[d] / size);
    }
    return x;
  }

  // The ball's matter comes from a ball of the mean density of this radius; mass is the cube of the
  // radius that it comes from.
  double ball_origin() const { return radius_ * std::cbrt(1.0 + overdensity_); }
  // Of the shell, in units of the mean.
  double shell_density() const {
    return (cube(outer_radius_) - cube(ball_origin())) / (cube(outer_radius_) - cube(radius_));
  }
  double density(double r) const {
    return r < radius_ ? 1.0 + overdensity_ : r < outer_radius_ ? shell_density() : 1.0;
  }
  // Where matter from the radius `origin` is now, and the inverse.
  double radius_from(double origin) const {
    if (origin >= outer_radius_) return origin;
    if (origin < ball_origin()) return origin / std::cbrt(1.0 + overdensity_);
    return std::cbrt(cube(radius_) + (cube(origin) - cube(ball_origin())) / shell_density());
  }
  double origin_of(double r) const {
    if (r >= outer_radius_) return r;
    if (r < radius_) return r * std::cbrt(1.0 + overdensity_);
    return std::cbrt(cube(ball_origin()) + (cube(r) - cube(radius_)) * shell_density());
  }

  // Velocity over radius of matter from there, outwards: r^3 falls as the overdensity, by which the
  // mass within r exceeds that of the mean density, grows.
  double speed_per_radius(double origin) const {
    if (origin >= outer_radius_) return 0.0;
    if (origin < ball_origin()) return -change_ / (3.0 * (1.0 + overdensity_));
    // (origin / r)^3 - 1 grows at the same rate as the ball's overdensity.
    const double inside = cube(origin / radius_from(origin));
    return -(inside - 1.0) / inside * change_ / (3.0 * overdensity_);
  }

  double overdensity_ = 0.05, radius_ = 0.25, outer_radius_ = 0.45, temperature_ = 10.0;
  Position centre_{0.5, 0.5, 0.5};

  std::optional<mesh::Geometry> geometry_;
  std::optional<Communicator> communicator_;
  double gas_share_ = 0.0, start_ = 0.0;
  double change_ = 0.0;  // d overdensity / d tau when the run begins
  double pressure_per_density_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_top_hat() { return std::make_unique<TopHat>(); }

}  // namespace octant::problems
