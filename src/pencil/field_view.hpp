// Fields where kernels find them: in the memory of Kokkos' default execution space, which is the
// host's own or that of a GPU.
#pragma once

#include <cstddef>

#include "pencil/device_memory.hpp"
#include "pencil/field.hpp"

namespace octant::pencil {

// Rows along x of nx cells; plane k holds rows j = -1 .. ny, and planes are k = -1 .. nz. Cells -1
// and nx of a row are ghosts. Passed by value; points into memory that others own.
struct FieldView {
  double* first;  // cell 0 of row 0 of plane 0; 32-byte aligned, like every row
  std::ptrdiff_t row_stride, plane_stride;  // in doubles
  int nx, ny, nz;

  KOKKOS_FUNCTION double* row(int k, int j) const {
    return first + plane_stride * k + row_stride * j;
  }
};

// Such memory, with a Field's layout, so that a copy is one transfer.
class DeviceField {
 public:
  explicit DeviceField(const Box& x_pencil);  // zeros

  FieldView view() const { return view_; }
  // All cells and ghosts of a field of the same box that is at home (slide 0). These wait.
  void copy_from(const Field& field);
  void copy_to(Field& field) const;
  std::size_t bytes() const { return data_.size() * sizeof(double); }

 private:
  DeviceArray<double> data_;  // plane -1 first
  FieldView view_;
};

}  // namespace octant::pencil
