// Operations that use the coarser level's potential around a level: Dirichlet values at the
// coarse-fine boundary, the potential of new blocks, and the force.
#pragma once

#include "gravity/coarse_boxes.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_level.hpp"

namespace octant::gravity {

// Moves the Dirichlet values in the cells beyond the level's boundary into the right-hand side of
// own patches: f -= sum of the masked neighbours' potentials.
void move_boundary_into(const PatchLevel& level, const GridMask& mask, const CoarseBoxes& boxes,
                        double* f);

// Sets all cells of own patches to the interpolated potential.
void interpolate_potential(const PatchLevel& level, const CoarseBoxes& boxes, double* phi);

// Description of the cells beyond the boundary of a level, for forces.
struct Surroundings {
  GridMask mask;  // cells of the mask need no force
  const CoarseBoxes* boxes = nullptr;
};

// Computes -grad phi in own blocks, by differences of order 2 or 4. phi, of own patches, needs
// copies to a depth of 2. Beyond the level's boundary phi is interpolated from the boxes; without
// boxes, if the level ends with the domain, it is extrapolated from the last four cells.
void acceleration(PatchLevel& level, const Surroundings& around, const double* phi, int order,
                  double cell_size, const VectorField& blocks);

// Norms of a potential over a level's cells, as PatchLevel::norm() defines them: `variation` of the
// three second differences, one along each axis, whose sum is the right-hand side; `potential` of
// phi itself. phi as for acceleration(). Same bits on any number of ranks. Collective.
FieldNorms field_norms(const PatchLevel& level, const Surroundings& around, const double* phi);

// Computes the energy per volume that the forces of acceleration() do not represent, in own
// patches, where phi satisfies Poisson's equation with Newton's `constant`. Finite differences damp
// waves: along an axis the force of a wave is too weak for its potential by 1 - D(k) / k = (k h)^4
// / 30 + ... in fourth order, (k h)^2 / 6 + ... in second. The work that the force can do is
// smaller by this fraction than the energy of the wave's field, (K phi)^2 / (8 pi G), where K is
// the wavenumber of the 7-point Laplacian. The difference is expanded to K^6, with second to fourth
// differences of phi. phi as for acceleration().
void unfelt_energy(const PatchLevel& level, const Surroundings& around, const double* phi,
                   int order, double cell_size, double constant, double* result);

}  // namespace octant::gravity
