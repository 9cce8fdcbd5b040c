// Memory and fields where kernels find them (core/device_memory.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "core/residency.hpp"
#include "pencil/field.hpp"

namespace octant::pencil {

// Tasks 0 .. n - 1 of a kernel.
using DeviceTasks = Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>;

template <class T>
using DeviceArray = Kokkos::View<T*, DeviceMemory>;

// Memory for `count` values that nobody has touched yet.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::size_t count) {
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), count);
}

// Waits.
template <class T>
void copy_to_device(const std::vector<T>& values, const DeviceArray<T>& copy) {
  octant::copy_to_device(Cargo::tables, copy, octant::host_view(values));
}

template <class T>
DeviceArray<T> on_device(const std::string& label, const std::vector<T>& values) {
  const DeviceArray<T> copy = uninitialised<T>(label, values.size());
  copy_to_device(values, copy);
  return copy;
}

// Memory that is in use during a solve alone, by what it holds: solvers that are given the same
// hold it once.
class BatchedMemory {
 public:
  enum Area { coefficients, columns, lines, ends, reduced, leaving, arriving, areas };

  void reserve(Area area, std::size_t count) {
    DeviceArray<double>& values = values_[area];
    if (values.size() < count) values = DeviceArray<double>("shared in turns", count);
  }
  double* data(Area area) const { return values_[area].data(); }

 private:
  std::array<DeviceArray<double>, areas> values_;
};

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

inline bool is_empty(const FieldView& view) { return view.nx == 0 || view.ny == 0 || view.nz == 0; }

// The cells of a view in some ranges, as a view of their own.
inline FieldView part_of(const FieldView& whole, Range x, Range y, Range z) {
  return {whole.row(z.begin, y.begin) + x.begin,
          whole.row_stride,
          whole.plane_stride,
          x.count(),
          y.count(),
          z.count()};
}

// Cells one after the other.
inline FieldView dense_view(double* first, const Cells& cells) {
  return {first, cells[0], std::ptrdiff_t{cells[0]} * cells[1], cells[0], cells[1], cells[2]};
}

// The cells of a view, times a factor, to those of another one of that shape. Does not wait.
void copy_cells(const FieldView& from, const FieldView& to, double factor = 1.0);

// Several such copies, none of which reads what another one writes, in few launches.
struct CellCopy {
  FieldView from, to;
};
void copy_cells(std::span<const CellCopy> copies);

// Such memory, with a Field's layout, so that a copy is one transfer.
class DeviceField {
 public:
  explicit DeviceField(const Box& x_pencil);  // zeros

  FieldView view() const { return view_; }
  // All cells and ghosts of a field of the same box that is at home (slide 0). These wait.
  void copy_from(const Field& field);
  void copy_to(Field& field) const;

 private:
  DeviceArray<double> data_;  // plane -1 first
  FieldView view_;
};

}  // namespace octant::pencil
