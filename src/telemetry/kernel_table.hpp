// Kernel times, summed by step, level, name and task.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/observer.hpp"
#include "telemetry/measured_rows.hpp"

namespace octant::telemetry {

// Pairs of marks in the kernel stream, each around one kernel. Times are those of Observer::now().
class KernelEvents {
 public:
  // Time span of a kernel.
  struct Span {
    std::int64_t start_ns = 0, duration_ns = 0;
  };

  virtual ~KernelEvents() = default;

  // Number of pairs of marks.
  virtual int pairs() const = 0;
  // Inserts a pair's first mark into the stream, before a launch. Does not wait.
  virtual void begin(int pair) = 0;
  // Inserts a pair's second mark into the stream, after a launch. Does not wait.
  virtual void end(int pair) = 0;
  // Returns true if the stream has passed both marks.
  virtual bool has_passed(int pair) = 0;
  // Waits until the stream has passed both marks.
  virtual void wait_for(int pair) = 0;
  // Time span of a pair that the stream has passed since the last align().
  virtual Span span(int pair) const = 0;
  // Synchronises the clocks of stream and host; waits for all work in the stream.
  virtual void align() = 0;
};

// Creates events for the default execution space.
std::unique_ptr<KernelEvents> make_kernel_events();

// Times kernels at their execution, which may be later than their launch.

// Launches are numbered from 0 on and reported in that order. The number of unreported launches is
// at most the number of pairs of marks; then the next launch waits for the oldest.
class KernelClock {
 public:
  using ReportSpan = std::function<void(const KernelEvents::Span&)>;

  // The functions below call `report` for each kernel that has ended.
  KernelClock(std::unique_ptr<KernelEvents> events, ReportSpan report);

  // Begins a launch, and returns its number; launches may be nested.
  std::uint64_t begin();
  // Ends a launch.
  void end(std::uint64_t launch);

  // Reports the launches that have ended, without waiting.
  void poll();
  // Waits for all launches and synchronises device and host clocks. No launch may be open.
  void finish();

 private:
  int pair_of(std::uint64_t launch) const { return static_cast<int>(launch % is_open_.size()); }
  void report_oldest();

  std::unique_ptr<KernelEvents> events_;
  ReportSpan report_;
  std::vector<bool> is_open_;  // true until the pair's launch has ended
  std::uint64_t oldest_ = 0, next_ = 0;
};

// Kernel times by step. A kernel belongs to the step that launched it, whenever it ends. Steps
// ascend.
class KernelTable {
 public:
  explicit KernelTable(std::unique_ptr<KernelEvents> events);

  // Begins a launch, and returns its number. Detailed and sampled launches are also reported
  // individually.
  std::uint64_t begin(const LaunchRow& launch);
  // Ends a launch.
  void end(std::uint64_t launch) { clock_.end(launch); }

  // Adds the work of kernels of this name, task and level in this step.
  void add_work(const LaunchRow& launch, const KernelWork& work);

  // Adds the launches that have ended, without waiting.
  void poll() { clock_.poll(); }

  // Waits for all kernels and hands over the rows of the steps up to `last`.
  void take(std::int64_t last, const std::function<void(const KernelRow&)>& kernel,
            const std::function<void(const LaunchRow&)>& launch);

 private:
  struct Launch {
    std::size_t row;
    LaunchRow attributes;
  };
  std::size_t find(const LaunchRow& launch);
  void add(const KernelEvents::Span& span);

  std::vector<KernelRow> rows_;
  std::vector<LaunchRow> launches_;  // individual ones that have ended
  // index in rows_, for the last step
  std::unordered_map<std::uint64_t, std::size_t> row_of_kernel_;
  std::int64_t step_ = -1;
  std::deque<Launch> pending_;  // oldest first
  KernelClock clock_;
};

}  // namespace octant::telemetry
