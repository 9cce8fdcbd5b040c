// Operations that use the coarser level's potential around a level: Dirichlet values at the
// coarse-fine boundary, the potential of new blocks, and the force.
#pragma once

#include "gravity/coarse_boxes.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_level.hpp"

namespace octant::gravity {

// Moves the Dirichlet values of masked cells beyond the boundary of the level into the right-hand
// side of own patches: f -= sum of the potentials of masked neighbours.
void move_boundary_into(const PatchLevel& level, const GridMask& mask, const CoarseBoxes& boxes,
                        double* f);

// Sets phi in all cells of own patches by interpolation from the boxes.
void interpolate_potential(const PatchLevel& level, const CoarseBoxes& boxes, double* phi);

// Cells beyond the boundary of a level, for forces.
struct Surroundings {
  GridMask mask;  // forces in masked cells are not computed
  const CoarseBoxes* boxes = nullptr;
};

// Computes -grad phi in own blocks, by differences of order 2 or 4. phi of own patches requires
// copies to a depth of 2. Beyond the boundary of the level, phi is interpolated from the boxes.
// Without boxes, for a level that fills the domain, phi is extrapolated from the last four cells.
void acceleration(PatchLevel& level, const Surroundings& around, const double* phi, int order,
                  double cell_size, const VectorField& blocks);

// Returns norms over the cells of a level, as defined by PatchLevel::norm(): `variation` is that of
// the second differences along the three axes, whose sum is the right-hand side, and `potential`
// that of phi. phi requires copies as for acceleration(). Same bits on any number of ranks.
// Collective.
FieldNorms field_norms(const PatchLevel& level, const Surroundings& around, const double* phi);

// Computes the energy per volume that the forces of acceleration() do not represent, in own
// patches, for phi that satisfies Poisson's equation with Newton's `constant`. Finite differences
// damp waves: along an axis, the force of a wave is too small for its potential by the fraction 1 -
// D(k) / k = (k h)^4 / 30 + ... for order 4, or (k h)^2 / 6 + ... for order 2. The possible work of
// the force is smaller by this fraction than the field energy of the wave, (K phi)^2 / (8 pi G),
// where K is the wavenumber of the 7-point Laplacian. The difference is expanded to K^6, with
// second to fourth differences of phi. Requires the same copies of phi as acceleration().
void unresolved_energy(const PatchLevel& level, const Surroundings& around, const double* phi,
                       int order, double cell_size, double constant, double* result);

}  // namespace octant::gravity
