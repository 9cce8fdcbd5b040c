#include "pencil/line_transform.hpp"

#include <algorithm>
#include <complex>
#include <numbers>

#include "core/error.hpp"

namespace octant::pencil {

namespace {

using Complex = Kokkos::complex<double>;
using enum TransformKind;

// A cosine or sine transform is a sum of w_j x_j times cos or sin of 2 pi (j + a) (k + b) / length:
// a complex transform of that length between two multiplications by phases.
struct Trigonometric {
  bool sine;
  double a, b;
  int length;
  double first, last;  // weights of the ends; 2 between them
};

Trigonometric trigonometric(TransformKind kind, int n) {
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

// What the points of a line are multiplied by before and after the complex transform; the real part
// of the product is the result. Empty for the kinds of Fourier transforms.
struct Phases {
  std::vector<Complex> before, after;
};

Phases phases(TransformKind kind, int n) {
  if (kind <= halfcomplex_to_real) return {};
  const Trigonometric t = trigonometric(kind, n);
  Phases phases;
  for (int j = 0; j < n; ++j) {
    const double weight = std::min(j == 0 ? t.first : 2.0, j == n - 1 ? t.last : 2.0);
    const Complex to_real = t.sine ? Complex(0.0, 1.0) : Complex(1.0, 0.0);
    phases.before.push_back(weight * phase(j * t.b / t.length));
    phases.after.push_back(to_real * phase(t.a * (j + t.b) / t.length));
  }
  return phases;
}

int length_of(TransformKind kind, int n) {
  return kind <= halfcomplex_to_real ? n : trigonometric(kind, n).length;
}

bool is_backward(TransformKind kind) {
  return kind == complex_backward || kind == halfcomplex_to_real;
}

// A point of a line, of those from `first` to `end - 1`, becomes one of the work.
struct LoadPoint {
  LineWork work;
  LineSet from;
  int first, end;
  TransformKind kind;
  int size;
  const Complex* factor;

  KOKKOS_FUNCTION void operator()(int fast, int slow) const {
    const int point = work.by_line ? fast : slow, line = work.by_line ? slow : fast;
    if (first + line < end) work.at(point, line) = value(from.line(first + line), point);
  }

 private:
  KOKKOS_FUNCTION Complex value(const double* x, int point) const {
    const std::ptrdiff_t stride = from.point_stride;
    switch (kind) {
      case complex_forward:
      case complex_backward: return {x[point * stride], x[point * stride + 1]};
      case real_to_halfcomplex: return {x[point * stride], 0.0};
      case halfcomplex_to_real: {
        const int mode = point < size - point ? point : size - point;
        const Complex half = mode_of(x, mode);
        return mode == point ? half : Kokkos::conj(half);
      }
      default: return point < size ? x[point * stride] * factor[point] : Complex(0.0);
    }
  }

  // Mode k <= size / 2 of a real line. Those that are real have no imaginary part.
  KOKKOS_FUNCTION Complex mode_of(const double* x, int k) const {
    const std::ptrdiff_t stride = from.point_stride;
    if (k == 0) return {x[0], 0.0};
    return {x[(2 * k - 1) * stride], 2 * k == size ? 0.0 : x[2 * k * stride]};
  }
};

// And back.
struct StorePoint {
  LineWork work;
  LineSet to;
  int first, end;
  TransformKind kind;
  int size;
  const Complex* factor;
  double scale;

  KOKKOS_FUNCTION void operator()(int fast, int slow) const {
    const int point = work.by_line ? fast : slow, line = work.by_line ? slow : fast;
    if (first + line < end) store(to.line(first + line), point, work.at(point, line));
  }

 private:
  KOKKOS_FUNCTION void store(double* y, int point, const Complex& value) const {
    const std::ptrdiff_t stride = to.point_stride;
    switch (kind) {
      case complex_forward:
      case complex_backward:
        y[point * stride] = scale * value.real();
        y[point * stride + 1] = scale * value.imag();
        return;
      case real_to_halfcomplex:  // of a mode and its mirror image, one part each
        if (2 * point > size) y[2 * (size - point) * stride] = -scale * value.imag();
        else y[(point == 0 ? 0 : 2 * point - 1) * stride] = scale * value.real();
        return;
      case halfcomplex_to_real: y[point * stride] = scale * value.real(); return;
      default: y[point * stride] = scale * (value * factor[point]).real();
    }
  }
};

// Of `points` points of all lines of the work; neighbours in memory are neighbours in a vector, or
// in a group of a GPU's threads.
auto every_point(const LineWork& work, int points) {
  using Points =
      Kokkos::MDRangePolicy<Kokkos::Rank<2, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                            Kokkos::IndexType<int>>;
  return work.by_line ? Points({0, 0}, {points, work.lines}) : Points({0, 0}, {work.lines, points});
}

}  // namespace

LineTransform::LineTransform(TransformKind kind, int size, int lines, bool contiguous,
                             int work_points)
    : kind_(kind), size_(size), lines_(lines) {
  const int length = length_of(kind, size);
  OCTANT_REQUIRE(length > 0, "there is no transform of {} point(s) of this kind", size);
  const int at_once = std::clamp(work_points / length, 1, std::max(lines, 1));
  work_ = uninitialised<Complex>("lines of transforms", std::size_t(length) * at_once);
  layout_ = {work_.data(), length, at_once, contiguous};
  fft_ = make_complex_fft(contiguous ? FftLines{length, at_once, 1, length}
                                     : FftLines{length, at_once, at_once, 1});
  const Phases factors = phases(kind, size);
  before_ = on_device("phases before a transform", factors.before);
  after_ = on_device("phases after a transform", factors.after);
}

void LineTransform::execute(const LineSet& from, const LineSet& to, double scale) const {
  auto* work = reinterpret_cast<double*>(work_.data());
  for (int first = 0; first < lines_; first += layout_.lines) {
    const int end = std::min(first + layout_.lines, lines_);
    Kokkos::parallel_for("pencil: load lines", every_point(layout_, layout_.length),
                         LoadPoint{layout_, from, first, end, kind_, size_, before_.data()});
    if (is_backward(kind_)) fft_->backward(work);
    else fft_->forward(work);
    Kokkos::parallel_for("pencil: store lines", every_point(layout_, size_),
                         StorePoint{layout_, to, first, end, kind_, size_, after_.data(), scale});
  }
}

}  // namespace octant::pencil
