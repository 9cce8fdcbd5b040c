// Counts kernels, and where the host waits for them, through Kokkos' hooks.
#pragma once

#include <Kokkos_Core.hpp>

namespace octant::test {

// While it lives; one at a time.
class KernelWatch {
 public:
  KernelWatch() {
    launches_ = waits_ = 0;
    under_way_ = false;
    set(launched, fenced);
  }
  ~KernelWatch() { set(nullptr, nullptr); }
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  int launches() const { return launches_; }
  // A fence where no kernel was launched since the last one costs nothing.
  int waits() const { return waits_; }

 private:
  static void launched(const char*, std::uint32_t, std::uint64_t*) {
    ++launches_;
    under_way_ = true;
  }
  static void fenced(const char*, std::uint32_t, std::uint64_t*) {
    waits_ += under_way_;
    under_way_ = false;
  }
  static void set(Kokkos_Profiling_beginFunction launch,
                  Kokkos_Profiling_beginFenceFunction fence) {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(launch);
    tools::set_begin_parallel_reduce_callback(launch);
    tools::set_begin_parallel_scan_callback(launch);
    tools::set_begin_fence_callback(fence);
  }

  inline static int launches_, waits_;
  inline static bool under_way_;
};

}  // namespace octant::test
