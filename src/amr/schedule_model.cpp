#include "amr/schedule_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.hpp"

namespace octant {

namespace {

// Minimises the squares of relative errors, so that small and large levels have equal weight: with
// u = 1 / t and v = rounds / t, fixed u + per_round v = 1. Neither coefficient is negative.
LaunchesAndRounds fit(const std::map<int, double>& measured, int tiles_per_round) {
  LaunchesAndRounds time{.tiles_per_round = tiles_per_round};
  const LaunchesAndRounds rounds{.per_round = 1.0, .tiles_per_round = tiles_per_round};
  double u = 0.0, v = 0.0, uu = 0.0, uv = 0.0, vv = 0.0;
  for (const auto& [tiles, seconds] : measured) {
    const double one = 1.0 / seconds, of_rounds = rounds.seconds(tiles) * one;
    u += one;
    v += of_rounds;
    uu += one * one;
    uv += one * of_rounds;
    vv += of_rounds * of_rounds;
  }
  const double determinant = uu * vv - uv * uv;
  if (determinant > 0.0) time.fixed = std::max(0.0, (vv * u - uv * v) / determinant);
  time.per_round = std::max(0.0, (v - uv * time.fixed) / vv);
  return time;
}

// Shortest time of each size with one schedule.
std::map<int, double> shortest(std::span<const MeasuredSweeps> measured, int threads,
                               double MeasuredSweeps::*seconds) {
  std::map<int, double> by_tiles;
  for (const MeasuredSweeps& size : measured) {
    if (size.threads != threads) continue;
    const auto [known, is_new] = by_tiles.try_emplace(size.tiles, size.*seconds);
    if (!is_new) known->second = std::min(known->second, size.*seconds);
  }
  if (by_tiles.size() < 2)
    throw InputError(
        "execution.model: expected timings of at least two level sizes with {} thread(s), as in "
        "this run, but found {}; measure them with octant bench device-model",
        threads, by_tiles.size());
  return by_tiles;
}

}  // namespace

std::vector<MeasuredSweeps> read_measured_sweeps(const std::string& path,
                                                 const TextReader& read_text) {
  std::vector<MeasuredSweeps> all;
  for (const auto& [place, numbers] : read_number_lines(path, "execution.model", read_text)) {
    if (numbers.size() != 4 || std::ranges::any_of(numbers, [](double n) { return n <= 0.0; }))
      throw InputError(
          "{}: expected positive numbers: threads, tiles, and seconds per sweep of the host and of "
          "the device schedule",
          place);
    all.push_back(
        {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), numbers[2], numbers[3]});
  }
  return all;
}

SweepTime::SweepTime(const std::map<int, double>& measured, int tiles_per_round)
    : fitted_(fit(measured, tiles_per_round)) {
  for (const auto& [tiles, seconds] : measured)
    measured_over_fitted_[tiles] = seconds / fitted_.seconds(tiles);
}

double SweepTime::seconds(int tiles) const {
  const auto above = measured_over_fitted_.lower_bound(tiles);
  if (above == measured_over_fitted_.begin()) return above->second * fitted_.seconds(tiles);
  const auto below = std::prev(above);
  if (above == measured_over_fitted_.end()) return below->second * fitted_.seconds(tiles);
  const double fraction = static_cast<double>(tiles - below->first) / (above->first - below->first);
  return std::lerp(below->second, above->second, fraction) * fitted_.seconds(tiles);
}

ScheduleModel::ScheduleModel(std::span<const MeasuredSweeps> measured, int threads)
    : host_(shortest(measured, threads, &MeasuredSweeps::host), threads),
      device_(shortest(measured, threads, &MeasuredSweeps::device), 1) {}

}  // namespace octant
