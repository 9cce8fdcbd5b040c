#include <gtest/gtest.h>

#include <random>

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "decomp/partition.hpp"

namespace octant {
namespace {

constexpr DomainShape k_domain{{5, 4, 7}};

// The same blocks of three levels on every rank, with costs that do not add up exactly.
std::vector<CostItem> all_blocks() {
  std::mt19937 random(11);
  std::vector<CostItem> items;
  for (int n = 0; n < 3000; ++n) {
    const int level = static_cast<int>(random() % 3);
    BlockCoordinates c;
    for (int axis = 0; axis < 3; ++axis) {
      c[axis] = static_cast<BlockCoordinate>(random() % (k_domain.base_blocks[axis] << level));
    }
    items.push_back({c, level, 0.1 + 1e-3 * static_cast<double>(random() % 1000)});
  }
  return items;
}

std::vector<int> owners_in_one_process(Decomposition decomposition, int ranks,
                                       const std::vector<CostItem>& items) {
  const Reduction alone = reduction_of_one();
  const Work work = measure_work(k_domain, items, alone);
  if (decomposition == Decomposition::ksection) return ksection_owners(ranks, work);
  const Curve curve = decomposition == Decomposition::hilbert ? Curve::hilbert : Curve::morton;
  const CurvePartition partition(curve, ranks, work, alone);
  std::vector<int> owners;
  for (const auto& item : items) owners.push_back(partition.rank_of(item.coordinates, item.level));
  return owners;
}

TEST(PartitionOnRanks, owners_do_not_depend_on_who_holds_which_block) {
  const Communicator world = Communicator::world();
  const auto items = all_blocks();
  for (const auto decomposition :
       {Decomposition::ksection, Decomposition::hilbert, Decomposition::morton}) {
    const auto expected = owners_in_one_process(decomposition, world.size(), items);
    for (const unsigned seed : {1u, 2u}) {
      std::mt19937 random(seed);  // the same on every rank
      std::vector<CostItem> mine;
      std::vector<int> expected_of_mine;
      for (std::size_t n = 0; n < items.size(); ++n) {
        if (static_cast<int>(random() % static_cast<unsigned>(world.size())) != world.rank())
          continue;
        mine.push_back(items[n]);
        expected_of_mine.push_back(expected[n]);
      }
      EXPECT_EQ(partition(decomposition, world, k_domain, mine), expected_of_mine);
    }
  }
}

TEST(PartitionOnRanks, one_rank_may_hold_everything) {
  const Communicator world = Communicator::world();
  const auto items = all_blocks();
  std::vector<CostItem> mine;
  if (world.rank() == world.size() - 1) mine = items;
  const auto owners = partition(Decomposition::ksection, world, k_domain, mine);
  if (!mine.empty()) {
    EXPECT_EQ(owners, owners_in_one_process(Decomposition::ksection, world.size(), items));
  }
}

TEST(PartitionOnRanks, a_bad_cost_on_one_rank_is_an_error_on_all) {
  const Communicator world = Communicator::world();
  const double cost = world.rank() == 0 ? -1.0 : 1.0;
  const CostItem item{{0, 0, 0}, 0, cost};
  EXPECT_THROW(partition(Decomposition::ksection, world, k_domain, {&item, 1}), RunError);
}

}  // namespace
}  // namespace octant
