// Wray's three-stage Runge-Kutta scheme (eq. 3).
#pragma once

namespace octant::dns {

// dt times the coefficients alpha, beta and gamma = alpha + beta of a stage.
struct Stage {
  double alpha, beta, gamma;
};

inline constexpr int k_stages = 3;

inline Stage runge_kutta_stage(int n, double dt) {
  constexpr double alpha[k_stages] = {8.0 / 15.0, 5.0 / 12.0, 3.0 / 4.0};
  constexpr double beta[k_stages] = {0.0, -17.0 / 60.0, -5.0 / 12.0};
  return {dt * alpha[n], dt * beta[n], dt * (alpha[n] + beta[n])};
}

}  // namespace octant::dns
