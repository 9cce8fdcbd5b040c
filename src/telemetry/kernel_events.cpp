// Time marks of kernels: CUDA or HIP events in GPU streams; otherwise, on CPU cores or on
// unsupported devices, host times with a fence.
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/gpu_runtime.hpp"
#include "core/observer.hpp"
#include "telemetry/kernel_table.hpp"

namespace octant::telemetry {

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)

namespace {

void check(gpu::Result result, const char* what) {
  if (result != gpu::k_success)
    throw RunError(
        "the GPU could not {}: {}; set telemetry.enabled = false to run without telemetry", what,
        gpu::describe(result));
}

class Mark {
 public:
  Mark() { check(gpu::create_event(&event_), "create an event"); }
  ~Mark() { static_cast<void>(gpu::destroy_event(event_)); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  void record() { check(gpu::record_event(event_), "record an event"); }
  void wait() const { check(gpu::await_event(event_), "wait for an event"); }
  bool has_passed() const {
    const gpu::Result result = gpu::query_event(event_);
    if (result != gpu::k_not_ready) check(result, "query an event");
    return result == gpu::k_success;
  }
  // Time to a later mark; both have been passed. Resolution half a microsecond, or float precision.
  std::int64_t nanoseconds_until(const Mark& later) const {
    float ms = 0.0F;
    check(gpu::elapsed(&ms, event_, later.event_), "measure the time between events");
    return std::llround(1e6 * static_cast<double>(ms));
  }

 private:
  gpu::Event event_{};
};

class DeviceEvents final : public KernelEvents {
 public:
  DeviceEvents() { align(); }

  int pairs() const override { return static_cast<int>(pairs_.size()); }
  void begin(int pair) override { pairs_[pair].begin.record(); }
  void end(int pair) override { pairs_[pair].end.record(); }
  bool has_passed(int pair) override { return pairs_[pair].end.has_passed(); }
  void wait_for(int pair) override { pairs_[pair].end.wait(); }
  Span span(int pair) const override {
    const auto& [begin, end] = pairs_[pair];
    return {aligned_ns_ + aligned_.nanoseconds_until(begin), begin.nanoseconds_until(end)};
  }
  void align() override {
    aligned_.record();
    aligned_.wait();
    aligned_ns_ = Observer::now();
  }

 private:
  // A stream holds about a thousand launches, so the host waits before it is two thousand ahead.
  struct Pair {
    Mark begin, end;
  };
  std::array<Pair, 2048> pairs_;
  Mark aligned_;
  std::int64_t aligned_ns_ = 0;
};

}  // namespace

std::unique_ptr<KernelEvents> make_kernel_events() { return std::make_unique<DeviceEvents>(); }

#else

namespace {

class HostEvents final : public KernelEvents {
 public:
  int pairs() const override { return static_cast<int>(spans_.size()); }
  void begin(int pair) override { spans_[pair].start_ns = Observer::now(); }
  void end(int pair) override {
    spans_[pair].duration_ns = Observer::now() - spans_[pair].start_ns;
  }
  bool has_passed(int) override { return true; }
  void wait_for(int) override {}
  Span span(int pair) const override { return spans_[pair]; }
  void align() override {}

 private:
  std::array<Span, 16> spans_{};
};

}  // namespace

std::unique_ptr<KernelEvents> make_kernel_events() { return std::make_unique<HostEvents>(); }

#endif

}  // namespace octant::telemetry
