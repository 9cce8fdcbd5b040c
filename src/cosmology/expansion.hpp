// The expanding background: Friedmann's equation with radiation, curvature and dark energy, and the
// growth of small perturbations in it.
//
// Times are in units of 1 / H0. The time in which a run advances is the supercomoving one (Martel &
// Shapiro 1998): d tau = H0 dt / a^2, zero today and negative before.
#pragma once

#include <vector>

namespace octant::cosmology {

// Densities today in units of the critical one; what is missing to one is curvature.
struct Background {
  double omega_m = 1.0;       // all matter
  double omega_lambda = 0.0;  // dark energy
  double omega_radiation = 0.0;
  // Its equation of state, w = w0 + wa (1 - a) (Chevallier & Polarski 2001, Linder 2003).
  double w0 = -1.0, wa = 0.0;

  double omega_curvature() const { return 1.0 - omega_m - omega_lambda - omega_radiation; }
  // E = H / H0 at scale factor a, squared; not positive where there is no such universe.
  double hubble_squared(double a) const;
  double hubble(double a) const;
  // d ln E / d ln a.
  double hubble_slope(double a) const;
  // The share of matter in the critical density at a.
  double matter_share(double a) const;
};

// Growth factors of first and second order, and their logarithmic derivatives d ln D / d ln a.
// D1 = 1 today. D2 is negative: D2 = -3/7 D1^2 in a universe of matter (Bouchet et al. 1995).
struct Growth {
  double first = 1.0, first_rate = 1.0;
  double second = -3.0 / 7.0, second_rate = 2.0;
};

// Tables of times and growth over the scale factors a_min to a_max; between nodes, interpolation is
// of fourth order and errors are below 1e-10 (relative, growth 1e-8). The same bits wherever it is
// made.
class Expansion {
 public:
  static constexpr double k_a_min = 1e-5, k_a_max = 1e2;

  // Throws InputError if the background has no matter or does not expand all the time.
  explicit Expansion(const Background& background);

  const Background& background() const { return background_; }

  // Of a scale factor in [a_min, a_max]; throws RunError outside.
  double supercomoving_time(double a) const;
  double cosmic_time(double a) const;  // since a = 0, times H0
  Growth growth(double a) const;

  // The scale factor at a supercomoving time; throws RunError outside of the table.
  double scale_factor(double supercomoving_time) const;

 private:
  struct Node {
    double tau, time;                   // the latter since a_min
    double d1, d1_slope, d2, d2_slope;  // growth, not normalised, and derivatives by ln a
  };
  struct Place {
    int node;
    double fraction;
  };
  Place place(double a) const;
  void integrate_times();
  void integrate_growth();

  Background background_;
  std::vector<Node> nodes_;  // evenly spaced in ln a
  double time_before_ = 0.0;
  double d1_today_ = 1.0;
};

}  // namespace octant::cosmology
