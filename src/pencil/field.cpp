#include "pencil/field.hpp"

#include <algorithm>

#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

// The next multiple of a unit.
int whole(int count, int unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

// A plane has room for its coefficients (PoissonOptions::kept).
Field::Field(const Box& x_pencil)
    : box_(x_pencil),
      nx_(box_[0].count()),
      ny_(box_[1].count()),
      nz_(box_[2].count()),
      row_(std::max(whole(nx_, 4) + 2 * k_pad, whole(nx_ + nx_ % 2, k_columns))),
      plane_(row_ * (ny_ + 2)),
      data_(static_cast<std::size_t>(plane_) * (nz_ + 3)) {}

void Field::copy_row(int k, int to, int from, int slide) {
  std::copy_n(row(k, from, slide) - k_pad, row_, row(k, to, slide) - k_pad);
}

}  // namespace octant::pencil
