// How tasks of unequal length are dealt out: a task to a team of threads.
#pragma once

#include <Kokkos_Core.hpp>

namespace octant::mesh {

// On cores a team is a thread, which takes another's tasks when it is done with its own. Equal
// shares would end at different times: tiles have holes, and cores may have other work to do.
using TaskTeams = Kokkos::TeamPolicy<Kokkos::Schedule<Kokkos::Dynamic>>;
using TaskTeam = TaskTeams::member_type;

}  // namespace octant::mesh
