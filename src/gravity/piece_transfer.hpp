// Copies between the mesh's blocks and the solver's patches.
#pragma once

#include "gravity/block_kernels.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// The copies of one level. Fields of patches are [slot][k][j][split i]. Collective.
class PieceTransfer {
 public:
  PieceTransfer(const LevelPatches& patches, int block_size, const CommOptions& options);

  // Sets the cells of own patches that blocks cover; other cells keep their values.
  void to_patches(const Combination& values, double* patches);

  // Sets the cells of own blocks.
  void to_blocks(const double* patches, const BlockField& blocks);

 private:
  int block_size_, side_, piece_;
  const ExchangePlan& plan_;
  DeviceArray<const Piece> local_, leaving_, arriving_;
  Exchanger exchanger_;
};

}  // namespace octant::gravity
