// Which schedule sweeps the gas of a level sooner, by what sweeps of levels of several sizes took.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace octant::driver {

// One size of a level: seconds of a sweep of all its tiles by either schedule.
struct MeasuredSweeps {
  int threads, tiles;
  double host, device;
};

// Reads lines of these four numbers, as `octant bench device-model --model FILE` writes them.
// Throws InputError, naming file and line.
std::vector<MeasuredSweeps> read_measured_sweeps(const std::string& path);

// Seconds of a sweep: those of launches, whatever they sweep, and those of each round of tiles.
// Kim (2026), eq. 13, T = T_fixed + T_kernel + V / B, where what travels, V, grows with the tiles
// as T_kernel does. The host's threads take a tile each, so that their rounds are tiles by threads:
// r of eq. 14. On a device a tile is many threads' work, and each a round.
struct LaunchesAndRounds {
  double fixed = 0.0, per_round = 0.0;
  int tiles_per_round = 1;

  double seconds(int tiles) const {
    return fixed + per_round * ((tiles + tiles_per_round - 1) / tiles_per_round);
  }
};

// One schedule: eq. 13 as fitted to all sizes, times what each size took of that. Between two
// measured sizes that factor lies between theirs, and beyond the last ones it is theirs.
class SweepTime {
 public:
  // Seconds by tiles, of two sizes or more, all positive.
  SweepTime(const std::map<int, double>& measured, int tiles_per_round);

  double seconds(int tiles) const;  // as measured, where the size was
  const LaunchesAndRounds& fitted() const { return fitted_; }

 private:
  LaunchesAndRounds fitted_;
  std::map<int, double> measured_over_fitted_;  // by tiles
};

class ScheduleModel {
 public:
  // By what was measured with so many threads; of a size that was measured several times the
  // shortest counts. Throws InputError if there are fewer than two sizes.
  ScheduleModel(std::span<const MeasuredSweeps> measured, int threads);

  // Whether the device's schedule, in batches, is the faster one.
  bool in_batches(int tiles) const { return device_.seconds(tiles) < host_.seconds(tiles); }

  const SweepTime& host() const { return host_; }
  const SweepTime& device() const { return device_; }

 private:
  SweepTime host_, device_;
};

}  // namespace octant::driver
