// Fields as kernels see them.
#pragma once

#include "dns/domain.hpp"
#include "pencil/field_view.hpp"

namespace octant::dns {

using pencil::DeviceField;
using pencil::FieldView;

struct VelocityViews {
  FieldView u, v, w;

  KOKKOS_FUNCTION const FieldView& operator[](int component) const {
    return component == k_u ? u : component == k_v ? v : w;
  }
};

// For threads of the host.
inline FieldView view_of(Field& field) {
  return {field.row(0, 0), field.row_stride(), field.plane_stride(),
          field.nx(),      field.ny(),         field.nz()};
}

// The cells of a view in some ranges, as a view of their own.
inline FieldView part_of(const FieldView& whole, Range x, Range y, Range z) {
  return {whole.row(z.begin, y.begin) + x.begin,
          whole.row_stride,
          whole.plane_stride,
          x.count(),
          y.count(),
          z.count()};
}

}  // namespace octant::dns
