#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "pencil/fft.hpp"
#include "pencil/field.hpp"
#include "pencil/line_transform.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using enum TransformKind;

void fill_with_random(Buffer& values, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::generate_n(values.data(), values.size(), [&] { return value(random); });
}

const TransformKind k_kinds_of_columns[] = {complex_forward,
                                            complex_backward,
                                            real_to_halfcomplex,
                                            halfcomplex_to_real,
                                            dct1,
                                            dct2,
                                            dct3,
                                            dct4,
                                            dst1,
                                            dst2,
                                            dst3,
                                            dst4,
                                            dst6,
                                            dst7,
                                            dct8};

bool exists(TransformKind kind, int size) { return kind != dct1 || size > 1; }

// Blocks of columns, one after the other, are groups of lines.
TEST(LineTransform, OfColumnsIsThatOfTheHostsLibraryHoweverManyAreWorkedOnAtOnce) {
  constexpr int k_blocks = 3;
  reference::Share share;
  for (const int n : {1, 2, 3, 8, 13, 30})
    for (const TransformKind kind : k_kinds_of_columns)
      for (const int work_points : {1 << 20, 11 * n, 1}) {
        if (!exists(kind, n) || !share.takes_next()) continue;
        const int block = n * k_columns;
        Buffer values(k_blocks * block), expected(k_blocks * block);
        fill_with_random(values, n);
        const auto host = make_transform(kind, n);
        const int width = kind == complex_forward || kind == complex_backward ? 2 : 1;
        std::copy_n(values.data(), k_blocks * block, expected.data());
        for (int b = 0; b < k_blocks; ++b)
          for (int i = 0; i < k_columns; i += k_lines * width)
            host->execute(expected.data() + b * block + i, k_columns);
        const int lines = k_columns / width;
        const LineSet set{values.data(), k_columns, width, lines, block};
        LineTransform(kind, n, k_blocks * lines, false, work_points).execute(set, set);
        for (int i = 0; i < k_blocks * block; ++i)
          ASSERT_NEAR(values.data()[i], expected.data()[i], 1e-13 * n)
              << "kind " << static_cast<int>(kind) << " of " << n;
      }
}

TEST(LineTransform, OfRowsIsThatOfTheHostsLibraryTimesItsScale) {
  constexpr int k_rows = 5;
  constexpr double k_scale = 0.25;
  for (const int n : {1, 2, 7, 12})
    for (const TransformKind kind : {real_to_halfcomplex, halfcomplex_to_real, dct2, dst3, dst7}) {
      const int stride = n + 3;
      Buffer values(k_rows * stride), result(k_rows * stride), expected(n * k_lines);
      fill_with_random(values, n);
      const LineSet from{values.data(), 1, stride, k_rows, 0};
      const LineSet to{result.data(), 1, stride, k_rows, 0};
      LineTransform(kind, n, k_rows, true).execute(from, to, k_scale);
      gather_rows(values.data(), stride, k_rows, n, expected.data());
      make_transform(kind, n)->execute(expected.data(), k_lines);
      for (int j = 0; j < k_rows; ++j)
        for (int i = 0; i < n; ++i)
          ASSERT_NEAR(result.data()[j * stride + i], k_scale * expected.data()[i * k_lines + j],
                      1e-13 * n)
              << "kind " << static_cast<int>(kind) << " of " << n;
    }
}

}  // namespace
}  // namespace octant::pencil
