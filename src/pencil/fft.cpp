#include "pencil/fft.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ducc0/fft/fft.h>
#include <ducc0/fft/fft1d_impl.h>

#include "core/error.hpp"
#include "pencil/field.hpp"

namespace octant::pencil {

namespace {

// SIMD vectors of the processor's width.
using Lanes = ducc0::native_simd<double>;
using Pairs = ducc0::Cmplx<Lanes>;
constexpr int k_vector = Lanes::size();
static_assert(k_vector > 1 && k_lines % k_vector == 0);

// Loads and stores need no alignment beyond a double's.
Lanes load(const double* from) { return Lanes(from, ducc0::element_aligned_tag()); }
void store(Lanes lanes, double* to) { lanes.copy_to(to, ducc0::element_aligned_tag()); }

using Vector = double __attribute__((vector_size(k_vector * sizeof(double))));

// Transposes pairs of lanes: a0 a1 a2 a3 and b0 b1 b2 b3 become a0 b0 a2 b2 and a1 b1 a3 b3. The
// function is its own inverse.
template <int... lane>
void transpose_lane_pairs(Lanes& a, Lanes& b, std::integer_sequence<int, lane...>) {
  const auto from_a = __builtin_bit_cast(Vector, a), from_b = __builtin_bit_cast(Vector, b);
  const Vector even =
      __builtin_shufflevector(from_a, from_b, (lane % 2 == 0 ? lane : k_vector + lane - 1)...);
  const Vector odd =
      __builtin_shufflevector(from_a, from_b, (lane % 2 == 0 ? lane + 1 : k_vector + lane)...);
  a = __builtin_bit_cast(Lanes, even), b = __builtin_bit_cast(Lanes, odd);
}
void transpose_lane_pairs(Lanes& a, Lanes& b) {
  transpose_lane_pairs(a, b, std::make_integer_sequence<int, k_vector>());
}

// Returns scratch memory of the calling thread, valid until the thread's next call.
Lanes* scratch(std::size_t vectors) {
  thread_local Buffer memory;
  memory.reserve(vectors * k_vector);
  return reinterpret_cast<Lanes*>(memory.data());
}

// Returns the lines as contiguous vectors, or null if they have gaps or are not aligned.
template <class Value>
Value* in_place(double* lines, std::ptrdiff_t stride) {
  const bool dense = stride * sizeof(double) == sizeof(Value);
  const bool aligned = reinterpret_cast<std::uintptr_t>(lines) % alignof(Value) == 0;
  return dense && aligned ? reinterpret_cast<Value*>(lines) : nullptr;
}

// Transform of adjacent real lines with a plan of DUCC.
class OfReals : public Transform {
 public:
  void execute(double* lines, std::ptrdiff_t stride) const final {
    Lanes* buffer = scratch(size_ + buffer_size());
    if (Lanes* values = in_place<Lanes>(lines, stride)) {
      transform(values, buffer);
      return;
    }
    Lanes* values = buffer + buffer_size();
    for (int n = 0; n < k_lines; n += k_vector) {
      for (int j = 0; j < size_; ++j) values[j] = load(lines + n + j * stride);
      transform(values, buffer);
      for (int k = 0; k < size_; ++k) store(values[k], lines + n + k * stride);
    }
  }

 protected:
  explicit OfReals(int size) : size_(size) {}
  int size() const { return size_; }

 private:
  virtual std::size_t buffer_size() const = 0;
  virtual void transform(Lanes* values, Lanes* buffer) const = 0;

  int size_;
};

class Fourier final : public OfReals {
 public:
  Fourier(int size, bool forward) : OfReals(size), forward_(forward), plan_(size) {}

 private:
  std::size_t buffer_size() const override { return plan_.bufsize(); }
  void transform(Lanes* values, Lanes* buffer) const override {
    plan_.exec_copyback(values, buffer, 1.0, forward_);
  }

  bool forward_;
  ducc0::detail_fft::pocketfft_r<double> plan_;
};

// Cosine and sine transforms of types 1 to 4.
template <class Plan>
class Trigonometric final : public OfReals {
 public:
  Trigonometric(int size, int type, bool cosine)
      : OfReals(size), type_(type), cosine_(cosine), plan_(size) {}

 private:
  std::size_t buffer_size() const override { return plan_.bufsize(); }
  void transform(Lanes* values, Lanes* buffer) const override {
    plan_.exec_copyback(values, buffer, 1.0, false, type_, cosine_);
  }

  int type_;
  bool cosine_;
  Plan plan_;
};

// Transforms of types 6 to 8, as Fourier transforms of N = 2 n + 1 reals that are odd about point
// 0, with alternating signs:
//   sin(2 pi (j + 1) (k + 1/2) / N) = (-1)^j sin(2 pi (j + 1) (n - k) / N).
// A cosine transform is this sine transform of the points in reverse order, times (-1)^k.
class HalfPoints final : public OfReals {
 public:
  HalfPoints(TransformKind kind, int size)
      : OfReals(size), kind_(kind), whole_(2 * size + 1), plan_(whole_) {}

 private:
  std::size_t buffer_size() const override { return whole_ + plan_.bufsize(); }
  void transform(Lanes* values, Lanes* buffer) const override {
    if (kind_ == TransformKind::dst6) from_coefficients(values, buffer);
    else from_points(values, buffer, kind_ == TransformKind::dct8);
  }

  static double sign(int j) { return j % 2 == 0 ? 1.0 : -1.0; }

  // Computes dst6. The half-complex input has imaginary parts only.
  void from_coefficients(Lanes* values, Lanes* buffer) const {
    std::fill_n(buffer, whole_, Lanes(0.0));
    for (int k = 0; k < size(); ++k) buffer[2 * (size() - k)] = -values[k];
    const Lanes* x = plan_.exec(buffer, buffer + whole_, 1.0, false);
    for (int j = 0; j < size(); ++j) values[j] = sign(j) * x[j + 1];
  }
  void from_points(Lanes* values, Lanes* buffer, bool cosine) const {
    buffer[0] = Lanes(0.0);
    for (int j = 0; j < size(); ++j) {
      buffer[j + 1] = sign(j) * values[cosine ? size() - 1 - j : j];
      buffer[2 * size() - j] = -buffer[j + 1];
    }
    const Lanes* c = plan_.exec(buffer, buffer + whole_, 1.0, true);
    for (int k = 0; k < size(); ++k) values[k] = (cosine ? -sign(k) : -1.0) * c[2 * (size() - k)];
  }

  TransformKind kind_;
  int whole_;
  ducc0::detail_fft::pocketfft_r<double> plan_;
};

// Transform of complex lines, with real and imaginary parts in separate vectors. The order of lines
// in the lanes does not matter.
class SplitComplexTransform final : public Transform {
 public:
  SplitComplexTransform(int size, bool forward) : size_(size), forward_(forward), plan_(size) {}

  void execute(double* lines, std::ptrdiff_t stride) const override {
    for (int n = 0; n < k_lines; n += k_vector) transform(lines + 2 * n, stride);
  }

 private:
  void transform(double* lines, std::ptrdiff_t stride) const {
    auto* buffer = reinterpret_cast<Pairs*>(scratch(2 * (size_ + plan_.bufsize())));
    Pairs* values = in_place<Pairs>(lines, stride);
    if (!values) values = buffer + plan_.bufsize();
    for (int j = 0; j < size_; ++j) {
      Lanes real = load(lines + j * stride), imaginary = load(lines + j * stride + k_vector);
      transpose_lane_pairs(real, imaginary);
      values[j] = {real, imaginary};
    }
    const Pairs* result = plan_.exec(values, buffer, 1.0, forward_);
    for (int k = 0; k < size_; ++k) {
      Lanes low = result[k].r, high = result[k].i;
      transpose_lane_pairs(low, high);
      store(low, lines + k * stride), store(high, lines + k * stride + k_vector);
    }
  }

  int size_;
  bool forward_;
  ducc0::detail_fft::pocketfft_c<double> plan_;
};

}  // namespace

std::unique_ptr<Transform> make_transform(TransformKind kind, int size) {
  using enum TransformKind;
  using Type1OfCosines = Trigonometric<ducc0::detail_fft::T_dct1<double>>;
  using Type1OfSines = Trigonometric<ducc0::detail_fft::T_dst1<double>>;
  using Type2Or3 = Trigonometric<ducc0::detail_fft::T_dcst23<double>>;
  using Type4 = Trigonometric<ducc0::detail_fft::T_dcst4<double>>;
  OCTANT_REQUIRE(size > (kind == dct1 ? 1 : 0),
                 "transforms of this type do not support {} point(s)", size);
  switch (kind) {
    case complex_forward: return std::make_unique<SplitComplexTransform>(size, true);
    case complex_backward: return std::make_unique<SplitComplexTransform>(size, false);
    case real_to_halfcomplex: return std::make_unique<Fourier>(size, true);
    case halfcomplex_to_real: return std::make_unique<Fourier>(size, false);
    case dct1: return std::make_unique<Type1OfCosines>(size, 1, true);
    case dct2: return std::make_unique<Type2Or3>(size, 2, true);
    case dct3: return std::make_unique<Type2Or3>(size, 3, true);
    case dct4: return std::make_unique<Type4>(size, 4, true);
    case dst1: return std::make_unique<Type1OfSines>(size, 1, false);
    case dst2: return std::make_unique<Type2Or3>(size, 2, false);
    case dst3: return std::make_unique<Type2Or3>(size, 3, false);
    case dst4: return std::make_unique<Type4>(size, 4, false);
    case dst6:
    case dst7:
    case dct8: return std::make_unique<HalfPoints>(kind, size);
  }
  throw RunError("unknown type of transform");
}

}  // namespace octant::pencil
