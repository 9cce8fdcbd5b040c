// Kernel launches over cells, and the data that kernels read. A kernel body processes one cell on
// any device. On a host, a thread processes rows of cells with SIMD; on a GPU, one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "core/guarded_memory.hpp"
#include "core/memory_transfer.hpp"
#include "core/simd.hpp"
#include "dns/domain.hpp"
#include "pencil/device_field.hpp"

namespace octant::dns {

// --- Views of fields for kernels ---

using pencil::DeviceField;
using pencil::FieldView;
using pencil::part_of;

// Views of the velocity components.
struct VelocityViews {
  FieldView u, v, w;

  KOKKOS_FUNCTION const FieldView& operator[](int component) const {
    return component == k_u ? u : component == k_v ? v : w;
  }
};

// Returns a view for kernels.
inline FieldView view_of(const DeviceField& field) { return field.view(); }
// Returns a view for threads of the host.
inline FieldView view_of(Field& field) {
  return {field.row(0, 0), field.row_stride(), field.plane_stride(),
          field.nx(),      field.ny(),         field.nz()};
}

// Returns the view at plane offset -1 of a Field, which is one plane lower in memory.
inline FieldView one_plane_lower(FieldView view) {
  view.first -= view.plane_stride;
  return view;
}

// --- Launches ---

// Execution spaces of host threads and of batches.
using HostSpace = Kokkos::DefaultHostExecutionSpace;
using DeviceSpace = Device;

// True if the host can access a space's memory.
template <class Space>
inline constexpr bool k_is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

// Location of fields, and of the threads that process them.
enum class Place { host, device };
template <Place place>
using SpaceOf = std::conditional_t<place == Place::host, HostSpace, DeviceSpace>;

// Scope object for kernel launches in an execution space; needed on the host only.
template <Place place>
struct Launch {};
// Scope of kernel launches on the host.
template <>
struct Launch<Place::host> {
  HostKernels here;
};

// Calls body(0) ... body(n - 1), in any order or concurrently.
template <class Body>
void for_each_cell(int n, const Body body) {
#if !defined(__clang__)  // clang has no such pragma
#pragma GCC ivdep
#endif
  for (int i = 0; i < n; ++i) body(i);
}

// Numbers of cells, or rows of cells, in a launch.
struct Extent {
  int nx, ny, nz;
};

// Number of cells.
inline std::int64_t cells_of(const Extent& n) { return std::int64_t{n.nx} * n.ny * n.nz; }

// Kernel over rows; a thread processes a row with SIMD.
template <class Rows>
struct RowByRow {
  Rows rows;
  int nx, ny;
  void operator()(std::int64_t row) const {
    for_each_cell(nx, rows(static_cast<int>(row / ny), static_cast<int>(row % ny)));
  }
};

// Kernel over cells.
template <class Rows>
struct CellByCell {
  Rows rows;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const { rows(k, j)(i); }
};

// Launches a kernel in a space: rows(k, j) returns the body for the cells of a row. Both functors
// run on the device. Does not wait.
template <class Space = DeviceSpace, class Rows>
void launch_cells(const char* name, Extent n, const Rows& rows) {
  if constexpr (k_is_host<Space>) {
    Kokkos::parallel_for(
        name, Kokkos::RangePolicy<typename Space::execution_space>(0, std::int64_t{n.ny} * n.nz),
        RowByRow<Rows>{rows, n.nx, n.ny});
  } else {
    using Box = Kokkos::MDRangePolicy<Kokkos::Rank<3, Kokkos::Iterate::Left>>;
    // Adjacent threads process adjacent cells.
    Kokkos::parallel_for(name, Box({0, 0, 0}, {n.nx, n.ny, n.nz}, {64, 4, 1}),
                         CellByCell<Rows>{rows});
  }
}

// Kernel over whole rows.
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

// Number of lanes of sums: SIMD lanes on a host, registers on a GPU.
inline constexpr int k_lanes = 8;

// Calls act(lane, i) for i = 0 .. n - 1, with lane = i % k_lanes.
template <class Act>
KOKKOS_FORCEINLINE_FUNCTION void for_lanes(int n, const Act& act) {
  int i = 0;
  for (; i + k_lanes <= n; i += k_lanes)
    for (int l = 0; l < k_lanes; ++l) act(l, i + l);
  for (int l = 0; l < k_lanes; ++l)
    if (i + l < n) act(l, i + l);
}

// Returns the sum over lanes. The order of summation depends only on the number of values.
KOKKOS_INLINE_FUNCTION double sum_of_lanes(const double (&lanes)[k_lanes]) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Returns the sum of n values, summed by lanes.
KOKKOS_INLINE_FUNCTION double row_sum(const double* values, int n) {
  double lanes[k_lanes] = {};
  for_lanes(n, [&](int l, int i) OCTANT_INLINE_LAMBDA { lanes[l] += values[i]; });
  return sum_of_lanes(lanes);
}

// One value per plane for kernels, written on the host and copied to the device.
template <class Value, class Space = DeviceSpace>
class PlaneTable {
 public:
  explicit PlaneTable(int planes)
      : values_("values of planes", planes), on_host_(Kokkos::create_mirror_view(values_)) {}

  Value& operator[](int k) { return on_host_(k); }
  // Copies the values to the device for later kernels. Waits for earlier kernels.
  const Value* send() {
    if constexpr (k_is_host<Space>) Kokkos::fence();
    copy_to_device(TransferKind::numbers, values_, on_host_);
    return values_.data();
  }
  const Value* data() const { return values_.data(); }  // as of the last send()

 private:
  using View = Kokkos::View<Value*, typename Space::memory_space>;
  View values_;
  typename View::HostMirror on_host_;
};

}  // namespace octant::dns
