// Holes merge.
#pragma once

#include <cstdint>
#include <vector>

#include "subgrid/black_holes/step.hpp"
#include "subgrid/friends/distributed.hpp"

namespace octant::subgrid {

// What holes become that merge: at their centre of mass, with their momentum, and the id and birth
// of the oldest one. They merge with the heaviest, one after the other in the order of their ids
// (of two as heavy, the older one counts as heavier). `lost` grows by the kinetic energy that is
// no longer in the motion of holes. `holes` are two or more, in the order of ids.
Hole merged(const mesh::Geometry& geometry, std::span<const Hole> holes, double& lost);

// Holes that are friends of friends become one. True, on all ranks, if any did. Collective.
bool merge_holes(const HoleStep& step, friends::FastestMethod& fastest);

}  // namespace octant::subgrid
