// Fields on the faces and edges of blocks, such as a magnetic field and its electromotive forces.
// mesh/face_transfer.hpp moves them between blocks and levels.
#pragma once

#include <utility>
#include <vector>

#include "mesh/cell_range.hpp"
#include "mesh/device.hpp"
#include "mesh/field_info.hpp"
#include "mesh/launch.hpp"

namespace octant::mesh {

// Layout of the three components of `cells`^3 cells and `ghosts` layers around them,
// [slot][component][k][j][i]. Along every axis indices run from -ghosts to cells + ghosts,
// inclusive.
struct StaggeredLayout {
  int cells = 0, ghosts = 0;
  std::int64_t side = 0, stride_component = 0, stride_slot = 0;

  StaggeredLayout() = default;
  StaggeredLayout(int cells, int ghosts)
      : cells(cells),
        ghosts(ghosts),
        side(cells + 2 * ghosts + 1),
        stride_component(side * side * side),
        stride_slot(3 * stride_component) {}
};

// One level of a staggered field, for kernels.
struct StaggeredView {
  double* data = nullptr;
  StaggeredLayout layout;

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(int slot, int component, int i, int j,
                                                 int k) const {
    const int g = layout.ghosts;
    return data[slot * layout.stride_slot + component * layout.stride_component +
                ((k + g) * layout.side + (j + g)) * layout.side + (i + g)];
  }
  KOKKOS_FORCEINLINE_FUNCTION double& operator()(int slot, int component,
                                                 const int (&point)[3]) const {
    return (*this)(slot, component, point[0], point[1], point[2]);
  }
};

// Staggered field on all levels, by slot of the own blocks. A block stores its N + 1 faces along
// each axis, so that the divergence of a cell needs no neighbour; a face between two blocks is
// stored twice.
class StaggeredField {
 public:
  StaggeredField(FieldInfo info, const StaggeredLayout& layout, int levels)
      : info_(std::move(info)), layout_(layout), levels_(levels) {}

  // Description of the field.
  const FieldInfo& info() const { return info_; }
  // Layout of the arrays.
  const StaggeredLayout& layout() const { return layout_; }
  // One level, for kernels.
  StaggeredView view(int level) const { return {levels_[level].data(), layout_}; }
  // Array of a level, in device memory.
  const DeviceArray<double>& array(int level) const { return levels_[level]; }

  // Allocates slots 0..slots-1 and keeps stored values; new memory is zero.
  void reserve(int level, int slots) {
    DeviceArray<double>& now = levels_[level];
    const std::int64_t doubles = slots * layout_.stride_slot;
    if (doubles <= static_cast<std::int64_t>(now.size())) return;
    const auto larger = zeros<double>(info_.name, doubles + doubles / 4);
    if (now.size() > 0)
      copy_within(Kokkos::subview(larger, std::pair<std::size_t, std::size_t>(0, now.size())), now);
    now = larger;
  }

  // Copies the values of another field with the same layout and the same slots.
  void copy_level(int level, const StaggeredField& from) {
    const DeviceArray<double>& source = from.levels_[level];
    if (levels_[level].size() != source.size())
      levels_[level] = uninitialised<double>(info_.name, static_cast<std::int64_t>(source.size()));
    if (source.size() > 0) copy_within(levels_[level], source);
  }

 private:
  FieldInfo info_;
  StaggeredLayout layout_;
  std::vector<DeviceArray<double>> levels_;
};

// Returns the values of a component in some own blocks of a level, without ghosts:
// [block][k][j][i], with FieldInfo::extents() of a block.
std::vector<double> read_component(const StaggeredField& field, int level,
                                   const DeviceArray<const OwnBlock>& blocks, int component);
// Stores values in the order of read_component() in own blocks.
void write_component(const StaggeredField& field, int level,
                     const DeviceArray<const OwnBlock>& blocks, int component,
                     const std::vector<double>& values);

// Calls body(slot, component, point) for the points of all components in own blocks of `cells`^3
// cells, without ghosts. `point` is an int[3].
template <class Body>
void for_points(const Kernel& kernel, const DeviceArray<const OwnBlock>& blocks, int cells,
                Centring centring, const Body& body) {
  const int side = cells + 1, per_component = side * side * side;
  const auto items = static_cast<std::int64_t>(blocks.extent(0)) * 3 * per_component;
  for_items(
      kernel, items, KOKKOS_LAMBDA(std::int64_t n) {
        const auto m = static_cast<int>(n % per_component);
        const auto component = static_cast<int>(n / per_component % 3);
        const int point[3] = {m % side, m / side % side, m / (side * side)};
        for (int axis = 0; axis < 3; ++axis)
          if (point[axis] == cells && !is_nodal(centring, component, axis)) return;
        body(blocks(n / (3 * per_component)).slot, component, point);
      });
}

}  // namespace octant::mesh
