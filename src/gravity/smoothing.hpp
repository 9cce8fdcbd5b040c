// The two passes of a V-cycle over one grid. A pass gathers each patch with its surroundings into
// scratch, sweeps there, and writes the patch: cells of the surroundings are recomputed exactly as
// their owner computes them, so that the result is that of sweeps over the whole level, whatever
// the patches.
//
// Everything is multiplied by h^2: sum(neighbours) - d phi = f. Masked cells have d = 0 and phi =
// 0; others d = 6, and more beside the mask on coarse grids.
#pragma once

#include <span>

#include "gravity/mask.hpp"

namespace octant::gravity {

// Over-relaxation that suits one sweep before and one after the coarse correction.
inline constexpr double k_relaxation = 1.2;

// The fields of a grid of `side`^3 cells per patch, in which place_of_row() says where a row lies.
struct GridView {
  int side = 0;
  const PatchTable* tables = nullptr;  // by own slot
  const StripTable* strips = nullptr;
  double* phi = nullptr;
  double* next = nullptr;  // written by passes, then exchanged with phi
  double* f = nullptr;
  // Not read for unmasked patches.
  const double* diagonal = nullptr;  // d of coarse grids
  GridMask mask;
};

// Patches that a pass goes over in one launch: `open` ones first, with no masked cell in reach.
struct PatchGroup {
  DeviceArray<const std::int32_t> patches;
  int open = 0;

  int count() const { return static_cast<int>(patches.extent(0)); }
};

// One red-black sweep, then the residual, summed into the coarse grid's right-hand side. phi counts
// as 0 if `from_zero`. norms[patch] becomes the sum of the squares of the residual, unless null.
// phi needs copies to a depth of 3, f and the diagonal of 2.
void descend(const GridView& grid, const PatchGroup& group, bool from_zero, double* coarse_f,
             double* norms);

// Adds the trilinearly interpolated coarse correction, then one red-black sweep. phi, the diagonal
// and the coarse phi need copies to a depth of 2.
void ascend(const GridView& grid, const PatchGroup& group, const double* coarse_phi);

}  // namespace octant::gravity
