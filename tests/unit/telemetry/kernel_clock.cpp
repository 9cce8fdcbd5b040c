
#include <deque>

#include <gtest/gtest.h>
#include <Kokkos_Core.hpp>

#include "core/error.hpp"
#include "telemetry/kernel_table.hpp"

namespace octant::telemetry {
namespace {

// A device that runs one kernel after the other, when it is told to.
struct PretendedDevice {
  std::deque<int> queue;                  // pairs whose kernels wait
  std::vector<KernelEvents::Span> spans;  // by pair
  std::vector<bool> passed;               // by pair
  std::int64_t now = 1000;
  int waits = 0, alignments = 0;

  void run_next(std::int64_t duration) {
    spans[queue.front()] = {now, duration};
    passed[queue.front()] = true;
    now += duration;
    queue.pop_front();
  }
};

class PretendedEvents final : public KernelEvents {
 public:
  PretendedEvents(PretendedDevice& device, int pairs) : device_(device) {
    device.spans.resize(pairs);
    device.passed.resize(pairs);
  }
  int pairs() const override { return static_cast<int>(device_.spans.size()); }
  void begin(int) override {}
  void end(int pair) override {
    device_.passed[pair] = false;  // until then the mark is that of an earlier kernel
    device_.queue.push_back(pair);
  }
  bool has_passed(int pair) override { return device_.passed[pair]; }
  void wait_for(int pair) override {
    device_.waits += device_.passed[pair] ? 0 : 1;
    while (!device_.passed[pair]) device_.run_next(7);
  }
  Span span(int pair) const override { return device_.spans[pair]; }
  void align() override { device_.alignments += 1; }

 private:
  PretendedDevice& device_;
};

class Clock : public testing::Test {
 protected:
  KernelClock clock_with(int pairs) {
    return {std::make_unique<PretendedEvents>(device, pairs),
            [this](const KernelEvents::Span& span) { told.push_back(span.duration_ns); }};
  }
  static void launch(KernelClock& clock) { clock.end(clock.begin()); }

  PretendedDevice device;
  std::vector<std::int64_t> told;
};

TEST_F(Clock, kernels_are_told_of_when_they_have_ended_and_nobody_waits_for_them) {
  KernelClock clock = clock_with(8);
  for (int n = 0; n < 3; ++n) launch(clock);
  clock.poll();
  EXPECT_TRUE(told.empty());
  device.run_next(30);
  device.run_next(20);
  clock.poll();
  EXPECT_EQ(told, (std::vector<std::int64_t>{30, 20}));
  device.run_next(10);
  clock.poll();
  EXPECT_EQ(told, (std::vector<std::int64_t>{30, 20, 10}));
  EXPECT_EQ(device.waits, 0);
}

TEST_F(Clock, the_oldest_kernel_is_waited_for_where_marks_run_out) {
  KernelClock clock = clock_with(4);
  for (int n = 0; n < 4; ++n) launch(clock);
  EXPECT_EQ(device.waits, 0);
  for (int n = 0; n < 6; ++n) launch(clock);
  EXPECT_EQ(device.waits, 6);
  EXPECT_EQ(told.size(), 6U);
  clock.finish();
  EXPECT_EQ(told.size(), 10U) << "each of them once";
  EXPECT_EQ(device.alignments, 1);
}

TEST_F(Clock, a_mark_that_was_passed_by_an_earlier_kernel_says_nothing_of_the_next) {
  KernelClock clock = clock_with(2);
  launch(clock);
  device.run_next(5);
  clock.poll();
  launch(clock);
  const std::uint64_t open = clock.begin();  // takes the first pair again
  clock.poll();
  device.run_next(6);
  clock.poll();
  EXPECT_EQ(told, (std::vector<std::int64_t>{5, 6})) << "the third has not even been launched";
  clock.end(open);
  clock.finish();
  EXPECT_EQ(told, (std::vector<std::int64_t>{5, 6, 7}));
}

TEST_F(Clock, a_kernel_may_be_launched_within_another_launch) {
  KernelClock clock = clock_with(4);
  const std::uint64_t outer = clock.begin();
  launch(clock);
  device.run_next(3);
  clock.poll();
  EXPECT_TRUE(told.empty()) << "they are told of in the order in which they began";
  clock.end(outer);
  device.run_next(9);
  clock.poll();
  EXPECT_EQ(told, (std::vector<std::int64_t>{9, 3}));
}

TEST_F(Clock, a_kernel_that_never_ended_is_an_error) {
  KernelClock clock = clock_with(4);
  clock.begin();
  EXPECT_THROW(clock.finish(), RunError);
}

class Table : public testing::Test {
 protected:
  static LaunchRow of(std::int64_t step, int name, int level) {
    return {.step = step, .name = name, .level = static_cast<std::int8_t>(level)};
  }
  void launch(std::int64_t step, int name, int level = 0, bool detailed = false) {
    LaunchRow row = of(step, name, level);
    row.detailed = detailed;
    table.end(table.begin(row));
  }
  void take(std::int64_t last) {
    kernels.clear();
    launches.clear();
    table.take(
        last, [this](const KernelRow& row) { kernels.push_back(row); },
        [this](const LaunchRow& row) { launches.push_back(row); });
  }

  PretendedDevice device;
  KernelTable table{std::make_unique<PretendedEvents>(device, 8)};
  std::vector<KernelRow> kernels;
  std::vector<LaunchRow> launches;
};

TEST_F(Table, times_of_kernels_add_up_by_step_name_and_level) {
  table.add_work(of(0, 1, 0), {.items = 100, .bytes = 800, .operations = 300});
  launch(0, 1, 0);
  table.add_work(of(0, 1, 0), {.items = 50, .bytes = 400, .operations = 150});
  launch(0, 1, 0);
  launch(0, 1, 2);
  launch(0, 2, 0);
  for (const int duration : {10, 20, 40, 80}) device.run_next(duration);
  table.poll();
  take(0);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].calls, 2);
  EXPECT_EQ(kernels[0].start_ns, 1000);
  EXPECT_EQ(kernels[0].duration_ns, 30);
  EXPECT_EQ(kernels[0].items, 150);
  EXPECT_EQ(kernels[0].bytes, 1200);
  EXPECT_EQ(kernels[0].operations, 450);
  EXPECT_EQ(kernels[1].level, 2);
  EXPECT_EQ(kernels[1].duration_ns, 40);
  EXPECT_EQ(kernels[2].duration_ns, 80);
  EXPECT_EQ(device.waits, 0);
}

TEST_F(Table, a_kernel_that_ends_late_belongs_to_the_step_that_launched_it) {
  launch(0, 1);
  launch(0, 1);
  device.run_next(10);
  table.poll();  // the step closes before the second kernel has ended
  launch(1, 1);
  device.run_next(20);
  device.run_next(40);
  table.poll();
  EXPECT_EQ(device.waits, 0);
  take(1);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].step, 0);
  EXPECT_EQ(kernels[0].duration_ns, 30);
  EXPECT_EQ(kernels[1].step, 1);
  EXPECT_EQ(kernels[1].duration_ns, 40);
}

TEST_F(Table, rows_are_whole_when_they_are_taken) {
  launch(0, 1);
  take(0);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].duration_ns, 7) << "waited for";
  take(0);
  EXPECT_TRUE(kernels.empty());
}

TEST_F(Table, a_step_under_way_keeps_its_rows_and_adds_to_them) {
  launch(0, 1);
  launch(1, 1);
  launch(1, 2);
  take(0);
  ASSERT_EQ(kernels.size(), 1U);
  launch(1, 2);
  launch(1, 1);
  take(1);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, 1);
  EXPECT_EQ(kernels[0].calls, 2);
  EXPECT_EQ(kernels[1].calls, 2);
}

TEST_F(Table, detailed_launches_are_told_of_one_by_one) {
  launch(0, 1, 0, true);
  launch(0, 1);
  launch(0, 2, 1, true);
  take(0);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].start_ns, 1000);
  EXPECT_EQ(launches[1].name, 2);
  EXPECT_EQ(launches[1].start_ns, 1014);
  EXPECT_EQ(launches[1].duration_ns, 7);
}

}  // namespace
}  // namespace octant::telemetry
