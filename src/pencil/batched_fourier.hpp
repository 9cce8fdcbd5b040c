// PeriodicFourier's counterpart in the memory of Kokkos' default execution space: all lines of an
// axis at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "pencil/batched_transpose.hpp"
#include "pencil/device_field.hpp"
#include "pencil/fourier.hpp"
#include "pencil/line_transform.hpp"

namespace octant::pencil {

// An axis that no rank cuts is never left: on one rank, values become modes where they lie. With
// the library of hosts, modes and values have the bits of PeriodicFourier on every process grid.
//
// Memory: an array of the padded grid's share; where an axis is cut another one, and messages.
class BatchedFourier {
 public:
  // Of an array of the grid's cells; for Padding see fourier.hpp. Collective. Throws InputError,
  // RunError as make_complex_fft.
  BatchedFourier(const PencilGrid& grid, Padding padding, const CommOptions& comm = {});

  // This rank's x-pencil, for kernels to write after clear(), all of it, and to read.
  FieldView values() const;
  void clear() { clear_if_padded(0); }

  // A number for each of this rank's modes, on the host; and factors, as multiply_modes() wants
  // them.
  std::vector<double> of_modes(const std::function<double(const Mode&)>& number) const;
  DeviceArray<double> factors(const std::function<double(const Mode&)>& of) const {
    return on_device("factors of modes", of_modes(of));
  }

  // Multiplies the modes of the values, which then wait to be multiplied by scale(). Collective.
  // Does not wait for kernels but where messages are packed.
  void multiply_modes(const DeviceArray<double>& factors);
  double scale() const { return 1.0 / (static_cast<double>(n_[0]) * n_[1] * n_[2]); }

 private:
  // Boxes of a rank where lines along x, y and z are whole; a complex number counts as two reals
  // along x. They hold the padding along an axis from where its lines are whole on.
  Box x_box(int rank) const;
  Box y_box(int rank) const;
  Box z_box(int rank) const;

  FieldView rows() const { return view(0, x_box(own())); }
  FieldView columns() const { return view(array_of_columns(), y_box(own())); }
  FieldView depths() const { return view(array_of_depths(), z_box(own())); }
  // With each transpose they move to the other array.
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
  Cells n_;                                  // of the transform
  int half_;                                 // complex numbers of a row
  std::optional<BatchedTranspose> xy_, yz_;  // none where y, or z, is not cut
  std::array<DeviceArray<double>, 2> arrays_;
  std::unique_ptr<ManyFft> x_, z_;
  std::unique_ptr<LineTransform> y_forward_, y_backward_;
};

}  // namespace octant::pencil
