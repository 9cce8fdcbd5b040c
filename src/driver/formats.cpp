#include "driver/format.hpp"

namespace octant::driver {

namespace {

template <class... Kinds>
struct MeshFormats {
  static Formats<MeshContents> make() {
    Formats<MeshContents> formats;
    (formats.push_back(make_mesh_format<Kinds>()), ...);
    return formats;
  }
};

template <class... Kinds>
struct GridFormats {
  static Formats<GridContents> make() {
    Formats<GridContents> formats;
    (formats.push_back(make_grid_format<Kinds>()), ...);
    return formats;
  }
};

}  // namespace

// In the order in which they are written.
using MeshKinds = MeshFormats<class OctantMesh, class RamsesMesh>;
using GridKinds = GridFormats<class OctantGrid>;

Formats<MeshContents> make_mesh_formats() { return MeshKinds::make(); }
Formats<GridContents> make_grid_formats() { return GridKinds::make(); }

}  // namespace octant::driver
