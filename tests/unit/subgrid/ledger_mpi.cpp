#include "subgrid/ledger.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant::subgrid {
namespace {

void sum_over_ranks(Ledger& ledger, const Communicator& world) {
  JointSums joint(world);
  Ledger::add_terms(std::span(&ledger, 1), joint);
  joint.reduce();
}

TEST(Ledger, totals_are_those_of_all_ranks_and_steps) {
  const Communicator world = Communicator::world();
  Ledger ledger("heating", {"energy", "mass"});
  ledger["energy"] += 0.5;
  sum_over_ranks(ledger, world);
  ledger["energy"] += world.rank();
  ledger["mass"] += 1e-3;
  sum_over_ranks(ledger, world);
  const int n = world.size();
  EXPECT_EQ(ledger.totals()[0].value, 0.5 * n + n * (n - 1) / 2);
  EXPECT_DOUBLE_EQ(ledger.totals()[1].value, 1e-3 * n);
}

TEST(Ledger, goes_on_from_what_a_checkpoint_held) {
  const Communicator world = Communicator::world();
  Ledger ledger("heating", {"energy"});
  ledger.restore("energy", 7.0);
  if (world.is_root()) ledger["energy"] += 2.0;
  sum_over_ranks(ledger, world);
  Columns columns;
  ledger.add_columns(columns);
  EXPECT_EQ(columns.names(), "heating_energy");
  EXPECT_EQ(columns.values(), "9");
}

TEST(Ledger, ends_a_run_whose_total_is_not_finite_on_all_ranks) {
  const Communicator world = Communicator::world();
  Ledger ledger("heating", {"energy"});
  if (world.is_root()) ledger["energy"] += std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(sum_over_ranks(ledger, world), RunError);
}

TEST(Ledger, has_no_account_that_was_not_named) {
  Ledger ledger("heating", {"energy"});
  EXPECT_THROW(ledger["mass"], RunError);
}

}  // namespace
}  // namespace octant::subgrid
