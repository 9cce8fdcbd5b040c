// The Green function of a periodic base level, mode by mode.
#pragma once

#include <array>
#include <vector>

#include "gravity/gravity_options.hpp"
#include "pencil/fourier.hpp"

namespace octant::gravity {

// The factor of a mode in a periodic domain, where laplacian(phi) h^2 = f. 0 for the mean.
class GreenFunction {
 public:
  GreenFunction(const pencil::Cells& cells, double cell_size, Laplacian laplacian);

  double operator()(const pencil::Mode& mode) const {
    const double eigenvalue = along(0, mode.x) + along(1, mode.y) + along(2, mode.z);
    return eigenvalue < 0.0 ? 1.0 / eigenvalue : 0.0;
  }
  // 2 pi / wavelength.
  double wave_number(const pencil::Mode& mode) const;

 private:
  double along(int axis, int n) const { return eigenvalues_[axis][n < 0 ? -n : n]; }

  std::array<std::vector<double>, 3> eigenvalues_;  // times h^2, of modes 0 .. n/2
  std::array<double, 3> fundamental_;
};

}  // namespace octant::gravity
