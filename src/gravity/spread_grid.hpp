// A grid with patches of 2^3 cells, spread over the ranks as its patches are, that is a part of a
// V-cycle: with the arithmetic of CoarseSolver, cell by cell.
#pragma once

#include "gravity/bottom.hpp"
#include "gravity/halo_exchange.hpp"

namespace octant::gravity {

class SpreadGrid {
 public:
  // See Bottom. The patches' extents are even; the cover gets its copies.
  SpreadGrid(const LevelPatches& patches, const BottomCells& cells, const CommOptions& options,
             std::int64_t gathered);

  // See Bottom.
  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi);
  std::int64_t bytes() const;
  int spread_grids() const { return 1 + coarser_->spread_grids(); }

 private:
  void sweep(const DeviceArray<double>& f, const DeviceArray<double>& phi);
  void hand_on(const DeviceArray<double>& values, const DeviceArray<double>& cells);
  void hand_back(const DeviceArray<double>& cells, const DeviceArray<double>& values);

  const LevelPatches& patches_;
  DeviceArray<const PatchTable> tables_;
  HaloExchange cells_halo_, patches_halo_;  // of cells, and of one value per patch
  DeviceArray<double> diagonal_;            // of own cells; 0 where masked
  DeviceArray<double> coarse_;              // a value per patch, copies included

  // The coarser grid, whose cells are the patches of this one.
  LevelPatches coarser_patches_;
  DeviceArray<const Piece> local_, leaving_, arriving_;
  DeviceArray<double> leaving_values_, arriving_values_;
  Exchanger exchanger_;
  DeviceArray<double> coarser_f_, coarser_phi_;
  std::unique_ptr<Bottom> coarser_;
};

}  // namespace octant::gravity
