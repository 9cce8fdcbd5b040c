#include "pencil/line_transform.hpp"

#include <algorithm>
#include <complex>
#include <numbers>

#include "core/error.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {

namespace {

using Complex = Kokkos::complex<double>;
using enum TransformKind;

// A cosine or sine transform as the sum of w_j x_j times cos or sin of 2 pi (j + a) (k + b) /
// length, computed as a complex transform of that length between two multiplications by phases.
struct Trigonometric {
  bool sine;
  double a, b;
  int length;
  double first, last;  // weights w_j of the first and last point; others have the weight 2
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
    default: throw RunError("unsupported transform; expected a cosine or sine transform");
  }
}

Complex phase(double turns) { return std::polar(1.0, -2.0 * std::numbers::pi * turns); }

// Factors of the points of a line before and after the complex transform; the result is the real
// part of the product. Empty for Fourier transforms.
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

// Loads a point of the lines from `first` to `end - 1` into the work array.
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

  // Returns mode k <= size / 2 of a real line. Imaginary parts of real modes are not stored.
  KOKKOS_FUNCTION Complex mode_of(const double* x, int k) const {
    const std::ptrdiff_t stride = from.point_stride;
    if (k == 0) return {x[0], 0.0};
    return {x[(2 * k - 1) * stride], 2 * k == size ? 0.0 : x[2 * k * stride]};
  }
};

// Stores a point of the work array into its line.
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
      case real_to_halfcomplex:  // real part from a mode, imaginary part from its mirror image
        if (2 * point > size) y[2 * (size - point) * stride] = -scale * value.imag();
        else y[(point == 0 ? 0 : 2 * point - 1) * stride] = scale * value.real();
        return;
      case halfcomplex_to_real: y[point * stride] = scale * value.real(); return;
      default: y[point * stride] = scale * (value * factor[point]).real();
    }
  }
};

// Launches a kernel for `points` points of all lines of the work array.
template <class Kernel>
void for_every_point(const char* name, const LineWork& work, int points, const Kernel& kernel) {
  if (work.by_line) for_points(name, {points, work.lines}, kernel);
  else for_points(name, {work.lines, points}, kernel);
}

}  // namespace

LineTransform::LineTransform(TransformKind kind, int size, int lines, bool contiguous,
                             int work_points)
    : kind_(kind), size_(size), lines_(lines) {
  const int length = length_of(kind, size);
  OCTANT_REQUIRE(length > 0, "transforms of this type do not support {} point(s)", size);
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
    for_every_point("pencil: load lines", layout_, layout_.length,
                    LoadPoint{layout_, from, first, end, kind_, size_, before_.data()});
    if (is_backward(kind_)) fft_->backward(work);
    else fft_->forward(work);
    for_every_point("pencil: store lines", layout_, size_,
                    StorePoint{layout_, to, first, end, kind_, size_, after_.data(), scale});
  }
}

// --- transforms along both axes of a problem -----------------------------------------------------

namespace {

// Repeats the eigenvalue of each complex coefficient for its real and imaginary parts.
std::vector<double> of_both_parts(const std::vector<double>& eigenvalues) {
  std::vector<double> twice;
  for (std::size_t m = 0; 2 * m <= eigenvalues.size(); ++m)
    twice.insert(twice.end(), {eigenvalues[m], eigenvalues[m]});
  return twice;
}

std::vector<double> eigenvalues_of_rows(const UniformAxis& x) {
  check_axis(x, "x");
  return x.conditions.periodic() ? of_both_parts(eigenvalues(x)) : eigenvalues(x);
}

class LinesOfDevice final : public BatchedTransform {
 public:
  explicit LinesOfDevice(const Setting& setting);

 private:
  void forward_x(const FieldView& field, const FieldView& rows) override;
  void backward_x(const FieldView& rows, const FieldView& field) override;
  void forward_y(const FieldView& columns) override;
  void backward_y(const FieldView& columns) override;

  FieldView unknowns_of(const FieldView& field, const FieldView& rows) const {
    return part_of(field, {0, x_size_}, {0, rows.ny}, {0, rows.nz});
  }
  static LineSet rows_of(const FieldView& view) {
    return {view.first, 1, view.row_stride, view.ny, view.plane_stride};
  }
  static LineSet columns_of(const FieldView& view) {
    return {view.first, view.row_stride, 1, view.nx, view.plane_stride};
  }

  int x_size_;
  double scale_;
  // Transforms of each axis: Fourier transforms along x if x is periodic, and along y if both axes
  // are periodic; otherwise line transforms.
  std::unique_ptr<ManyFft> x_fourier_, y_fourier_;
  std::unique_ptr<LineTransform> x_forward_, x_backward_, y_forward_, y_backward_;
};

LinesOfDevice::LinesOfDevice(const Setting& setting)
    : BatchedTransform(setting, eigenvalues_of_rows(setting.x)),
      x_size_(unknowns(setting.x.entries, setting.x.conditions)) {
  const int y_size = static_cast<int>(y_eigenvalues().size());
  const TransformPair along_x = transform_of(setting.x.conditions, x_size_);
  const TransformPair along_y = transform_of(setting.y.conditions, y_size);
  scale_ = 1.0 / (along_x.scale * along_y.scale);
  const bool x_periodic = setting.x.conditions.periodic();
  const bool y_periodic = setting.y.conditions.periodic();

  // Ranks without lines make plans for one line, because libraries reject empty plans.
  const FieldView by_row = rows(), by_column = coefficients();
  const int lines = std::max(by_row.ny * by_row.nz, 1);
  if (x_periodic) {
    x_fourier_ = make_real_fft(x_size_, lines, static_cast<int>(by_row.plane_stride));
  } else {
    x_forward_ = std::make_unique<LineTransform>(along_x.forward, x_size_, lines, true);
    x_backward_ = std::make_unique<LineTransform>(along_x.backward, x_size_, lines, true);
  }
  if (x_periodic && y_periodic) {
    const int together = std::max(static_cast<int>(by_column.row_stride / 2), 1);
    y_fourier_ = make_complex_fft({y_size, together, together, 1});
  } else {
    const int columns = std::max(by_column.nx * by_column.nz, 1);
    y_forward_ = std::make_unique<LineTransform>(along_y.forward, y_size, columns, false);
    y_backward_ = std::make_unique<LineTransform>(along_y.backward, y_size, columns, false);
  }
}

void LinesOfDevice::forward_x(const FieldView& field, const FieldView& rows) {
  const FieldView values = unknowns_of(field, rows);
  if (!x_fourier_) return x_forward_->execute(rows_of(values), rows_of(rows), scale_);
  copy_cells(values, unknowns_of(rows, rows), scale_);
  x_fourier_->forward(rows.first);
}

void LinesOfDevice::backward_x(const FieldView& rows, const FieldView& field) {
  const FieldView values = unknowns_of(field, rows);
  if (!x_fourier_) return x_backward_->execute(rows_of(rows), rows_of(values));
  x_fourier_->backward(rows.first);
  copy_cells(unknowns_of(rows, rows), values);
}

void LinesOfDevice::forward_y(const FieldView& columns) {
  if (y_fourier_) y_fourier_->forward(columns.first);
  else y_forward_->execute(columns_of(columns), columns_of(columns));
}

void LinesOfDevice::backward_y(const FieldView& columns) {
  if (y_fourier_) y_fourier_->backward(columns.first);
  else y_backward_->execute(columns_of(columns), columns_of(columns));
}

}  // namespace

std::unique_ptr<BatchedTransform> make_kernel_transform(const BatchedTransform::Setting& setting) {
  return std::make_unique<LinesOfDevice>(setting);
}

}  // namespace octant::pencil
