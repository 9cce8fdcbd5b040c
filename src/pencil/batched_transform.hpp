// Transforms along x and y of all planes at once. Internal to pencil/.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pencil/boundary.hpp"
#include "pencil/device_field.hpp"

namespace octant::pencil {

// Turns the unknowns of a field into real coefficients, one for each of x_eigenvalues() in each row
// and one row for each of y_eigenvalues(), and back. It lays them out in the memory that it is
// given as suits its library. Both directions together leave the unknowns as they are.
class BatchedTransform {
 public:
  virtual ~BatchedTransform() = default;

  virtual const std::vector<double>& x_eigenvalues() const = 0;
  virtual const std::vector<double>& y_eigenvalues() const = 0;
  virtual FieldView coefficients() const = 0;

  // Neither needs to wait for the other, or for what was done to the coefficients in between, as
  // kernels of the default execution space follow one another.
  virtual void forward(const FieldView& field) = 0;
  virtual void backward(const FieldView& field) = 0;
};

// What suits the default execution space: for the host a thread takes planes, one by one, through
// the transforms of plane_transform.hpp, and so gets their bits; a GPU takes all lines at once.
// Throws InputError for axes that have no transform.
std::unique_ptr<BatchedTransform> make_batched_transform(const UniformAxis& x, const UniformAxis& y,
                                                         int planes,
                                                         std::shared_ptr<BatchedMemory> memory);

// The latter. On the host, where FFTW stands in for the GPU's library, it is slower.
std::unique_ptr<BatchedTransform> make_kernel_transform(const UniformAxis& x, const UniformAxis& y,
                                                        int planes,
                                                        std::shared_ptr<BatchedMemory> memory);

}  // namespace octant::pencil
