#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "pencil/transpose_layout.hpp"
#include "pencil/y_pass.hpp"

namespace octant::pencil {
namespace {

// Six cells along x, five along y, four along z; ranks of the other side cut x into three.
const Box k_box{Range{2, 8}, {1, 6}, {3, 7}};
constexpr int k_ranks = 3;
Box third(int rank) { return {part(10, k_ranks, rank), Range{0, 6}, {0, 9}}; }

std::vector<double> numbered(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(TransposeSide, GivesEveryEntryToOneMessageAndTakesItBack) {
  for (const Layout& layout :
       {Layout::ordered(k_box), Layout::ordered(k_box, {2, 1, 0}),
        Layout::ordered(k_box, {1, 0, 2}),
        Layout{k_box, {1, 4, 40}, 4, 20}}) {  // the last one in blocks of four columns
    TransposeSide side(layout, 1, k_ranks, third);
    side.set_own_apart();
    const std::vector<double> array = numbered(200);
    std::vector<double> back(array.size(), 0.0);
    std::int64_t entries = 0, others = 0;
    for (const Part& part : side.parts()) {
      std::vector<double> message(static_cast<std::size_t>(part.count), -1.0);
      // Row by row, as a sweep does it.
      for (int k = 0; k < k_box[2].count(); ++k)
        for (int j = 0; j < k_box[1].count(); ++j)
          side.pack(part, {j, j + 1}, {k, k + 1}, array.data() + layout.at(0, j, k),
                    message.data());
      std::size_t next = 0;
      for (int z = part.box[2].begin; z < part.box[2].end; ++z)
        for (int y = part.box[1].begin; y < part.box[1].end; ++y)
          for (int x = part.box[0].begin; x < part.box[0].end; ++x)
            EXPECT_EQ(message[next++],
                      array[layout.at(x - k_box[0].begin, y - k_box[1].begin, z - k_box[2].begin)]);
      side.unpack(part, message.data(), back.data());
      entries += part.count;
      if (part.rank != 1) others += part.count;
    }
    EXPECT_EQ(entries, k_box.cells());
    EXPECT_EQ(side.count(), others);
    EXPECT_EQ(side.own()->begin, others);
    for (int k = 0; k < k_box[2].count(); ++k)
      for (int j = 0; j < k_box[1].count(); ++j)
        for (int i = 0; i < k_box[0].count(); ++i)
          EXPECT_EQ(back[layout.at(i, j, k)], array[layout.at(i, j, k)]);
  }
}

TEST(TransposeSide, KnowsAnArrayThatIsItsOwnMessages) {
  const auto slabs = [](int rank) {
    return Box{Range{0, 10}, Range{0, 6}, part(9, k_ranks, rank)};
  };
  EXPECT_TRUE(TransposeSide(Layout::ordered(k_box), 0, k_ranks, slabs).messages_are_array());
  EXPECT_FALSE(TransposeSide(Layout::ordered(k_box), 0, k_ranks, third).messages_are_array());
  EXPECT_FALSE(
      TransposeSide(Layout::ordered(k_box, {2, 1, 0}), 0, k_ranks, slabs).messages_are_array());
}

// Lines are shared out among the ranks of a column: disjoint, all of them, and evenly.
template <class Matrices>
void expect_even_shares(const Box& lines, int ranks, double most_over_mean) {
  std::int64_t all = 0, most = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Box own = Matrices::share(lines, ranks, rank);
    EXPECT_GT(own.cells(), 0) << "rank " << rank << " of " << ranks << " is idle";
    for (int other = 0; other < rank; ++other)
      EXPECT_EQ(intersection(own, Matrices::share(lines, ranks, other)).cells(), 0);
    EXPECT_EQ(intersection(own, lines).cells(), own.cells());
    all += own.cells();
    most = std::max(most, own.cells());
  }
  EXPECT_EQ(all, lines.cells());
  EXPECT_LE(static_cast<double>(most * ranks), most_over_mean * static_cast<double>(all));
}

TEST(SharesOfLines, LeaveNoRankIdleInAFlow32ColumnsWideOn8x8Ranks) {
  constexpr int ranks = 8, rows = 32, planes = 32;
  for (const int width : {32, 34})  // coefficients between walls, and of a periodic axis
    for (int y = 0; y < ranks; ++y)
      expect_even_shares<ShiftedMatrices>({columns_of(width, ranks, y), {0, rows}, {0, planes}},
                                          ranks, 1.0);
  for (int y = 0; y < ranks; ++y)
    expect_even_shares<SharedMatrix>({Range{0, 32}, part(rows, ranks, y), {0, planes}}, ranks, 1.0);
}

TEST(SharesOfLines, AreEvenForOddNumbersAndKeepWideStripsWhereThereAreMany) {
  for (const int ranks : {2, 3, 5, 7, 8, 13, 61})
    for (const int width : {31, 34, 66, 128, 1000})
      expect_even_shares<ShiftedMatrices>({Range{3, 3 + width}, {5, 101}, {0, 4}}, ranks, 1.3);
  const Box lines{Range{0, 130}, {0, 48}, {0, 4}};
  for (int rank = 0; rank < 8; ++rank) {
    const Box own = ShiftedMatrices::share(lines, 8, rank);
    EXPECT_EQ(own[1], lines[1]);
    EXPECT_GE(own[0].count(), k_columns);
  }
}

}  // namespace
}  // namespace octant::pencil
