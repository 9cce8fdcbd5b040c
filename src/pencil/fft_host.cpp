// Transforms of many lines on a host, k_lines at a time.
#if !defined(OCTANT_CUFFT) && !defined(OCTANT_HIPFFT)

#include <algorithm>

#include "core/error.hpp"
#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

class ComplexLines final : public ManyFft {
 public:
  explicit ComplexLines(const FftLines& lines)
      : lines_(lines),
        forward_(make_transform(TransformKind::complex_forward, lines.length)),
        backward_(make_transform(TransformKind::complex_backward, lines.length)),
        together_(static_cast<std::size_t>(lines.length) * 2 * k_lines) {}

  void forward(double* first) const override { execute(*forward_, first); }
  void backward(double* first) const override { execute(*backward_, first); }

 private:
  void execute(const Transform& transform, double* first) const {
    const OpenToLibraries open;
    for (int line = 0; line < lines_.lines; line += k_lines) {
      for_each_number(first, line,
                      [](double* here, double* there) { std::copy_n(here, 2, there); });
      transform.execute(together_.data(), 2 * k_lines);
      for_each_number(first, line,
                      [](double* here, double* there) { std::copy_n(there, 2, here); });
    }
  }
  template <class Body>
  void for_each_number(double* first, int line, const Body& body) const {
    const int end = std::min(line + k_lines, lines_.lines);
    for (int j = 0; j < lines_.length; ++j)
      for (int n = line; n < end; ++n) {
        const std::ptrdiff_t place =
            std::ptrdiff_t{j} * lines_.point_stride + std::ptrdiff_t{n} * lines_.line_stride;
        body(first + 2 * place, together_.data() + 2 * (j * k_lines + n - line));
      }
  }

  FftLines lines_;
  std::unique_ptr<Transform> forward_, backward_;
  mutable Buffer together_;
};

class RealLines final : public ManyFft {
 public:
  RealLines(int length, int lines, int stride)
      : length_(length), lines_(lines), stride_(stride), rows_(length) {}

  void forward(double* first) const override {
    const OpenToLibraries open;
    rows_.forward(first, stride_, lines_, length_, first, stride_);
  }
  void backward(double* first) const override {
    const OpenToLibraries open;
    rows_.backward(first, stride_, lines_, length_, 1.0, first, stride_);
  }

 private:
  int length_, lines_, stride_;
  mutable RowFourier rows_;
};

void require_host_memory() {
  if (!Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, DeviceMemory>::accessible)
    throw InputError(
        "this program was built without a GPU FFT library; configure it with -DOCTANT_HIPFFT=ON, "
        "or set gravity.base = \"multigrid\"");
}

}  // namespace

std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines) {
  require_host_memory();
  return std::make_unique<ComplexLines>(lines);
}

std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride) {
  require_host_memory();
  return std::make_unique<RealLines>(length, lines, line_stride);
}

}  // namespace octant::pencil

#endif
