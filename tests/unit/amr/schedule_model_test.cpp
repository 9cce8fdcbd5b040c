#include "amr/schedule_model.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.hpp"

namespace octant {
namespace {

TEST(ScheduleModel, finds_what_launches_and_rounds_of_tiles_take) {
  std::vector<MeasuredSweeps> measured;
  for (const int tiles : {1, 2, 5, 40, 300})
    measured.push_back({4, tiles, 2e-6 + 3e-5 * ((tiles + 3) / 4), 1e-4 + 1e-6 * tiles});
  const ScheduleModel model(measured, 4);
  EXPECT_NEAR(model.host().fitted().fixed, 2e-6, 1e-12);
  EXPECT_NEAR(model.host().fitted().per_round, 3e-5, 1e-12);
  EXPECT_NEAR(model.device().fitted().fixed, 1e-4, 1e-12);
  EXPECT_NEAR(model.device().fitted().per_round, 1e-6, 1e-12);
  EXPECT_FALSE(model.in_batches(12));  // 92 against 112 us
  EXPECT_TRUE(model.in_batches(13));   // 122 against 113 us
}

TEST(ScheduleModel, has_no_launches_of_less_than_no_time) {
  const std::vector<MeasuredSweeps> faster_when_small{{1, 1, 1e-6, 1e-6}, {1, 10, 2e-5, 1e-5}};
  EXPECT_EQ(ScheduleModel(faster_when_small, 1).host().fitted().fixed, 0.0);
}

TEST(ScheduleModel, goes_by_what_the_same_number_of_threads_took) {
  const std::vector<MeasuredSweeps> measured{
      {1, 1, 1.0, 2.0}, {1, 2, 2.0, 4.0}, {8, 1, 2.0, 1.0}, {8, 9, 4.0, 9.0}, {8, 1, 2.0, 1.0}};
  EXPECT_FALSE(ScheduleModel(measured, 1).in_batches(1));
  EXPECT_TRUE(ScheduleModel(measured, 8).in_batches(1));
  EXPECT_THROW(ScheduleModel(measured, 2), InputError);
  EXPECT_THROW(ScheduleModel(std::span(measured).last(1), 8), InputError);  // of one size
}

TEST(ScheduleModel, knows_what_measured_sizes_took) {
  // In batches two threads share a tile, and need not wait for much: no line through the others
  // tells how soon they are done.
  const std::vector<MeasuredSweeps> measured{{2, 1, 3.6e-5, 3.2e-5},    {2, 2, 4.4e-5, 8.3e-5},
                                             {2, 3, 7.0e-5, 9.0e-5},    {2, 4, 7.0e-5, 9.9e-5},
                                             {2, 16, 22.6e-5, 22.0e-5}, {2, 64, 85.0e-5, 72.4e-5}};
  const ScheduleModel model(measured, 2);
  EXPECT_GT(model.device().fitted().seconds(1), model.host().fitted().seconds(1));
  EXPECT_TRUE(model.in_batches(1));
  EXPECT_FALSE(model.in_batches(4));
  for (const MeasuredSweeps& size : measured) {
    EXPECT_DOUBLE_EQ(model.host().seconds(size.tiles), size.host);
    EXPECT_DOUBLE_EQ(model.device().seconds(size.tiles), size.device);
  }
}

TEST(ScheduleModel, lies_between_measured_sizes_and_goes_on_as_the_last_ones) {
  // A tile takes 1 us up to 10 tiles, and then twice as long: from memory instead of a cache.
  const std::map<int, double> measured{{1, 1e-6}, {10, 1e-5}, {20, 4e-5}, {100, 2e-4}};
  const SweepTime time(measured, 1);
  EXPECT_NEAR(time.seconds(4), 4e-6, 4e-7);
  EXPECT_NEAR(time.seconds(15), 1.5 * 15e-6, 15e-7);
  EXPECT_NEAR(time.seconds(50), 1e-4, 1e-5);
  EXPECT_NEAR(time.seconds(1000), 2e-3, 1e-4);
}

TEST(ScheduleModel, takes_the_shortest_of_several_measurements) {
  const std::vector<MeasuredSweeps> measured{
      {1, 1, 1.0, 2.0}, {1, 1, 3.0, 1.5}, {1, 2, 2.0, 3.0}, {1, 2, 9.0, 9.0}};
  const ScheduleModel model(measured, 1);
  EXPECT_DOUBLE_EQ(model.host().seconds(1), 1.0);
  EXPECT_DOUBLE_EQ(model.device().seconds(1), 1.5);
  EXPECT_DOUBLE_EQ(model.device().seconds(2), 3.0);
}

using Sweeps = std::vector<MeasuredSweeps>;

// How much longer the choice by one turn's measurements takes than the better one in another turn,
// where it is worst.
double largest_loss(const Sweeps& turn, const Sweeps& other) {
  const ScheduleModel model(turn, turn.front().threads);
  double most = 0.0;
  for (const MeasuredSweeps& size : other) {
    const double chosen = model.in_batches(size.tiles) ? size.device : size.host;
    most = std::max(most, chosen / std::min(size.host, size.device) - 1.0);
  }
  return most;
}

Sweeps without(Sweeps sizes, std::size_t n) {
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(n));
  return sizes;
}

TEST(ScheduleModel, chooses_within_a_tenth_of_the_better_one) {
  // Turns on cores of an AMD EPYC: muscl_hancock with plm on tiles of 8^3 cells.
  const Sweeps one_core{{1, 1, 3.220e-05, 4.090e-05},   {1, 2, 5.980e-05, 7.550e-05},
                        {1, 4, 8.290e-05, 1.997e-04},   {1, 8, 1.538e-04, 2.145e-04},
                        {1, 16, 3.065e-04, 4.260e-04},  {1, 64, 1.588e-03, 3.370e-03},
                        {1, 256, 6.332e-03, 1.475e-02}, {1, 1024, 2.742e-02, 6.019e-02}};
  const Sweeps again{{1, 1, 3.081e-05, 3.953e-05},   {1, 2, 5.750e-05, 7.320e-05},
                     {1, 4, 8.280e-05, 1.969e-04},   {1, 8, 1.528e-04, 2.120e-04},
                     {1, 16, 3.041e-04, 4.236e-04},  {1, 64, 1.385e-03, 2.368e-03},
                     {1, 256, 6.047e-03, 1.258e-02}, {1, 1024, 2.537e-02, 5.520e-02}};
  EXPECT_LT(largest_loss(one_core, again), 0.1);
  EXPECT_LT(largest_loss(again, one_core), 0.1);
  const Sweeps two_cores{{2, 1, 3.333e-05, 8.408e-05},  {2, 2, 4.482e-05, 6.337e-05},
                         {2, 3, 7.048e-05, 2.334e-04},  {2, 4, 8.153e-05, 1.117e-04},
                         {2, 6, 1.269e-04, 2.663e-04},  {2, 8, 1.396e-04, 1.928e-04},
                         {2, 12, 2.431e-04, 3.191e-04}, {2, 16, 2.522e-04, 3.249e-04},
                         {2, 32, 3.810e-04, 5.201e-04}, {2, 64, 8.425e-04, 1.398e-03}};
  const Sweeps two_again{{2, 1, 3.335e-05, 7.705e-05},  {2, 2, 4.478e-05, 6.308e-05},
                         {2, 3, 7.082e-05, 2.325e-04},  {2, 4, 8.259e-05, 1.088e-04},
                         {2, 6, 1.229e-04, 2.535e-04},  {2, 8, 1.400e-04, 1.906e-04},
                         {2, 12, 2.361e-04, 3.448e-04}, {2, 16, 2.752e-04, 4.175e-04},
                         {2, 32, 4.397e-04, 6.216e-04}, {2, 64, 8.816e-04, 2.075e-03}};
  EXPECT_LT(largest_loss(two_cores, two_again), 0.1);
  EXPECT_LT(largest_loss(two_again, two_cores), 0.1);
}

TEST(ScheduleModel, chooses_within_a_tenth_for_a_device_and_by_wrong_clocks) {
  // A device that is ten times as fast as eight threads, and whose launches take 0.2 ms; clocks
  // that are wrong by up to 4 per cent.
  const auto device = [](int phase) {
    Sweeps turn;
    for (int tiles = 1, n = phase; tiles <= 4096; tiles += (tiles + 7) / 8, ++n)
      turn.push_back({8, tiles, (2e-6 + 3e-5 * ((tiles + 7) / 8)) * (1.0 + 0.04 * (n % 3 - 1)),
                      (2e-4 + 4e-7 * tiles) * (1.0 - 0.04 * (n % 2))});
    return turn;
  };
  EXPECT_LT(largest_loss(device(0), device(1)), 0.1);
  for (std::size_t n = 0; n < device(0).size(); ++n)  // nor where a size was not measured
    EXPECT_LT(largest_loss(without(device(0), n), device(1)), 0.1) << device(0)[n].tiles;
  const ScheduleModel model(device(0), 8);
  EXPECT_FALSE(model.in_batches(1));
  EXPECT_TRUE(model.in_batches(4096));
}

std::vector<MeasuredSweeps> read(const std::string& text) {
  const std::string path = testing::TempDir() + "sweeps_" + std::to_string(::getpid()) + ".txt";
  std::ofstream(path) << text;
  try {
    const auto measured = read_measured_sweeps(path, read_text_file);
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
}  // namespace octant
