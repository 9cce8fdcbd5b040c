#include "pencil/field.hpp"

#include <algorithm>

#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

// The next multiple of a unit.
int whole(int count, int unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

// A plane has room for its coefficients (PoissonOptions::kept).
FieldLayout::FieldLayout(const Box& x_pencil)
    : nx(x_pencil[0].count()),
      ny(x_pencil[1].count()),
      nz(x_pencil[2].count()),
      row_stride(std::max(whole(nx, 4) + 2 * Field::k_pad, whole(nx + nx % 2, k_columns))),
      plane_stride(row_stride * (ny + 2)) {}

Field::Field(const Box& x_pencil)
    : box_(x_pencil),
      layout_(x_pencil),
      data_(static_cast<std::size_t>(layout_.plane_stride) * (layout_.nz + 3)) {}

void Field::copy_row(int k, int to, int from, int slide) {
  std::copy_n(row(k, from, slide) - k_pad, row_stride(), row(k, to, slide) - k_pad);
}

}  // namespace octant::pencil
