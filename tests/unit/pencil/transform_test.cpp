#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "pencil/buffer.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {
namespace {

using enum Condition;

// The definitions of FFTW's manual, and of fft.hpp, term by term.
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
    default:  // real to halfcomplex
      return 2 * k <= n ? std::cos(2.0 * pi * j * k / n) : -std::sin(2.0 * pi * j * (n - k) / n);
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

TEST(Transform, OfAColumnIsTheSumThatDefinesItWhereverTheColumnLies) {
  for (const int n : {2, 3, 4, 5, 8, 13, 16, 30, 64, 97})
    for (const TransformKind kind : k_real_kinds) {
      const auto transform = make_transform(kind, TransformShape::columns, n, false);
      const Buffer line = random_line(n, n);
      Buffer block(n * k_columns);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < k_columns; ++i) block.data()[j * k_columns + i] = line.data()[j];
      transform->execute(block.data(), block.data());
      for (int k = 0; k < n; ++k) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += term(kind, n, k, j) * line.data()[j];
        const double* row = block.data() + k * k_columns;
        EXPECT_NEAR(row[0], sum, 1e-13 * n) << static_cast<int>(kind) << " of " << n;
        for (int i = 1; i < k_columns; ++i) EXPECT_EQ(row[i], row[0]) << n;
      }
    }
}

TEST(Transform, OfARowAgreesWithThatOfAColumn) {
  for (const int n : {2, 7, 32, 45})
    for (const TransformKind kind : k_real_kinds) {
      Buffer line = random_line(n, n), result(n), block(n * k_columns);
      for (int j = 0; j < n; ++j) block.data()[j * k_columns] = line.data()[j];
      make_transform(kind, TransformShape::row, n, false)->execute(line.data(), result.data());
      make_transform(kind, TransformShape::columns, n, false)->execute(block.data(), block.data());
      for (int k = 0; k < n; ++k)
        EXPECT_NEAR(result.data()[k], block.data()[k * k_columns], 1e-13 * n);
    }
}

TEST(Transform, OfComplexColumnsHasTheSameBitsInEveryColumn) {
  for (int n = 1; n <= 260; ++n) {
    const auto transform =
        make_transform(TransformKind::complex_forward, TransformShape::columns, n, false);
    const Buffer line = random_line(2 * n, n);
    Buffer block(n * k_columns);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < k_columns; ++i)
        block.data()[j * k_columns + i] = line.data()[2 * j + i % 2];
    transform->execute(block.data(), block.data());
    for (int j = 0; j < n; ++j)
      for (int i = 2; i < k_columns; ++i)
        ASSERT_EQ(block.data()[j * k_columns + i], block.data()[j * k_columns + i % 2]) << n;
  }
}

TEST(Transform, IsNotChangedByPlansThatWereMeasuredBefore) {
  const int n = 96;
  Buffer line = random_line(n, 1), before(n + 2), after(n + 2);
  const auto kind = TransformKind::real_to_complex;
  make_transform(kind, TransformShape::row, n, false)->execute(line.data(), before.data());
  make_transform(kind, TransformShape::row, n, true);
  make_transform(kind, TransformShape::row, n, false)->execute(line.data(), after.data());
  for (int k = 0; k < n + 2; ++k) EXPECT_EQ(before.data()[k], after.data()[k]);
}

TEST(TransformPair, GivesBackTheLineTimesItsScale) {
  for (const int n : {3, 8, 11})
    for (const Location location : {Location::centre, Location::face, Location::inner_face})
      for (const Condition lower : {dirichlet, neumann})
        for (const Condition upper : {dirichlet, neumann}) {
          const TransformPair pair = transform_of({lower, upper, location}, n);
          Buffer line = random_line(n, 5), there(n), back(n);
          make_transform(pair.forward, TransformShape::row, n, false)
              ->execute(line.data(), there.data());
          make_transform(pair.backward, TransformShape::row, n, false)
              ->execute(there.data(), back.data());
          for (int j = 0; j < n; ++j)
            EXPECT_NEAR(back.data()[j], pair.scale * line.data()[j], 1e-12);
        }
}

}  // namespace
}  // namespace octant::pencil
