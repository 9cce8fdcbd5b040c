#include "pencil/field.hpp"

#include <algorithm>

namespace octant::pencil {

Field::Field(const Box& x_pencil)
    : box_(x_pencil),
      nx_(box_[0].count()),
      ny_(box_[1].count()),
      nz_(box_[2].count()),
      row_((nx_ + 3) / 4 * 4 + 2 * k_pad),
      plane_(row_ * (ny_ + 2)),
      data_(static_cast<std::size_t>(plane_) * (nz_ + 3)) {}

void Field::copy_row(int k, int to, int from, int slide) {
  std::copy_n(row(k, from, slide) - k_pad, row_, row(k, to, slide) - k_pad);
}

}  // namespace octant::pencil
