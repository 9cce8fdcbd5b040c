// The marks of kernels that a launch waits for: on cores, or on a device whose events are not known
// here.
#include <Kokkos_Core.hpp>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)

#include <array>

#include "core/observer.hpp"
#include "telemetry/kernel_events.hpp"

namespace octant::telemetry {

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

}  // namespace octant::telemetry

#endif
