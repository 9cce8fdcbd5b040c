// Gas disc in the static gravity of a galaxy's dark matter, bulge and stars. Particles at rest at
// quasi-random positions, each with the mass around it, represent these components. Similar to the
// isolated galaxy of the AGORA project (Kim et al. 2016, ApJ 833, 202).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "io/row_range.hpp"
#include "problems/problem.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

namespace {

constexpr double k_pi = std::numbers::pi;

// Halo of Navarro, Frenk & White (1997) with `mass` within `radius`; within(r) is the enclosed
// mass.
struct Halo {
  double mass, radius, concentration;
  double within(double r) const {
    const auto share = [](double x) { return std::log1p(x) - x / (1.0 + x); };
    return mass * share(concentration * r / radius) / share(concentration);
  }
};

// Bulge of Hernquist (1990).
struct Bulge {
  double mass, scale;
  double within(double r) const { return mass * r * r / ((r + scale) * (r + scale)); }
};

// Stellar disc of Miyamoto & Nagai (1975).
struct StellarDisc {
  double mass, length, height;
  double density(double R, double z) const {
    const double root = std::sqrt(z * z + height * height), sum = length + root;
    const double square = R * R + sum * sum;
    return height * height * mass / (4.0 * k_pi) *
           (length * R * R + (sum + 2.0 * root) * sum * sum) /
           (std::pow(square, 2.5) * root * root * root);
  }
  // Squared circular speed over G at the height z.
  double speed_squared(double R, double z) const {
    const double sum = length + std::sqrt(z * z + height * height);
    return mass * R * R / std::pow(R * R + sum * sum, 1.5);
  }
};

// Gas disc with exponential profiles along R and |z|. With an edge, the surface density tapers to
// zero over the outer quarter of the radius.
struct GasDisc {
  double mass, length, height;
  double edge = 0.0;  // 0: disc without edge
  // Mean density over the heights z - size / 2 to z + size / 2, which preserves the disc's mass in
  // coarse cells.
  double mean_density(double R, double z, double size) const {
    const double column = mass / (2.0 * k_pi * length * length) * std::exp(-R / length) * taper(R);
    return column * (below(z + 0.5 * size) - below(z - 0.5 * size)) / size;
  }
  // Logarithmic slope -d ln(density) / d ln(R) where the taper is not zero.
  double radial_slope(double R) const {
    const double angle = taper_angle(R);
    const double steepness = angle > 0.0 ? 4.0 * k_pi * R / edge * std::tan(angle) : 0.0;
    return R / length + steepness;
  }
  // Squared circular speed over G of a thin disc (Freeman 1970), with the reduction by finite
  // thickness for waves of wave number 1 / length.
  double speed_squared(double R, double z) const {
    const double y = 0.5 * R / length;
    const double bessel = std::cyl_bessel_i(0.0, y) * std::cyl_bessel_k(0.0, y) -
                          std::cyl_bessel_i(1.0, y) * std::cyl_bessel_k(1.0, y);
    const double kept = std::exp(-std::abs(z) / length) / (1.0 + height / length);
    return 2.0 * mass / length * y * y * bessel * kept;
  }

 private:
  double taper_angle(double R) const {
    return edge == 0.0 ? 0.0 : 0.5 * k_pi * std::clamp(4.0 * R / edge - 3.0, 0.0, 1.0);
  }
  double taper(double R) const {
    const double cosine = std::cos(taper_angle(R));
    return cosine * cosine;
  }
  // Mass fraction of the column below z, minus one half.
  double below(double z) const {
    return std::copysign(-0.5 * std::expm1(-std::abs(z) / height), z);
  }
};

// Van der Corput sequence in (0, 1): the digits of a whole number in a base, mirrored at the radix
// point.
double radical_inverse(std::int64_t number, int base) {
  double inverse = 0.0, digit = 1.0 / base;
  for (std::int64_t rest = number + 1; rest > 0; rest /= base, digit /= base)
    inverse += digit * static_cast<double>(rest % base);
  return inverse;
}

class DiscGalaxy final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    const auto mass = [&](const char* name, double& field, const char* meaning) {
      schema.add(name, field, {.unit = "Msun", .meaning = meaning, .min = 0});
    };
    const auto length = [&](const char* name, double& field, const char* meaning) {
      schema.add(name, field, {.unit = "kpc", .meaning = meaning, .above = 0.0});
    };
    mass("problem.gas_mass", gas_.mass, "Mass of the gas disc");
    length("problem.gas_length", gas_.length, "Radial scale length of the gas disc");
    length("problem.gas_height", gas_.height, "Vertical scale height of the gas disc");
    schema.add("problem.gas_edge", gas_.edge,
               {.unit = "kpc",
                .meaning = "Truncation radius of the gas disc; the surface density tapers to zero "
                           "over the outer quarter of this radius; 0: no truncation",
                .min = 0});
    schema.add("problem.temperature", temperature_,
               {.unit = "K",
                .meaning = "Temperature of the gas disc, for a mean molecular weight of 0.6",
                .above = 0.0});
    schema.add("problem.metals", metals_,
               {.meaning = "Metal mass fraction of the gas disc", .min = 0, .max = 1.0});
    schema.add(
        "problem.corona_density", corona_density_,
        {.unit = "cm^-3", .meaning = "Hydrogen number density of the hot corona", .above = 0.0});
    schema.add("problem.corona_temperature", corona_temperature_,
               {.unit = "K", .meaning = "Temperature of the hot corona", .above = 0.0});
    mass("problem.halo_mass", halo_.mass, "Dark-matter mass within problem.halo_radius");
    length("problem.halo_radius", halo_.radius,
           "Virial radius of the halo, within which the mean density is 200 times the critical "
           "density");
    schema.add("problem.halo_concentration", halo_.concentration,
               {.meaning = "Halo concentration: virial radius over scale radius", .above = 0.0});
    mass("problem.bulge_mass", bulge_.mass, "Mass of the stellar bulge");
    length("problem.bulge_scale", bulge_.scale, "Scale radius of the stellar bulge");
    mass("problem.disc_mass", stars_.mass, "Mass of the disc of old stars");
    length("problem.disc_length", stars_.length, "Radial scale length of the disc of old stars");
    length("problem.disc_height", stars_.height, "Vertical scale height of the disc of old stars");
    schema.add(
        "problem.particles", particles_,
        {.meaning = "Number of static particles that represent the halo, bulge and old stars",
         .min = 1});
  }

  void prepare(const ProblemSetup& setup) override {
    if (setup.units.length == 1.0 && setup.units.mass == 1.0)
      throw InputError(
          "problem.name = \"disc_galaxy\" requires units.length, units.density and units.time");
    setup.require_gravity("disc_galaxy");
    const double known =
        constants::k_gravitational * setup.units.density() * setup.units.time * setup.units.time;
    if (std::abs(setup.G / known - 1.0) > 1e-3)
      throw InputError("gravity.constant = {}: in the units of [units] Newton's constant is {:.6g}",
                       setup.G, known);
    for (int d = 0; d < 3; ++d)
      if (setup.geometry.periodic(d))
        log::warn(
            "problem.name = \"disc_galaxy\" with mesh.boundary_{} = [\"periodic\", \"periodic\"]: "
            "periodic images of the galaxy and the subtracted mean density weaken its gravity by a "
            "few per cent; use [\"outflow\", \"outflow\"]",
            "xyz"[d]);
    kiloparsec_ = 1e3 * constants::k_parsec / setup.units.length;
    solar_mass_ = constants::k_solar_mass / setup.units.mass;
    const subgrid::GasUnits units(setup.units);
    hydrogen_ = units.hydrogen;
    kelvin_ = 1.0 / units.temperature;
    gravity_ = setup.G * solar_mass_ / kiloparsec_;  // G in code velocity^2 kpc / Msun
    metals_index_ = setup.hydro.variable_index("metals");
    radius_ = std::numeric_limits<double>::infinity();
    for (int d = 0; d < 3; ++d) {
      const double lower = setup.geometry.lower()[d], upper = setup.geometry.upper()[d];
      centre_[d] = 0.5 * (lower + upper);
      radius_ = std::min(radius_, 0.45 * (upper - lower) / kiloparsec_);
    }
  }

  // The corona fills the region where the disc's pressure is below that of the corona.
  GasState initial_state(const Position& centre, double cell_size) const override {
    const double x = (centre[0] - centre_[0]) / kiloparsec_;
    const double y = (centre[1] - centre_[1]) / kiloparsec_;
    const double z = (centre[2] - centre_[2]) / kiloparsec_, R = std::hypot(x, y);
    const double per_volume = solar_mass_ / (kiloparsec_ * kiloparsec_ * kiloparsec_);
    const double sound = temperature_ / k_weight * kelvin_;  // P / rho of the disc
    const double corona = corona_density_ / hydrogen_;
    const double outside = corona * corona_temperature_ / k_weight * kelvin_;
    GasState gas;
    gas.density = per_volume * gas_.mean_density(R, z, cell_size / kiloparsec_);
    gas.pressure = gas.density * sound;
    if (gas.pressure < outside) {
      gas.density = corona;
      gas.pressure = outside;
      return gas;
    }
    const double square = circular_speed_squared(R, z) - sound * gas_.radial_slope(R);
    if (R > 0.0 && square > 0.0) {
      const double speed = std::sqrt(square);
      gas.velocity = {-speed * y / R, speed * x / R, 0.0};
    }
    if (metals_index_) gas.others.emplace_back(*metals_index_, metals_);
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {{.name = "resting",
             .description = "static dark matter and old stars",
             .motion = particles::Motion::rests}};
  }

  // A tenth of the particles represent the bulge, half of the others the disc of old stars, the
  // rest the halo.
  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    const std::int64_t of_bulge = particles_ / 10, of_disc = (particles_ - of_bulge) / 2;
    const std::int64_t of_halo = particles_ - of_bulge - of_disc;
    particles::ParticleBatch batch;
    const RowRange own = even_share(particles_, communicator.rank(), communicator.size());
    for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
      if (n < of_halo) add_on_sphere(halo_, n, of_halo, batch);
      else if (n < of_halo + of_bulge) add_on_sphere(bulge_, n - of_halo, of_bulge, batch);
      else add_to_disc(n - of_halo - of_bulge, of_disc, batch);
      if (batch.mass.back() == 0.0) {  // particle of a component without mass
        batch.position.pop_back();
        batch.mass.pop_back();
        continue;
      }
      batch.id.push_back(static_cast<std::uint64_t>(n));
      batch.velocity.push_back({0.0, 0.0, 0.0});
    }
    return batch;
  }

 private:
  static constexpr double k_weight = 0.6;  // mean molecular weight

  // R times the acceleration towards the axis, in code units, at a position in kpc.
  double circular_speed_squared(double R, double z) const {
    const double r = std::hypot(R, z);
    const double spheres =
        r > 0.0 ? (halo_.within(r) + bulge_.within(r)) * (R / r) * (R / r) / r : 0.0;
    return gravity_ * (spheres + stars_.speed_squared(R, z) + gas_.speed_squared(R, z));
  }

  // Adds the n-th of `count` spherical shells as one particle. Shell widths grow with the radius.
  template <class Sphere>
  void add_on_sphere(const Sphere& sphere, std::int64_t n, std::int64_t count,
                     particles::ParticleBatch& batch) const {
    const auto edge = [&](double share) { return radius_ * share * std::sqrt(share); };
    const double inner = static_cast<double>(n) / static_cast<double>(count);
    const double outer = static_cast<double>(n + 1) / static_cast<double>(count);
    const double r = edge(0.5 * (inner + outer)), cosine = 2.0 * radical_inverse(n, 2) - 1.0;
    const double R = r * std::sqrt(std::max(0.0, 1.0 - cosine * cosine));
    add(R, r * cosine, radical_inverse(n, 3),
        sphere.within(edge(outer)) - sphere.within(edge(inner)), batch);
  }

  // Adds the n-th of `count` disc particles with the mass around it; positions in (R, z) are
  // concentrated towards the disc.
  void add_to_disc(std::int64_t n, std::int64_t count, particles::ParticleBatch& batch) const {
    const double share = (static_cast<double>(n) + 0.5) / static_cast<double>(count);
    const double steep = std::asinh(0.5 * radius_ / stars_.height);
    const double side = 2.0 * radical_inverse(n, 2) - 1.0;
    const double R = radius_ * share, z = stars_.height * std::sinh(steep * side);
    const double stretch = 2.0 * steep * stars_.height * std::cosh(steep * side);  // dz / d(number)
    const double area = 2.0 * k_pi * R * radius_ / static_cast<double>(count);
    add(R, z, radical_inverse(n, 3), stars_.density(R, z) * area * stretch, batch);
  }

  void add(double R, double z, double turn, double mass, particles::ParticleBatch& batch) const {
    const double angle = 2.0 * k_pi * turn;
    batch.position.push_back({centre_[0] + kiloparsec_ * R * std::cos(angle),
                              centre_[1] + kiloparsec_ * R * std::sin(angle),
                              centre_[2] + kiloparsec_ * z});
    batch.mass.push_back(mass * solar_mass_);
  }

  GasDisc gas_{8.593e9, 3.432, 0.3432};
  Halo halo_{1.074e12, 205.5, 10.0};
  Bulge bulge_{4.297e9, 0.3432};
  StellarDisc stars_{3.438e10, 3.432, 0.3432};
  double temperature_ = 1e4, metals_ = 0.02;
  double corona_density_ = 1e-6, corona_temperature_ = 1e6;
  std::int64_t particles_ = 200000;

  double kiloparsec_ = 1.0, solar_mass_ = 1.0, hydrogen_ = 1.0, kelvin_ = 1.0, gravity_ = 1.0;
  double radius_ = 1.0;  // radius of the static components in kpc
  std::optional<int> metals_index_;
  Position centre_{};
};

}  // namespace

std::unique_ptr<Problem> make_disc_galaxy() { return std::make_unique<DiscGalaxy>(); }

}  // namespace octant::problems
