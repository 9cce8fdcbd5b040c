// Copies between the base level's patches and x-pencils of the whole grid.
#pragma once

#include <memory>
#include <vector>

#include "gravity/patches.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::gravity {

// The rows along x that a patch and a rank's pencil have in common; cells are counted in the grid.
struct SharedRows {
  std::int32_t patch;                  // slot; on the pencil's side without meaning
  std::array<std::int32_t, 3> corner;  // first cell of the patch
  pencil::Range y, z;
  std::int64_t first = 0;  // place of the first row in a message

  std::int64_t count() const { return std::int64_t{y.count()} * z.count(); }
};

// Memory: two buffers as large as what this rank's patches and pencil do not share. Ranks beyond
// those of the process grid hold no pencil. Collective, as all functions.
class PencilTransfer {
 public:
  PencilTransfer(const LevelPatches& patches, const pencil::Cells& cells,
                 const pencil::ProcessGrid& processes, const CommOptions& options);

  // Fields of own patches are [slot][k][j][split i], pencils [z][y][x]; both in host memory.
  void to_pencil(const double* patches, double* pencil);
  void to_patches(const double* pencil, double* patches);

 private:
  void match(const LevelPatches& patches, const pencil::ProcessGrid& processes);
  std::int64_t in_patch(const SharedRows& rows, int y, int z) const;
  std::int64_t in_pencil(const SharedRows& rows, int y, int z) const;

  int side_;
  pencil::Cells cells_;
  pencil::Box pencil_;
  // Own patches in the own pencil; in other ranks' pencils; other ranks' patches in the own pencil.
  std::vector<SharedRows> local_, leaving_, arriving_;
  std::unique_ptr<ExchangePlan> plan_;  // an item is a row
  std::vector<double> sent_, received_;
  Exchanger exchanger_;
};

}  // namespace octant::gravity
