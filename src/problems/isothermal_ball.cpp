// A ball of gas of uniform temperature that its own gravity holds together (Bonnor 1956, Ebert
// 1955), within a thin hot gas of the pressure at its surface. It should stay as it is.
//
// With r = xi a, a^2 = s^2 / (4 pi G d_c), s^2 = pressure / density and density = d_c exp(-psi):
//   psi'' + 2 psi' / xi = exp(-psi),  psi(0) = psi'(0) = 0.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

constexpr double k_largest_extent = 6.45;  // larger balls are unstable if their gas is isothermal
constexpr double k_step = 1e-3;            // of xi

class IsothermalBall final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.central_density", central_density_,
               {.unit = "density", .meaning = "Central density", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the ball", .above = 0.0});
    schema.add("problem.extent", extent_,
               {.meaning = "Dimensionless radius of the ball, in units of s / sqrt(4 pi G "
                           "problem.central_density) with the isothermal sound speed s",
                .max = k_largest_extent,
                .above = 0.0});
    schema.add(
        "problem.contrast", contrast_,
        {.meaning = "Density contrast at the surface between ball and ambient gas", .min = 1.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the ball"});
  }

  void prepare(const Setting& setting) override {
    if (setting.G == 0.0)
      throw InputError("problem.name = \"isothermal_ball\" requires gravity.enabled = true");
    const double a = radius_ / extent_;
    squared_speed_ = 4.0 * M_PI * setting.G * central_density_ * a * a;
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
  // The midpoint rule from a series at the centre: psi = xi^2 / 6 - xi^4 / 120.
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
  std::vector<double> psi_;  // at multiples of k_step
};

}  // namespace

std::unique_ptr<Problem> make_isothermal_ball() { return std::make_unique<IsothermalBall>(); }

}  // namespace octant::problems
