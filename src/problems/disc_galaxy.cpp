// A disc of gas in the gravity of a galaxy's dark matter, bulge and stars, which stay where they
// are: particles at rest, on quasi-random places, with the masses of what lies around them. Close
// to the isolated galaxy of the AGORA project (Kim et al. 2016, ApJ 833, 202).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "io/row_range.hpp"
#include "problems/factories.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

namespace {

constexpr double k_pi = std::numbers::pi;

// Navarro, Frenk & White (1997): the mass within r, of a halo of `mass` within `radius`.
struct Halo {
  double mass, radius, concentration;
  double within(double r) const {
    const auto share = [](double x) { return std::log1p(x) - x / (1.0 + x); };
    return mass * share(concentration * r / radius) / share(concentration);
  }
};

// Hernquist (1990).
struct Bulge {
  double mass, scale;
  double within(double r) const { return mass * r * r / ((r + scale) * (r + scale)); }
};

// Miyamoto & Nagai (1975).
struct StellarDisc {
  double mass, length, height;
  double density(double R, double z) const {
    const double root = std::sqrt(z * z + height * height), sum = length + root;
    const double square = R * R + sum * sum;
    return height * height * mass / (4.0 * k_pi) *
           (length * R * R + (sum + 2.0 * root) * sum * sum) /
           (std::pow(square, 2.5) * root * root * root);
  }
  // The square of the circular speed at a height, over G.
  double speed_squared(double R, double z) const {
    const double sum = length + std::sqrt(z * z + height * height);
    return mass * R * R / std::pow(R * R + sum * sum, 1.5);
  }
};

// Gas that falls off exponentially along R and |z|.
struct GasDisc {
  double mass, length, height;
  double density(double R, double z) const {
    return mass / (4.0 * k_pi * length * length * height) *
           std::exp(-R / length - std::abs(z) / height);
  }
  // Of a thin disc (Freeman 1970), as above, less what its thickness takes from waves of the wave
  // number 1 / length.
  double speed_squared(double R, double z) const {
    const double y = 0.5 * R / length;
    const double bessel = std::cyl_bessel_i(0.0, y) * std::cyl_bessel_k(0.0, y) -
                          std::cyl_bessel_i(1.0, y) * std::cyl_bessel_k(1.0, y);
    const double kept = std::exp(-std::abs(z) / length) / (1.0 + height / length);
    return 2.0 * mass / length * y * y * bessel * kept;
  }
};

// Digits of a whole number in a base, mirrored at the point: van der Corput's places in (0, 1).
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
    schema.add("problem.temperature", temperature_,
               {.unit = "K",
                .meaning = "Temperature of the gas disc, for a mean molecular weight of 0.6",
                .above = 0.0});
    schema.add("problem.metals", metals_,
               {.meaning = "Metal mass fraction of the gas disc", .min = 0, .max = 1.0});
    schema.add("problem.corona_density", corona_density_,
               {.unit = "cm^-3",
                .meaning = "Density of the hot corona, in hydrogen nuclei",
                .above = 0.0});
    schema.add("problem.corona_temperature", corona_temperature_,
               {.unit = "K", .meaning = "Temperature of the hot corona", .above = 0.0});
    mass("problem.halo_mass", halo_.mass, "Dark-matter mass within problem.halo_radius");
    length("problem.halo_radius", halo_.radius,
           "Virial radius of the halo, within which the mean density is 200 times critical");
    schema.add("problem.halo_concentration", halo_.concentration,
               {.meaning = "Halo concentration: virial radius over scale radius", .above = 0.0});
    mass("problem.bulge_mass", bulge_.mass, "Mass of the stellar bulge");
    length("problem.bulge_scale", bulge_.scale, "Scale radius of the stellar bulge");
    mass("problem.disc_mass", stars_.mass, "Mass of the disc of old stars");
    length("problem.disc_length", stars_.length, "Radial scale length of the disc of old stars");
    length("problem.disc_height", stars_.height, "Vertical scale height of the disc of old stars");
    schema.add("problem.particles", particles_,
               {.meaning = "Number of particles at rest that represent halo, bulge and old stars",
                .min = 1});
  }

  void prepare(const Setting& setting) override {
    if (setting.units.length == 1.0 && setting.units.mass == 1.0)
      throw InputError(
          "problem.name = \"disc_galaxy\" requires units.length, units.density and units.time");
    if (setting.G == 0.0)
      throw InputError("problem.name = \"disc_galaxy\" requires gravity.enabled = true");
    const double known = constants::k_gravitational * setting.units.density() * setting.units.time *
                         setting.units.time;
    if (std::abs(setting.G / known - 1.0) > 1e-3)
      throw InputError("gravity.constant = {}: in the units of [units] Newton's constant is {:.6g}",
                       setting.G, known);
    for (int d = 0; d < 3; ++d)
      if (setting.geometry.periodic(d))
        log::warn(
            "problem.name = \"disc_galaxy\" with mesh.boundary_{} = [\"periodic\", \"periodic\"]: "
            "images of the galaxy and a mean density weaken its gravity by some per cent; give "
            "[\"outflow\", \"outflow\"]",
            "xyz"[d]);
    kiloparsec_ = 1e3 * constants::k_parsec / setting.units.length;
    solar_mass_ = constants::k_solar_mass / setting.units.mass;
    const subgrid::GasUnits units(setting.units);
    hydrogen_ = units.hydrogen;
    kelvin_ = 1.0 / units.temperature;
    gravity_ = setting.G * solar_mass_ / kiloparsec_;  // times Msun / kpc: speeds squared
    place_of_metals_ = setting.hydro.place("metals");
    radius_ = std::numeric_limits<double>::infinity();
    for (int d = 0; d < 3; ++d) {
      const double lower = setting.geometry.lower()[d], upper = setting.geometry.upper()[d];
      centre_[d] = 0.5 * (lower + upper);
      radius_ = std::min(radius_, 0.45 * (upper - lower) / kiloparsec_);
    }
  }

  double begin(const Communicator& communicator) override {
    ranks_ = communicator.size();
    rank_ = communicator.rank();
    return 0.0;
  }

  // Where the disc's pressure is less than that of the corona, there is the corona.
  GasState initial_state(const Position& centre, double) const override {
    const double x = (centre[0] - centre_[0]) / kiloparsec_;
    const double y = (centre[1] - centre_[1]) / kiloparsec_;
    const double z = (centre[2] - centre_[2]) / kiloparsec_, R = std::hypot(x, y);
    const double per_volume = solar_mass_ / (kiloparsec_ * kiloparsec_ * kiloparsec_);
    const double sound = temperature_ / k_weight * kelvin_;  // P / rho of the disc
    const double corona = corona_density_ / hydrogen_;
    const double outside = corona * corona_temperature_ / k_weight * kelvin_;
    GasState gas;
    gas.density = per_volume * gas_.density(R, z);
    gas.pressure = gas.density * sound;
    if (gas.pressure < outside) {
      gas.density = corona;
      gas.pressure = outside;
      return gas;
    }
    const double square = circular_speed_squared(R, z) - sound * R / gas_.length;
    if (R > 0.0 && square > 0.0) {
      const double speed = std::sqrt(square);
      gas.velocity = {-speed * y / R, speed * x / R, 0.0};
    }
    if (place_of_metals_) gas.others.emplace_back(*place_of_metals_, metals_);
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {{.name = "resting",
             .description = "dark matter and old stars that stay where they are",
             .motion = particles::Motion::rests}};
  }

  // A tenth of the particles is the bulge, half of the others the disc of old stars.
  particles::ParticleBatch initial_particles(const std::string&) override {
    const std::int64_t of_bulge = particles_ / 10, of_disc = (particles_ - of_bulge) / 2;
    const std::int64_t of_halo = particles_ - of_bulge - of_disc;
    particles::ParticleBatch batch;
    const RowRange own = even_share(particles_, rank_, ranks_);
    for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
      if (n < of_halo) add_on_sphere(halo_, n, of_halo, batch);
      else if (n < of_halo + of_bulge) add_on_sphere(bulge_, n - of_halo, of_bulge, batch);
      else add_to_disc(n - of_halo - of_bulge, of_disc, batch);
      if (batch.mass.back() == 0.0) {  // of a part that there is not
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

  // In code units, at a place in kpc: R times the force towards the axis.
  double circular_speed_squared(double R, double z) const {
    const double r = std::hypot(R, z);
    const double spheres =
        r > 0.0 ? (halo_.within(r) + bulge_.within(r)) * (R / r) * (R / r) / r : 0.0;
    return gravity_ * (spheres + stars_.speed_squared(R, z) + gas_.speed_squared(R, z));
  }

  // One of `count` shells, with its mass in one place. Their widths grow with the radius.
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

  // Places in (R, z) that are dense where the disc is, each with the mass around it.
  void add_to_disc(std::int64_t n, std::int64_t count, particles::ParticleBatch& batch) const {
    const double share = (static_cast<double>(n) + 0.5) / static_cast<double>(count);
    const double steep = std::asinh(0.5 * radius_ / stars_.height);
    const double side = 2.0 * radical_inverse(n, 2) - 1.0;
    const double R = radius_ * share, z = stars_.height * std::sinh(steep * side);
    const double stretch = 2.0 * steep * stars_.height * std::cosh(steep * side);  // dz / d(share)
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
  double radius_ = 1.0;  // of what rests, in kpc
  std::optional<int> place_of_metals_;
  Position centre_{};
  int rank_ = 0, ranks_ = 1;
};

}  // namespace

std::unique_ptr<Problem> make_disc_galaxy() { return std::make_unique<DiscGalaxy>(); }

}  // namespace octant::problems
