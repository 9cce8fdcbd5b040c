// Fields that gravity stores for every cell: potentials at two times, and the force.
#pragma once

#include <vector>

#include "comm/exchanger.hpp"
#include "gravity/block_kernels.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Fields of a cell, in the order of storage.
enum class Field { potential, previous_potential, acceleration_x, acceleration_y, acceleration_z };
inline constexpr int k_fields = 5;
// Description of a stored field in files.
struct StoredField {
  const char *name, *unit, *description;
  bool is_shown = true;  // true for fields of snapshots; checkpoints contain all

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

// Values of one level's blocks on this rank, by slot of the mesh.
struct StoredBlocks {
  std::vector<Key> keys;       // k_no_key where a slot is free
  DeviceArray<double> values;  // with spare capacity
};

// Potentials of two times and accelerations of all own blocks, [slot][field][k][j][i], in device
// memory. They follow the mesh and are part of checkpoints.
class StoredPotential {
 public:
  // The mesh must outlive this object.
  StoredPotential(const mesh::Mesh& mesh, const CommOptions& options);

  // Own blocks by slot of the mesh, fields in the order of Field.
  const mesh::BlockLayout& layout() const { return layout_; }
  // First value of a level's fields, in device memory.
  double* data(int level) const { return levels_[level].blocks.values.data(); }
  // One field of a level, as a view of its own blocks.
  BlockField field(int level, Field field) const;
  // Acceleration of a level, in length / time^2.
  VectorField acceleration(int level) const;

  // Times of the current and the previous potential of a level.
  PotentialTimes times(int level) const { return levels_[level].times; }
  // Sets these times, for restarts.
  void set_times(int level, const PotentialTimes& times) { levels_[level].times = times; }

  // Returns the potential at a time: linear in time between the previous and the current one,
  // extrapolated beyond the current one by at most their interval, because errors of solutions grow
  // with the distance.
  Combination potential_at(int level, double time) const;

  // Result of follow_mesh(): the slots of new blocks, whose values are not set, and whether any
  // rank has new blocks.
  struct NewBlocks {
    std::vector<int> slots;
    bool anywhere = false;
  };
  // Moves stored blocks of a level to the slots and ranks that they have in the mesh. Must be
  // called for every level whenever blocks were created, removed or moved. Collective.
  NewBlocks follow_mesh(int level);
  // Deletes the levels beyond the finest one.
  void release_finer(int finest);

  // Sets times of a level that was never solved to those of the coarser one, if that was solved.
  void inherit_times(int level);

  // Prepares a solve for a time. The current potential becomes the previous one if it is older, and
  // is replaced by a guess for the new time.
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
