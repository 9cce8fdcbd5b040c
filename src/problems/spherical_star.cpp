#include "problems/spherical_star.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"

namespace octant::problems {

SphericalStar integrate_star(const StarMatter& matter, double central_enthalpy, double G) {
  constexpr double k_step = 0.02;  // in units of the radius and of the central scale height
  constexpr int k_max_steps = 5000;
  using State = std::array<double, 2>;  // enthalpy, mass
  const auto slopes = [&](double r, const State& s) {
    return State{-G * s[1] / (r * r), 4.0 * M_PI * r * r * matter.unscaled_density(s[0])};
  };
  const double central_density = matter.unscaled_density(central_enthalpy);
  const double height = std::sqrt(central_enthalpy / (4.0 * M_PI * G * central_density));
  double r = k_step * height;
  const double within = 4.0 / 3.0 * M_PI * r * r * r * central_density;
  State s{central_enthalpy - 0.5 * G * within / r, within};
  for (int n = 0; n < k_max_steps; ++n) {
    const double h = k_step * std::max(height, r);
    const auto from = [&](const State& k, double share) {
      return State{s[0] + share * h * k[0], s[1] + share * h * k[1]};
    };
    const State a = slopes(r, s), b = slopes(r + 0.5 * h, from(a, 0.5)),
                c = slopes(r + 0.5 * h, from(b, 0.5)), d = slopes(r + h, from(c, 1.0));
    State next = s;
    for (int q = 0; q < 2; ++q) next[q] += h / 6.0 * (a[q] + 2.0 * b[q] + 2.0 * c[q] + d[q]);
    if (next[0] <= 0.0) return {central_enthalpy, next[1], r + h * s[0] / (s[0] - next[0])};
    s = next;
    r += h;
  }
  return {central_enthalpy, s[1], std::numeric_limits<double>::infinity()};
}

SphericalStar stable_star(const StarMatter& matter, double mass, double G, double excess,
                          const char* name) {
  constexpr int k_stars = 240;
  const double lowest = matter.lowest_enthalpy();
  const double ratio = std::pow(matter.highest_enthalpy() / lowest, 1.0 / (k_stars - 1));
  SphericalStar last{}, heaviest{};
  for (int n = 0; n < k_stars; ++n) {
    const SphericalStar star = integrate_star(matter, lowest * std::pow(ratio, n), G);
    if (!std::isfinite(star.radius)) continue;
    if (last.mass > 0.0 && last.mass <= mass && mass < star.mass) {
      const double share = std::log(mass / last.mass) / std::log(star.mass / last.mass);
      const auto between = [&](double a, double b) { return a * std::pow(b / a, share); };
      return {between(last.central_enthalpy, star.central_enthalpy), mass,
              between(last.radius, star.radius)};
    }
    if (star.mass > heaviest.mass) heaviest = star;
    last = star;
  }
  if (heaviest.mass == 0.0)
    throw InputError("{} has no stars of finite radius; expected larger exponents", matter.text());
  if (mass > heaviest.mass && mass <= (1.0 + excess) * heaviest.mass) return heaviest;
  if (mass > heaviest.mass)
    throw InputError(
        "{} = {}: exceeds the largest mass of a star at rest with {}, {}{}; decrease it", name,
        matter.text_of_mass(mass), matter.text(), matter.text_of_mass(heaviest.mass),
        matter.kind == StarMatter::degenerate ? ", the Chandrasekhar mass" : "");
  throw InputError("{} = {}: there is no stable star of this mass with {}; increase it", name,
                   matter.text_of_mass(mass), matter.text());
}

}  // namespace octant::problems
