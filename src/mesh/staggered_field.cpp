#include "mesh/staggered_field.hpp"

#include "core/memory_transfer.hpp"

namespace octant::mesh {

namespace {

// Points of a component in some blocks, [block][k][j][i].
struct ComponentPoints {
  DeviceArray<const OwnBlock> blocks;
  int component;
  Kokkos::Array<int, 3> extents;

  ComponentPoints(const StaggeredField& field, const DeviceArray<const OwnBlock>& blocks,
                  int component)
      : blocks(blocks), component(component) {
    const int N = field.layout().cells;
    const auto of_block = field.info().component(component).extents({N, N, N});
    for (int d = 0; d < 3; ++d) extents[d] = of_block[d];
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t per_block() const {
    return std::int64_t{extents[0]} * extents[1] * extents[2];
  }
  std::int64_t count() const { return static_cast<std::int64_t>(blocks.extent(0)) * per_block(); }
  KOKKOS_FORCEINLINE_FUNCTION double& find(const StaggeredView& view, std::int64_t n) const {
    const auto m = static_cast<int>(n % per_block());
    return view(blocks(n / per_block()).slot, component, m % extents[0],
                m / extents[0] % extents[1], m / (extents[0] * extents[1]));
  }
};

}  // namespace

std::vector<double> read_component(const StaggeredField& field, int level,
                                   const DeviceArray<const OwnBlock>& blocks, int component) {
  const ComponentPoints points(field, blocks, component);
  const StaggeredView view = field.view(level);
  std::vector<double> values(static_cast<std::size_t>(points.count()));
  const auto host = host_view(values);
  const auto gathered = Kokkos::create_mirror_view(DeviceSpace{}, host);
  for_items(
      {"gather component"}, points.count(),
      KOKKOS_LAMBDA(std::int64_t n) { gathered(n) = points.find(view, n); });
  copy_to_host(TransferKind::files, host, gathered);
  return values;
}

void write_component(const StaggeredField& field, int level,
                     const DeviceArray<const OwnBlock>& blocks, int component,
                     const std::vector<double>& values) {
  const ComponentPoints points(field, blocks, component);
  const StaggeredView view = field.view(level);
  const auto from = to_device("component", values);
  for_items(
      {"scatter component"}, points.count(),
      KOKKOS_LAMBDA(std::int64_t n) { points.find(view, n) = from(n); });
}

}  // namespace octant::mesh
