#ifdef OCTANT_FFTW

#include <algorithm>
#include <random>

#include <fftw3.h>

#include "core/error.hpp"
#include "pencil/buffer.hpp"
#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

fftw_complex* complex(double* values) { return reinterpret_cast<fftw_complex*>(values); }

bool is_complex(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}

fftw_r2r_kind real_kind(TransformKind kind) {
  using enum TransformKind;
  switch (kind) {
    case real_to_halfcomplex: return FFTW_R2HC;
    case halfcomplex_to_real: return FFTW_HC2R;
    case dct1: return FFTW_REDFT00;
    case dct2: return FFTW_REDFT10;
    case dct3: return FFTW_REDFT01;
    case dct4: return FFTW_REDFT11;
    case dst1: return FFTW_RODFT00;
    case dst2: return FFTW_RODFT10;
    case dst3: return FFTW_RODFT01;
    case dst4: return FFTW_RODFT11;
    default: throw RunError("this transform is not one of real numbers to real numbers");
  }
}

class Plan {
 public:
  Plan(fftw_plan plan, int size) : plan_(plan) {
    OCTANT_REQUIRE(plan != nullptr, "FFTW has no transform of {} point(s) of this kind", size);
  }
  ~Plan() { fftw_destroy_plan(plan_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  fftw_plan get() const { return plan_; }

 private:
  fftw_plan plan_;
};

// Measured plans leave wisdom behind, which an estimated plan would take up.
unsigned effort(bool measured) {
  if (!measured) fftw_forget_wisdom();
  return measured ? FFTW_MEASURE : FFTW_ESTIMATE;
}

class Row final : public Transform {
 public:
  Row(TransformKind kind, int size, unsigned flags)
      : kind_(kind), plan_(make(kind, size, flags), size) {}

  void execute(double* in, double* out) const override {
    using enum TransformKind;
    switch (kind_) {
      case real_to_complex: fftw_execute_dft_r2c(plan_.get(), in, complex(out)); break;
      case complex_to_real: fftw_execute_dft_c2r(plan_.get(), complex(in), out); break;
      case complex_forward:
      case complex_backward: fftw_execute_dft(plan_.get(), complex(in), complex(out)); break;
      default: fftw_execute_r2r(plan_.get(), in, out);
    }
  }

 private:
  static fftw_plan make(TransformKind kind, int n, unsigned flags) {
    using enum TransformKind;
    Buffer in(2 * n + 2), out(2 * n + 2);
    double *a = in.data(), *b = out.data();
    switch (kind) {
      case real_to_complex: return fftw_plan_dft_r2c_1d(n, a, complex(b), flags);
      case complex_to_real: return fftw_plan_dft_c2r_1d(n, complex(a), b, flags);
      case complex_forward: return fftw_plan_dft_1d(n, complex(a), complex(b), FFTW_FORWARD, flags);
      case complex_backward:
        return fftw_plan_dft_1d(n, complex(a), complex(b), FFTW_BACKWARD, flags);
      default: return fftw_plan_r2r_1d(n, a, b, real_kind(kind), flags);
    }
  }

  TransformKind kind_;
  Plan plan_;
};

// `batch` columns at once; one after the other where FFTW would not treat them alike.
class Columns final : public Transform {
 public:
  Columns(TransformKind kind, int size, unsigned flags)
      : Columns(kind, size, is_complex(kind) ? k_columns / 2 : k_columns, flags) {}
  Columns(TransformKind kind, int size, int batch, unsigned flags)
      : complex_(is_complex(kind)), batch_(batch), plan_(make(kind, size, batch, flags), size) {}

  void execute(double* in, double* out) const override {
    const int columns = complex_ ? k_columns / 2 : k_columns, width = k_columns / columns;
    for (int n = 0; n < columns; n += batch_) {
      if (complex_)
        fftw_execute_dft(plan_.get(), complex(in + n * width), complex(out + n * width));
      else fftw_execute_r2r(plan_.get(), in + n, out + n);
    }
  }

  // Whether the same line in every column gives the same bits everywhere.
  bool treats_all_alike(int size) const {
    const int width = complex_ ? 2 : 1;
    Buffer block(static_cast<std::size_t>(size) * k_columns);
    std::mt19937 random(size);
    std::uniform_real_distribution<double> value(-1.0, 1.0);
    for (int j = 0; j < size; ++j) {
      double* row = block.data() + j * k_columns;
      for (int n = 0; n < width; ++n) row[n] = value(random);
      for (int n = width; n < k_columns; ++n) row[n] = row[n - width];
    }
    execute(block.data(), block.data());
    for (int j = 0; j < size; ++j) {
      const double* row = block.data() + j * k_columns;
      if (!std::equal(row + width, row + k_columns, row)) return false;
    }
    return true;
  }

 private:
  static fftw_plan make(TransformKind kind, int n, int batch, unsigned flags) {
    Buffer block(static_cast<std::size_t>(n) * k_columns);
    double* a = block.data();
    if (is_complex(kind)) {
      const int sign = kind == TransformKind::complex_forward ? FFTW_FORWARD : FFTW_BACKWARD;
      return fftw_plan_many_dft(1, &n, batch, complex(a), nullptr, k_columns / 2, 1, complex(a),
                                nullptr, k_columns / 2, 1, sign, flags);
    }
    const fftw_r2r_kind real = real_kind(kind);
    return fftw_plan_many_r2r(1, &n, batch, a, nullptr, k_columns, 1, a, nullptr, k_columns, 1,
                              &real, flags);
  }

  bool complex_;
  int batch_;
  Plan plan_;
};

bool is_of_half_points(TransformKind kind) {
  using enum TransformKind;
  return kind == dst6 || kind == dst7 || kind == dct8;
}

// What FFTW has no plans for. With N = 2 n + 1, each function is one of a Fourier transform of N
// reals that are odd about point 0, with alternating signs:
//   sin(2 pi (j + 1) (k + 1/2) / N) = (-1)^j sin(2 pi (j + 1) (n - k) / N);
// and a cosine is such a sine, with another alternating sign, of the points in opposite order.
class HalfPoints final : public Transform {
 public:
  HalfPoints(TransformKind kind, TransformShape shape, int size, bool measured)
      : kind_(kind),
        size_(size),
        width_(shape == TransformShape::row ? 1 : k_columns),
        fourier_(make_transform(kind == TransformKind::dst6 ? TransformKind::halfcomplex_to_real
                                                            : TransformKind::real_to_halfcomplex,
                                shape, 2 * size + 1, measured)) {}

  void execute(double* in, double* out) const override {
    // Of each thread, for the points and for the result: rows are transformed out of place.
    thread_local Buffer points, result;
    const std::size_t count = (2 * static_cast<std::size_t>(size_) + 1) * width_;
    points.reserve(count);
    if (width_ == 1) result.reserve(count);
    double* after = width_ == 1 ? result.data() : points.data();
    if (kind_ == TransformKind::dst6) {
      fill_coefficients(in, points.data());
      fourier_->execute(points.data(), after);
      for (int j = 0; j < size_; ++j) copy_row(after, j + 1, out, j, sign(j));
    } else {
      const bool cosine = kind_ == TransformKind::dct8;
      fill_points(in, points.data(), cosine);
      fourier_->execute(points.data(), after);
      for (int k = 0; k < size_; ++k)
        copy_row(after, size_ + 1 + k, out, k, cosine ? -sign(k) : -1.0);
    }
  }

 private:
  static double sign(int j) { return j % 2 == 0 ? 1.0 : -1.0; }

  void copy_row(const double* from, int source, double* to, int target, double factor) const {
    const double* values = from + source * width_;
    double* row = to + target * width_;
    for (int n = 0; n < width_; ++n) row[n] = factor * values[n];
  }

  void fill_points(const double* in, double* points, bool reversed) const {
    std::fill_n(points, width_, 0.0);
    for (int j = 0; j < size_; ++j) {
      const int source = reversed ? size_ - 1 - j : j;
      copy_row(in, source, points, j + 1, sign(j));
      copy_row(in, source, points, 2 * size_ - j, -sign(j));
    }
  }

  // Imaginary parts alone, which follow the real ones in the opposite order.
  void fill_coefficients(const double* in, double* coefficients) const {
    std::fill_n(coefficients, (size_ + 1) * width_, 0.0);
    for (int k = 0; k < size_; ++k) copy_row(in, k, coefficients, size_ + 1 + k, -1.0);
  }

  TransformKind kind_;
  int size_, width_;
  std::unique_ptr<Transform> fourier_;
};

// Plans for any address: none is touched when they are made.
class ComplexLines final : public ManyFft {
 public:
  explicit ComplexLines(const FftLines& lines)
      : forward_(make(lines, FFTW_FORWARD), lines.length),
        backward_(make(lines, FFTW_BACKWARD), lines.length) {}

  void forward(double* first) const override {
    const OpenToLibraries open;
    fftw_execute_dft(forward_.get(), complex(first), complex(first));
  }
  void backward(double* first) const override {
    const OpenToLibraries open;
    fftw_execute_dft(backward_.get(), complex(first), complex(first));
  }

 private:
  static fftw_plan make(const FftLines& l, int sign) {
    double place[2];
    return fftw_plan_many_dft(1, &l.length, l.lines, complex(place), nullptr, l.point_stride,
                              l.line_stride, complex(place), nullptr, l.point_stride, l.line_stride,
                              sign, effort(false) | FFTW_UNALIGNED);
  }

  Plan forward_, backward_;
};

class RealLines final : public ManyFft {
 public:
  RealLines(int length, int lines, int stride)
      : forward_(make(length, lines, stride), length),
        backward_(make_back(length, lines, stride), length) {}

  void forward(double* first) const override {
    const OpenToLibraries open;
    fftw_execute_dft_r2c(forward_.get(), first, complex(first));
  }
  void backward(double* first) const override {
    const OpenToLibraries open;
    fftw_execute_dft_c2r(backward_.get(), complex(first), first);
  }

 private:
  static fftw_plan make(int length, int lines, int stride) {
    double place[2];
    return fftw_plan_many_dft_r2c(1, &length, lines, place, nullptr, 1, stride, complex(place),
                                  nullptr, 1, stride / 2, effort(false) | FFTW_UNALIGNED);
  }
  static fftw_plan make_back(int length, int lines, int stride) {
    double place[2];
    return fftw_plan_many_dft_c2r(1, &length, lines, complex(place), nullptr, 1, stride / 2, place,
                                  nullptr, 1, stride, effort(false) | FFTW_UNALIGNED);
  }

  Plan forward_, backward_;
};

void require_host_memory() {
  if (!Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, DeviceMemory>::accessible)
    throw InputError(
        "FFTW does not reach the memory of a GPU: configure with OCTANT_FFTW=OFF, so that the "
        "GPU's own library is used");
}

}  // namespace

bool has_transforms() { return true; }

std::unique_ptr<Transform> make_transform(TransformKind kind, TransformShape shape, int size,
                                          bool measured) {
  if (is_of_half_points(kind)) return std::make_unique<HalfPoints>(kind, shape, size, measured);
  const unsigned flags = effort(measured);
  if (shape == TransformShape::row) return std::make_unique<Row>(kind, size, flags);
  auto columns = std::make_unique<Columns>(kind, size, flags);
  if (columns->treats_all_alike(size)) return columns;
  return std::make_unique<Columns>(kind, size, 1, flags | FFTW_UNALIGNED);
}

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
