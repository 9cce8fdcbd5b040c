// Transforms along x and y of planes that hold the unknowns of a problem. Internal to pencil/.
//
// A row along x becomes `width` real coefficients. A periodic row of even length n is packed as
//   r_0 r_(n/2) r_1 i_1 r_2 i_2 ..      (appendix A of the paper, with r_(n/2) moved to the front)
// and a row of odd length as r_0 0 r_1 i_1 ... The pairs after the first one are complex numbers
// with one eigenvalue each, so that a periodic y is transformed as complex columns. The first pair
// consists of two real columns, which are separated after the transform. Other columns are real.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pencil/boundary.hpp"
#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// Real transform that diagonalises the second difference with given boundary conditions, its
// unscaled inverse, and the factor by which both together multiply the values.
struct TransformPair {
  TransformKind forward, backward;
  double scale;
};
// Returns the transforms for the given conditions. Throws InputError if no transform exists.
TransformPair transform_of(const AxisConditions& conditions, int unknowns);

// Returns the eigenvalue of each row of coefficients, for a complex transform along y if both axes
// are periodic, otherwise for a real one. Throws InputError if y has no transform.
std::vector<double> y_eigenvalues_of(const UniformAxis& x, const UniformAxis& y);

// Throws InputError unless an axis has a transform. `name` is the name of the axis in messages.
void check_axis(const UniformAxis& axis, const std::string& name);

// Transform of one plane at a time, for a team of threads.
class PlaneTransform {
 public:
  // Throws InputError for axes that have no transform.
  PlaneTransform(const UniformAxis& x, const UniformAxis& y);

  // Number of coefficients of a row.
  int width() const { return static_cast<int>(x_eigenvalues_.size()); }
  // Eigenvalue of each column of coefficients.
  const std::vector<double>& x_eigenvalues() const { return x_eigenvalues_; }
  // Eigenvalue of each row of coefficients.
  const std::vector<double>& y_eigenvalues() const { return y_eigenvalues_; }
  // Returns the first row of coefficients with the same eigenvalue as row j.
  int y_twin(int j) const {
    if (!y_periodic_) return j;
    return y_complex_ ? std::min(j, y_size_ - j) : j - (j > 0 && j % 2 == 0);
  }

  // Transforms `rows`, which begin at `first`, along x to pieces of coefficients. The scale factors
  // of both axes are applied here, so that forward and backward together are the identity. k_lines
  // rows are transformed together; fewer rows take the same time. Threads of the team may call this
  // function for different rows.
  void forward_x(const Team& team, const double* first, std::ptrdiff_t row_stride, Range rows,
                 std::span<const RowPiece> coefficients);
  // Inverse of forward_x().
  void backward_x(const Team& team, std::span<const RowPiece> coefficients, Range rows,
                  double* first, std::ptrdiff_t row_stride);

  // Transforms k_columns columns in place, [y][k_columns]. `first` is true if the columns begin
  // with coefficient 0.
  void forward_y(double* columns, bool first) const;
  // Inverse of forward_y().
  void backward_y(double* columns, bool first) const;

 private:
  // Convert between the order r_0 r_1 i_1 .., stored from index 1 on, and the packed order.
  void pack(double* packed) const;
  void unpack(double* packed) const;
  void take_pair_apart(double* columns) const;
  void join_pair(double* columns) const;

  bool x_periodic_, y_periodic_, y_complex_;
  int x_size_, y_size_;
  double scale_;
  std::vector<double> x_eigenvalues_, y_eigenvalues_;
  std::unique_ptr<Transform> x_forward_, x_backward_, y_forward_, y_backward_;
  double* lines_of(const Team& team) { return lines_.data() + team.rank() * lines_stride_; }
  std::ptrdiff_t lines_stride_;
  Buffer lines_;  // [thread][coefficient][k_lines]
};

// --- batched over all planes ---------------------------------------------------------------------
//
// Transform of the unknowns of a field to real coefficients, one for each pair of eigenvalues, with
// its inverse. Both directions together are the identity. If y is divided among ranks, a transpose
// between the transforms along x and y gives each rank all rows of its part of the columns.
//
// Coefficients are stored as [row][plane][column], so that all lines along y are one batch.
class BatchedTransform {
 public:
  // Problem to transform, and memory for coefficients and messages.
  struct Setting {
    PencilGrid grid;
    UniformAxis x, y;
    int planes;  // planes of this rank
    CommOptions comm;
    std::shared_ptr<BatchedMemory> memory;
  };

  virtual ~BatchedTransform() = default;

  // Eigenvalues of this rank's columns.
  std::vector<double> x_eigenvalues() const;
  // Eigenvalues of all rows.
  const std::vector<double>& y_eigenvalues() const { return y_eigenvalues_; }
  // Coefficients of this rank's columns.
  FieldView coefficients() const;
  // True if this rank has coefficient 0 of the rows.
  bool has_first_column() const { return columns_.begin == 0 && columns_.count() > 0; }

  // Transforms the field to coefficients(). Both directions run in order with other kernels of the
  // default execution space, so that no fence is needed between them or around kernels that change
  // the coefficients. Collective if y is divided among ranks.
  void forward(const FieldView& field);
  // Transforms coefficients() to the field. Collective if y is divided among ranks.
  void backward(const FieldView& field);

  // Messages and bytes sent so far.
  TransposeTraffic traffic() const {
    return transpose_ ? transpose_->traffic() : TransposeTraffic();
  }

 protected:
  // Prepares the transpose; `x_eigenvalues` are those of all columns. Collective. Throws InputError
  // for axes that have no transform.
  BatchedTransform(const Setting& setting, std::vector<double> x_eigenvalues);

  // Transforms of this rank's rows of a field to coefficients, and of this rank's columns in place.
  virtual void forward_x(const FieldView& field, const FieldView& rows) = 0;
  virtual void backward_x(const FieldView& rows, const FieldView& field) = 0;
  virtual void forward_y(const FieldView& columns) = 0;
  virtual void backward_y(const FieldView& columns) = 0;

  FieldView rows() const;

 private:
  FieldView view(BatchedMemory::Area area, int columns, int rows) const;

  int planes_;
  std::vector<double> x_eigenvalues_, y_eigenvalues_;
  Range rows_, columns_;  // rows, and columns of coefficients, of this rank
  std::shared_ptr<BatchedMemory> memory_;
  std::optional<BatchedTranspose> transpose_;  // empty if y is not divided among ranks
};

// Makes the transform for the default execution space. On the host, threads process planes one by
// one with a PlaneTransform, with bitwise equal results; a GPU transforms all lines at once.
// Collective. Throws InputError for axes that have no transform.
std::unique_ptr<BatchedTransform> make_batched_transform(const BatchedTransform::Setting& setting);

// Makes the GPU version of the transform. On the host it uses DUCC and is slower.
std::unique_ptr<BatchedTransform> make_kernel_transform(const BatchedTransform::Setting& setting);

}  // namespace octant::pencil
