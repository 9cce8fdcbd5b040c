// What is computed from the coarser level's potential around a level: the values given beyond its
// end, the potential of new blocks, and the force, which reads both.
#pragma once

#include "gravity/coarse_boxes.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_level.hpp"

namespace octant::gravity {

// Moves the values given in the cells next to the level's end into the right-hand side of own
// patches: f -= sum of the masked neighbours' potentials.
void move_boundary_into(const PatchLevel& level, const GridMask& mask, const CoarseBoxes& boxes,
                        double* f);

// Sets all cells of own patches to the interpolated potential.
void interpolate_potential(const PatchLevel& level, const CoarseBoxes& boxes, double* phi);

// What a force needs to know of the cells beyond a level's end.
struct Surroundings {
  GridMask mask;  // where nothing is wanted
  const CoarseBoxes* boxes = nullptr;
};

// -grad phi, by differences of the given order, 2 or 4, in own blocks. phi, of own patches, needs
// copies to a depth of 2. Beyond the level's end phi is interpolated from the boxes; without them,
// where the level ends with the domain, it is extrapolated from the four cells before the end.
void acceleration(PatchLevel& level, const Surroundings& around, const double* phi, int order,
                  double cell_size, const VectorField& blocks);

// Norms of a potential over a level's cells, of the sort that PatchLevel::norm() returns:
// `variation` of the three second differences, one along each axis, whose sum is the right-hand
// side; `potential` of phi itself. The same bits on any number of ranks. phi as for acceleration().
// Collective.
FieldNorms field_norms(const PatchLevel& level, const Surroundings& around, const double* phi);

// The energy per volume that the forces of acceleration() do not see, in own patches, where phi
// obeys Poisson's equation with Newton's `constant`. Differences flatten waves: along an axis the
// force of one is too weak for its potential by 1 - D(k) / k = (k h)^4 / 30 + ... in fourth order,
// (k h)^2 / 6 + ... in second. What mass in it can do is less by as much than the energy of its
// field, (K phi)^2 / (8 pi G), K being the wave number of the 7-point Laplacian. The share is taken
// to K^6, from second, third and fourth differences of phi. phi as for acceleration().
void unfelt_energy(const PatchLevel& level, const Surroundings& around, const double* phi,
                   int order, double cell_size, double constant, double* result);

}  // namespace octant::gravity
