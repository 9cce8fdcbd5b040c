// The exact solution of the Riemann problem of an ideal gas (Toro 2009, ch. 4), by bisection: slow,
// and it cannot fail.
#pragma once

#include <cmath>

namespace octant::hydro::test {

struct Gas1D {
  double rho, u, p;
};

// f_K(p) of Toro (4.6)-(4.7): the velocity change across the wave on side K.
inline double wave_jump(const Gas1D& w, double gamma, double p) {
  if (p > w.p) {
    const double a = 2 / ((gamma + 1) * w.rho), b = (gamma - 1) / (gamma + 1) * w.p;
    return (p - w.p) * std::sqrt(a / (p + b));
  }
  const double c = std::sqrt(gamma * w.p / w.rho);
  return 2 * c / (gamma - 1) * (std::pow(p / w.p, (gamma - 1) / (2 * gamma)) - 1);
}

// The state at x/t = s on the left of the contact (sign = +1) or, mirrored, on the right (sign =
// -1).
inline Gas1D state_on_side(Gas1D w, double gamma, double p, double u, double s, double sign) {
  w.u *= sign, u *= sign, s *= sign;
  const double c = std::sqrt(gamma * w.p / w.rho), ratio = p / w.p;
  const double g6 = (gamma - 1) / (gamma + 1);
  Gas1D result = w;
  if (p > w.p) {
    const double mach_squared = (gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma);
    if (s > w.u - c * std::sqrt(mach_squared))
      result = {w.rho * (ratio + g6) / (g6 * ratio + 1), u, p};
  } else {
    const double rho_star = w.rho * std::pow(ratio, 1 / gamma);
    if (s > u - std::sqrt(gamma * p / rho_star)) {
      result = {rho_star, u, p};
    } else if (s > w.u - c) {
      const double fan = 2 / (gamma + 1) + g6 / c * (w.u - s);
      result = {w.rho * std::pow(fan, 2 / (gamma - 1)),
                2 / (gamma + 1) * (c + (gamma - 1) / 2 * w.u + s),
                w.p * std::pow(fan, 2 * gamma / (gamma - 1))};
    }
  }
  result.u *= sign;
  return result;
}

inline Gas1D exact_state(const Gas1D& left, const Gas1D& right, double gamma, double s) {
  double low = 1e-12, high = 100 * (left.p + right.p);
  for (int n = 0; n < 200; ++n) {
    const double p = 0.5 * (low + high);
    const double f = wave_jump(left, gamma, p) + wave_jump(right, gamma, p) + right.u - left.u;
    (f > 0 ? high : low) = p;
  }
  const double p = 0.5 * (low + high);
  const double u =
      0.5 * (left.u + right.u + wave_jump(right, gamma, p) - wave_jump(left, gamma, p));
  return s < u ? state_on_side(left, gamma, p, u, s, 1) : state_on_side(right, gamma, p, u, s, -1);
}

}  // namespace octant::hydro::test
