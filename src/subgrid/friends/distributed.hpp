// Friends of friends among bodies that are spread over ranks, in any way.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/friends/copies.hpp"
#include "subgrid/friends/friends.hpp"
#include "subgrid/friends/linking.hpp"
#include "subgrid/friends/merge_labels.hpp"

namespace octant::subgrid::friends {

struct DistributedGroups {
  std::vector<std::uint64_t> label;  // of each own body: the smallest id in its group
  std::int64_t copies = 0;           // of others' bodies on this rank
  int rounds = 0;                    // of messages until no label changed; the same on all ranks
};

// Whether two bodies within the linking length are friends; symmetric, as criteria of indices.
struct NearBodies {
  static constexpr bool k_distance_alone = true;
  bool operator()(const Body&, const Body&, double) const { return true; }
};
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

// A criterion of bodies as one of their indices.
template <class Criterion>
struct OfIndices {
  static constexpr bool k_distance_alone = Criterion::k_distance_alone;
  std::span<const Body> bodies;
  const Criterion& criterion;

  bool operator()(int a, int b, double separation_squared) const {
    return criterion(bodies[a], bodies[b], separation_squared);
  }
};

// The groups do not depend on which rank holds which body. Each rank takes copies of the bodies
// within the linking length of its own, finds groups among both, and then merges labels with those
// ranks: messages and memory are proportional to a rank's own bodies and copies, never to all. Ids
// must be unique. Collective; `fastest` is this rank's experience.
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
