#include "telemetry/step_tables.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant::telemetry {
namespace {

constexpr int k_step = 0, k_sweep = 1, k_ghosts = 2, k_lap = 3;

const PhaseTable::Entry& entry(const PhaseTable& table, int name, int level) {
  for (const auto& e : table.entries())
    if (e.name == name && e.level == level) return e;
  throw RunError("no row of name {} on level {}", name, level);
}

std::int64_t sum_of_self(const PhaseTable& table) {
  std::int64_t sum = 0;
  for (const auto& e : table.entries()) sum += e.self_ns;
  return sum;
}

TEST(PhaseTable, every_moment_belongs_to_the_innermost_scope) {
  PhaseTable table;
  table.begin(1000, k_step);
  table.enter(1010, Phase::compute, k_sweep, 2);
  table.enter(1030, Phase::wait, k_ghosts, -1);
  table.leave(1070);
  table.leave(1080);
  table.enter(1080, Phase::wait, k_ghosts, 0);
  table.leave(1085);
  table.end(1100);

  EXPECT_EQ(entry(table, k_step, -1).self_ns, 25);
  EXPECT_EQ(entry(table, k_step, -1).total_ns, 100);
  EXPECT_EQ(entry(table, k_sweep, 2).self_ns, 30);
  EXPECT_EQ(entry(table, k_sweep, 2).total_ns, 70);
  EXPECT_EQ(entry(table, k_sweep, 2).start_ns, 1010);
  EXPECT_EQ(entry(table, k_ghosts, 2).self_ns, 40) << "the level is that of the scope around";
  EXPECT_EQ(entry(table, k_ghosts, 0).self_ns, 5);
  EXPECT_EQ(sum_of_self(table), 100);
  EXPECT_EQ(table.self_ns(Phase::wait), 45);
}

TEST(PhaseTable, a_scope_inside_of_itself_counts_its_time_once) {
  PhaseTable table;
  table.begin(0, k_step);
  table.enter(10, Phase::compute, k_sweep, 0);
  table.enter(20, Phase::compute, k_sweep, 0);
  table.leave(50);
  table.leave(60);
  table.end(60);
  EXPECT_EQ(entry(table, k_sweep, 0).total_ns, 50);
  EXPECT_EQ(entry(table, k_sweep, 0).self_ns, 50);
  EXPECT_EQ(entry(table, k_sweep, 0).calls, 2);
}

TEST(PhaseTable, a_task_belongs_to_its_parent) {
  PhaseTable table;
  table.begin(0, k_step);
  for (const int around : {k_sweep, k_lap, k_sweep}) {
    table.enter(10, Phase::compute, around, 0);
    table.enter(20, Phase::wait, k_ghosts, 0);
    table.leave(23);
    table.leave(25);
  }
  table.end(30);
  const auto& tasks = table.entries();
  ASSERT_EQ(tasks.size(), 5U);
  EXPECT_EQ(tasks[0].parent, -1);
  const int names[] = {k_step, k_sweep, k_ghosts, k_lap, k_ghosts};
  const int parents[] = {-1, 0, 1, 0, 3};
  const int calls[] = {1, 2, 2, 1, 1};
  for (int n = 0; n < 5; ++n) {
    EXPECT_EQ(tasks[n].name, names[n]) << n;
    EXPECT_EQ(tasks[n].parent, parents[n]) << n;
    EXPECT_EQ(tasks[n].calls, calls[n]) << n;
  }
  EXPECT_EQ(tasks[2].total_ns, 6);
  EXPECT_EQ(tasks[4].total_ns, 3);
}

// Copies are of a part of the program, whichever task it belongs to.
TEST(PhaseTable, copies_of_a_part_in_several_tasks_are_one_row) {
  PhaseTable table;
  table.begin(0, k_step);
  for (const int around : {k_sweep, k_lap}) {
    table.enter(10, Phase::compute, around, 0);
    table.enter(20, Phase::wait, k_ghosts, 0);
    table.copied(TransferKind::fields, TransferDirection::to_host, 8);
    table.leave(23);
    table.leave(25);
  }
  table.end(30);
  ASSERT_EQ(table.copies().size(), 1U);
  EXPECT_EQ(table.copies()[0].copies, 2);
  EXPECT_EQ(table.copies()[0].bytes, 16);
}

TEST(PhaseTable, a_call_inside_of_a_collective_scope_is_part_of_it) {
  PhaseTable table;
  table.begin(0, k_step);
  table.enter(10, Phase::collective, k_sweep, 1);
  table.enter(20, Phase::collective, k_ghosts, -1);
  table.leave(50);
  table.leave(60);
  table.end(60);
  EXPECT_EQ(entry(table, k_sweep, 1).self_ns, 50);
  EXPECT_EQ(entry(table, k_sweep, 1).calls, 1);
  EXPECT_EQ(table.entries().size(), 2U);
}

TEST(PhaseTable, a_lap_takes_the_time_since_the_last_report) {
  PhaseTable table;
  table.begin(0, k_step);
  table.enter(10, Phase::other, k_sweep, -1);
  table.lap(40, Phase::compute, k_lap);
  table.lap(70, Phase::compute, k_lap);
  table.leave(90);
  table.end(100);
  EXPECT_EQ(entry(table, k_lap, -1).self_ns, 60);
  EXPECT_EQ(entry(table, k_lap, -1).calls, 2);
  EXPECT_EQ(entry(table, k_sweep, -1).self_ns, 20);
  EXPECT_EQ(sum_of_self(table), 100);
}

TEST(PhaseTable, a_new_step_begins_with_no_rows_but_its_own) {
  PhaseTable table;
  table.begin(0, k_step);
  table.enter(10, Phase::compute, k_sweep, 0);
  table.count(512, 7);
  table.leave(20);
  table.end(30);
  EXPECT_EQ(entry(table, k_sweep, 0).cells, 512);
  EXPECT_EQ(entry(table, k_sweep, 0).bytes, 7);
  table.begin(30, k_step);
  table.end(70);
  ASSERT_EQ(table.entries().size(), 1U);
  EXPECT_EQ(sum_of_self(table), 40);
}

TEST(PhaseTable, a_step_must_not_begin_inside_of_a_scope) {
  PhaseTable table;
  table.begin(0, k_step);
  table.enter(10, Phase::compute, k_sweep, 0);
  EXPECT_THROW(table.begin(20, k_step), RunError);
}

}  // namespace
}  // namespace octant::telemetry
