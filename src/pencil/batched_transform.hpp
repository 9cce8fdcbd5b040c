// Transforms along x and y of all planes at once. Internal to pencil/.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pencil/batched_transpose.hpp"
#include "pencil/boundary.hpp"
#include "pencil/device_field.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Turns the unknowns of a field into real coefficients, one for each pair of eigenvalues, and back.
// Both directions together leave the unknowns as they are. Where y is cut, coefficients travel
// between the two transforms: a rank then has all rows of its share of the columns.
//
// Coefficients lie as [row][plane][column], so that all lines along y are one batch.
class BatchedTransform {
 public:
  // What is transformed, and where coefficients and messages lie meanwhile.
  struct Setting {
    PencilGrid grid;
    UniformAxis x, y;
    int planes;  // of this rank
    CommOptions comm;
    std::shared_ptr<BatchedMemory> memory;
  };

  virtual ~BatchedTransform() = default;

  // Of this rank's columns, and of all rows.
  std::vector<double> x_eigenvalues() const;
  const std::vector<double>& y_eigenvalues() const { return y_eigenvalues_; }
  FieldView coefficients() const;
  bool has_first_column() const { return columns_.begin == 0 && columns_.count() > 0; }

  // Neither needs to wait for the other, or for what was done to the coefficients in between, as
  // kernels of the default execution space follow one another. Collective where y is cut.
  void forward(const FieldView& field);
  void backward(const FieldView& field);

  TransposeTraffic traffic() const {
    return transpose_ ? transpose_->traffic() : TransposeTraffic();
  }

 protected:
  // The eigenvalues of all coefficients. Collective. Throws InputError for axes that have no
  // transform.
  BatchedTransform(const Setting& setting, std::vector<double> x_eigenvalues);

  // This rank's rows of a field, to all coefficients of each; and its columns, in place.
  virtual void forward_x(const FieldView& field, const FieldView& rows) = 0;
  virtual void backward_x(const FieldView& rows, const FieldView& field) = 0;
  virtual void forward_y(const FieldView& columns) = 0;
  virtual void backward_y(const FieldView& columns) = 0;

  FieldView rows() const;

 private:
  FieldView view(BatchedMemory::Area area, int columns, int rows) const;

  int planes_;
  std::vector<double> x_eigenvalues_, y_eigenvalues_;
  Range rows_, columns_;  // of this rank
  std::shared_ptr<BatchedMemory> memory_;
  std::optional<BatchedTranspose> transpose_;  // none where y is whole
};

// What suits the default execution space: for the host a thread takes planes, one by one, through
// the transforms of plane_transform.hpp, and so gets their bits; a GPU takes all lines at once.
// Collective. Throws InputError for axes that have no transform.
std::unique_ptr<BatchedTransform> make_batched_transform(const BatchedTransform::Setting& setting);

// The latter. On the host, where DUCC stands in for the GPU's library, it is slower.
std::unique_ptr<BatchedTransform> make_kernel_transform(const BatchedTransform::Setting& setting);

}  // namespace octant::pencil
