// Self-gravitating gas spheres: one in equilibrium, one that collapses.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Bonnor-Ebert sphere: isothermal self-gravitating gas in equilibrium (Bonnor 1956, Ebert 1955),
// within rarefied hot gas of the pressure at its surface. The exact solution is static.
//
// With r = xi a, a^2 = s^2 / (4 pi G d_c), s^2 = pressure / density and density = d_c exp(-psi):
//   psi'' + 2 psi' / xi = exp(-psi),  psi(0) = psi'(0) = 0.
constexpr double k_largest_extent = 6.45;  // stability limit of isothermal spheres
constexpr double k_step = 1e-3;            // step of xi

class IsothermalBall final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.central_density", central_density_,
               {.unit = "density", .meaning = "Central density", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the sphere", .above = 0.0});
    schema.add("problem.extent", extent_,
               {.meaning = "Dimensionless radius of the sphere, in units of s / sqrt(4 pi G "
                           "problem.central_density), where s is the isothermal sound speed",
                .max = k_largest_extent,
                .above = 0.0});
    schema.add("problem.contrast", contrast_,
               {.meaning = "Density contrast between the sphere and the ambient gas at its surface",
                .min = 1.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the sphere"});
  }

  void prepare(const ProblemSetup& setup) override {
    const double G = setup.require_gravity("isothermal_ball");
    const double a = radius_ / extent_;
    squared_speed_ = 4.0 * M_PI * G * central_density_ * a * a;
    integrate();
  }

  GasState initial_state(const Position& centre, double) const override {
    const double xi =
        extent_ / radius_ *
        std::hypot(centre[0] - centre_[0], centre[1] - centre_[1], centre[2] - centre_[2]);
    const double inside = central_density_ * std::exp(-psi_at(std::min(xi, extent_)));
    GasState gas;
    gas.density = xi < extent_ ? inside : inside / contrast_;
    gas.pressure = squared_speed_ * inside;
    return gas;
  }

 private:
  // Midpoint rule, starting from the series at the centre: psi = xi^2 / 6 - xi^4 / 120.
  void integrate() {
    psi_.clear();
    double xi = k_step, psi = xi * xi / 6.0, slope = xi / 3.0 - xi * xi * xi / 30.0;
    psi_ = {0.0, psi};
    while (xi < extent_ + k_step) {
      const auto curvature = [](double x, double p, double dp) {
        return std::exp(-p) - 2.0 * dp / x;
      };
      const double half_psi = psi + 0.5 * k_step * slope;
      const double half_slope = slope + 0.5 * k_step * curvature(xi, psi, slope);
      psi += k_step * half_slope;
      slope += k_step * curvature(xi + 0.5 * k_step, half_psi, half_slope);
      xi += k_step;
      psi_.push_back(psi);
    }
  }

  double psi_at(double xi) const {
    const auto n = static_cast<std::size_t>(xi / k_step);
    const double share = xi / k_step - static_cast<double>(n);
    return (1.0 - share) * psi_[n] + share * psi_[n + 1];
  }

  double central_density_ = 1.0, radius_ = 0.3, extent_ = 4.0, contrast_ = 100.0;
  Position centre_{0.5, 0.5, 0.5};

  double squared_speed_ = 1.0;
  std::vector<double> psi_;  // psi at multiples of k_step
};

// Evrard collapse: a cold sphere of gas (Evrard 1988) with density M / (2 pi R^2 r) within the
// radius R, thermal energy 0.05 G M / R per mass, at rest. The sphere collapses, bounces behind a
// shock, and approaches equilibrium.

constexpr int k_sub_cells = 4;  // samples per axis for cell means

class Evrard final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mass", mass_,
               {.unit = "mass", .meaning = "Mass of the gas sphere", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the gas sphere", .above = 0.0});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Centre of the gas sphere"});
    schema.add("problem.thermal_energy", thermal_energy_,
               {.unit = "G mass / radius",
                .meaning = "Specific thermal energy of the gas sphere",
                .above = 0.0});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "mass / radius^3", .meaning = "Ambient density", .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    gamma_ = setup.hydro.gamma;
    specific_energy_ = thermal_energy_ * setup.require_gravity("evrard") * mass_ / radius_;
    const auto lower = setup.geometry.lower(), upper = setup.geometry.upper();
    for (int axis = 0; axis < 3; ++axis)
      if (centre_[axis] - radius_ < lower[axis] || centre_[axis] + radius_ > upper[axis])
        throw InputError(
            "problem.radius = {}: the sphere does not fit into the domain along {}; enlarge the "
            "domain (mesh.lower, mesh.upper)",
            radius_, static_cast<char>('x' + axis));
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    double sum = 0.0;
    for (int n = 0; n < k_sub_cells * k_sub_cells * k_sub_cells; ++n) {
      const auto offset = [&](int place) {
        return ((place % k_sub_cells + 0.5) / k_sub_cells - 0.5) * cell_size;
      };
      sum += density(std::hypot(centre[0] - centre_[0] + offset(n),
                                centre[1] - centre_[1] + offset(n / k_sub_cells),
                                centre[2] - centre_[2] + offset(n / (k_sub_cells * k_sub_cells))));
    }
    GasState gas;
    gas.density = sum / (k_sub_cells * k_sub_cells * k_sub_cells);
    gas.pressure = (gamma_ - 1.0) * gas.density * specific_energy_;
    return gas;
  }

 private:
  double density(double r) const {
    const double ambient = ambient_density_ * mass_ / (radius_ * radius_ * radius_);
    return r < radius_ ? mass_ / (2.0 * M_PI * radius_ * radius_ * r) : ambient;
  }

  double mass_ = 1.0, radius_ = 1.0, thermal_energy_ = 0.05, ambient_density_ = 1e-5;
  Position centre_{0.0, 0.0, 0.0};

  double gamma_ = 5.0 / 3.0, specific_energy_ = 0.05;
};

}  // namespace

std::unique_ptr<Problem> make_isothermal_ball() { return std::make_unique<IsothermalBall>(); }

std::unique_ptr<Problem> make_evrard() { return std::make_unique<Evrard>(); }

}  // namespace octant::problems
