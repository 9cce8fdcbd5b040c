// Lines along z of a rank's planes, and the tridiagonal matrices of the lines. Internal to pencil/.
//
// The inner loops of a solver run over the lines of a plane, row by row. SharedMatrix and
// ShiftedMatrices provide the coefficients of a row for one matrix and for one matrix per line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <Kokkos_Macros.hpp>

#include "pencil/fft.hpp"
#include "pencil/team.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Arithmetic of tridiagonal solvers for one entry of one line. Plane-by-plane and batched solvers
// share these functions, so that results are bitwise equal. A_n, B_n and C_n multiply the unknowns
// before, at and after plane n in the order of the sweep.

// Thomas' algorithm: r_n = 1 / (B_n - A_n C_(n-1) r_(n-1)); `product` is A_n C_(n-1).
KOKKOS_INLINE_FUNCTION double pivot_reciprocal(double diagonal, double product, double r_before) {
  return 1.0 / (diagonal - product * r_before);
}
// Forward elimination: d'_n = (d_n - A_n d'_(n-1)) r_n.
KOKKOS_INLINE_FUNCTION double eliminated(double d, double a, double before, double r) {
  return (d - a * before) * r;
}
// Back substitution: phi_n = d'_n - C_n r_n phi_(n+1).
KOKKOS_INLINE_FUNCTION double substituted(double d, double c, double r, double after) {
  return d - c * r * after;
}

// Elimination in a Partition, whose rows remain unscaled (ptdma.hpp):
// d'_n = d_n - A_n r_(n-1) d'_(n-1)
KOKKOS_INLINE_FUNCTION double eliminated_unscaled(double d, double a, double r_before,
                                                  double before) {
  return d - a * r_before * before;
}
// Back substitution in a Partition: phi_n = (d'_n - C_n phi_(n+1)) r_n - f_n phi_0.
KOKKOS_INLINE_FUNCTION double substituted_between(double d, double c, double after, double r,
                                                  double fill, double first) {
  return (d - c * after) * r - fill * first;
}

// Factors of the reduced system of P-TDMA (ptdma.hpp), [plane in the order of the sweep][matrix]:
// factor of the preceding unknown, 1 / pivot, factor of the following unknown, and, for a bordered
// system, the solution of the other unknowns if the last unknown is 1.
struct ReducedFactors {
  double *before, *reciprocal, *back, *border;

  // Factorises one of `matrices` matrices with reduced coefficients a and c. If `singular`, the
  // last unknown is set to 0.
  KOKKOS_INLINE_FUNCTION void factorise(std::size_t matrix, std::size_t matrices,
                                        const double* all_a, const double* all_c, int planes,
                                        bool bordered, bool singular) const {
    const int last = planes - 1, inner = bordered ? last : planes;
    const auto at = [=](double* values, int n) -> double& { return values[n * matrices + matrix]; };
    const auto a = [=](int n) { return all_a[n * matrices + matrix]; };
    const auto c = [=](int n) { return all_c[n * matrices + matrix]; };
    for (int n = 0; n < inner; ++n) {
      const double pivot = 1.0 - (n == 0 ? 0.0 : a(n) * at(back, n - 1));
      const double r = singular && n == last ? 0.0 : 1.0 / pivot;
      at(reciprocal, n) = r;
      at(before, n) = n == 0 ? 0.0 : a(n) * r;
      at(back, n) = n == inner - 1 ? 0.0 : c(n) * r;
    }
    if (!bordered) return;
    for (int n = 0; n < inner; ++n) {
      const double d = (n == 0 ? -a(0) : 0.0) + (n == inner - 1 ? -c(n) : 0.0);
      at(border, n) = d * at(reciprocal, n) - (n == 0 ? 0.0 : at(before, n) * at(border, n - 1));
    }
    for (int n = inner - 2; n >= 0; --n) at(border, n) -= at(back, n) * at(border, n + 1);
    const double pivot = 1.0 + c(last) * at(border, 0) + a(last) * at(border, inner - 1);
    at(before, last) = a(last);
    at(back, last) = c(last);
    at(reciprocal, last) = singular ? 0.0 : 1.0 / pivot;
  }
};

// Rows of `width` adjacent lines, `row_stride` doubles apart, in planes `plane_stride` apart. Rows
// are processed in chunks of k_columns lines; the last chunk may be shorter. Threads process groups
// of `together` rows, the lines of a block.
struct Lines {
  int rows, width;
  std::ptrdiff_t row_stride, plane_stride;
  int together = 1;

  // Number of entries of a plane.
  std::size_t plane_size() const { return static_cast<std::size_t>(rows) * row_stride; }
  // Rows that a thread of a team processes.
  Range share(const Team& team) const {
    const Range own = team.share(rows / together);
    return {own.begin * together, own.end * together};
  }
};

// Addresses of planes by index: at constant stride, or in slabs.
struct Planes {
  double* base;
  std::ptrdiff_t stride;
  std::span<const Slab> slabs = {};

  double* operator()(int k) const {
    for (const Slab& slab : slabs)
      if (slab.planes.contains(k)) return slab.first + (k - slab.planes.begin) * stride;
    return base + k * stride;
  }
};

// Addresses of planes in the order of a sweep.
struct SweptPlanes {
  Planes planes;
  int last;  // planes - 1
  Sweep sweep;

  double* operator()(int n) const { return planes(sweep == Sweep::up ? n : last - n); }
};

// Calls body(chunk, offset, width) for every chunk of the given rows, with the offset of the chunk
// in the plane. The width is a compile-time constant for full chunks.
template <class Body>
void for_each_chunk(const Lines& lines, Range rows, const Body& body) {
  int chunk = rows.begin * ((lines.width + k_columns - 1) / k_columns);
  for (int n = rows.begin; n < rows.end; ++n) {
    const std::ptrdiff_t row = n * lines.row_stride;
    int begin = 0;
    for (; begin + k_columns <= lines.width; begin += k_columns)
      body(chunk++, row + begin, std::integral_constant<int, k_columns>{});
    if (begin < lines.width) body(chunk++, row + begin, lines.width - begin);
  }
}

// One matrix for all lines: each coefficient has one value per plane.
struct SharedMatrix {
  // Coefficients of a chunk of lines.
  struct Chunk {
    double value;
    double operator[](int) const { return value; }
  };

  // Number of coefficients per plane.
  std::size_t size() const { return 1; }
  // Shift of a coefficient.
  double shift(std::size_t) const { return 0.0; }
  // Coefficients of chunk n of a plane.
  Chunk chunk(const double* plane, int) const { return {*plane}; }
  // Returns the index of a line's coefficient among the coefficients of a plane.
  std::size_t place(int, int) const { return 0; }

  // Returns the lines of a box that are assigned to one of several ranks: whole rows, or parts of
  // rows if there are fewer rows than ranks.
  static Box share(const Box& lines, int ranks, int rank);
};

// One matrix with a shift of the diagonal for every line. Chunks with the same shifts, such as
// those of the wavenumbers +-k_y, share their coefficients. If a chunk consists of pairs of lines,
// the real and imaginary parts of modes along x, the lines of a pair share their coefficients.
class ShiftedMatrices {
 public:
  // Coefficients of a chunk of lines.
  struct Chunk {
    alignas(64) double values[k_columns];
    double operator[](int i) const { return values[i]; }
  };
  // Lines whose shifts are x[i] + y; `twin` identifies all rows with the same y.
  struct Row {
    std::span<const double> x;
    double y;
    int twin;
  };

  ShiftedMatrices() = default;
  explicit ShiftedMatrices(const std::vector<Row>& rows);

  // Number of coefficients per plane.
  std::size_t size() const { return shifts_.size(); }
  // Shift of coefficient n.
  double shift(std::size_t n) const { return shifts_[n]; }
  // Coefficients of chunk n of a plane.
  Chunk chunk(const double* plane, int n) const {
    const double* from = plane + places_[n].first;
    Chunk all;
    if (places_[n].pairs) {
      for (int i = 0; i < k_columns / 2; ++i) all.values[2 * i] = all.values[2 * i + 1] = from[i];
    } else {
      std::copy_n(from, k_columns, all.values);
    }
    return all;
  }
  // Index of the coefficient of line i in chunk n.
  std::size_t place(int n, int i) const {
    return places_[n].first + (places_[n].pairs ? i / 2 : i);
  }

  // Returns the lines of a box that are assigned to a rank: strips of k_columns or more columns, in
  // whole pairs of columns. If there are fewer strips than ranks, some ranks share the rows of a
  // strip.
  static Box share(const Box& lines, int ranks, int rank);

 private:
  struct Place {
    std::size_t first;  // index of the first coefficient
    bool pairs;
  };
  Place add_chunk(std::span<const double> x, double y);

  std::vector<Place> places_;   // by chunk
  std::vector<double> shifts_;  // by coefficient
};

// Copies rows of lines of a plane, unless source and target are the same.
inline void copy_rows(const Lines& lines, Range rows, const double* from, double* to) {
  if (from == to) return;
  for_each_chunk(lines, rows, [&](int, std::ptrdiff_t at, auto width) {
    std::copy_n(from + at, int{width}, to + at);
  });
}

// Calls body(index, coefficients ...) for the lines of the given rows, with the index of the entry
// in a plane and the line's values from the planes `coefficients`. Lines are independent.
template <class Matrices, class Body, class... Plane>
void for_each_line(const Lines& lines, Range rows, const Matrices& matrices, const Body& body,
                   const Plane*... coefficients) {
  for_each_chunk(lines, rows, [&](int chunk, std::ptrdiff_t at, auto width) {
    const auto work = [&](const auto&... of_line) {
#pragma omp simd
      for (int i = 0; i < width; ++i) body(at + i, of_line[i]...);
    };
    work(matrices.chunk(coefficients, chunk)...);
  });
}

// Coefficients of identity + laplacian * matrix for a range of planes, in the order of a sweep:
// `before` and `after` multiply the unknowns of the preceding and of the following plane.
struct PlaneCoefficients {
  std::vector<double> before, diagonal, after;
  double shift_factor = 1.0;  // factor of a line's shift
  // True for Poisson's equation (identity = 0), where a matrix may be singular.
  bool is_poisson = false;

  // Number of planes.
  int planes() const { return static_cast<int>(diagonal.size()); }

  PlaneCoefficients() = default;
  PlaneCoefficients(const TridiagonalMatrix& matrix, Range planes, Sweep sweep, double identity,
                    double laplacian)
      : shift_factor(laplacian), is_poisson(identity == 0.0) {
    const int last = matrix.size() - 1;
    const auto add = [&](int k) {
      double lower = laplacian * matrix.lower[k], upper = laplacian * matrix.upper[k];
      if (!matrix.periodic && k == 0) lower = 0.0;
      if (!matrix.periodic && k == last) upper = 0.0;
      before.push_back(sweep == Sweep::up ? lower : upper);
      after.push_back(sweep == Sweep::up ? upper : lower);
      diagonal.push_back(identity + laplacian * matrix.diagonal[k]);
    };
    if (sweep == Sweep::up)
      for (int k = planes.begin; k < planes.end; ++k) add(k);
    else
      for (int k = planes.end - 1; k >= planes.begin; --k) add(k);
  }
};

}  // namespace octant::pencil
