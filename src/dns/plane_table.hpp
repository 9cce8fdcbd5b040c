// Numbers of planes that kernels read.
#pragma once

#include <Kokkos_Core.hpp>

#include "dns/rows.hpp"

namespace octant::dns {

// One value per plane, made on the host and sent to the device.
template <class Value>
class PlaneTable {
 public:
  explicit PlaneTable(int planes)
      : values_("values of planes", planes), on_host_(Kokkos::create_mirror_view(values_)) {}

  Value& operator[](int k) { return on_host_(k); }
  // For the kernels that are launched from now on. Waits for those before.
  const Value* send() {
    if constexpr (k_is_host<DeviceSpace>) DeviceSpace().fence();
    Kokkos::deep_copy(values_, on_host_);
    return values_.data();
  }
  const Value* data() const { return values_.data(); }  // as they were sent

 private:
  using View = Kokkos::View<Value*, typename DeviceSpace::memory_space>;
  View values_;
  typename View::HostMirror on_host_;
};

}  // namespace octant::dns
