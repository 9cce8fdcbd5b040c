// The time of kernels, added up by step, level, name and the part of the program they are of.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/kernel_work.hpp"
#include "telemetry/kernel_clock.hpp"
#include "telemetry/measured_rows.hpp"

namespace octant::telemetry {

// A kernel belongs to the step that launched it, whenever it ends. Steps never go back.
class KernelTable {
 public:
  explicit KernelTable(std::unique_ptr<KernelEvents> events);

  // Around a launch. A detailed one is told of by itself, too.
  std::uint64_t begin(const LaunchRow& launch, bool detailed);
  void end(std::uint64_t launch) { clock_.end(launch); }

  // What kernels of this name, part and level work through in this step.
  void add_work(const LaunchRow& launch, const KernelWork& work);

  // Adds what has ended, and waits for nothing.
  void look() { clock_.look(); }

  // Waits for all kernels, and gives away the rows of the steps up to `last`.
  void take(std::int64_t last, const std::function<void(const KernelRow&)>& kernel,
            const std::function<void(const LaunchRow&)>& launch);

 private:
  struct Launch {
    std::size_t row;
    LaunchRow facts;
    bool detailed;
  };
  std::size_t find(const LaunchRow& launch);
  void add(const KernelEvents::Span& span);

  std::vector<KernelRow> rows_;
  std::vector<LaunchRow> launches_;                        // detailed ones that have ended
  std::unordered_map<std::uint64_t, std::size_t> places_;  // in rows_, of the last step
  std::int64_t step_ = -1;
  std::deque<Launch> flying_;  // oldest first
  KernelClock clock_;
};

}  // namespace octant::telemetry
