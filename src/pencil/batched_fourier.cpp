#include "pencil/batched_fourier.hpp"

namespace octant::pencil {

namespace {

// A mode's two parts.
struct MultiplyMode {
  Kokkos::complex<double>* modes;
  const double* factors;
  double scale;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const { modes[n] *= scale * factors[n]; }
};

}  // namespace

BatchedFourier::BatchedFourier(const Cells& cells, Padding padding)
    : cells_(cells), n_(padded(cells, padding)) {
  values_ = DeviceArray<double>("modes", static_cast<std::size_t>(plane_stride() * n_[2]));
  x_ = make_real_fft(n_[0], n_[1] * n_[2], static_cast<int>(row_stride()));
  const int columns = modes_x() * n_[2], depths = modes_x() * n_[1];
  y_forward_ =
      std::make_unique<LineTransform>(TransformKind::complex_forward, n_[1], columns, false);
  y_backward_ =
      std::make_unique<LineTransform>(TransformKind::complex_backward, n_[1], columns, false);
  z_ = make_complex_fft({n_[2], depths, depths, 1});
}

FieldView BatchedFourier::values() const {
  return {values_.data(), row_stride(), plane_stride(), cells_[0], cells_[1], cells_[2]};
}

DeviceArray<double> BatchedFourier::factors(const std::function<double(const Mode&)>& of) const {
  std::vector<double> all(values_.size() / 2);
  for (int y = 0; y < n_[1]; ++y)
    for (int x = 0; x < modes_x(); ++x)
      for (int z = 0; z < n_[2]; ++z) {
        const std::int64_t place = (std::int64_t{z} * n_[1] + y) * modes_x() + x;
        all[place] = of(mode_at(x, y, z, n_));
      }
  return on_device("factors of modes", all);
}

void BatchedFourier::multiply_modes(const DeviceArray<double>& factors) {
  x_->forward(values_.data());
  y_forward_->execute(columns(), columns());
  z_->forward(values_.data());
  const double scale = 1.0 / (static_cast<double>(n_[0]) * n_[1] * n_[2]);
  Kokkos::parallel_for("pencil: multiply modes", DeviceTasks(0, factors.size()),
                       MultiplyMode{reinterpret_cast<Kokkos::complex<double>*>(values_.data()),
                                    factors.data(), scale});
  z_->backward(values_.data());
  y_backward_->execute(columns(), columns());
  x_->backward(values_.data());
}

}  // namespace octant::pencil
