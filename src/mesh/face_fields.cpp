#include "mesh/face_fields.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::mesh {

FaceFields::FaceFields(Mesh& mesh, const CommOptions& options, std::vector<SolenoidalField> fields)
    : mesh_(mesh), transfer_(mesh, options) {
  for (SolenoidalField& field : fields) {
    fields_.push_back(transfer_.make_field(std::move(field.info)));
    initial_potentials_.push_back(std::move(field.initial_potential));
  }
  mesh.on_change([this] { follow_mesh(); });
}

void FaceFields::follow_mesh() {
  std::vector<StaggeredField*> moved;
  for (StaggeredField& field : fields_) moved.push_back(&field);
  transfer_.follow(moved);
}

const StaggeredField& FaceFields::field(const std::string& name) const {
  const auto found = std::ranges::find_if(
      fields_, [&](const StaggeredField& field) { return field.info().name == name; });
  OCTANT_REQUIRE(found != fields_.end(), "no process adds a field \"{}\" on faces", name);
  return *found;
}

// --- initial state -------------------------------------------------------------------------------

void FaceFields::initialise() {
  const int finest = mesh_.finest_level();
  for (std::size_t n = 0; n < fields_.size(); ++n) {
    const StaggeredField edges =
        transfer_.make_field({.name = "initial potential", .centring = Centring::edge});
    const StaggeredField zero = transfer_.make_field({.name = "zero", .centring = Centring::face});
    for (int l = 0; l <= finest; ++l) set_potential(l, initial_potentials_[n], edges);
    restrict_emfs(edges);
    for (int l = 0; l <= finest; ++l) transfer_.advance(l, fields_[n], zero, edges, -1.0);
    restrict_faces(fields_[n]);
  }
}

// Sets a potential on the edges of a level. Positions are computed from the lower corner of the
// domain. On a periodic axis, positions at the upper end are replaced by those at the lower end, so
// that blocks with a common edge store bitwise equal values.
void FaceFields::set_potential(int level, const VectorPotential& potential,
                               const StaggeredField& edges) const {
  const Geometry& geometry = mesh_.geometry();
  const int N = mesh_.layout().block_size;
  const double dx = geometry.cell_size(level);
  const BlockCoordinates blocks = geometry.extent(level);
  const auto coordinate = [&](int component, int axis, BlockCoordinate block, int index) {
    const bool nodal = is_nodal(Centring::edge, component, axis);
    std::int64_t at = std::int64_t{block} * N + index;
    if (nodal && geometry.periodic(axis)) at %= std::int64_t{blocks[axis]} * N;
    return geometry.lower()[axis] + (static_cast<double>(at) + (nodal ? 0.0 : 0.5)) * dx;
  };
  for (int component = 0; component < 3; ++component) {
    const auto extents = edges.info().component(component).extents({N, N, N});
    std::vector<double> values;
    for (const int slot : mesh_.blocks(level).own()) {
      const BlockCoordinates block = morton_decode(mesh_.blocks(level).key(slot));
      for (int k = 0; k < extents[2]; ++k)
        for (int j = 0; j < extents[1]; ++j)
          for (int i = 0; i < extents[0]; ++i)
            values.push_back(potential(component, {coordinate(component, 0, block[0], i),
                                                   coordinate(component, 1, block[1], j),
                                                   coordinate(component, 2, block[2], k)}));
    }
    write_component(edges, level, mesh_.cells(level).blocks, component, values);
  }
}

// --- all levels at one time ----------------------------------------------------------------------

void FaceFields::fill_ghosts(const StaggeredField& faces) {
  for (int l = 0; l <= mesh_.finest_level(); ++l) transfer_.fill_ghosts(l, faces);
}

void FaceFields::restrict_faces(const StaggeredField& faces) {
  for (int l = mesh_.finest_level(); l > 0; --l) transfer_.restrict_faces(l, faces);
}

void FaceFields::restrict_emfs(const StaggeredField& forces) {
  for (int l = mesh_.finest_level(); l > 0; --l) {
    transfer_.clear_forces(l);
    transfer_.add_forces(l, forces, 1.0);
    transfer_.restrict_emfs(l, forces);
  }
}

}  // namespace octant::mesh
