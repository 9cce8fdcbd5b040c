// Choice between host and device schedule for the gas sweep of a level, from timings of levels of
// several sizes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/number_file.hpp"

namespace octant {

// Timings for one level size: seconds per sweep of all its tiles with either schedule.
struct MeasuredSweeps {
  int threads, tiles;
  double host, device;
};

// Reads lines of threads, tiles, and seconds of the host and device schedules, as written by
// `octant bench device-model --model FILE`. Throws InputError with file and line.
std::vector<MeasuredSweeps> read_measured_sweeps(const std::string& path,
                                                 const TextReader& read_text);

// Model of the time of a sweep in seconds: a fixed part for launches, and a part per round of
// tiles. Kim (2026), eq. 13, T = T_fixed + T_kernel + V / B, where the transfer volume V is
// proportional to the number of tiles, as is T_kernel. On the host each thread takes a tile, so
// there are tiles / threads rounds: r of eq. 14. On a device each tile is a round, computed by many
// threads.
struct LaunchesAndRounds {
  double fixed = 0.0, per_round = 0.0;
  int tiles_per_round = 1;

  // Time of a sweep of this many tiles in seconds.
  double seconds(int tiles) const {
    const int rounds = (tiles + tiles_per_round - 1) / tiles_per_round;
    return fixed + per_round * rounds;
  }
};

// Time of one schedule: eq. 13 fitted to all sizes, times the ratio of measured to fitted time. The
// ratio is interpolated between measured sizes and constant beyond them.
class SweepTime {
 public:
  // `measured`: seconds by number of tiles, at least two sizes, all positive.
  SweepTime(const std::map<int, double>& measured, int tiles_per_round);

  double seconds(int tiles) const;  // exact at measured sizes
  // Coefficients of the fit.
  const LaunchesAndRounds& fitted() const { return fitted_; }

 private:
  LaunchesAndRounds fitted_;
  std::map<int, double> measured_over_fitted_;  // by number of tiles
};

// Model of the times of sweeps with the host and the device schedule.
class ScheduleModel {
 public:
  // Builds the model from timings with this number of threads; of several for the same size, the
  // shortest is used. Throws InputError if there are fewer than two sizes.
  ScheduleModel(std::span<const MeasuredSweeps> measured, int threads);

  // Returns true if the device schedule, in batches, is faster.
  bool in_batches(int tiles) const { return device_.seconds(tiles) < host_.seconds(tiles); }

  // Model of the host schedule.
  const SweepTime& host() const { return host_; }
  // Model of the device schedule.
  const SweepTime& device() const { return device_; }

 private:
  SweepTime host_, device_;
};

}  // namespace octant
