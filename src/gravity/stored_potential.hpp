// What gravity stores of every cell: potentials of two times and the force, which follow the mesh.
#pragma once

#include <vector>

#include "comm/exchanger.hpp"
#include "gravity/block_kernels.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

enum class Field { potential, previous_potential, acceleration_x, acceleration_y, acceleration_z };
inline constexpr int k_fields = 5;
// What files say of them.
struct StoredField {
  const char *name, *unit, *description;
  bool is_shown = true;  // in snapshots; checkpoints hold all
};
inline constexpr StoredField k_stored_fields[k_fields] = {
    {"potential", "length^2 / time^2", "potential of self-gravity"},
    {"previous_potential", "length^2 / time^2", "potential of self-gravity", false},
    {"acceleration_x", "length / time^2", "component of its force per mass"},
    {"acceleration_y", "length / time^2", "component of its force per mass"},
    {"acceleration_z", "length / time^2", "component of its force per mass"}};

// Times at which a level's potentials hold: the present and the previous one.
struct PotentialTimes {
  double now = 0.0, previous = 0.0;
  bool solved = false;  // at least once
};

// Values of one level's blocks on this rank, by slot of the mesh.
struct StoredBlocks {
  std::vector<Key> keys;       // k_no_key where a slot is free
  DeviceArray<double> values;  // with room for more
};

class StoredPotential {
 public:
  // The mesh must outlive this.
  StoredPotential(const mesh::Mesh& mesh, const CommOptions& options);

  // Own blocks by slot of the mesh, fields in the order of Field.
  const mesh::BlockLayout& layout() const { return layout_; }
  double* data(int level) const { return levels_[level].blocks.values.data(); }
  BlockField field(int level, Field field) const;
  VectorField acceleration(int level) const;

  PotentialTimes times(int level) const { return levels_[level].times; }
  void set_times(int level, const PotentialTimes& times) { levels_[level].times = times; }

  // The potential at a time: linear through the present and the previous one, at most as far beyond
  // the present one as the two are apart, because errors of solutions grow with the distance.
  Combination potential_at(int level, double time) const;

  // To be called for every level whenever blocks were made, removed or moved. Values of blocks go
  // to where the blocks are now. Returns the slots of new blocks, whose values are not set, and
  // whether there are some on any rank. Collective.
  struct NewBlocks {
    std::vector<int> slots;
    bool anywhere = false;
  };
  NewBlocks follow_mesh(int level);
  // Forgets the levels beyond the finest one.
  void forget_finer(int finest);

  // A level that was never solved for holds at the times of the coarser one, if that was.
  void inherit_times(int level);

  // Before and after a solve for a time: the present potential becomes the previous one if it is
  // older, and a guess of the new one takes its place; a first solution is that of both times.
  void begin_solution(int level, double time);
  void end_solution(int level);

 private:
  struct Level {
    StoredBlocks blocks;  // [slot][field][k][j][i]
    PotentialTimes times;
    bool first = false;  // the solution under way
  };

  const mesh::Mesh& mesh_;
  mesh::BlockLayout layout_;
  std::vector<Level> levels_;
  Exchanger migration_;
};

}  // namespace octant::gravity
