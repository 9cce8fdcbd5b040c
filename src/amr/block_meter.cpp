#include "amr/block_meter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "comm/route.hpp"
#include "core/clock.hpp"
#include "core/compiler.hpp"
#include "core/memory_transfer.hpp"
#include "core/observer.hpp"

namespace octant {

namespace {

constexpr double k_weight_of_new = 0.3;  // weight in the moving average of costs
constexpr double k_lost_fraction =
    0.005;  // fraction of the wall-clock time: accuracy of the clocks

struct MeasuredCost {
  Key key;
  std::int16_t level;
  bool measured;  // true: for the block; false: for its parent
  float nanoseconds;
};

}  // namespace

void remove_preemption(std::vector<double>& times, double excess) {
  if (times.empty()) return;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  const double median = times[order[order.size() / 2]];
  for (const std::size_t n : order) {
    const double cut = std::min(excess, times[n] - median);
    if (cut <= 0.0) return;
    times[n] -= cut;
    excess -= cut;
  }
}

BlockMeter::BlockMeter(const mesh::Mesh& mesh, const SyntheticLoad& load, double slowness,
                       bool waits)
    : mesh_(mesh),
      load_(load),
      slowness_(slowness),
      waits_(waits),
      levels_(mesh.geometry().max_level() + 1),
      level_times_(levels_.size()) {}

double BlockMeter::Cost::total() const {
  return std::accumulate(nanoseconds.begin(), nanoseconds.end(), 0.0);
}

void BlockMeter::begin_step() {
  for (int l = 0; l < std::ssize(levels_); ++l) {
    Level& level = levels_[l];
    const int tiles = mesh_.halo(l).tiles.count(), slots = mesh_.blocks(l).slots();
    if (static_cast<int>(level.tile_cycles.extent(0)) != tiles)
      level.tile_cycles = mesh::zeros<std::uint64_t>("tile cycles", tiles);
    else fill(level.tile_cycles, std::uint64_t{0});
    level.wall_ns = level.cpu_ns = 0.0;
    level.updates = 0;
    level.burnt_ns.assign(slots, 0.0);
    level.costs.assign(slots, {});
    for (auto& cycles : level.block_cycles) std::fill(cycles.begin(), cycles.end(), 0);
  }
  for (PartTimes& part : parts_) {
    part.cpu_ns.assign(levels_.size(), 0.0);
    part.wall_ns = 0.0;
  }
  begun_cycles_ = cycle_count();
  begun_ns_ = Observer::now();
}

PartTimes& BlockMeter::part(const std::string& name, const CostKind& kind) {
  for (PartTimes& known : parts_)
    if (known.name == name && known.kind == kind) return known;
  parts_.push_back({name, kind, std::vector<double>(levels_.size(), 0.0)});
  return parts_.back();
}

PartTimer BlockMeter::time(const std::string& name, const CostKind& kind, int level) {
  return PartTimer(part(name, kind), level, waits_);
}

std::span<std::uint64_t> BlockMeter::block_cycles(const std::string& name, const CostKind& kind,
                                                  int level) {
  if (!k_device_is_host || !kind.counts_cycles) return {};
  const PartTimes& wanted = part(name, kind);
  std::size_t number = 0;
  while (&parts_[number] != &wanted) ++number;
  auto& counters = levels_[level].block_cycles;
  if (counters.size() < parts_.size()) counters.resize(parts_.size());
  counters[number].resize(mesh_.blocks(level).slots(), 0);
  return counters[number];
}

std::int64_t BlockMeter::cells(int level, int begin, int end) const {
  const mesh::LevelHalo& halo = mesh_.halo(level);
  const std::int64_t side = std::min(halo.tiles.block_size, halo.tiles.patch);
  return side * side * side * (halo.tile_slot_begin[end] - halo.tile_slot_begin[begin]);
}

SweepTimer::SweepTimer(BlockMeter& meter, int level, int begin, int end)
    : meter_(meter),
      level_(level),
      begin_(begin),
      end_(end),
      wall_(Observer::now()),
      cpu_(thread_cpu_ns()) {}

SweepTimer::~SweepTimer() {
  const auto cpu = static_cast<double>(thread_cpu_ns() - cpu_);
  meter_.record_sweep(level_, begin_, end_, static_cast<double>(Observer::now() - wall_), cpu);
}

void BlockMeter::record_sweep(int level, int begin, int end, double wall_ns, double cpu_ns) {
  Level& l = levels_[level];
  l.wall_ns += wall_ns;
  l.cpu_ns += cpu_ns;
  if (slowness_ > 1.0) {
    burn(static_cast<std::int64_t>((slowness_ - 1.0) * cpu_ns));
    l.cpu_ns += (slowness_ - 1.0) * cpu_ns;
    l.wall_ns += (slowness_ - 1.0) * cpu_ns;
  }
  if (begin < end && !load_.is_empty()) burn_synthetic_load(level, begin, end, cpu_ns);
}

// Spends the additional time of blocks with synthetic load, relative to these tiles' average.
void BlockMeter::burn_synthetic_load(int level, int begin, int end, double cpu_ns) {
  const mesh::LevelHalo& halo = mesh_.halo(level);
  const int first = halo.tile_slot_begin[begin], last = halo.tile_slot_begin[end];
  const double share = cpu_ns / std::max(1, last - first);
  for (int n = first; n < last; ++n) {
    const int slot = halo.tile_slots[n];
    const double factor = load_.factor(level, mesh_.blocks(level).key(slot));
    if (factor == 1.0) continue;
    const std::int64_t before = thread_cpu_ns();
    burn(static_cast<std::int64_t>((factor - 1.0) * share));
    levels_[level].burnt_ns[slot] += static_cast<double>(thread_cpu_ns() - before);
  }
}

void BlockMeter::end_step(const BlockCounts& particles) {
  for (int l = 0; l < std::ssize(levels_); ++l) distribute_sweeps(l);
  distribute_parts(particles);
  for (int l = 0; l < std::ssize(levels_); ++l) smooth(l);
  add_up_levels();
}

// Returns the CPU time of the sweeps of each tile, in proportion to its cycle counter.
std::vector<double> BlockMeter::tile_nanoseconds(const Level& level) const {
  const auto cycles = on_host(TransferKind::numbers, level.tile_cycles);
  std::vector<double> times(cycles.extent(0));
  for (std::size_t t = 0; t < times.size(); ++t) times[t] = static_cast<double>(cycles(t));
  const auto total = [&] { return std::accumulate(times.begin(), times.end(), 0.0); };
  const double lost = level.wall_ns > 0.0 ? 1.0 - level.cpu_ns / level.wall_ns : 0.0;
  if (lost > k_lost_fraction && Kokkos::DefaultExecutionSpace().concurrency() == 1)
    remove_preemption(times, lost * total());
  const double sum = total();
  for (double& time : times) time *= sum > 0.0 ? level.cpu_ns / sum : 0.0;
  return times;
}

void BlockMeter::distribute_sweeps(int l) {
  Level& level = levels_[l];
  const mesh::LevelHalo& halo = mesh_.halo(l);
  const mesh::TreeLevel& blocks = mesh_.blocks(l);
  const std::vector<double> times = tile_nanoseconds(level);
  for (std::size_t t = 0; t < times.size(); ++t) {
    const int begin = halo.tile_slot_begin[t], end = halo.tile_slot_begin[t + 1];
    for (int n = begin; n < end; ++n)
      level.costs[halo.tile_slots[n]][CostComponent::sweeps] += times[t] / (end - begin);
  }
  const double cells = std::pow(mesh_.layout().block_size, 3);
  for (const int slot : blocks.own()) {
    Cost& cost = level.costs[slot];
    cost[CostComponent::sweeps] += level.burnt_ns[slot];
    cost.updates = level.updates;
    cost.work = level.updates * cells * load_.factor(l, blocks.key(slot));
  }
}

void BlockMeter::distribute_parts(const BlockCounts& particles) {
  BlockContents contents{.particles = particles, .leaf_octants = {}};
  for (int l = 0; l < std::ssize(levels_); ++l) {
    auto& leaves = contents.leaf_octants.emplace_back();
    for (const int slot : mesh_.blocks(l).own())
      leaves.push_back(8 - std::popcount(mesh_.blocks(l).refined(slot)));
  }
  const auto cycles = static_cast<double>(cycle_count() - begun_cycles_);
  const double ns_per_cycle =
      cycles > 0.0 ? static_cast<double>(Observer::now() - begun_ns_) / cycles : 0.0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    parts_[p].counted = counted_times(p, ns_per_cycle);
    const auto shares = distribute_time(parts_[p], contents);
    for (int l = 0; l < std::ssize(levels_); ++l) {
      const auto own = mesh_.blocks(l).own();
      for (std::size_t n = 0; n < own.size(); ++n)
        levels_[l].costs[own[n]][parts_[p].kind.component] += shares[l][n];
    }
  }
}

// Time of counted loops of a part by level and own block, without preemption of the thread; empty
// if nothing was counted. Cycles are divided by the number of threads, which run concurrently.
ByBlock<double> BlockMeter::counted_times(std::size_t part, double ns_per_cycle) const {
  const int threads = Kokkos::DefaultExecutionSpace().concurrency();
  std::vector<double> times;
  for (int l = 0; l < std::ssize(levels_); ++l)
    for (const int slot : mesh_.blocks(l).own()) {
      const bool counts =
          part < levels_[l].block_cycles.size() && slot < std::ssize(levels_[l].block_cycles[part]);
      const std::uint64_t cycles = counts ? levels_[l].block_cycles[part][slot] : 0;
      times.push_back(ns_per_cycle / threads * static_cast<double>(cycles));
    }
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  if (total == 0.0) return {};
  const double wall = parts_[part].wall_ns;
  const double lost = wall > 0.0 ? 1.0 - parts_[part].total() / wall : 0.0;
  if (lost > k_lost_fraction && threads == 1) remove_preemption(times, lost * total);
  ByBlock<double> counted;
  auto next = times.begin();
  for (int l = 0; l < std::ssize(levels_); ++l) {
    const auto blocks = std::ssize(mesh_.blocks(l).own());
    counted.emplace_back(next, next + blocks);
    next += blocks;
  }
  return counted;
}

void BlockMeter::add_up_levels() {
  last_step_.assign(levels_.size(), 0.0);
  for (int l = 0; l < std::ssize(levels_); ++l) {
    const auto own = mesh_.blocks(l).own();
    for (const int slot : own) last_step_[l] += levels_[l].costs[slot].total();
    level_times_[l].nanoseconds += std::llround(last_step_[l]);
    level_times_[l].updates += std::int64_t{levels_[l].updates} * std::ssize(own);
  }
}

std::vector<LevelTime> BlockMeter::take_level_times() {
  return std::exchange(level_times_, std::vector<LevelTime>(level_times_.size()));
}

void BlockMeter::smooth(int l) {
  Level& level = levels_[l];
  const mesh::TreeLevel& blocks = mesh_.blocks(l);
  if (level.updates == 0) return;
  KeyTable<float> smoothed_now;
  smoothed_now.reserve(blocks.own().size());
  for (const int slot : blocks.own()) {
    const double measured = level.costs[slot].total() / level.updates;
    const float* before = level.smoothed.find(blocks.key(slot));
    const double mean = before ? *before + k_weight_of_new * (measured - *before) : measured;
    smoothed_now.insert(blocks.key(slot), static_cast<float>(mean));
  }
  level.smoothed = std::move(smoothed_now);
  level.inherited.clear();
}

double BlockMeter::smoothed(int level, Key key) const {
  for (; level >= 0; --level, key = parent_key(key)) {
    if (const float* known = levels_[level].smoothed.find(key)) return *known;
    if (const float* known = levels_[level].inherited.find(key)) return *known;
  }
  return 0.0;
}

double BlockMeter::work() const {
  double sum = 0.0;
  for (const Level& level : levels_)
    for (const Cost& cost : level.costs) sum += cost.work;
  return sum;
}

void BlockMeter::migrate(const std::vector<std::vector<int>>& owners) {
  std::vector<int> targets;
  std::vector<MeasuredCost> leaving;
  for (int l = 0; l < std::ssize(levels_); ++l) {
    const mesh::TreeLevel& blocks = mesh_.blocks(l);
    for (std::size_t n = 0; n < blocks.own().size(); ++n) {
      const Key key = blocks.key(blocks.own()[n]);
      const double known = smoothed(l, key);
      if (known == 0.0) continue;
      targets.push_back(owners[l][n]);
      leaving.push_back({key, static_cast<std::int16_t>(l), levels_[l].smoothed.contains(key),
                         static_cast<float>(known)});
    }
  }
  const auto arriving = route<MeasuredCost>(mesh_.communicator(), targets, leaving);
  for (Level& level : levels_) {
    level.smoothed.clear();
    level.inherited.clear();
  }
  for (const MeasuredCost& cost : arriving.items) {
    Level& level = levels_[cost.level];
    (cost.measured ? level.smoothed : level.inherited).insert(cost.key, cost.nanoseconds);
  }
}

}  // namespace octant
