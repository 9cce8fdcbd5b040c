// Transport of photons by the flux of Lax and Friedrichs, of first order.
#pragma once

#include "radiation/moment_transport.hpp"

namespace octant::radiation {

// Advances a set of moments of the own cells of all tiles by one explicit step, next = current + dt
// L(current); a0, a1, `old` and the gas of the stage are not used, and `next` must not be
// `current`. All waves move with the (reduced) speed of light, as in RAMSES-RT (Rosdahl et al.
// 2013, MNRAS 436, 2188, section 3.2): the dissipation is the same in all directions, so that
// photons of a point source spread isotropically. Riemann solvers with the speeds of the waves
// freeze the directions that the first cells around the source impose. Stable for reduced c dt <=
// dx / 3. Beyond the sides of `vacuum` there are no photons. Energies below zero, which refluxing
// may cause, remain for the caller. Local.
void advance_by_lax_friedrichs(const TransportStage& stage);

// Longest stable step of advance_by_lax_friedrichs() in units of dx over the reduced speed of
// light.
inline constexpr double k_lax_friedrichs_limit = 1.0 / 3.0;

}  // namespace octant::radiation
