// Spherical stars at rest of given matter, as starting points of the self-consistent field method.
#pragma once

#include "problems/star_matter.hpp"

namespace octant::problems {

// Spherical star in equilibrium.
struct SphericalStar {
  double central_enthalpy, mass, radius;
};

// Integrates dm/dr = 4 pi r^2 rho, dH/dr = -G m / r^2 from the centre to the surface, to a relative
// accuracy of about 1e-4. The radius is infinite if there is no surface.
SphericalStar integrate_star(const StarMatter& matter, double central_enthalpy, double G);

// Returns the star of the lowest central enthalpy with this mass on a stable branch, where the mass
// increases with the central enthalpy; interpolated to about a per cent. The mass may exceed the
// maximum by the fraction `excess`, which rotation can support; the star is then the heaviest.
// Throws InputError, which begins with `name` of the mass, if there is no such star. The matter
// must be given (StarMatter::is_given).
SphericalStar stable_star(const StarMatter& matter, double mass, double G, double excess,
                          const char* name);

}  // namespace octant::problems
