// Transforms by the library of a GPU: cuFFT on NVIDIA's, hipFFT on AMD's. Both know complex
// transforms alone; the real ones are made of them. Lines are staged through device memory: this
// completes a program for a GPU, and is no fast path.
#if defined(OCTANT_CUFFT) || defined(OCTANT_HIPFFT)

#include <cmath>
#include <complex>
#include <mutex>
#include <numbers>
#include <vector>

#include <Kokkos_Core.hpp>

#include "core/error.hpp"
#include "pencil/fft.hpp"

#if defined(OCTANT_CUFFT)
#include <cufft.h>
#else
#include <hipfft/hipfft.h>
#endif

namespace octant::pencil {

namespace {

#if defined(OCTANT_CUFFT)
using LibraryPlan = cufftHandle;
using LibraryComplex = cufftDoubleComplex;
constexpr auto k_success = CUFFT_SUCCESS;
constexpr int k_forward = CUFFT_FORWARD, k_backward = CUFFT_INVERSE;
constexpr auto k_double_complex = CUFFT_Z2Z;
constexpr auto plan_many = cufftPlanMany;
constexpr auto execute_plan = cufftExecZ2Z;
constexpr auto destroy_plan = cufftDestroy;
#else
using LibraryPlan = hipfftHandle;
using LibraryComplex = hipfftDoubleComplex;
constexpr auto k_success = HIPFFT_SUCCESS;
constexpr int k_forward = HIPFFT_FORWARD, k_backward = HIPFFT_BACKWARD;
constexpr auto k_double_complex = HIPFFT_Z2Z;
constexpr auto plan_many = hipfftPlanMany;
constexpr auto execute_plan = hipfftExecZ2Z;
constexpr auto destroy_plan = hipfftDestroy;
#endif

using Complex = std::complex<double>;

// Complex lines of one length side by side, [point][line], transformed in place on the device.
class ComplexLines {
 public:
  ComplexLines(int length, int lines)
      : values(static_cast<std::size_t>(length) * lines), device_("fft lines", values.size()) {
    check(plan_many(&plan_, 1, &length, &length, lines, 1, &length, lines, 1, k_double_complex,
                    lines),
          "plan");
  }
  ~ComplexLines() { destroy_plan(plan_); }
  ComplexLines(const ComplexLines&) = delete;
  ComplexLines& operator=(const ComplexLines&) = delete;

  void transform(int sign) {
    const Kokkos::View<Kokkos::complex<double>*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
        reinterpret_cast<Kokkos::complex<double>*>(values.data()), values.size());
    Kokkos::deep_copy(device_, host);
    auto* data = reinterpret_cast<LibraryComplex*>(device_.data());
    check(execute_plan(plan_, data, data, sign), "transform");
    Kokkos::fence();
    Kokkos::deep_copy(host, device_);
  }

  std::vector<Complex> values;

 private:
  template <class Result>
  static void check(Result result, const char* what) {
    if (result != k_success)
      throw RunError("the GPU's FFT library could not {} (error {})", what,
                     static_cast<int>(result));
  }

  LibraryPlan plan_{};
  Kokkos::View<Kokkos::complex<double>*> device_;
};

// A cosine or sine transform is a sum of w_j x_j times cos or sin of 2 pi (j + a) (k + b) / length:
// a complex transform of that length between two multiplications by phases.
struct Trigonometric {
  bool sine;
  double a, b;
  int length;
  double first, last;  // weights of the ends; 2 between them
};

Trigonometric trigonometric(TransformKind kind, int n) {
  using enum TransformKind;
  switch (kind) {
    case dct1: return {false, 0.0, 0.0, 2 * n - 2, 1.0, 1.0};
    case dct2: return {false, 0.5, 0.0, 2 * n, 2.0, 2.0};
    case dct3: return {false, 0.0, 0.5, 2 * n, 1.0, 2.0};
    case dct4: return {false, 0.5, 0.5, 2 * n, 2.0, 2.0};
    case dst1: return {true, 1.0, 1.0, 2 * n + 2, 2.0, 2.0};
    case dst2: return {true, 0.5, 1.0, 2 * n, 2.0, 2.0};
    case dst3: return {true, 1.0, 0.5, 2 * n, 2.0, 1.0};
    case dst4: return {true, 0.5, 0.5, 2 * n, 2.0, 2.0};
    case dst6: return {true, 0.5, 1.0, 2 * n + 1, 2.0, 2.0};
    case dst7: return {true, 1.0, 0.5, 2 * n + 1, 2.0, 2.0};
    case dct8: return {false, 0.5, 0.5, 2 * n + 1, 2.0, 2.0};
    default: throw RunError("this transform is neither a cosine nor a sine transform");
  }
}

Complex phase(double turns) { return std::polar(1.0, -2.0 * std::numbers::pi * turns); }

bool is_fourier(TransformKind kind) { return kind <= TransformKind::halfcomplex_to_real; }

int complex_length(TransformKind kind, int n) {
  return is_fourier(kind) ? n : trigonometric(kind, n).length;
}

class DeviceTransform final : public Transform {
 public:
  DeviceTransform(TransformKind kind, TransformShape shape, int size)
      : kind_(kind),
        size_(size),
        pairs_(kind == TransformKind::complex_forward || kind == TransformKind::complex_backward),
        lines_(shape == TransformShape::row ? 1
               : pairs_                     ? k_columns / 2
                                            : k_columns),
        work_(complex_length(kind, size), lines_) {}

  // One thread at a time: lines are staged through one buffer.
  void execute(double* in, double* out) const override {
    const std::lock_guard lock(busy_);
    for (int line = 0; line < lines_; ++line) load(in, line);
    using enum TransformKind;
    const bool backward =
        kind_ == complex_backward || kind_ == complex_to_real || kind_ == halfcomplex_to_real;
    work_.transform(backward ? k_backward : k_forward);
    for (int line = 0; line < lines_; ++line) store(out, line);
  }

 private:
  Complex& at(int point, int line) const { return work_.values[point * lines_ + line]; }
  // Number `n` of a line of reals, or of a pair's real and imaginary part.
  static double& real(double* values, int n, int line, int lines) {
    return values[n * lines + line];
  }

  void load(double* in, int line) const {
    using enum TransformKind;
    const auto x = [&](int n) { return real(in, n, line, lines_); };
    switch (kind_) {
      case complex_forward:
      case complex_backward:
        for (int j = 0; j < size_; ++j) {
          const double* pair = in + 2 * (j * lines_ + line);
          at(j, line) = {pair[0], pair[1]};
        }
        return;
      case real_to_complex:
      case real_to_halfcomplex:
        for (int j = 0; j < size_; ++j) at(j, line) = x(j);
        return;
      case complex_to_real:
        for (int k = 0; 2 * k <= size_; ++k) set_mode(k, line, {in[2 * k], in[2 * k + 1]});
        return;
      case halfcomplex_to_real:
        for (int k = 0; 2 * k <= size_; ++k)
          set_mode(k, line, {x(k), k == 0 || 2 * k == size_ ? 0.0 : x(size_ - k)});
        return;
      default: load_trigonometric(in, line);
    }
  }

  void set_mode(int k, int line, Complex value) const {
    if (k == 0 || 2 * k == size_) value = value.real();
    at(k, line) = value;
    if (k > 0) at(size_ - k, line) = std::conj(value);
  }

  void load_trigonometric(double* in, int line) const {
    const Trigonometric t = trigonometric(kind_, size_);
    for (int j = 0; j < t.length; ++j) at(j, line) = 0.0;
    for (int j = 0; j < size_; ++j) {
      const double weight = j == 0 ? t.first : j == size_ - 1 ? t.last : 2.0;
      at(j, line) = weight * real(in, j, line, lines_) * phase(j * t.b / t.length);
    }
  }

  void store(double* out, int line) const {
    using enum TransformKind;
    const auto y = [&](int n) -> double& { return real(out, n, line, lines_); };
    switch (kind_) {
      case complex_forward:
      case complex_backward:
        for (int k = 0; k < size_; ++k) {
          double* pair = out + 2 * (k * lines_ + line);
          pair[0] = at(k, line).real(), pair[1] = at(k, line).imag();
        }
        return;
      case real_to_complex:
        for (int k = 0; 2 * k <= size_; ++k)
          out[2 * k] = at(k, line).real(), out[2 * k + 1] = at(k, line).imag();
        return;
      case real_to_halfcomplex:
        for (int k = 0; k < size_; ++k)
          y(k) = 2 * k <= size_ ? at(k, line).real() : -at(k, line).imag();
        return;
      case complex_to_real:
      case halfcomplex_to_real:
        for (int j = 0; j < size_; ++j) y(j) = at(j, line).real();
        return;
      default: store_trigonometric(out, line);
    }
  }

  void store_trigonometric(double* out, int line) const {
    const Trigonometric t = trigonometric(kind_, size_);
    for (int k = 0; k < size_; ++k) {
      const Complex value = at(k, line) * phase(t.a * (k + t.b) / t.length);
      real(out, k, line, lines_) = t.sine ? -value.imag() : value.real();
    }
  }

  TransformKind kind_;
  int size_;
  bool pairs_;
  int lines_;
  mutable ComplexLines work_;
  mutable std::mutex busy_;
};

}  // namespace

bool has_transforms() { return true; }

std::unique_ptr<Transform> make_transform(TransformKind kind, TransformShape shape, int size,
                                          bool) {
  return std::make_unique<DeviceTransform>(kind, shape, size);
}

}  // namespace octant::pencil

#endif
