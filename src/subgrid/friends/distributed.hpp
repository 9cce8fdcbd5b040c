// Friends of friends among bodies in any distribution over ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/friends/friends.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

// Point with the data that linking criteria use.
struct Body {
  Point position;
  Point velocity{};
  double mass = 0.0;
  std::uint64_t id = 0;
};

// Origin of a copy: rank that owns the body, and index of the body on that rank.
struct Origin {
  int rank, index;
};

// Copies of other ranks' bodies, and their origins.
struct Copies {
  std::vector<Body> bodies;
  std::vector<Origin> origins;
};

// Exchanges copies: of two ranks with bodies within the linking length, the higher one receives
// copies from the lower one. Such pairs of ranks are found from the bounding boxes of bodies in the
// cells of a coarse grid. A hash distributes the cells over ranks, so no rank stores all boxes.
// Throws RunError on every rank if linking is not possible. Collective.
Copies copies_within(const Communicator& communicator, std::span<const Body> bodies,
                     const Linking& linking);

// Result of merge_labels().
struct MergedLabels {
  std::vector<std::uint64_t> label;
  int rounds = 0;
};

// Merges the groups of all ranks. `groups` is the result of find_groups() for this rank's bodies
// followed by copies from `origins`. Returns the smallest id over all ranks in the group of each
// own body, and the number of rounds.
//
// Uses the algorithm FastSV for connected components (Zhang, Azad & Hu 2020, SIAM PP20, algorithm
// 3) on the parts of groups on each rank that contain bodies of other ranks. The number of rounds
// grows with the logarithm of the number of parts in a chain. Collective.
MergedLabels merge_labels(const Communicator& communicator, std::span<const int> groups,
                          std::span<const std::uint64_t> ids, std::span<const Origin> origins);

// Groups of this rank's bodies.
struct DistributedGroups {
  std::vector<std::uint64_t> label;  // smallest id in the group of each own body
  std::int64_t copies = 0;           // copies of other ranks' bodies on this rank
  int rounds = 0;                    // rounds until no label changed, equal on all ranks
};

// Criterion that links all bodies within the linking length. Criteria must be symmetric.
struct NearBodies {
  static constexpr bool k_distance_alone = true;
  bool operator()(const Body&, const Body&, double) const { return true; }
};
// Criterion for gravitationally bound pairs.
struct BoundBodies {
  static constexpr bool k_distance_alone = false;
  double gravity;
  bool operator()(const Body& a, const Body& b, double separation_squared) const {
    double squared_speed = 0.0;
    for (int d = 0; d < 3; ++d)
      squared_speed += (a.velocity[d] - b.velocity[d]) * (a.velocity[d] - b.velocity[d]);
    return bound(squared_speed, std::sqrt(separation_squared), gravity, a.mass + b.mass);
  }
};

// Adapter that applies a criterion on bodies to their indices.
template <class Criterion>
struct OfIndices {
  static constexpr bool k_distance_alone = Criterion::k_distance_alone;
  std::span<const Body> bodies;
  const Criterion& criterion;

  bool operator()(int a, int b, double separation_squared) const {
    return criterion(bodies[a], bodies[b], separation_squared);
  }
};

// Finds groups that do not depend on the distribution of bodies. Each rank receives copies of
// bodies near its own, finds groups among both, and merges labels with other ranks. Messages and
// memory are proportional to the number of own bodies and copies. Ids must be unique; `fastest` is
// this rank's timing record. Collective.
template <class Criterion = NearBodies>
DistributedGroups find_groups(const Communicator& communicator, std::span<const Body> bodies,
                              const Linking& linking, FastestMethod& fastest,
                              const Criterion& criterion = {}) {
  const Copies copies = copies_within(communicator, bodies, linking);
  std::vector<Body> all;
  all.reserve(bodies.size() + copies.bodies.size());
  all.insert(all.end(), bodies.begin(), bodies.end());
  all.insert(all.end(), copies.bodies.begin(), copies.bodies.end());
  std::vector<Point> points(all.size());
  std::vector<std::uint64_t> ids(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    points[n] = all[n].position;
    ids[n] = all[n].id;
  }
  const auto local = fastest.find_groups(points, linking, OfIndices<Criterion>{all, criterion});
  MergedLabels merged = merge_labels(communicator, local, ids, copies.origins);
  return {std::move(merged.label), static_cast<std::int64_t>(copies.bodies.size()), merged.rounds};
}

}  // namespace octant::subgrid::friends
