#include "driver/schedule_model.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/number_file.hpp"

namespace octant::driver {

namespace {

// Least squares of relative errors, so that small levels count as large ones do: with u = 1 / t and
// v = rounds / t, fixed u + per_round v = 1. Neither is negative.
SweepTime fit(std::span<const MeasuredSweeps> measured, double MeasuredSweeps::*seconds,
              int tiles_per_round) {
  SweepTime time{.tiles_per_round = tiles_per_round};
  const SweepTime rounds{.per_round = 1.0, .tiles_per_round = tiles_per_round};
  double u = 0.0, v = 0.0, uu = 0.0, uv = 0.0, vv = 0.0;
  for (const MeasuredSweeps& size : measured) {
    const double one = 1.0 / size.*seconds, of_rounds = rounds.seconds(size.tiles) * one;
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

}  // namespace

std::vector<MeasuredSweeps> read_measured_sweeps(const std::string& path) {
  std::vector<MeasuredSweeps> all;
  for (const auto& [place, numbers] : read_number_lines(path, "execution.model")) {
    if (numbers.size() != 4 || std::ranges::any_of(numbers, [](double n) { return n <= 0.0; }))
      throw InputError(
          "{}: expected threads, tiles and the seconds of a sweep by the schedules of hosts and of "
          "devices, all positive",
          place);
    all.push_back(
        {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), numbers[2], numbers[3]});
  }
  return all;
}

ScheduleModel::ScheduleModel(std::span<const MeasuredSweeps> measured, int threads) {
  std::vector<MeasuredSweeps> alike;
  std::set<int> sizes;
  for (const MeasuredSweeps& size : measured)
    if (size.threads == threads) {
      alike.push_back(size);
      sizes.insert(size.tiles);
    }
  if (sizes.size() < 2)
    throw InputError(
        "execution.model: expected sweeps of two sizes of a level or more with {} thread(s), as "
        "this run has, found {}; measure them with octant bench device-model",
        threads, sizes.size());
  host_ = fit(alike, &MeasuredSweeps::host, threads);
  device_ = fit(alike, &MeasuredSweeps::device, 1);
}

}  // namespace octant::driver
