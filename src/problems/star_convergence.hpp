// Convergence of the iterations of the self-consistent field method.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace octant::problems {

inline constexpr int k_max_scf_iterations = 1000;
// Tolerance of |ln s|, the factor of the density of given matter.
inline constexpr double k_scale_tolerance = 1e-8;

// Convergence test of an iteration, by quantities of order one.
class Convergence {
 public:
  // Returns true if no value changed by more than the tolerance since the last call.
  bool reached(const std::vector<double>& values) {
    constexpr double k_tolerance = 1e-10;
    double change = last_.empty() ? 1.0 : 0.0;
    for (std::size_t n = 0; n < last_.size(); ++n)
      change = std::max(change, std::abs(values[n] - last_[n]));
    last_ = values;
    return change < k_tolerance;
  }

 private:
  std::vector<double> last_;
};

}  // namespace octant::problems
