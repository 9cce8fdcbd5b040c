#include "run/debug_options.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace octant {

double DebugOptions::slowness(int rank, int node) const {
  const bool named = std::find(slow_ranks.begin(), slow_ranks.end(), rank) != slow_ranks.end();
  return named || node == slow_node ? slow_factor : 1.0;
}

void DebugOptions::delay_step(double seconds_so_far) const {
  std::this_thread::sleep_for(std::chrono::duration<double>(step_seconds - seconds_so_far));
}

void declare(ParameterSchema& schema, DebugOptions& o) {
  schema.add("debug.ranks_per_node", o.ranks_per_node,
             {.meaning = "Number of consecutive ranks that are treated as one node; 0: actual "
                         "nodes of the machine",
              .min = 0});
  schema.add(
      "debug.synthetic_load", o.synthetic_load,
      {.meaning =
           "Blocks whose sweeps are artificially slowed down: \"LEVEL:KEY:FACTOR\" with a Morton "
           "key, or \"random:FRACTION:FACTOR\" for a random fraction of all blocks; "
           "FACTOR is the slow-down"});
  schema.add("debug.slow_ranks", o.slow_ranks,
             {.meaning = "Ranks whose kernels are slowed down by debug.slow_factor", .min = 0});
  schema.add(
      "debug.slow_node", o.slow_node,
      {.meaning = "Node whose ranks are slowed down by debug.slow_factor; -1: none", .min = -1});
  schema.add("debug.slow_factor", o.slow_factor,
             {.meaning = "Factor by which kernels are slowed down on debug.slow_ranks and "
                         "debug.slow_node",
              .min = 1.0});
  schema.add(
      "debug.step_seconds", o.step_seconds,
      {.unit = "s",
       .meaning = "Minimum wall-clock duration of a step; ranks sleep at the end of shorter steps",
       .min = 0});
}

SyntheticLoad::SyntheticLoad(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    std::string text = entry;
    const bool drawn = text.starts_with("random:");
    if (drawn) text = text.substr(text.find(':') + 1);
    std::replace(text.begin(), text.end(), ':', ' ');
    std::istringstream words(text);
    Block block{};
    Drawn draw{};
    if (drawn) words >> draw.share >> draw.factor;
    else words >> block.level >> block.key >> block.factor;
    const double factor = drawn ? draw.factor : block.factor;
    if (!words || !words.eof() || !(factor >= 1.0))
      throw InputError(
          "debug.synthetic_load: \"{}\": expected \"LEVEL:KEY:FACTOR\" or "
          "\"random:FRACTION:FACTOR\" with a factor of at least 1",
          entry);
    if (drawn) drawn_.push_back(draw);
    else blocks_.push_back(block);
  }
}

double SyntheticLoad::factor(int level, Key key) const {
  double factor = 1.0;
  for (const Block& block : blocks_)
    if (block.level == level && key == Key{block.key}) factor = std::max(factor, block.factor);
  for (std::size_t n = 0; n < drawn_.size(); ++n) {
    const RandomStream stream(n, static_cast<std::uint64_t>(key),
                              static_cast<std::uint32_t>(level));
    if (stream.uniform(0) < drawn_[n].share) factor = std::max(factor, drawn_[n].factor);
  }
  return factor;
}

void burn(std::int64_t nanoseconds) {
  for (const std::int64_t end = thread_cpu_ns() + nanoseconds; thread_cpu_ns() < end;) {
  }
}

}  // namespace octant
