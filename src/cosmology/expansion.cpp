#include "cosmology/expansion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"

namespace octant::cosmology {

namespace {

constexpr int k_intervals = 8192;
const double k_log_min = std::log(Expansion::k_a_min);
const double k_step = (std::log(Expansion::k_a_max) - k_log_min) / k_intervals;

double node_scale_factor(int n) { return std::exp(k_log_min + n * k_step); }

// Integral of f from x to x + k_step by five-point Gauss quadrature.
template <class Function>
double integrate_interval(double x, const Function& f) {
  constexpr std::array<double, 3> points{0.0, 0.5384693101056831, 0.9061798459386640};
  constexpr std::array<double, 3> weights{0.5688888888888889, 0.4786286704993665,
                                          0.2369268850561891};
  const double middle = x + 0.5 * k_step, half = 0.5 * k_step;
  double sum = weights[0] * f(middle);
  for (int n = 1; n < 3; ++n)
    sum += weights[n] * (f(middle - half * points[n]) + f(middle + half * points[n]));
  return half * sum;
}

// Hermite cubic from values and slopes (by ln a) at both ends of an interval.
double hermite(double fraction, double left, double left_slope, double right, double right_slope) {
  const double t = fraction, u = 1.0 - fraction;
  return u * u * ((1.0 + 2.0 * t) * left + t * k_step * left_slope) +
         t * t * ((1.0 + 2.0 * u) * right - u * k_step * right_slope);
}

// Derivative d tau / d ln a; that of H0 t is time_slope().
double tau_slope(const Background& background, double a) {
  return 1.0 / (a * a * background.hubble(a));
}
double time_slope(const Background& background, double a) { return 1.0 / background.hubble(a); }

// First- and second-order growth and their derivatives by x = ln a.
using GrowthState = std::array<double, 4>;

// Derivatives of `y` from the growth equation D'' + (2 + d ln E / d ln a) D' = 3/2 Omega_m(a) S
// with S = D1 for the first order and D2 - D1^2 for the second (Bouchet et al. 1995, eqs. 2.37,
// 2.40).
GrowthState growth_slope(const Background& background, double x, const GrowthState& y) {
  const double a = std::exp(x);
  const double friction = 2.0 + background.hubble_slope(a);
  const double pull = 1.5 * background.matter_share(a);
  return {y[1], pull * y[0] - friction * y[1], y[3], pull * (y[2] - y[0] * y[0]) - friction * y[3]};
}

GrowthState runge_kutta_step(const Background& background, double x, double h,
                             const GrowthState& y) {
  const auto shifted = [&](const GrowthState& slope, double by) {
    GrowthState z = y;
    for (int n = 0; n < 4; ++n) z[n] += by * slope[n];
    return z;
  };
  const auto k1 = growth_slope(background, x, y);
  const auto k2 = growth_slope(background, x + 0.5 * h, shifted(k1, 0.5 * h));
  const auto k3 = growth_slope(background, x + 0.5 * h, shifted(k2, 0.5 * h));
  const auto k4 = growth_slope(background, x + h, shifted(k3, h));
  GrowthState next = y;
  for (int n = 0; n < 4; ++n) next[n] += h / 6.0 * (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]);
  return next;
}

// Growing mode at early times: D1 = a + 2/3 a_equality (Meszaros 1974), and D2 = -3/7 D1^2 as in a
// matter-dominated universe.
GrowthState earliest_growth(const Background& background, double a) {
  const double equality = background.omega_radiation / background.omega_m;
  const double d1 = a + 2.0 / 3.0 * equality;
  return {d1, a, -3.0 / 7.0 * d1 * d1, -6.0 / 7.0 * d1 * a};
}

}  // namespace

double Background::hubble_squared(double a) const {
  const double dark_energy =
      omega_lambda * std::pow(a, -3.0 * (1.0 + w0 + wa)) * std::exp(-3.0 * wa * (1.0 - a));
  return ((omega_radiation / a + omega_m) / a + omega_curvature()) / (a * a) + dark_energy;
}

double Background::hubble(double a) const { return std::sqrt(hubble_squared(a)); }

double Background::hubble_slope(double a) const {
  const double dark_energy =
      omega_lambda * std::pow(a, -3.0 * (1.0 + w0 + wa)) * std::exp(-3.0 * wa * (1.0 - a));
  const double dark_slope = -3.0 * (1.0 + w0 + wa * (1.0 - a));
  const double matter =
      ((-4.0 * omega_radiation / a - 3.0 * omega_m) / a - 2.0 * omega_curvature());
  return 0.5 * (matter / (a * a) + dark_slope * dark_energy) / hubble_squared(a);
}

double Background::matter_share(double a) const {
  return omega_m / (a * a * a * hubble_squared(a));
}

Expansion::Expansion(const Background& background)
    : background_(background), nodes_(k_intervals + 1) {
  if (!(background.omega_m > 0.0))
    throw InputError("cosmology.omega_m = {}: expected a positive number", background.omega_m);
  for (int n = 0; n <= k_intervals; ++n) {
    const double a = node_scale_factor(n);
    if (!(background.hubble_squared(a) > 0.0))
      throw InputError(
          "cosmology: with omega_m = {}, omega_lambda = {}, omega_radiation = {}, w0 = {}, wa = {} "
          "the universe does not expand through a = {:.3g}; expected parameters for which it "
          "expands from a = {:g} to {:g}",
          background.omega_m, background.omega_lambda, background.omega_radiation, background.w0,
          background.wa, a, k_a_min, k_a_max);
  }
  integrate_times();
  integrate_growth();
}

void Expansion::integrate_times() {
  nodes_[0].tau = nodes_[0].time = 0.0;
  for (int n = 0; n < k_intervals; ++n) {
    const double x = k_log_min + n * k_step;
    nodes_[n + 1].tau = nodes_[n].tau + integrate_interval(x, [&](double at) {
                          return tau_slope(background_, std::exp(at));
                        });
    nodes_[n + 1].time = nodes_[n].time + integrate_interval(x, [&](double at) {
                           return time_slope(background_, std::exp(at));
                         });
  }
  // Before the first node curvature and dark energy are negligible: H0 t = integral of a da /
  // sqrt(r + m a).
  const double r = background_.omega_radiation, m = background_.omega_m, a = k_a_min;
  const double root = std::sqrt(r + m * a);
  time_before_ = 2.0 / (3.0 * m * m) * (root * (m * a - 2.0 * r) + 2.0 * r * std::sqrt(r));
  const double today = supercomoving_time(1.0);
  for (Node& node : nodes_) node.tau -= today;
}

void Expansion::integrate_growth() {
  // Runge-Kutta steps per interval of the table, which begins with the analytic growing mode.
  constexpr int k_substeps = 4;
  GrowthState y = earliest_growth(background_, k_a_min);
  for (int n = 0; n <= k_intervals; ++n) {
    nodes_[n].d1 = y[0];
    nodes_[n].d1_slope = y[1];
    nodes_[n].d2 = y[2];
    nodes_[n].d2_slope = y[3];
    for (int s = 0; s < k_substeps; ++s)
      y = runge_kutta_step(background_, k_log_min + (n + double(s) / k_substeps) * k_step,
                           k_step / k_substeps, y);
  }
  d1_today_ = growth(1.0).first;
}

Expansion::TableInterval Expansion::interval(double a) const {
  OCTANT_REQUIRE(a >= k_a_min * (1.0 - 1e-12) && a <= k_a_max * (1.0 + 1e-12),
                 "scale factor {} is outside the tabulated range, {} to {}", a, k_a_min, k_a_max);
  const double position = (std::log(a) - k_log_min) / k_step;
  const int node = std::clamp(static_cast<int>(position), 0, k_intervals - 1);
  return {node, position - node};
}

double Expansion::supercomoving_time(double a) const {
  const auto [n, fraction] = interval(a);
  return hermite(fraction, nodes_[n].tau, tau_slope(background_, node_scale_factor(n)),
                 nodes_[n + 1].tau, tau_slope(background_, node_scale_factor(n + 1)));
}

double Expansion::cosmic_time(double a) const {
  const auto [n, fraction] = interval(a);
  return time_before_ + hermite(fraction, nodes_[n].time,
                                time_slope(background_, node_scale_factor(n)), nodes_[n + 1].time,
                                time_slope(background_, node_scale_factor(n + 1)));
}

Growth Expansion::growth(double a) const {
  const auto [n, fraction] = interval(a);
  const Node &left = nodes_[n], &right = nodes_[n + 1];
  const double d1 = hermite(fraction, left.d1, left.d1_slope, right.d1, right.d1_slope);
  const double d2 = hermite(fraction, left.d2, left.d2_slope, right.d2, right.d2_slope);
  // The slopes of d1_slope and d2_slope are second derivatives, given by the differential
  // equations.
  const auto second = [&](int node, int order) {
    const Node& at = nodes_[node];
    const double x = k_log_min + node * k_step;
    return growth_slope(background_, x, {at.d1, at.d1_slope, at.d2, at.d2_slope})[order];
  };
  const double d1_slope =
      hermite(fraction, left.d1_slope, second(n, 1), right.d1_slope, second(n + 1, 1));
  const double d2_slope =
      hermite(fraction, left.d2_slope, second(n, 3), right.d2_slope, second(n + 1, 3));
  return {d1 / d1_today_, d1_slope / d1, d2 / (d1_today_ * d1_today_), d2_slope / d2};
}

double Expansion::scale_factor(double supercomoving_time) const {
  const double first = nodes_.front().tau, last = nodes_.back().tau;
  OCTANT_REQUIRE(supercomoving_time >= first && supercomoving_time <= last,
                 "supercomoving time {} is outside the tabulated range, {} to {}",
                 supercomoving_time, first, last);
  int low = 0, high = k_intervals;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (nodes_[middle].tau <= supercomoving_time ? low : high) = middle;
  }
  // Newton's method on the smooth interpolant, starting from linear interpolation of ln a; four
  // steps reach round-off.
  double a = node_scale_factor(low) * std::exp(k_step * (supercomoving_time - nodes_[low].tau) /
                                               (nodes_[high].tau - nodes_[low].tau));
  for (int n = 0; n < 4; ++n)
    a *= std::exp((supercomoving_time - this->supercomoving_time(a)) / tau_slope(background_, a));
  return a;
}

}  // namespace octant::cosmology
