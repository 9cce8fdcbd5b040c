// The coarse grids of a level's V-cycle: spread over the ranks or gathered on one, with the same
// bits.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "gravity/coarse_grid_solver.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

// A field of own patches, [slot][8], from a number for every cell.
template <class Value>
DeviceArray<double> cell_field(const LevelPatches& patches, const Value& value) {
  const DeviceArray<double> field("cells", patches.slots() * 8);
  for (int slot = 0; slot < patches.own(); ++slot)
    for (int cell = 0; cell < 8; ++cell)
      field(8 * slot + cell) = value(8 * static_cast<std::uint64_t>(patches.key(slot)) + cell);
  return field;
}

// Half of the patches have masked cells, and some nothing but those.
double holed(std::uint64_t cell) {
  const double share = RandomStream(1, cell / 8, 0).uniform(0);
  if (share < 0.1) return 0.0;
  return share < 0.5 ? RandomStream(2, cell, 0).uniform(0) : 1.0;
}

struct Case {
  std::array<int, 3> cells;
  const char* boundary;
  bool holes;
};
class CoarseGridsOf : public testing::TestWithParam<Case> {};

TEST_P(CoarseGridsOf, spread_and_gathered_grids_have_the_same_bits) {
  const auto [cells, boundary, holes] = GetParam();
  Gas gas(box(cells, 16, 0, boundary));
  scatter_blocks(gas, 4);
  const LevelPatches patches(gas.mesh.tree(), 0);
  const auto f = cell_field(
      patches, [](std::uint64_t cell) { return RandomStream(3, cell, 0).uniform(0) - 0.5; });
  const auto solve = [&, holes = holes](std::int64_t gathered, int grids) {
    const auto cover = cell_field(patches, [&](auto cell) { return holes ? holed(cell) : 1.0; });
    const auto row_sums = cell_field(patches, [&](std::uint64_t cell) {
      return holes ? std::floor(3.0 * RandomStream(4, cell, 0).uniform(0)) : 0.0;
    });
    const auto solver = CoarseGridSolver::make(patches, false, {cover, row_sums}, {}, gathered);
    EXPECT_EQ(solver->spread_grids(), grids);
    const DeviceArray<double> phi("phi", patches.slots() * 8);
    solver->solve(f, phi);
    return std::vector<double>(phi.data(), phi.data() + phi.size());
  };
  const auto gathered = solve(k_gathered_cells, 0);
  EXPECT_EQ(solve(256, 1), gathered);
  EXPECT_EQ(solve(32, 2), gathered);
  double most = 0.0;
  for (const double phi : gathered) most = std::max(most, std::abs(phi));
  EXPECT_GT(gas.mesh.communicator().max(most), 0.1);
}

INSTANTIATE_TEST_SUITE_P(CoarseGridSolver, CoarseGridsOf,
                         testing::Values(Case{{64, 64, 128}, "periodic", false},
                                         Case{{128, 64, 64}, "periodic", true},
                                         Case{{64, 64, 128}, "outflow", false},
                                         Case{{64, 128, 64}, "outflow", true}));

TEST(CoarseGridSolver, no_field_travels_in_a_cycle) {
  for (const std::array<int, 3> patches_along : {std::array{4, 4, 4}, std::array{3, 5, 3}}) {
    Gas gas(box({16 * patches_along[0], 16 * patches_along[1], 16 * patches_along[2]}, 16));
    scatter_blocks(gas, 4);
    const LevelPatches patches(gas.mesh.tree(), 0);
    const auto cover = cell_field(patches, [](auto) { return 1.0; });
    const auto f = cell_field(patches, [](std::uint64_t cell) { return cell % 2 - 0.5; });
    const DeviceArray<double> phi("phi", patches.slots() * 8);
    const CopiedBytes copied(TransferKind::fields);
    CoarseGridSolver::make(patches, false, {cover, {}}, staged())->solve(f, phi);
    EXPECT_EQ(copied.total, 0);
  }
}

// The part of the coarse grids that a rank stores is proportional to its own patches and those
// around them, except for the cells that are gathered on the root at the end.
TEST(CoarseGridSolver, no_rank_holds_more_than_its_share) {
  const Communicator world = Communicator::world();
  const int gathered = 64;
  Gas gas(box({128, 128, 128}, 16));  // 512 patches, 4096 cells
  for (const bool scattered : {false, true}) {
    if (scattered) scatter_blocks(gas, 9);
    const LevelPatches patches(gas.mesh.tree(), 0);
    const auto cover = cell_field(patches, [](auto) { return 1.0; });
    const auto solver = CoarseGridSolver::make(patches, false, {cover, {}}, {}, gathered);
    EXPECT_EQ(solver->spread_grids(), 2);
    const std::int64_t most = world.max(solver->bytes()), sum = world.sum(solver->bytes());
    const auto own = world.max(static_cast<std::int64_t>(patches.own()));
    if (world.is_root())
      fmt::print(
          "{} ranks, of which none has more than {} patches, hold {} bytes at most, {} in "
          "the mean\n",
          world.size(), own, most, sum / world.size());
    EXPECT_LT(most, 1200 * own + 160 * gathered + 6000);
  }
}

}  // namespace
}  // namespace octant::gravity::test
