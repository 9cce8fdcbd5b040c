// How kernels run over cells, and what they read: their bodies, one cell each, are written for any
// device. On a host, a thread works on rows, whose cells fill the machine's vectors; on a GPU, on
// one cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/pack.hpp"
#include "core/residency.hpp"
#include "dns/domain.hpp"
#include "pencil/device_field.hpp"

namespace octant::dns {

// --- Fields as kernels see them ---

using pencil::DeviceField;
using pencil::FieldView;
using pencil::part_of;

struct VelocityViews {
  FieldView u, v, w;

  KOKKOS_FUNCTION const FieldView& operator[](int component) const {
    return component == k_u ? u : component == k_v ? v : w;
  }
};

// For threads of the host.
inline FieldView view_of(Field& field) {
  return {field.row(0, 0), field.row_stride(), field.plane_stride(),
          field.nx(),      field.ny(),         field.nz()};
}

// --- Launches ---

// Where fields of host threads lie and are worked on, and where those of batches do.
using HostSpace = Kokkos::DefaultHostExecutionSpace;
using DeviceSpace = Device;

// Whether a space's threads are those of the host.
template <class Space>
inline constexpr bool k_is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

// body(0) ... body(n - 1), in any order or at once.
template <class Body>
void for_each_cell(int n, const Body body) {
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) body(i);
}

// Cells, or rows of cells, that a kernel is launched for.
struct Extent {
  int nx, ny, nz;
};

inline std::int64_t cells_of(const Extent& n) { return std::int64_t{n.nx} * n.ny * n.nz; }

template <class Rows>
struct RowByRow {
  Rows rows;
  int nx, ny;
  void operator()(std::int64_t row) const {
    for_each_cell(nx, rows(static_cast<int>(row / ny), static_cast<int>(row % ny)));
  }
};

template <class Rows>
struct CellByCell {
  Rows rows;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const { rows(k, j)(i); }
};

// Launches a kernel in the device's space: rows(k, j) makes the body of a row. Both are functions
// of the device. Does not wait.
template <class Rows>
void launch_cells(const char* name, Extent n, const Rows& rows) {
  if constexpr (k_is_host<DeviceSpace>) {
    Kokkos::parallel_for(name, Kokkos::RangePolicy<>(0, std::int64_t{n.ny} * n.nz),
                         RowByRow<Rows>{rows, n.nx, n.ny});
  } else {
    using Box = Kokkos::MDRangePolicy<Kokkos::Rank<3, Kokkos::Iterate::Left>>;
    // Threads side by side take cells side by side.
    Kokkos::parallel_for(name, Box({0, 0, 0}, {n.nx, n.ny, n.nz}, {64, 4, 1}),
                         CellByCell<Rows>{rows});
  }
}

template <class Body>
struct OnRows {
  Body body;
  int ny;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    body(static_cast<int>(row / ny), static_cast<int>(row % ny));
  }
};

// Launches body(k, j) for whole rows, each by one thread of a space. Does not wait.
template <class Space, class Body>
void launch_rows(const char* name, int ny, int nz, const Body& body) {
  Kokkos::parallel_for(
      name, Kokkos::RangePolicy<typename Space::execution_space>(0, std::int64_t{ny} * nz),
      OnRows<Body>{body, ny});
}

// Calls act(lane, i) for i = 0 .. n - 1. Lanes are the machine's vectors on a host, registers on a
// GPU.
inline constexpr int k_lanes = 8;

template <class Act>
KOKKOS_FORCEINLINE_FUNCTION void for_lanes(int n, const Act& act) {
  int i = 0;
  for (; i + k_lanes <= n; i += k_lanes)
    for (int l = 0; l < k_lanes; ++l) act(l, i + l);
  for (int l = 0; l < k_lanes; ++l)
    if (i + l < n) act(l, i + l);
}

// The sum of n numbers in an order that depends on n alone: by lanes, then over these.
KOKKOS_INLINE_FUNCTION double sum_of_lanes(const double (&lanes)[k_lanes]) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

KOKKOS_INLINE_FUNCTION double row_sum(const double* values, int n) {
  double lanes[k_lanes] = {};
  for_lanes(n, [&](int l, int i) OCTANT_INLINE_LAMBDA { lanes[l] += values[i]; });
  return sum_of_lanes(lanes);
}

// What kernels read of planes: one value for each, made on the host and sent to the device.
template <class Value>
class PlaneTable {
 public:
  explicit PlaneTable(int planes)
      : values_("values of planes", planes), on_host_(Kokkos::create_mirror_view(values_)) {}

  Value& operator[](int k) { return on_host_(k); }
  // For the kernels that are launched from now on. Waits for those before.
  const Value* send() {
    if constexpr (k_is_host<DeviceSpace>) Kokkos::fence();
    copy_to_device(Cargo::numbers, values_, on_host_);
    return values_.data();
  }
  const Value* data() const { return values_.data(); }  // as they were sent

 private:
  using View = Kokkos::View<Value*, typename DeviceSpace::memory_space>;
  View values_;
  typename View::HostMirror on_host_;
};

}  // namespace octant::dns
