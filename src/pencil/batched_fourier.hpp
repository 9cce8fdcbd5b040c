// PeriodicFourier's counterpart in the memory of Kokkos' default execution space, on one rank: all
// lines of an axis at once.
#pragma once

#include <functional>
#include <memory>

#include "pencil/device_field.hpp"
#include "pencil/fourier.hpp"
#include "pencil/line_transform.hpp"

namespace octant::pencil {

class BatchedFourier {
 public:
  // Of an array of these cells; for Padding see fourier.hpp. Throws InputError, RunError as
  // make_complex_fft.
  BatchedFourier(const Cells& cells, Padding padding);

  // The given array, for kernels to write and read; what they do not write is 0 where clear() came
  // before.
  FieldView values() const;
  void clear() { fill(values_, 0.0); }

  // A factor for every mode, as multiply_modes() wants them: computed on the host, and copied.
  DeviceArray<double> factors(const std::function<double(const Mode&)>& of) const;

  // Multiplies the modes of the values. The padding holds nonsense afterwards. Does not wait.
  void multiply_modes(const DeviceArray<double>& factors);

 private:
  int modes_x() const { return n_[0] / 2 + 1; }
  std::ptrdiff_t row_stride() const { return 2 * modes_x(); }
  std::ptrdiff_t plane_stride() const { return row_stride() * n_[1]; }
  LineSet columns() const { return {values_.data(), row_stride(), 2, modes_x(), plane_stride()}; }

  Cells cells_, n_;             // given, and of the transform
  DeviceArray<double> values_;  // [z][y][x], rows as long as their modes
  std::unique_ptr<ManyFft> x_, z_;
  std::unique_ptr<LineTransform> y_forward_, y_backward_;
};

}  // namespace octant::pencil
