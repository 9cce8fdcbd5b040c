#include "gravity/green_function.hpp"

#include <cmath>

namespace octant::gravity {

GreenFunction::GreenFunction(const pencil::Cells& cells, double cell_size, Laplacian laplacian) {
  for (int axis = 0; axis < 3; ++axis) {
    const double step = 2.0 * M_PI / cells[axis];  // phase from cell to cell of mode 1
    fundamental_[axis] = step / cell_size;
    for (int n = 0; n <= cells[axis] / 2; ++n) {
      const double sine = std::sin(0.5 * step * n);
      eigenvalues_[axis].push_back(laplacian == Laplacian::discrete ? -4.0 * sine * sine
                                                                    : -std::pow(step * n, 2));
    }
  }
}

double GreenFunction::wave_number(const pencil::Mode& mode) const {
  return std::hypot(mode.x * fundamental_[0], mode.y * fundamental_[1], mode.z * fundamental_[2]);
}

}  // namespace octant::gravity
