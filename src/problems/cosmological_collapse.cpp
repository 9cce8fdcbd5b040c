// Collapse in an expanding universe with analytic solutions: Zel'dovich pancake and top-hat sphere.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "io/row_range.hpp"
#include "particles/particles.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Function that maps a lattice point to the position and velocity of its particle.
using LatticeMap =
    std::function<void(const Position& point, Position& position, Position& velocity)>;

// This rank's particles: one for each point of a lattice with `per_cell` points along each side of
// a base cell, with equal masses that add up to `mass`. Points are numbered along x first.
// Positions are mapped into a periodic domain.
particles::ParticleBatch lattice_particles(const mesh::Geometry& geometry, int per_cell,
                                           double mass, const Communicator& communicator,
                                           const LatticeMap& map) {
  const double spacing = geometry.cell_size(0) / per_cell;
  std::int64_t points[3], all = 1;
  for (int d = 0; d < 3; ++d) {
    points[d] = std::int64_t{geometry.extent(0)[d]} * geometry.block_size() * per_cell;
    all *= points[d];
  }
  particles::ParticleBatch batch;
  const RowRange own = even_share(all, communicator.rank(), communicator.size());
  for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
    const std::int64_t index[3] = {n % points[0], n / points[0] % points[1],
                                   n / (points[0] * points[1])};
    Position point, &position = batch.position.emplace_back();
    for (int d = 0; d < 3; ++d)
      point[d] = geometry.lower()[d] + (static_cast<double>(index[d]) + 0.5) * spacing;
    map(point, position, batch.velocity.emplace_back());
    for (int d = 0; d < 3; ++d) {
      const double lower = geometry.lower()[d], size = geometry.upper()[d] - lower;
      if (geometry.periodic(d)) position[d] -= size * std::floor((position[d] - lower) / size);
    }
    batch.mass.push_back(mass / static_cast<double>(all));
    batch.id.push_back(static_cast<std::uint64_t>(n));
  }
  return batch;
}

// Zel'dovich pancake (Zel'dovich 1970): a plane wave in an expanding universe that collapses in the
// middle of the box. Matter with the Lagrangian position q is, before shell crossing, at
//   x = q - A sin(k q) / k,  k = 2 pi / size,  q and x relative to the middle,
// where A grows like linear perturbations and is 1 at the collapse. The solution is exact for cold
// matter, because the force on a plane of matter does not depend on its displacement.
class Pancake final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.collapse", collapse_,
               {.meaning = "Time of collapse of the pancake: a redshift such as \"z = 1\" or a "
                           "scale factor such as \"a = 0.5\""});
    schema.add("problem.axis", direction_, {.meaning = "Direction of the wave"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K", .meaning = "Initial gas temperature", .above = 0.0});
    schema.add("problem.dark_matter", has_dark_matter_,
               {.meaning = "Dark matter with the density parameter cosmology.omega_m - "
                           "cosmology.omega_b; false: all matter is gas"});
    schema.add("problem.particles_per_cell", per_cell_,
               {.meaning = "Number of dark-matter particles per base cell in each direction",
                .min = 1,
                .max = 16});
  }

  void prepare(const ProblemSetup& setup) override {
    if (setup.universe == nullptr)
      throw InputError("problem.name = \"pancake\" requires cosmology.enabled = true");
    if (!setup.hydro.enabled && !has_dark_matter_)
      throw InputError("problem.dark_matter = false is incompatible with hydro.enabled = false");
    const auto& o = setup.universe->options();
    if (o.start.empty())
      throw InputError(
          "cosmology.start is missing: set it to the redshift at which the run starts, such as \"z "
          "= 50\"");
    geometry_.emplace(setup.geometry);
    axis_ = index_of(direction_);
    size_ = geometry_->upper()[axis_] - geometry_->lower()[axis_];
    middle_ = geometry_->lower()[axis_] + 0.5 * size_;
    gas_fraction_ = !setup.hydro.enabled ? 0.0 : has_dark_matter_ ? o.omega_b / o.omega_m : 1.0;

    const double a = cosmology::scale_factor_of(o.start, "cosmology.start");
    const cosmology::Expansion& expansion = setup.universe->expansion();
    const cosmology::Growth growth = expansion.growth(a);
    amplitude_ = growth.first /
                 expansion.growth(cosmology::scale_factor_of(collapse_, "problem.collapse")).first;
    if (!(amplitude_ < 1.0))
      throw InputError("problem.collapse = \"{}\" is not after cosmology.start = \"{}\"", collapse_,
                       o.start);
    // Derivative of the scale factor: d ln a / d tau = a^2 H / H0.
    change_ = amplitude_ * growth.first_rate * a * a * expansion.background().hubble(a);
    start_ = setup.universe->time(a);
    pressure_per_density_ =
        temperature_ / cosmology::k_molecular_weight / setup.universe->units(a).temperature();
  }

  double begin(const Communicator&) override { return start_; }

  // Cell means of mass and momentum, at uniform temperature.
  GasState initial_state(const Position& centre, double cell_size) const override {
    const double from = origin_of(centre[axis_] - 0.5 * cell_size - middle_);
    const double to = origin_of(centre[axis_] + 0.5 * cell_size - middle_);
    const double k = wave_number(), matter = (to - from) / cell_size;
    GasState gas;
    gas.density = gas_fraction_ * matter;
    gas.velocity[axis_] = change_ * (std::cos(k * to) - std::cos(k * from)) / (k * k * (to - from));
    gas.pressure = gas.density * pressure_per_density_;
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    if (!has_dark_matter_) return {};
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry_->upper()[d] - geometry_->lower()[d];
    return lattice_particles(
        *geometry_, per_cell_, (1.0 - gas_fraction_) * volume, communicator,
        [this](const Position& point, Position& position, Position& velocity) {
          const double wave = std::sin(wave_number() * (point[axis_] - middle_)) / wave_number();
          position = point;
          position[axis_] -= amplitude_ * wave;
          velocity = {};
          velocity[axis_] = -change_ * wave;
        });
  }

 private:
  double wave_number() const { return 2.0 * M_PI / size_; }

  // Lagrangian position of the matter at x. The map is monotonic, so that Newton's method within
  // the bounds of the root converges.
  double origin_of(double x) const {
    const double k = wave_number();
    double low = x - amplitude_ / k, high = x + amplitude_ / k, q = x;
    for (int n = 0; n < 100; ++n) {
      const double excess = q - amplitude_ * std::sin(k * q) / k - x;
      (excess > 0.0 ? high : low) = q;
      double next = q - excess / (1.0 - amplitude_ * std::cos(k * q));
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - q) <= 1e-16 * size_) break;
      q = next;
    }
    return q;
  }

  std::string collapse_ = "z = 1";
  Axis direction_ = Axis::x;
  double temperature_ = 100.0;
  bool has_dark_matter_ = true;
  int per_cell_ = 1;

  std::optional<mesh::Geometry> geometry_;
  int axis_ = 0;
  double size_ = 1.0, middle_ = 0.5, gas_fraction_ = 1.0;
  double amplitude_ = 0.0, change_ = 0.0;  // A and dA / d tau at the start
  double start_ = 0.0, pressure_per_density_ = 1.0;
};

// Top-hat collapse: a uniform sphere in an expanding universe (Gunn & Gott 1972). A surrounding
// underdense shell compensates its excess mass, so that matter farther out is unperturbed. The
// sphere follows the equation of motion of a closed universe of its own density,
//   d^2 r / dtau^2 = -Omega_m a / 2 (m / r^3 - 1) r,  m = r_0^3 (1 + overdensity),
// until it is small.

constexpr int k_samples = 4;  // samples per axis for cell means of the gas

class TopHat final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.overdensity", overdensity_,
               {.meaning = "Initial overdensity of the sphere", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Initial radius of the sphere", .above = 0.0});
    schema.add("problem.outer_radius", outer_radius_,
               {.unit = "length",
                .meaning = "Outer radius of the underdense shell around the sphere, which "
                           "compensates for its overdensity",
                .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the sphere"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K", .meaning = "Initial gas temperature", .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    if (setup.universe == nullptr)
      throw InputError("problem.name = \"top_hat\" requires cosmology.enabled = true");
    const auto& o = setup.universe->options();
    if (o.start.empty())
      throw InputError(
          "cosmology.start is missing: set it to the redshift at which the run starts, such as \"z "
          "= 50\"");
    geometry_.emplace(setup.geometry);
    check_extent();
    gas_fraction_ = setup.hydro.enabled ? o.omega_b / o.omega_m : 0.0;
    const double a = cosmology::scale_factor_of(o.start, "cosmology.start");
    start_ = setup.universe->time(a);
    // Growing mode: d ln overdensity / d tau = f d ln a / d tau.
    const cosmology::Expansion& expansion = setup.universe->expansion();
    const double rate = expansion.growth(a).first_rate * a * a * expansion.background().hubble(a);
    change_ = overdensity_ * rate;
    pressure_per_density_ =
        temperature_ / cosmology::k_molecular_weight / setup.universe->units(a).temperature();
  }

  double begin(const Communicator&) override { return start_; }

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
    gas.density = gas_fraction_ * mass;
    for (int d = 0; d < 3; ++d) gas.velocity[d] = momentum[d] / mass;
    gas.pressure = gas.density * pressure_per_density_;
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry_->upper()[d] - geometry_->lower()[d];
    return lattice_particles(*geometry_, 1, (1.0 - gas_fraction_) * volume, communicator,
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

  void check_extent() const {
    if (!(cube(outer_radius_) > cube(radius_) * (1.0 + overdensity_)))
      throw InputError(
          "problem.outer_radius = {}: the density of the shell around the ball would be negative; "
          "expected a radius above {:.6g}",
          outer_radius_, std::cbrt(cube(radius_) * (1.0 + overdensity_)));
    for (int d = 0; d < 3; ++d)
      if (2.0 * outer_radius_ > geometry_->upper()[d] - geometry_->lower()[d])
        throw InputError("problem.outer_radius = {}: the shell does not fit into the box",
                         outer_radius_);
  }

  // Vector from the centre to the nearest image of a point.
  Position from_centre(const Position& point) const {
    Position x;
    for (int d = 0; d < 3; ++d) {
      const double size = geometry_->upper()[d] - geometry_->lower()[d];
      x[d] = point[d] - centre_[d];
      x[d] -= size * std::round(x[d] / size);
    }
    return x;
  }

  // Lagrangian radius of the sphere: radius of a sphere of mean density with the same mass.
  double ball_origin() const { return radius_ * std::cbrt(1.0 + overdensity_); }
  // Density of the shell in units of the mean density.
  double shell_density() const {
    return (cube(outer_radius_) - cube(ball_origin())) / (cube(outer_radius_) - cube(radius_));
  }
  double density(double r) const {
    return r < radius_ ? 1.0 + overdensity_ : r < outer_radius_ ? shell_density() : 1.0;
  }
  // Returns the initial radius of matter with the Lagrangian radius `origin`; inverts origin_of().
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

  // Velocity over radius of matter with the Lagrangian radius `origin`, positive outwards: r^3
  // falls as the mean overdensity within r grows.
  double speed_per_radius(double origin) const {
    if (origin >= outer_radius_) return 0.0;
    if (origin < ball_origin()) return -change_ / (3.0 * (1.0 + overdensity_));
    // The mean overdensity (origin / r)^3 - 1 grows at the rate of the sphere's overdensity.
    const double inside = cube(origin / radius_from(origin));
    return -(inside - 1.0) / inside * change_ / (3.0 * overdensity_);
  }

  double overdensity_ = 0.05, radius_ = 0.25, outer_radius_ = 0.45, temperature_ = 10.0;
  Position centre_{0.5, 0.5, 0.5};

  std::optional<mesh::Geometry> geometry_;
  double gas_fraction_ = 0.0, start_ = 0.0;
  double change_ = 0.0;  // d overdensity / d tau at the start
  double pressure_per_density_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_pancake() { return std::make_unique<Pancake>(); }

std::unique_ptr<Problem> make_top_hat() { return std::make_unique<TopHat>(); }

}  // namespace octant::problems
