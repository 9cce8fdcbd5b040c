#include "io/row_range.hpp"

#include <gtest/gtest.h>

namespace octant {
namespace {

TEST(Rows, shares_follow_each_other_and_differ_by_one_row_at_most) {
  for (const std::int64_t total : {0, 1, 5, 16, 17, 1000}) {
    for (const int parts : {1, 2, 3, 7, 16}) {
      std::int64_t next = 0;
      for (int part = 0; part < parts; ++part) {
        const RowRange share = even_share(total, part, parts);
        EXPECT_EQ(share.begin, next);
        EXPECT_GE(share.count, total / parts);
        EXPECT_LE(share.count, total / parts + 1);
        for (std::int64_t row = share.begin; row < share.end(); ++row) {
          EXPECT_EQ(part_of_row(total, row, parts), part);
        }
        next = share.end();
      }
      EXPECT_EQ(next, total);
    }
  }
}

}  // namespace
}  // namespace octant
