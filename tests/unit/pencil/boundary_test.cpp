#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "pencil/boundary.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using enum Condition;

TEST(SecondDerivative, OfAParabolaIsExactInsideAStretchedAxis) {
  const auto faces = reference::stretched_faces(12);
  const TridiagonalMatrix matrix = second_derivative(faces, {neumann, neumann, Location::face});
  ASSERT_EQ(matrix.size(), 13);
  for (int k = 1; k < 12; ++k) {
    const auto square = [&](int n) { return faces[n] * faces[n]; };
    // Of a face's difference the centre lies half-way between faces: the differences are exact.
    EXPECT_NEAR(matrix.lower[k] * square(k - 1) + matrix.diagonal[k] * square(k) +
                    matrix.upper[k] * square(k + 1),
                2.0, 1e-11);
  }
}

TEST(SecondDerivative, OnAUniformAxisIsTheUniformOperator) {
  const int n = 9;
  std::vector<double> faces;
  for (int k = 0; k <= n; ++k) faces.push_back(0.5 * k);
  for (const Location location : {Location::centre, Location::face, Location::inner_face})
    for (const auto& [lower, upper] : {std::pair{periodic, periodic},
                                       {dirichlet, dirichlet},
                                       {dirichlet, neumann},
                                       {neumann, dirichlet},
                                       {neumann, neumann}}) {
      const AxisConditions conditions{lower, upper, location};
      const TridiagonalMatrix matrix = second_derivative(faces, conditions);
      const int size = matrix.size();
      for (int k = 0; k < size; ++k)
        for (int unit = 0; unit < size; ++unit) {
          const double expected = reference::second_difference(
              conditions, k, size, 0.5, [&](int m) { return m == unit ? 1.0 : 0.0; });
          double entry = k == unit ? matrix.diagonal[k] : 0.0;
          if (unit == (k + size - 1) % size && (k > 0 || matrix.periodic)) entry += matrix.lower[k];
          if (unit == (k + 1) % size && (k < size - 1 || matrix.periodic)) entry += matrix.upper[k];
          EXPECT_NEAR(entry, expected, 1e-13) << to_string(conditions) << " " << k << " " << unit;
        }
    }
}

TEST(SecondDerivative, OfAConstantVanishesToTheLastBitBetweenNeumannWalls) {
  const TridiagonalMatrix matrix =
      second_derivative(reference::stretched_faces(14), {neumann, neumann, Location::centre});
  EXPECT_EQ(matrix.diagonal.front(), -matrix.upper.front());
  EXPECT_EQ(matrix.diagonal.back(), -matrix.lower.back());
}

TEST(SecondDerivative, RefusesFacesThatDoNotAscend) {
  const std::vector<double> faces{0.0, 0.5, 0.5, 1.0};
  EXPECT_THROW(second_derivative(faces, {}), InputError);
  EXPECT_THROW(second_derivative(reference::stretched_faces(4), {periodic, neumann}), InputError);
}

TEST(Eigenvalues, HaveTheTraceOfTheirMatrix) {
  for (const Location location : {Location::centre, Location::face, Location::inner_face})
    for (const auto& [lower, upper] : {std::pair{periodic, periodic},
                                       {dirichlet, dirichlet},
                                       {dirichlet, neumann},
                                       {neumann, dirichlet},
                                       {neumann, neumann}})
      for (const int n : {4, 7}) {
        const AxisConditions conditions{lower, upper, location};
        double sum = 0.0, trace = 0.0;
        for (const double value : eigenvalues({n, 0.3, conditions})) {
          EXPECT_LE(value, 0.0);
          sum += value;
        }
        const int size = unknowns(n, conditions);
        for (int i = 0; i < size; ++i)
          trace += reference::second_difference(conditions, i, size, 0.3,
                                                [&](int m) { return m == i ? 1.0 : 0.0; });
        EXPECT_NEAR(sum, trace, 1e-11) << to_string(conditions) << " " << n;
      }
}

}  // namespace
}  // namespace octant::pencil
