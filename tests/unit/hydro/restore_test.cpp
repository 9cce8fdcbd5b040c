// Cells that a flux correction has broken keep their state before the step.
#include <cmath>

#include <gtest/gtest.h>

#include "hydro/restored_cells.hpp"
#include "mesh/device.hpp"

namespace octant::hydro::test {
namespace {

constexpr int k_block_size = 4;

// Two blocks at rest; in the second one, cells on the lower x side of its upper half are corrected,
// and those of a y side that shares an edge with it.
class CorrectedBlocks : public testing::Test {
 protected:
  explicit CorrectedBlocks(DualEnergy dual_energy = DualEnergy::off) {
    options_.dual_energy = dual_energy;
    layout_ = {k_block_size, options_.variable_count()};
    fill(old_, 2.0, 3.0);
    fill(now_, 1.0, 1.5);
    const std::vector<mesh::CorrectedBlock> blocks{{0, 2, 0}};
    const std::vector<mesh::CorrectionTask> sides{{1, 0, 1, 2, 0, 2, 0, 0, 0},
                                                  {1, 1, 1, 0, 2, 2, 0, 0, 0}};
    corrected_ = {mesh::to_device("blocks", blocks), mesh::to_device("sides", sides)};
  }

  double& at(std::vector<double>& state, int slot, int n, int i, int j, int k) const {
    return state[slot * layout_.stride_slot + std::int64_t{n} * layout_.stride_variable +
                 (k * k_block_size + j) * k_block_size + i];
  }
  void fill(std::vector<double>& state, double density, double energy) const {
    state.assign(2 * layout_.stride_slot, 0.0);
    for (int slot = 0; slot < 2; ++slot)
      for (int c = 0; c < layout_.stride_variable; ++c) {
        state[slot * layout_.stride_slot + c] = density;
        state[slot * layout_.stride_slot + k_energy * std::int64_t{layout_.stride_variable} + c] =
            energy;
        if (options_.has_dual_energy())
          state[slot * layout_.stride_slot + k_entropy * std::int64_t{layout_.stride_variable} +
                c] = density;
      }
  }
  std::vector<RestoredCells> restore() {
    const auto before = mesh::to_device("old", old_);
    mesh::DeviceArray<double> after("now", now_.size());
    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(now_.data(),
                                                                           now_.size());
    Kokkos::deep_copy(after, host);
    auto gained =
        restore_refluxed_cells(options_, layout_, corrected_, 0.5, before.data(), after.data());
    Kokkos::deep_copy(host, after);
    return gained;
  }

  HydroOptions options_;
  mesh::BlockLayout layout_;
  mesh::Corrections corrected_;
  std::vector<double> old_, now_;
};

class CorrectedBlocksWithEntropy : public CorrectedBlocks {
 protected:
  CorrectedBlocksWithEntropy() : CorrectedBlocks(DualEnergy::on) {}
};

TEST_F(CorrectedBlocks, that_are_physical_stay_as_they_are) {
  const std::vector<double> before = now_;
  EXPECT_TRUE(restore().empty());
  EXPECT_EQ(now_, before);
}

TEST_F(CorrectedBlocks, get_cells_without_mass_or_energy_back_and_report_what_that_adds) {
  at(now_, 1, k_mass, 2, 1, 3) = -0.25;   // on the x side
  at(now_, 1, k_energy, 2, 0, 2) = -1.0;  // on both sides
  const auto gained = restore();
  ASSERT_EQ(gained.size(), 1u);
  EXPECT_EQ(gained[0].cells, 2);
  EXPECT_EQ(gained[0].mass, 2.25 + 1.0);
  EXPECT_EQ(gained[0].energy, 1.5 + 4.0);
  for (const int n : {int{k_mass}, int{k_energy}}) {
    EXPECT_EQ(at(now_, 1, n, 2, 1, 3), at(old_, 1, n, 2, 1, 3));
    EXPECT_EQ(at(now_, 1, n, 2, 0, 2), at(old_, 1, n, 2, 0, 2));
  }
}

TEST_F(CorrectedBlocks, report_the_angular_momentum_that_restored_cells_gain) {
  at(old_, 1, k_momentum_x, 2, 1, 3) = 0.75;
  at(now_, 1, k_mass, 2, 1, 3) = -0.25;
  const auto gained = restore();
  ASSERT_EQ(gained.size(), 1u);
  EXPECT_EQ(gained[0].slot, 1);
  EXPECT_EQ(gained[0].momentum[0], 0.75);
  // The cell of size 0.5 lies at (1.25, 0.75, 1.75) from the corner of its block.
  const double expected[3] = {0.0, 1.75 * 0.75, -0.75 * 0.75};
  for (int d = 0; d < 3; ++d) EXPECT_EQ(gained[0].angular_momentum[d], expected[d]) << d;
}

TEST_F(CorrectedBlocks, keep_mass_and_momentum_where_only_pressure_is_missing) {
  at(now_, 1, k_momentum_x, 2, 1, 3) = 2.0;  // a kinetic energy of 2, more than the total of 1.5
  const auto gained = restore();
  ASSERT_EQ(gained.size(), 1u);
  EXPECT_EQ(gained[0].cells, 1);
  EXPECT_EQ(gained[0].mass, 0.0);
  EXPECT_EQ(at(now_, 1, k_momentum_x, 2, 1, 3), 2.0);
  // Half of the density with the old specific internal energy of 3 / 2.
  EXPECT_NEAR(at(now_, 1, k_energy, 2, 1, 3), 2.0 + 1.5, 1e-13);
  EXPECT_NEAR(gained[0].energy, 2.0, 1e-13);
}

TEST_F(CorrectedBlocksWithEntropy, change_nothing_that_is_conserved_where_entropy_is_missing) {
  at(now_, 1, k_momentum_x, 2, 1, 3) = std::sqrt(3.0);  // all energy is kinetic: entropy rules
  at(now_, 1, k_entropy, 2, 1, 3) = -0.5;
  const std::vector<double> before = now_;
  EXPECT_TRUE(restore().empty());
  EXPECT_EQ(at(now_, 1, k_entropy, 2, 1, 3), 0.5 * at(old_, 1, k_entropy, 2, 1, 3));
  at(now_, 1, k_entropy, 2, 1, 3) = -0.5;
  EXPECT_EQ(now_, before);
}

// The entropy is fine, but no rounding explains a total of less than half of the kinetic energy.
TEST_F(CorrectedBlocksWithEntropy, get_energy_where_even_kinetic_energy_is_missing) {
  at(now_, 1, k_momentum_x, 2, 1, 3) = std::sqrt(8.0);  // a kinetic energy of 4, in a total of 1.5
  const auto gained = restore();
  ASSERT_EQ(gained.size(), 1u);
  EXPECT_EQ(gained[0].cells, 1);
  EXPECT_EQ(gained[0].mass, 0.0);
  EXPECT_NEAR(at(now_, 1, k_energy, 2, 1, 3), 4.0 + 1.5, 1e-13);
}

TEST_F(CorrectedBlocks, are_all_that_is_looked_at) {
  at(now_, 1, k_mass, 1, 1, 3) = -0.25;  // beside the x side
  at(now_, 0, k_mass, 2, 1, 3) = -0.25;  // in the other block
  EXPECT_TRUE(restore().empty());
}

}  // namespace
}  // namespace octant::hydro::test
