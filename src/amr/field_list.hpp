// Fields of a run on its mesh, for snapshots and for checkpoints: gas, gravity, and face-centred
// fields.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "amr/amr_simulation.hpp"
#include "output/contents.hpp"

namespace octant {

// Field of a checkpoint, whose values are read and restored exactly.
struct CheckpointField {
  MeshField field;
  std::string required;  // parameters that a run needs to have this field
  // Sets values [block][k][j][i] in some own blocks of a level.
  std::function<void(int level, const mesh::CellRange& blocks, const std::vector<double>& values)>
      set;
};

// Returns the fields of snapshots. The simulation must outlive them.
std::vector<MeshField> shown_fields(const AmrSimulation& simulation);
// Returns the fields of checkpoints. The simulation must outlive them.
std::vector<CheckpointField> checkpoint_fields(AmrSimulation& simulation);

}  // namespace octant
