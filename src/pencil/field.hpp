// Fields with one value per cell of an x-pencil and one layer of ghosts, and their memory.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Array of doubles aligned to a cache line, or to a huge page if large: a sweep over planes reads
// and writes about fifteen streams at once, which causes TLB misses with small pages.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count);  // fills the buffer with zeros, which touches every page

  // Makes the buffer at least `count` values long; a reallocation discards the contents.
  void reserve(std::size_t count) {
    if (size_ >= count) return;
    *this = Buffer();
    *this = Buffer(count);
  }

  // First value.
  double* data() { return data_.get(); }
  // First value, for reading.
  const double* data() const { return data_.get(); }
  // Number of values.
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(double* memory) const;
  };
  std::unique_ptr<double[], Free> data_;
  std::size_t size_ = 0;
};

// Memory layout of an x-pencil: strides of rows and planes, in doubles.
struct FieldLayout {
  explicit FieldLayout(const Box& x_pencil);

  int nx, ny, nz;
  std::ptrdiff_t row_stride, plane_stride;
};

// A field on an x-pencil. Rows are along x; plane k holds rows j = -1 .. n_y, and planes are k = -1
// .. n_z, counted from the first cell of this rank. Cell 0 of every row is 32-byte aligned; cells
// -1 and n_x are ghosts.
//
// With an additional plane below, a sweep can write the new plane k over the old plane k - 1, which
// allows in-place updates without rolling buffers. `plane_offset` is the offset of plane 0 in
// planes: 0 or -1.
class Field {
 public:
  explicit Field(const Box& x_pencil);  // fills all cells and ghosts with zeros

  // Global index range of this rank's cells.
  const Box& box() const { return box_; }
  // Number of cells along x.
  int nx() const { return layout_.nx; }
  // Number of cells along y.
  int ny() const { return layout_.ny; }
  // Number of cells along z.
  int nz() const { return layout_.nz; }

  // Address of cell 0 of row j in plane k.
  double* row(int k, int j, int plane_offset = 0) {
    return data_.data() + plane_stride() * (k + 2 + plane_offset) + row_stride() * (j + 1) + k_pad;
  }
  // Address of cell 0 of row j in plane k, for reading.
  const double* row(int k, int j, int plane_offset = 0) const {
    return data_.data() + plane_stride() * (k + 2 + plane_offset) + row_stride() * (j + 1) + k_pad;
  }
  double& operator()(int i, int j, int k) { return row(k, j)[i]; }
  double operator()(int i, int j, int k) const { return row(k, j)[i]; }

  // Number of doubles before cell 0 of a row, including the ghost; keeps rows 32-byte aligned.
  static constexpr int k_pad = 4;
  // Distance in doubles from a row to the next one.
  std::ptrdiff_t row_stride() const { return layout_.row_stride; }
  // Distance in doubles from a plane to the next one.
  std::ptrdiff_t plane_stride() const { return layout_.plane_stride; }

  // Copies row `from` of plane k, with its ghosts, to row `to` of the same plane.
  void copy_row(int k, int to, int from, int plane_offset = 0);

 private:
  Box box_;
  FieldLayout layout_;
  Buffer data_;
};

}  // namespace octant::pencil
