#include "driver/schedule_model.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.hpp"

namespace octant::driver {
namespace {

TEST(ScheduleModel, finds_what_launches_and_rounds_of_tiles_take) {
  std::vector<MeasuredSweeps> measured;
  for (const int tiles : {1, 2, 5, 40, 300})
    measured.push_back({4, tiles, 2e-6 + 3e-5 * ((tiles + 3) / 4), 1e-4 + 1e-6 * tiles});
  const ScheduleModel model(measured, 4);
  EXPECT_NEAR(model.host().fixed, 2e-6, 1e-12);
  EXPECT_NEAR(model.host().per_round, 3e-5, 1e-12);
  EXPECT_NEAR(model.device().fixed, 1e-4, 1e-12);
  EXPECT_NEAR(model.device().per_round, 1e-6, 1e-12);
  EXPECT_FALSE(model.in_batches(12));  // 92 against 112 us
  EXPECT_TRUE(model.in_batches(13));   // 122 against 113 us
}

TEST(ScheduleModel, has_no_launches_of_less_than_no_time) {
  const std::vector<MeasuredSweeps> faster_when_small{{1, 1, 1e-6, 1e-6}, {1, 10, 2e-5, 1e-5}};
  EXPECT_EQ(ScheduleModel(faster_when_small, 1).host().fixed, 0.0);
}

TEST(ScheduleModel, goes_by_what_the_same_number_of_threads_took) {
  const std::vector<MeasuredSweeps> measured{
      {1, 1, 1.0, 2.0}, {1, 2, 2.0, 4.0}, {8, 1, 2.0, 1.0}, {8, 9, 4.0, 9.0}, {8, 1, 2.0, 1.0}};
  EXPECT_FALSE(ScheduleModel(measured, 1).in_batches(1));
  EXPECT_TRUE(ScheduleModel(measured, 8).in_batches(1));
  EXPECT_THROW(ScheduleModel(measured, 2), InputError);
  EXPECT_THROW(ScheduleModel(std::span(measured).last(1), 8), InputError);  // of one size
}

// How much longer the model's choice takes than the better one, where it is worst.
double largest_loss(const std::vector<MeasuredSweeps>& measured) {
  const ScheduleModel model(measured, measured.front().threads);
  double most = 0.0;
  for (const MeasuredSweeps& size : measured) {
    const double chosen = model.in_batches(size.tiles) ? size.device : size.host;
    most = std::max(most, chosen / std::min(size.host, size.device) - 1.0);
  }
  return most;
}

TEST(ScheduleModel, chooses_within_a_tenth_of_the_better_one) {
  // Of one core of an AMD EPYC: muscl_hancock with plm on tiles of 8^3 cells.
  const std::vector<MeasuredSweeps> one_core{
      {1, 1, 3.220e-05, 4.090e-05},   {1, 2, 5.980e-05, 7.550e-05},   {1, 4, 8.290e-05, 1.997e-04},
      {1, 8, 1.538e-04, 2.145e-04},   {1, 16, 3.065e-04, 4.260e-04},  {1, 64, 1.588e-03, 3.370e-03},
      {1, 256, 6.332e-03, 1.475e-02}, {1, 1024, 2.742e-02, 6.019e-02}};
  EXPECT_LT(largest_loss(one_core), 0.1);
  // A device that is ten times as fast as eight threads, and whose launches take 0.2 ms; clocks
  // that are wrong by up to 4 per cent.
  std::vector<MeasuredSweeps> device;
  for (int tiles = 1, n = 0; tiles <= 4096; tiles += (tiles + 2) / 3, ++n)
    device.push_back({8, tiles, (2e-6 + 3e-5 * ((tiles + 7) / 8)) * (1.0 + 0.04 * (n % 3 - 1)),
                      (2e-4 + 4e-7 * tiles) * (1.0 - 0.04 * (n % 2))});
  EXPECT_LT(largest_loss(device), 0.1);
  const ScheduleModel model(device, 8);
  EXPECT_FALSE(model.in_batches(1));
  EXPECT_TRUE(model.in_batches(4096));
}

std::vector<MeasuredSweeps> read(const std::string& text) {
  const std::string path = testing::TempDir() + "sweeps_" + std::to_string(::getpid()) + ".txt";
  std::ofstream(path) << text;
  try {
    const auto measured = read_measured_sweeps(path);
    std::remove(path.c_str());
    return measured;
  } catch (...) {
    std::remove(path.c_str());
    throw;
  }
}

TEST(ScheduleModel, reads_what_the_benchmark_writes) {
  const auto measured = read("# how\n2 1 3.5e-05 6.1e-05\n\n2 16 4e-4 3e-4\n");
  ASSERT_EQ(measured.size(), 2);
  EXPECT_EQ(measured[1].threads, 2);
  EXPECT_EQ(measured[1].tiles, 16);
  EXPECT_EQ(measured[0].host, 3.5e-5);
  EXPECT_EQ(measured[0].device, 6.1e-5);
  EXPECT_THROW(read("2 1 3.5e-05\n"), InputError);
  EXPECT_THROW(read("2 1 3.5e-05 0\n"), InputError);
}

}  // namespace
}  // namespace octant::driver
