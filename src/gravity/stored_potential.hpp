// Fields that gravity stores for every cell: potentials at two times, and acceleration.
#pragma once

#include <vector>

#include "comm/exchanger.hpp"
#include "gravity/block_kernels.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Stored fields, in the order of storage.
enum class Field { potential, previous_potential, acceleration_x, acceleration_y, acceleration_z };
inline constexpr int k_fields = 5;
// Description of a stored field in files.
struct StoredField {
  const char *name, *unit, *description;
  bool is_shown = true;  // true for fields of snapshots; checkpoints contain all fields

  // Returns the description for files.
  mesh::FieldInfo info() const { return {name, unit, description}; }
};
inline constexpr StoredField k_stored_fields[k_fields] = {
    {"potential", "length^2 / time^2", "potential of self-gravity"},
    {"previous_potential", "length^2 / time^2", "potential of self-gravity", false},
    {"acceleration_x", "length / time^2", "component of its force per mass"},
    {"acceleration_y", "length / time^2", "component of its force per mass"},
    {"acceleration_z", "length / time^2", "component of its force per mass"}};

// Times of a level's current and previous potential.
struct PotentialTimes {
  double now = 0.0, previous = 0.0;
  bool solved = false;  // true if the level was solved at least once
};

// Values of the blocks of a level on this rank, by slot of the mesh.
struct StoredBlocks {
  std::vector<Key> keys;       // k_no_key where a slot is free
  DeviceArray<double> values;  // with spare capacity
};

// Potentials at two times and accelerations in all own blocks, [slot][field][k][j][i], in device
// memory. These fields are moved with the blocks of the mesh and are part of checkpoints.
class StoredPotential {
 public:
  // The mesh must outlive this object.
  StoredPotential(const mesh::Mesh& mesh, const CommOptions& options);

  // Memory layout of own blocks by slot of the mesh, with fields in the order of Field.
  const mesh::BlockLayout& layout() const { return layout_; }
  // Address of the first value of a level, in device memory.
  double* data(int level) const { return levels_[level].blocks.values.data(); }
  // View of one field in own blocks of a level.
  BlockField field(int level, Field field) const;
  // Acceleration of a level, in length / time^2.
  VectorField acceleration(int level) const;

  // Times of the current and the previous potential of a level.
  PotentialTimes times(int level) const { return levels_[level].times; }
  // Sets the times of the current and the previous potential, for restarts.
  void set_times(int level, const PotentialTimes& times) { levels_[level].times = times; }

  // Returns the potential at a time by linear interpolation between the previous and the current
  // potential, or by extrapolation beyond the current time over at most the interval between them,
  // because extrapolation amplifies errors of the solutions.
  Combination potential_at(int level, double time) const;

  // Moves stored blocks of a level to their slots and ranks in the mesh. Must be called for every
  // level whenever blocks were created, removed or moved. Returns the slots of this rank's new
  // blocks, whose values are not set. Collective.
  std::vector<int> follow_mesh(int level);
  // Deletes the levels beyond the finest one.
  void release_finer(int finest);

  // Sets the times of a level that was never solved to those of the coarser level, if solved.
  void inherit_times(int level);

  // Prepares a solve for a time. The current potential becomes the previous one if it is older than
  // `time`. The current potential is then set to a guess for `time`.
  void begin_solution(int level, double time);
  // Ends a solve. The first solution of a level is used for both times.
  void end_solution(int level);

 private:
  struct Level {
    StoredBlocks blocks;  // [slot][field][k][j][i]
    PotentialTimes times;
    bool first = false;  // true while the current solution is the level's first
  };

  const mesh::Mesh& mesh_;
  mesh::BlockLayout layout_;
  std::vector<Level> levels_;
  Exchanger migration_;
};

}  // namespace octant::gravity
