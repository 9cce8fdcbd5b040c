// Cosmic expansion: Friedmann's equation with radiation, curvature and dark energy, and linear and
// second-order growth of perturbations.
//
// Times are in units of 1 / H0. The time variable of a run is supercomoving time (Martel & Shapiro
// 1998): d tau = H0 dt / a^2, zero at z = 0 and negative before.
#pragma once

#include <vector>

namespace octant::cosmology {

// Density parameters at z = 0; that of curvature is one minus their sum.
struct Background {
  double omega_m = 1.0;       // dark and baryonic matter
  double omega_lambda = 0.0;  // dark energy
  double omega_radiation = 0.0;
  // Equation of state of dark energy, w = w0 + wa (1 - a) (Chevallier & Polarski 2001, Linder
  // 2003).
  double w0 = -1.0, wa = 0.0;

  // Density parameter of curvature.
  double omega_curvature() const { return 1.0 - omega_m - omega_lambda - omega_radiation; }
  // Squared E = H / H0 at scale factor a; not positive if the universe does not reach a.
  double hubble_squared(double a) const;
  // E = H / H0 at scale factor a.
  double hubble(double a) const;
  // Slope d ln E / d ln a.
  double hubble_slope(double a) const;
  // Matter density over the critical density at scale factor a.
  double matter_share(double a) const;
};

// First- and second-order growth factors, and their logarithmic derivatives d ln D / d ln a. D1 = 1
// at z = 0. D2 is negative: D2 = -3/7 D1^2 in a matter-dominated universe (Bouchet et al. 1995).
struct Growth {
  double first = 1.0, first_rate = 1.0;
  double second = -3.0 / 7.0, second_rate = 2.0;
};

// Tables of times and growth for scale factors a_min to a_max. Interpolation between nodes is
// fourth order with errors below 1e-10 (relative; 1e-8 for growth). Tables are bitwise identical on
// all ranks.
class Expansion {
 public:
  static constexpr double k_a_min = 1e-5, k_a_max = 1e2;

  // Throws InputError if the background has no matter or does not expand throughout the table.
  explicit Expansion(const Background& background);

  // Density parameters.
  const Background& background() const { return background_; }

  // Returns the time at a scale factor in [a_min, a_max]; throws RunError outside.
  double supercomoving_time(double a) const;
  double cosmic_time(double a) const;  // time since a = 0, times H0
  // Growth factors at scale factor a; throws RunError outside the table.
  Growth growth(double a) const;

  // Returns the scale factor at a supercomoving time; throws RunError outside of the table.
  double scale_factor(double supercomoving_time) const;

 private:
  struct Node {
    double tau, time;                   // supercomoving time; H0 t since a_min
    double d1, d1_slope, d2, d2_slope;  // growth factors, not normalised; derivatives by ln a
  };
  struct TableInterval {
    int node;
    double fraction;
  };
  TableInterval interval(double a) const;
  void integrate_times();
  void integrate_growth();

  Background background_;
  std::vector<Node> nodes_;  // evenly spaced in ln a
  double time_before_ = 0.0;
  double d1_today_ = 1.0;
};

}  // namespace octant::cosmology
