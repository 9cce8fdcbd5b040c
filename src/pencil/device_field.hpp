// Memory and fields of the default execution space (core/device_memory.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "core/memory_transfer.hpp"
#include "pencil/field.hpp"

namespace octant::pencil {

// Launches kernel(n) for the tasks 0 .. tasks - 1, such as lines. Does not wait.
template <class Kernel>
void for_tasks(const char* name, std::int64_t tasks, const Kernel& kernel) {
  using Tasks = Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(name, Tasks(0, tasks), kernel);
}

// Launches kernel(i, j) or kernel(i, j, k) for all points of a box. Neighbouring i are in the same
// SIMD vector or the same warp of GPU threads. Does not wait.
template <std::size_t axes, class Kernel>
void for_points(const char* name, const int (&points)[axes], const Kernel& kernel) {
  using Points =
      Kokkos::MDRangePolicy<Kokkos::Rank<int{axes}, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                            Kokkos::IndexType<int>>;
  typename Points::point_type begin{}, end{};
  for (std::size_t n = 0; n < axes; ++n) end[n] = points[n];
  Kokkos::parallel_for(name, Points(begin, end), kernel);
}

template <class T>
using DeviceArray = Kokkos::View<T*, DeviceMemory>;

// Returns uninitialised memory for `count` values.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::size_t count) {
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), count);
}

// Copies the values to the device and waits.
template <class T>
void copy_to_device(const std::vector<T>& values, const DeviceArray<T>& copy) {
  octant::copy_to_device(TransferKind::tables, copy, octant::host_view(values));
}

// Returns a copy of the values in device memory. Waits for the copy.
template <class T>
DeviceArray<T> on_device(const std::string& label, const std::vector<T>& values) {
  const DeviceArray<T> copy = uninitialised<T>(label, values.size());
  copy_to_device(values, copy);
  return copy;
}

// Scratch memory by purpose, in use only during a solve and shared by several solvers.
class BatchedMemory {
 public:
  // Purposes of scratch memory.
  enum Area { rows, coefficients, columns, lines, ends, reduced, leaving, arriving, areas };

  // Makes an area at least `count` values long; contents are lost if the area grows.
  void reserve(Area area, std::size_t count) {
    DeviceArray<double>& values = values_[area];
    if (values.size() < count) values = DeviceArray<double>("batched solver scratch", count);
  }
  // Memory of an area.
  double* data(Area area) const { return values_[area].data(); }

 private:
  std::array<DeviceArray<double>, areas> values_;
};

// Non-owning view of a field, passed by value. Rows are along x with nx cells; plane k holds rows
// j = -1 .. ny, and planes are k = -1 .. nz. Cells -1 and nx of a row are ghosts.
struct FieldView {
  double* first;                            // cell 0 of row 0 of plane 0
  std::ptrdiff_t row_stride, plane_stride;  // in doubles
  int nx, ny, nz;

  // Address of cell 0 of row j in plane k.
  KOKKOS_FUNCTION double* row(int k, int j) const {
    return first + plane_stride * k + row_stride * j;
  }
};

// True if the view has no cells.
inline bool is_empty(const FieldView& view) { return view.nx == 0 || view.ny == 0 || view.nz == 0; }

// Returns the subview of the given index ranges.
inline FieldView part_of(const FieldView& whole, Range x, Range y, Range z) {
  return {whole.row(z.begin, y.begin) + x.begin,
          whole.row_stride,
          whole.plane_stride,
          x.count(),
          y.count(),
          z.count()};
}

// Returns a view of contiguous cells.
inline FieldView dense_view(double* first, const Cells& cells) {
  return {first, cells[0], std::ptrdiff_t{cells[0]} * cells[1], cells[0], cells[1], cells[2]};
}

// Copies the cells of a view, times a factor, to a view of the same shape. Does not wait.
void copy_cells(const FieldView& from, const FieldView& to, double factor = 1.0);

// Copy between two views of the same shape.
struct CellCopy {
  FieldView from, to;
};
// Performs several copies in few launches. No copy may read what another one writes. Does not wait.
void copy_cells(std::span<const CellCopy> copies);

// A field in device memory with the layout of Field, so that a copy is one transfer.
class DeviceField {
 public:
  explicit DeviceField(const Box& x_pencil);  // fills all cells and ghosts with zeros

  // View for kernels.
  FieldView view() const { return view_; }
  // Copies all cells and ghosts of a field of the same box, with plane offset 0, and waits.
  void copy_from(const Field& field);
  // Copies all cells and ghosts to a field of the same box, and waits.
  void copy_to(Field& field) const;

 private:
  DeviceArray<double> data_;  // starts at plane -1
  FieldView view_;
};

}  // namespace octant::pencil
