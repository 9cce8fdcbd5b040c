// Contents of a snapshot, a checkpoint or a cut-out, independent of the format: attributes, cells
// with their fields, particles with their columns. Formats write them (format.hpp).
//
// Contents refer to a state without a copy: values are computed during writing, some blocks, planes
// or particles at a time, and are valid only until the simulation changes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "comm/communicator.hpp"
#include "core/units.hpp"
#include "decomp/morton.hpp"
#include "dns/field_file.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/field_info.hpp"
#include "mesh/geometry.hpp"
#include "output/output_options.hpp"

namespace octant {

// Named values in the order in which they were first set.
class Attributes {
 public:
  // Sets a value; an earlier one of this name is replaced.
  void set(const std::string& name, AttributeValue value);
  // Returns a number; throws RunError if there is none of this name.
  double number(const std::string& name) const;
  // True if there is a value of this name.
  bool has(const std::string& name) const { return find(name) != nullptr; }

  // Iterator to the first name and value.
  auto begin() const { return facts_.begin(); }
  // Iterator past the last one.
  auto end() const { return facts_.end(); }

 private:
  const AttributeValue* find(const std::string& name) const;
  std::vector<std::pair<std::string, AttributeValue>> facts_;
};

// Name of the fact for the gravitational constant in code units; absent without gravity and in
// expanding boxes.
inline constexpr const char* k_gravity_constant = "gravity_constant";

// Origin of a file: the run and its current time.
struct FileOrigin {
  std::string kind;  // "snapshot", "checkpoint", "slice" or "coarse"
  std::string model, problem;
  double time = 0.0;
  std::int64_t step = 0;
  CodeUnits units;
  std::string parameters;  // all, as TOML
  std::string data_files;  // checksums of the files that define the run, as TOML
};

// Column of particles; values(own) returns `width` values for each of some of this rank's
// particles, given by their indices 0 .. count - 1. Local.
struct ParticleColumn {
  template <class T>
  using Values = std::function<std::vector<T>(std::span<const std::int64_t> own)>;

  std::string name;
  DatasetMeaning meaning;
  std::int64_t width = 1;
  std::variant<Values<double>, Values<std::int64_t>, Values<std::uint64_t>> values;
};

// Particles of a kind. Columns: id, position ([3]), velocity ([3]), mass if they have it, then
// those of the kind.
struct ParticleContents {
  std::string name;
  std::int64_t count = 0;  // number of this rank's particles
  // Returns the index of each own particle among those of all ranks in the order of ids.
  // Collective.
  std::function<std::vector<std::int64_t>()> rows;
  std::vector<ParticleColumn> columns;
  Attributes attributes;
};

// Blocks of a level on this rank: cells in the refined octants of a block (bit ix + 2 iy + 4 iz)
// have the mean of finer ones, all others are leaves.
struct BlockLevel {
  int number = 0;
  std::vector<int> slots;  // arguments for values()
  std::vector<Key> keys;
  std::vector<std::uint8_t> refined;
  std::map<std::string, Attributes>
      module_attributes;  // attributes of the level's fields, by group
};

// Field of a scalar or of a vector component, with one value per cell, face or edge.
struct MeshField {
  std::string group;  // in files: "hydro", "gravity", "faces"
  mesh::FieldInfo info;
  // Returns values in some of this rank's blocks of a level, [block][k][j][i], with
  // FieldInfo::extents() of a block. Local.
  std::function<std::vector<double>(int level, std::span<const int> slots)> values;
};

// Contents of an adaptive mesh, distributed over the communicator's ranks: lists are this rank's
// part.
struct MeshContents {
  Communicator communicator;
  mesh::Geometry geometry;
  FileOrigin origin;
  Attributes attributes;
  std::vector<std::pair<std::string, Attributes>> groups;  // more: "/processes/cooling"
  Precision precision = Precision::float64;
  Compression compression = Compression::none;
  std::array<int, 3> block_cells;  // along x, y, z; 1 across a slice
  std::vector<BlockLevel> levels;  // coarsest first
  std::vector<MeshField> fields;
  std::vector<ParticleContents> particles;
};

// Positions of a grid's cell centres and upper faces along an axis.
struct GridLine {
  std::vector<double> centres, faces;
};

// Contents of the staggered grid of an incompressible flow.
struct GridContents {
  Communicator communicator;
  FileOrigin origin;
  Attributes attributes;
  Precision precision = Precision::float64;
  Compression compression = Compression::none;
  std::array<GridLine, 3> lines;
  std::vector<dns::StoredField> fields;
};

// Keeps the fields of these names; all if the list is empty. Boundary values follow the field of
// the same name.
void select_fields(MeshContents& contents, const std::vector<std::string>& names);
// Keeps the fields of these names; all if the list is empty.
void select_fields(GridContents& contents, const std::vector<std::string>& names);

// Returns the contents with cell means in place of fields on faces and edges.
MeshContents cell_centred(MeshContents contents);

// Returns the mesh down to a level, whose blocks become leaves, without particles.
MeshContents coarse_contents(MeshContents contents, int finest_level);

// Returns the mesh with a unit of time `factor` times the present one, which scales times,
// velocities, pressures and all quantities whose units contain time.
MeshContents in_unit_of_time(MeshContents contents, double factor);

// Returns the layer of cells that a plane intersects, on all levels, without particles: blocks are
// one cell thick, and fields are cell-centred. Attributes specify the plane ("slice_axis",
// "slice_position") and, for each level in group "mesh", the index of its layer among the cells
// along the axis ("slice_cell").
MeshContents slice_contents(MeshContents contents, const Plane& plane);
// Returns the layer of cells that a plane intersects. Velocities across the plane remain on the
// upper faces of the layer's cells.
GridContents slice_contents(GridContents contents, const Plane& plane);

}  // namespace octant
