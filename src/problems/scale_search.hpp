// Search for the size of a star of given matter.
#pragma once

#include <cmath>

#include "problems/star_convergence.hpp"

namespace octant::problems {

// Search for the size at which the factor of density of a star is 1. The logarithm of the factor,
// as a function of that of the size, decreases on the stable branch, near the root. `Star` has the
// functions size(), stretch(size), converge() and scale().
template <class Star>
class ScaleSearch {
 public:
  explicit ScaleSearch(Star& star) : star_(star) {}

  // Varies the size until the factor is 1. Returns false if there is no such size within a
  // factor of e^3.
  bool find_root() {
    constexpr double k_farthest = 3.0;
    constexpr int k_most = 100;
    first_ = star_.size();
    Point a = at(0.0), b = a;
    for (double step = 0.03; is_same_side(a, b); step *= 2.0) {
      if (is_root(b)) return true;
      a = b;
      b = at(a.x + std::copysign(step, a.value));
      if (std::abs(b.x) > k_farthest) return false;
    }
    // Regula falsi with halved weights of ends that stay (Dowell & Jarratt 1971, BIT 11, 168).
    for (int n = 0; n < k_most && !is_root(b); ++n) {
      const Point c = at((a.value * b.x - b.value * a.x) / (a.value - b.value));
      if (is_same_side(b, c)) a.value *= 0.5;
      else a = b;
      b = c;
    }
    return is_root(b);
  }

 private:
  // x is the logarithm of the size over the first one, which has the same bits in all units.
  struct Point {
    double x, value;
  };
  static bool is_same_side(const Point& a, const Point& b) {
    return (a.value > 0.0) == (b.value > 0.0);
  }
  static bool is_root(const Point& a) { return std::abs(a.value) < k_scale_tolerance; }
  Point at(double x) {
    star_.stretch(first_ * std::exp(x));
    star_.converge();
    return {x, std::log(star_.scale())};
  }

  Star& star_;
  double first_ = 1.0;
};

}  // namespace octant::problems
