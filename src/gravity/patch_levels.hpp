// The levels of a mesh as patches, each made when it is first asked for: what all that works on
// patches has in common.
#pragma once

#include <memory>
#include <vector>

#include "gravity/base_grid.hpp"
#include "gravity/coarse_boxes.hpp"

namespace octant::gravity {

// Collective, as all functions.
class PatchLevels {
 public:
  // All must outlive this.
  PatchLevels(const mesh::Mesh& mesh, const CommOptions& options, FieldPool& pool, BaseGrid& base)
      : mesh_(mesh), options_(options), pool_(pool), base_(base) {}

  // To be called whenever blocks were made, removed or moved.
  void connect();

  // Until connect() is called.
  PatchLevel& at(int level);
  CoarseBoxes& boxes(int level);

 private:
  struct Level {
    std::unique_ptr<PatchLevel> patches;  // of finer levels than the base, which has its own
    std::unique_ptr<CoarseBoxes> boxes;
  };

  const mesh::Mesh& mesh_;
  CommOptions options_;
  FieldPool& pool_;
  BaseGrid& base_;
  std::vector<Level> levels_;
};

}  // namespace octant::gravity
