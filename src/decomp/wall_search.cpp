#include "decomp/wall_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace octant {
namespace {

constexpr std::int64_t k_histogram_bins = 1 << 17;  // 1 MiB
constexpr std::int64_t k_max_bins = 256;            // per interval
constexpr std::int64_t k_min_bins = 8;

// Wall that is not yet final: it lies within [low, high], and the points below `low` cost
// `cost_below`. `target` is the required cost below the wall. Shares are those of WallRules.
struct Wall {
  // sum of the shares of all parts below the wall; smaller share of the two adjacent parts
  std::int32_t share_below, smaller_share;
  Key low, high;
  std::int64_t cost_below = 0;
  std::int64_t target = -1;  // unknown before the first pass
  bool found = false;
};

// Range of the line that contains one or more walls, and its bins in the histogram.
struct Interval {
  Key low, high;
  Key bin_width;
  std::int64_t first_bin;

  std::int64_t bins() const {
    return static_cast<std::int64_t>((high - low + bin_width - 1) / bin_width);
  }
  std::int64_t bin_of(Key position) const {
    return first_bin + static_cast<std::int64_t>((position - low) / bin_width);
  }
};

class WallSearch {
 public:
  WallSearch(const LineRange& line, std::span<const LinePoint> points, const WallRules& rules,
             const Reduction::Operation& sum)
      : line_(line),
        points_(points),
        rules_(rules),
        sum_(sum),
        all_shares_(std::accumulate(rules.shares.begin(), rules.shares.end(), 0)) {
    std::int32_t below = 0;
    for (std::size_t part = 0; part + 1 < rules.shares.size(); ++part) {
      below += rules.shares[part];
      Wall wall{below, std::min(rules.shares[part], rules.shares[part + 1]), line.begin, line.end};
      if (below == 0) wall.high = line.begin;
      if (below == all_shares_) wall.low = line.end;
      wall.found = wall.low == wall.high;
      walls_.push_back(wall);
    }
  }

  std::vector<Key> run() {
    for (choose_intervals(); !intervals_.empty(); choose_intervals()) {
      sum_histogram();
      narrow_walls();
    }
    std::vector<Key> positions;
    positions.reserve(walls_.size());
    for (const Wall& wall : walls_) {
      positions.push_back(std::clamp(wall.low, line_.begin, line_.end));
    }
    return positions;
  }

 private:
  // Chooses intervals; consecutive walls in the same range share one.
  void choose_intervals() {
    intervals_.clear();
    interval_of_wall_.assign(walls_.size(), -1);
    for (std::size_t w = 0; w < walls_.size(); ++w) {
      const Wall& wall = walls_[w];
      if (wall.found) continue;
      const bool shared = !intervals_.empty() && intervals_.back().low == wall.low;
      if (!shared) intervals_.push_back({wall.low, wall.high, 0, 0});
      interval_of_wall_[w] = static_cast<std::int64_t>(intervals_.size()) - 1;
    }
    choose_bins();
  }

  void choose_bins() {
    if (intervals_.empty()) return;
    const std::int64_t most = std::clamp(
        k_histogram_bins / static_cast<std::int64_t>(intervals_.size()), k_min_bins, k_max_bins);
    std::int64_t bins = 0;
    for (Interval& interval : intervals_) {
      const Key width = interval.high - interval.low;
      interval.bin_width = next_grain(width);
      while (interval.bin_width < width / static_cast<Key>(most)) interval.bin_width *= 2;
      interval.low -= interval.low % interval.bin_width;
      interval.first_bin = bins;
      bins += interval.bins();
    }
    histogram_.assign(bins, 0);
  }

  // Returns the coarsest grain that has not been tried on a range of this width.
  Key next_grain(Key width) const {
    for (const Key grain : rules_.grains) {
      if (grain < width) return grain;
    }
    return 1;
  }

  void sum_histogram() {
    for (const LinePoint& point : points_) {
      const auto after = std::upper_bound(
          intervals_.begin(), intervals_.end(), point.position,
          [](Key position, const Interval& interval) { return position < interval.low; });
      if (after == intervals_.begin() || point.position >= std::prev(after)->high) continue;
      histogram_[std::prev(after)->bin_of(point.position)] += point.cost;
    }
    sum_(histogram_);
  }

  void narrow_walls() {
    std::int64_t bin = 0, cost_below = 0;
    for (std::size_t w = 0; w < walls_.size(); ++w) {
      if (walls_[w].found) continue;
      const Interval& interval = intervals_[interval_of_wall_[w]];
      const bool same_as_before = w > 0 && interval_of_wall_[w - 1] == interval_of_wall_[w];
      if (!same_as_before) {
        bin = 0;
        cost_below = walls_[w].cost_below;
      }
      narrow(walls_[w], interval, bin, cost_below);
    }
  }

  // Finds the first bin at whose end the cost reaches the wall's target. Starts at `bin` of the
  // previous wall, below which the cost is `cost_below`.
  void narrow(Wall& wall, const Interval& interval, std::int64_t& bin, std::int64_t& cost_below) {
    const std::int64_t* cost = histogram_.data() + interval.first_bin;
    if (wall.target < 0) set_target(wall, interval);
    while (bin + 1 < interval.bins() && cost_below + cost[bin] < wall.target) {
      cost_below += cost[bin++];
    }
    wall.low = interval.low + static_cast<Key>(bin) * interval.bin_width;
    wall.high = wall.low + interval.bin_width;
    wall.cost_below = cost_below;
    accept_end_of_bin(wall, cost[bin]);
  }

  // Sets the required cost below a wall. Must be called in the first pass, when the interval is the
  // whole line.
  void set_target(Wall& wall, const Interval& interval) const {
    std::int64_t total = 0;
    for (std::int64_t n = 0; n < interval.bins(); ++n) total += histogram_[interval.first_bin + n];
    wall.target =
        static_cast<std::int64_t>(static_cast<__int128>(total) * wall.share_below / all_shares_);
  }

  // Accepts the better end of the wall's bin if the bin is a grain wide and the end meets the
  // tolerance, or if no finer grain exists.
  void accept_end_of_bin(Wall& wall, std::int64_t cost_of_bin) const {
    const Key width = wall.high - wall.low;
    if (std::find(rules_.grains.begin(), rules_.grains.end(), width) == rules_.grains.end()) return;
    const std::int64_t too_low = wall.target - wall.cost_below;
    const std::int64_t too_high = cost_of_bin - too_low;
    const std::int64_t error = std::min(too_low, std::abs(too_high));
    // Half of a part's tolerance, because a part lies between two walls.
    const double ideal_part =
        static_cast<double>(wall.target) / wall.share_below * wall.smaller_share;
    if (width > 1 && static_cast<double>(error) > 0.5 * rules_.tolerance * ideal_part) return;
    if (std::abs(too_high) < too_low) wall.low = wall.high;
    wall.found = true;
  }

  LineRange line_;
  std::span<const LinePoint> points_;
  const WallRules& rules_;
  const Reduction::Operation& sum_;
  std::int32_t all_shares_;
  std::vector<Wall> walls_;
  std::vector<Interval> intervals_;
  std::vector<std::int64_t> interval_of_wall_;
  std::vector<std::int64_t> histogram_;
};

}  // namespace

std::vector<Key> find_walls(const LineRange& line, std::span<const LinePoint> points,
                            const WallRules& rules, const Reduction::Operation& sum) {
  return WallSearch(line, points, rules, sum).run();
}

}  // namespace octant
