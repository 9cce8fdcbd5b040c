#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "pencil/fft.hpp"
#include "pencil/field.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {
namespace {

using enum Condition;

// The usual definitions, and those of fft.hpp, term by term.
double term(TransformKind kind, int n, int k, int j) {
  using enum TransformKind;
  const double pi = std::numbers::pi;
  switch (kind) {
    case dct1:
      if (j == 0) return 1.0;
      if (j == n - 1) return k % 2 == 0 ? 1.0 : -1.0;
      return 2.0 * std::cos(pi * j * k / (n - 1));
    case dct2: return 2.0 * std::cos(pi * (j + 0.5) * k / n);
    case dct3: return j == 0 ? 1.0 : 2.0 * std::cos(pi * j * (k + 0.5) / n);
    case dct4: return 2.0 * std::cos(pi * (j + 0.5) * (k + 0.5) / n);
    case dst1: return 2.0 * std::sin(pi * (j + 1) * (k + 1) / (n + 1));
    case dst2: return 2.0 * std::sin(pi * (j + 0.5) * (k + 1) / n);
    case dst3:
      if (j == n - 1) return k % 2 == 0 ? 1.0 : -1.0;
      return 2.0 * std::sin(pi * (j + 1) * (k + 0.5) / n);
    case dst4: return 2.0 * std::sin(pi * (j + 0.5) * (k + 0.5) / n);
    case dst6: return 2.0 * std::sin(pi * (j + 0.5) * (k + 1) / (n + 0.5));
    case dst7: return 2.0 * std::sin(pi * (j + 1) * (k + 0.5) / (n + 0.5));
    case dct8: return 2.0 * std::cos(pi * (j + 0.5) * (k + 0.5) / (n + 0.5));
    default: {  // real to halfcomplex
      const double phase = 2.0 * pi * j * ((k + 1) / 2) / n;
      return k == 0 || k % 2 == 1 ? std::cos(phase) : -std::sin(phase);
    }
  }
}

Buffer random_line(int n, unsigned seed) {
  Buffer line(n);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  for (int j = 0; j < n; ++j) line.data()[j] = value(random);
  return line;
}

const TransformKind k_real_kinds[] = {TransformKind::real_to_halfcomplex,
                                      TransformKind::dct1,
                                      TransformKind::dct2,
                                      TransformKind::dct3,
                                      TransformKind::dct4,
                                      TransformKind::dst1,
                                      TransformKind::dst2,
                                      TransformKind::dst3,
                                      TransformKind::dst4,
                                      TransformKind::dst6,
                                      TransformKind::dst7,
                                      TransformKind::dct8};

// Lines side by side, from a random one each; points are `stride` apart.
Buffer random_lines(int n, int stride) {
  Buffer lines(static_cast<std::size_t>(n) * stride);
  for (int i = 0; i < k_lines; ++i) {
    const Buffer line = random_line(n, n + i);
    for (int j = 0; j < n; ++j) lines.data()[j * stride + i] = line.data()[j];
  }
  return lines;
}

TEST(Transform, OfALineIsTheSumThatDefinesIt) {
  for (const int n : {1, 2, 3, 4, 5, 8, 13, 16, 30, 64, 97})
    for (const TransformKind kind : k_real_kinds)
      for (const int stride : {k_lines, k_columns}) {
        if (kind == TransformKind::dct1 && n == 1) continue;
        const Buffer lines = random_lines(n, stride);
        Buffer result = random_lines(n, stride);
        make_transform(kind, n)->execute(result.data(), stride);
        for (int i = 0; i < k_lines; ++i)
          for (int k = 0; k < n; ++k) {
            double sum = 0.0;
            for (int j = 0; j < n; ++j) sum += term(kind, n, k, j) * lines.data()[j * stride + i];
            EXPECT_NEAR(result.data()[k * stride + i], sum, 1e-13 * n)
                << static_cast<int>(kind) << " of " << n;
          }
      }
}

TEST(Transform, GivesALineTheSameBitsWhateverStandsBesideItAndWhereverItLies) {
  for (const int n : {2, 7, 32, 45, 96, 211})
    for (const TransformKind kind : k_real_kinds) {
      const auto transform = make_transform(kind, n);
      Buffer lines = random_lines(n, k_lines);
      const Buffer line = random_line(n, n);
      transform->execute(lines.data(), k_lines);
      for (int i = 0; i < k_lines; ++i) {
        Buffer alone(static_cast<std::size_t>(n) * k_columns);
        for (int j = 0; j < n; ++j) alone.data()[j * k_columns + i] = line.data()[j];
        transform->execute(alone.data(), k_columns);
        for (int k = 0; k < n; ++k)
          ASSERT_EQ(alone.data()[k * k_columns + i], lines.data()[k * k_lines])
              << static_cast<int>(kind) << " of " << n << " at " << i;
      }
    }
}

TEST(Transform, OfComplexLinesIsTheSumThatDefinesItWithTheSameBitsInEveryLine) {
  for (int n = 1; n <= 260; ++n) {
    const Buffer line = random_line(2 * n, n);
    Buffer block(static_cast<std::size_t>(n) * k_columns);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < k_columns; ++i)
        block.data()[j * k_columns + i] = line.data()[2 * j + i % 2];
    make_transform(TransformKind::complex_forward, n)->execute(block.data(), k_columns);
    std::complex<double> sum;  // of mode 1
    for (int j = 0; j < n; ++j)
      sum += std::complex(line.data()[2 * j], line.data()[2 * j + 1]) *
             std::polar(1.0, -2.0 * std::numbers::pi * j / n);
    const double* mode = block.data() + 1 % n * k_columns;
    EXPECT_NEAR(std::abs(std::complex(mode[0], mode[1]) - sum), 0.0, 1e-13 * n);
    for (int j = 0; j < n; ++j)
      for (int i = 2; i < k_columns; ++i)
        ASSERT_EQ(block.data()[j * k_columns + i], block.data()[j * k_columns + i % 2]) << n;
  }
}

TEST(Transform, OfOnePointByCosinesOfType1DoesNotExist) {
  EXPECT_THROW(make_transform(TransformKind::dct1, 1), RunError);
}

TEST(Rows, BecomeLinesAndComeBackTimesAFactor) {
  for (const int points : {1, 5, 8, 27})
    for (const int rows : {1, 3, k_lines}) {
      const int stride = points + 3;
      const Buffer values = random_line(rows * stride, points);
      Buffer lines(static_cast<std::size_t>(points) * k_lines), back(rows * stride);
      gather_rows(values.data(), stride, rows, points, lines.data());
      for (int i = 0; i < points; ++i)
        for (int n = 0; n < k_lines; ++n)
          EXPECT_EQ(lines.data()[i * k_lines + n],
                    values.data()[std::min(n, rows - 1) * stride + i]);
      scatter_rows(lines.data(), points, 0.5, back.data(), stride, rows);
      for (int i = 0; i < rows * stride; ++i)
        EXPECT_EQ(back.data()[i], i % stride < points ? 0.5 * values.data()[i] : 0.0);
    }
}

TEST(RowFourier, GivesTheModesOfPaddedRowsAndTheRowsBack) {
  for (const int n : {1, 2, 7, 24})
    for (const int rows : {1, k_lines, k_lines + 3}) {
      RowFourier fourier(n);
      const int given = (n + 1) / 2, width = fourier.width();
      const Buffer values = random_line(rows * given, n);
      Buffer modes(static_cast<std::size_t>(rows) * width), back(rows * given);
      fourier.forward(values.data(), given, rows, given, modes.data(), width);
      for (int r = 0; r < rows; ++r)
        for (int m = 0; 2 * m <= n; ++m) {
          std::complex<double> sum;
          for (int i = 0; i < given; ++i)
            sum +=
                values.data()[r * given + i] * std::polar(1.0, -2.0 * std::numbers::pi * m * i / n);
          const double* mode = modes.data() + r * width + 2 * m;
          EXPECT_NEAR(std::abs(std::complex(mode[0], mode[1]) - sum), 0.0, 1e-13 * n);
        }
      fourier.backward(modes.data(), width, rows, given, 1.0 / n, back.data(), given);
      for (int i = 0; i < rows * given; ++i)
        EXPECT_NEAR(back.data()[i], values.data()[i], 1e-14 * n);
    }
}

TEST(TransformPair, GivesBackTheLineTimesItsScale) {
  for (const int n : {3, 8, 11})
    for (const Location location : {Location::centre, Location::face, Location::inner_face})
      for (const Condition lower : {dirichlet, neumann})
        for (const Condition upper : {dirichlet, neumann}) {
          const TransformPair pair = transform_of({lower, upper, location}, n);
          const Buffer lines = random_lines(n, k_lines);
          Buffer result = random_lines(n, k_lines);
          make_transform(pair.forward, n)->execute(result.data(), k_lines);
          make_transform(pair.backward, n)->execute(result.data(), k_lines);
          for (int j = 0; j < n * k_lines; ++j)
            EXPECT_NEAR(result.data()[j], pair.scale * lines.data()[j], 1e-12);
        }
}

}  // namespace
}  // namespace octant::pencil
