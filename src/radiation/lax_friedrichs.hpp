// Transport of photons with local Lax-Friedrichs fluxes of first order.
#pragma once

#include "radiation/moment_transport.hpp"

namespace octant::radiation {

// Advances a set of moments of the own cells of all tiles by one explicit step, next = current + dt
// L(current); a0, a1, `old` and the gas of the stage are not used, and `next` must not be
// `current`. The dissipation along an axis d has the (reduced) speed of light times
//   a = s + (1 - s) |f_d|,  s = min(1, 4 (1 - f^2)),
// the larger one of both cells. Photons that are not collimated, f^2 < 3/4, as in the first eight
// cells around a point source, have a = 1 as in RAMSES-RT (Rosdahl et al. 2013, MNRAS 436, 2188,
// section 3.2): the dissipation is the same in all directions, so that they spread isotropically.
// Riemann solvers with the speeds of the waves freeze the directions that the first cells around
// the source impose. In a beam, f = 1, photons move with their direction and spread across it only
// where it is oblique to the mesh. a is not below |f_d|, so that densities stay positive. Stable
// for reduced c dt <= dx / 3. Beyond the sides of `vacuum` there are no photons. Energies below
// zero, which refluxing may cause, remain for the caller. Local.
void advance_by_lax_friedrichs(const TransportStage& stage);

// Longest stable step of advance_by_lax_friedrichs() in units of dx over the reduced speed of
// light.
inline constexpr double k_lax_friedrichs_limit = 1.0 / 3.0;

}  // namespace octant::radiation
