// One value per cell of an x-pencil, with one layer of ghosts, and the exchange that fills them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "pencil/buffer.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Where the values of an x-pencil lie: the strides of rows and planes, in doubles.
struct FieldLayout {
  explicit FieldLayout(const Box& x_pencil);

  int nx, ny, nz;
  std::ptrdiff_t row_stride, plane_stride;
};

// Rows along x; plane k holds rows j = -1 .. n_y, and planes are k = -1 .. n_z, all counted from
// the first cell of this rank. Cell 0 of every row is 32-byte aligned, cells -1 and n_x are ghosts.
//
// There is one plane more below, so that a sweep can write plane k where the old plane k - 1 lay:
// an update in place without rolling buffers. `slide` says where plane 0 then lies: 0, at home, or
// -1, one plane lower.
class Field {
 public:
  explicit Field(const Box& x_pencil);  // zeros

  const Box& box() const { return box_; }
  int nx() const { return layout_.nx; }
  int ny() const { return layout_.ny; }
  int nz() const { return layout_.nz; }

  double* row(int k, int j, int slide = 0) {
    return data_.data() + plane_stride() * (k + 2 + slide) + row_stride() * (j + 1) + k_pad;
  }
  const double* row(int k, int j, int slide = 0) const {
    return data_.data() + plane_stride() * (k + 2 + slide) + row_stride() * (j + 1) + k_pad;
  }
  double& operator()(int i, int j, int k) { return row(k, j)[i]; }
  double operator()(int i, int j, int k) const { return row(k, j)[i]; }

  // Doubles before cell 0 of a row, ghosts included: keeps rows 32-byte aligned.
  static constexpr int k_pad = 4;
  // Doubles from a row, or a plane, to the next one.
  std::ptrdiff_t row_stride() const { return layout_.row_stride; }
  std::ptrdiff_t plane_stride() const { return layout_.plane_stride; }

  // Copies a row of plane k with its ghosts onto another one of that plane.
  void copy_row(int k, int to, int from, int slide = 0);

 private:
  Box box_;
  FieldLayout layout_;
  Buffer data_;
};

// How halos travel: in messages, or in memory that the ranks of a node share.
struct HaloOptions {
  CommOptions messages;
  bool shared_memory = false;
};

// Halo exchange: fills the ghost rows and planes of x-pencils from the ranks that hold those cells,
// and from the other side where an axis is periodic. Ghosts outside a boundary that is not periodic
// are left as they are: the caller's boundary conditions set them. One message per neighbour
// carries all fields of a call. All calls but the constructor's are collective over the ranks along
// that axis.
class Halo {
 public:
  // Which of the axes that are cut continue at their other ends. Collective.
  Halo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const HaloOptions& options = {});
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  // Rows -1 and n_y, with their x-ghosts, of planes first .. end - 1.
  void fill_y(std::span<Field* const> fields, int slide = 0);
  void fill_y(std::span<Field* const> fields, int first, int end, int slide);
  // Planes -1 and n_z, with all their ghosts.
  void fill_z(std::span<Field* const> fields, int slide = 0);

  // Bytes and messages sent to other ranks so far: in shared memory, what they were left to read.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::unique_ptr<Side> y_, z_;
};

}  // namespace octant::pencil
