// Marks in the stream that kernels run in: what their clock reads (telemetry/kernel_clock.hpp).
#pragma once

#include <cstdint>
#include <memory>

namespace octant::telemetry {

// Pairs of marks, each around one kernel. Points in time are those of Observer::now().
class KernelEvents {
 public:
  struct Span {
    std::int64_t start_ns = 0, duration_ns = 0;
  };

  virtual ~KernelEvents() = default;

  virtual int pairs() const = 0;
  // A pair's marks go into the stream, before and after a launch. They do not wait.
  virtual void begin(int pair) = 0;
  virtual void end(int pair) = 0;
  // Whether the stream has passed both, and waiting until it has.
  virtual bool has_passed(int pair) = 0;
  virtual void wait_for(int pair) = 0;
  // Of a pair that the stream has passed since the last align().
  virtual Span span(int pair) const = 0;
  // Sets the stream's time by that of the host; waits for all that is in the stream.
  virtual void align() = 0;
};

// Of the default execution space.
std::unique_ptr<KernelEvents> make_kernel_events();

}  // namespace octant::telemetry
