// The recursive k-section: space divided among ranks by a tree of walls (curamses.txt, section 2).
//
// The tree is comm's RankTree: the root is the domain and all ranks, and every node is cut along
// the longest axis of its box into k parts for the k groups of consecutive ranks below it, each
// with the cost that its ranks shall have (eq. 3). A wall is a plane between blocks of the finest
// level. Where no plane divides the cost well enough, because a single layer of blocks costs too
// much, the wall has a step: it cuts its layer along the next axis, and if need be that row along
// the last.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "decomp/work.hpp"

namespace octant {

// The imbalance that is accepted for the sake of flat walls, over the whole tree.
inline constexpr double k_ksection_tolerance = 0.05;

// The rank that shall own each of this rank's points, in their order: the same whatever rank holds
// which point. Collective. The points travel down the tree to their owners, and a node is cut by
// its own ranks, at the same time as the others of its level; no rank holds more than points and
// one histogram of its own node.
std::vector<int> ksection_owners(const Communicator& communicator, const Work& work,
                                 double tolerance = k_ksection_tolerance);

// The same for any number of ranks >= 1, in a process that holds all points. Not collective.
std::vector<int> ksection_owners(int ranks, const Work& work,
                                 double tolerance = k_ksection_tolerance);

}  // namespace octant
