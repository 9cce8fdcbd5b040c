// What a snapshot, a checkpoint or a cut-out holds, apart from how a format lays it out: facts,
// cells with their fields, particles with their columns. Formats write it (format.hpp).
//
// Contents describe a state and do not copy it: values are asked for while they are written, some
// blocks, planes or particles at a time, and only as long as the simulation stands still.
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
#include "core/code_units.hpp"
#include "decomp/morton.hpp"
#include "dns/field_file.hpp"
#include "driver/output_options.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/geometry.hpp"

namespace octant::driver {

// Values by name, in the order in which they were first set.
class Facts {
 public:
  void set(const std::string& name, AttributeValue value);
  // A number; throws RunError unless there is one of this name.
  double number(const std::string& name) const;
  bool has(const std::string& name) const { return find(name) != nullptr; }

  auto begin() const { return facts_.begin(); }
  auto end() const { return facts_.end(); }

 private:
  const AttributeValue* find(const std::string& name) const;
  std::vector<std::pair<std::string, AttributeValue>> facts_;
};

// The fact that is Newton's constant in code units; none without gravity and in expanding boxes.
inline constexpr const char* k_gravity_constant = "gravity_constant";

// Which run writes, and when in it.
struct FileOrigin {
  std::string kind;  // "snapshot", "checkpoint", "slice" or "coarse"
  std::string model, problem;
  double time = 0.0;
  std::int64_t step = 0;
  CodeUnits units;
  std::string parameters;  // all of them, as TOML
};

// A column of particles; values(own) gives `width` values for each of some of this rank's
// particles, by their numbers 0 .. count - 1. Local.
struct ParticleColumn {
  template <class T>
  using Values = std::function<std::vector<T>(std::span<const std::int64_t> own)>;

  std::string name;
  DatasetMeaning meaning;
  std::int64_t width = 1;
  std::variant<Values<double>, Values<std::int64_t>, Values<std::uint64_t>> values;
};

// The particles of a kind. Columns: id, position ([3]), velocity ([3]), mass if they have it, then
// those of the kind.
struct ParticleContents {
  std::string name;
  std::int64_t count = 0;  // of this rank's particles
  // The place of each own particle among those of all ranks in the order of ids. Collective.
  std::function<std::vector<std::int64_t>()> rows;
  std::vector<ParticleColumn> columns;
  Facts facts;
};

// This rank's blocks of a level: cells in the refined octants of a block (bit ix + 2 iy + 4 iz)
// hold the mean of finer ones, all others are leaves.
struct BlockLevel {
  int number = 0;
  std::vector<int> slots;  // what values are asked for by
  std::vector<Key> keys;
  std::vector<std::uint8_t> refined;
  std::map<std::string, Facts> room_facts;  // of the level's fields, by room
};

// A value in every cell.
struct CellField {
  std::string room;  // that it belongs to: "hydro", "gravity"
  std::string name;
  DatasetMeaning meaning;
  // In some of this rank's blocks of a level, [block][k][j][i]. Local.
  std::function<std::vector<double>(int level, std::span<const int> slots)> values;
};

// What there is on an adaptive mesh. The communicator's ranks hold it together: lists are of this
// rank's share.
struct MeshContents {
  Communicator communicator;
  mesh::Geometry geometry;
  FileOrigin origin;
  Facts facts;
  std::vector<std::pair<std::string, Facts>> groups;  // more facts: "/processes/cooling"
  Precision precision = Precision::float64;
  Compression compression = Compression::none;
  std::array<int, 3> block_cells;  // along x, y, z: all, or one across a slice
  std::vector<BlockLevel> levels;  // coarsest first
  std::vector<CellField> fields;
  std::vector<ParticleContents> particles;
};

// The positions of a grid's cells and of their upper faces along an axis.
struct GridLine {
  std::vector<double> centres, faces;
};

// What there is on the staggered grid of an incompressible flow.
struct GridContents {
  Communicator communicator;
  FileOrigin origin;
  Facts facts;
  Precision precision = Precision::float64;
  Compression compression = Compression::none;
  std::array<GridLine, 3> lines;
  std::vector<dns::StoredField> fields;
};

// Leaves the fields of these names; all of them if there are no names. What lies on the boundary
// goes with the field of the same name.
void select_fields(MeshContents& contents, const std::vector<std::string>& names);
void select_fields(GridContents& contents, const std::vector<std::string>& names);

// The same mesh down to a level, whose blocks are not refined, without particles.
MeshContents coarse_contents(MeshContents contents, int finest_level);

// The same mesh with a unit of time that is `factor` of the present one: times, velocities,
// pressures and all else whose units have a power of time.
MeshContents in_unit_of_time(MeshContents contents, double factor);

// The layer of cells that a plane passes, on all levels, without particles: blocks are one cell
// thick. Facts say which plane it is ("slice_axis", "slice_position"), and of each level, as room
// "mesh", the place of its layer among the cells along the axis ("slice_cell").
MeshContents slice_contents(MeshContents contents, const Plane& plane);
// Velocities across the plane stay on the upper faces of the layer's cells.
GridContents slice_contents(GridContents contents, const Plane& plane);

}  // namespace octant::driver
