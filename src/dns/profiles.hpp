// Profiles along z that follow from the means of a flow's statistics.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "dns/domain.hpp"

namespace octant::dns {

class Means;

// Writes one row per plane of cells: mean velocities, root mean squares, Reynolds stresses,
// skewness, flatness, vorticity, total shear stress, and the terms of the budget of turbulent
// kinetic energy. What lives on faces is averaged to the centres. Collective.
void write_profiles(const Communicator& communicator, const Domain& domain, const Means& means,
                    double viscosity, const std::string& path);

}  // namespace octant::dns
