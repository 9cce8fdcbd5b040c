#include "output/format.hpp"

namespace octant {

namespace {

template <class... Kinds>
struct MeshFormats {
  static Formats<MeshContents> make() {
    Formats<MeshContents> formats;
    (formats.push_back(make_mesh_format<Kinds>()), ...);
    std::erase(formats, nullptr);  // optional components that are not built
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

// Formats in the order in which they are written.
using MeshKinds = MeshFormats<class OctantMesh, class RamsesMesh>;
using GridKinds = GridFormats<class OctantGrid>;

Formats<MeshContents> make_mesh_formats() { return MeshKinds::make(); }
Formats<GridContents> make_grid_formats() { return GridKinds::make(); }

}  // namespace octant
