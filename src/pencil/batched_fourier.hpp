// Batched counterpart of PeriodicFourier, for arrays in the memory of Kokkos' default execution
// space.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "pencil/device_field.hpp"
#include "pencil/fourier.hpp"
#include "pencil/line_transform.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// Fourier transform of all lines of an axis at once. Axes that are not divided among ranks need no
// transpose: on one rank, values are transformed in place. With the host's FFT library, modes and
// values are bitwise equal to those of PeriodicFourier on every process grid.
//
// Memory: an array of this rank's part of the padded grid; if an axis is divided, also a second
// array and message buffers.
class BatchedFourier {
 public:
  // Prepares the transform of an array of the grid's cells; for Padding see fourier.hpp.
  // Collective. Throws InputError and RunError as make_complex_fft does.
  BatchedFourier(const PencilGrid& grid, Padding padding, const CommOptions& comm = {});

  // Returns this rank's x-pencil. Users must call clear() first and then write all of its values.
  FieldView values() const;
  // Sets all values, including the padding, to 0; does nothing without padding.
  void clear() { clear_if_padded(0); }

  // Returns number(mode) for each of this rank's modes, on the host.
  std::vector<double> of_modes(const std::function<double(const Mode&)>& number) const;
  // Returns of(mode) for each of this rank's modes in device memory, for multiply_modes().
  DeviceArray<double> factors(const std::function<double(const Mode&)>& of) const {
    return on_device("factors of modes", of_modes(of));
  }

  // Transforms the values, multiplies their Fourier coefficients by `factors`, and transforms them
  // back without the factor scale(), which the caller applies. Collective. Synchronises with the
  // device only before packing messages.
  void multiply_modes(const DeviceArray<double>& factors);
  // Factor by which the caller must multiply the values after multiply_modes().
  double scale() const { return 1.0 / (static_cast<double>(n_[0]) * n_[1] * n_[2]); }

 private:
  // Boxes of a rank in the x-, y- and z-pencil decompositions; a complex number counts as two reals
  // along x. An axis is padded in boxes that contain it undivided, and y also in the z box.
  Box x_box(int rank) const;
  Box y_box(int rank) const;
  Box z_box(int rank) const;

  FieldView rows() const { return view(0, x_box(own())); }
  FieldView columns() const { return view(array_of_columns(), y_box(own())); }
  FieldView depths() const { return view(array_of_depths(), z_box(own())); }
  // Indices of the arrays that hold the y-pencils (columns) and z-pencils (depths). Each transpose
  // moves the data to the other array.
  int array_of_columns() const { return xy_ ? 1 : 0; }
  int array_of_depths() const { return yz_ ? 1 - array_of_columns() : array_of_columns(); }
  FieldView view(int array, const Box& box) const {
    return dense_view(arrays_[array].data(), box.shape());
  }
  int own() const { return grid_.communicator().rank(); }

  void clear_if_padded(int array) const {
    if (padding_ != Padding::none) fill(arrays_[array], 0.0);
  }
  void forward();
  void backward();

  PencilGrid grid_;
  Padding padding_;
  Cells n_;                                  // padded lengths
  int half_;                                 // complex numbers per row
  std::optional<BatchedTranspose> xy_, yz_;  // empty if y, or z, is not divided among ranks
  std::array<DeviceArray<double>, 2> arrays_;
  std::unique_ptr<ManyFft> x_, z_;
  std::unique_ptr<LineTransform> y_forward_, y_backward_;
};

}  // namespace octant::pencil
