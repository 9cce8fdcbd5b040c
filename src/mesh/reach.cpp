#include "mesh/reach.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace octant::mesh {

namespace {

// Factor on radii that allows for rounding errors in the descent to leaves.
constexpr double k_slack = 1.0 + 1e-9;

// Visit of a block in the search for an item, with the item's sphere. In a message, the bytes of
// the item follow.
struct Visit {
  Key key;
  Position centre;
  double radius;
  std::int32_t level, source, number;
};

// Visits of other ranks' blocks, with their items, to be sent.
struct OutgoingVisits {
  std::vector<int> ranks;
  std::vector<std::byte> bytes;

  void send(int rank, const Visit& visit, std::span<const std::byte> item) {
    ranks.push_back(rank);
    const auto header = std::as_bytes(std::span(&visit, 1));
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.insert(bytes.end(), item.begin(), item.end());
  }
};

// Squared distances of a point from the octants of a block.
class DistancesToOctants {
 public:
  DistancesToOctants(const Geometry& geometry, const Visit& visit) {
    const double side = geometry.cell_size(visit.level) * geometry.octant_size();
    const Position corner = geometry.origin(visit.level, morton_decode(visit.key));
    for (int upper = 0; upper < 2; ++upper) {
      Position middle = corner;
      for (double& x : middle) x += (upper + 0.5) * side;
      const Position displacement = nearest_image(geometry, visit.centre, middle);
      for (int d = 0; d < 3; ++d) {
        const double outside = std::max(0.0, std::abs(displacement[d]) - 0.5 * side);
        square_[d][upper] = outside * outside;
      }
    }
  }

  double square_to(int octant) const {
    return square_[0][octant & 1] + square_[1][octant >> 1 & 1] + square_[2][octant >> 2];
  }

 private:
  double square_[3][2];  // squared distance along each axis, from lower and upper octants
};

// Keys of all block positions of a level that may overlap a sphere.
std::vector<Key> positions_around(const Geometry& geometry, int level, const Sphere& sphere) {
  const double side = geometry.cell_size(level) * geometry.block_size();
  const BlockCoordinates extent = geometry.extent(level);
  BlockCoordinates first, last;
  for (int d = 0; d < 3; ++d) {
    const auto at = [&](double x) {
      return static_cast<BlockCoordinate>(std::floor((x - geometry.lower()[d]) / side));
    };
    first[d] = at(sphere.centre[d] - k_slack * sphere.radius);
    last[d] = at(sphere.centre[d] + k_slack * sphere.radius);
    if (geometry.periodic(d)) last[d] = std::min(last[d], first[d] + extent[d] - 1);
  }
  std::vector<Key> keys;
  BlockCoordinates n;
  for (n[2] = first[2]; n[2] <= last[2]; ++n[2])
    for (n[1] = first[1]; n[1] <= last[1]; ++n[1])
      for (n[0] = first[0]; n[0] <= last[0]; ++n[0]) {
        BlockCoordinates block = n;
        if (geometry.wrap(level, block)) keys.push_back(morton_encode(block));
      }
  return keys;
}

// A block where the search for an item starts, and its owner.
struct StartBlock {
  int level, owner;
  Key key;
};

// Finds the initial blocks of the search for a sphere: blocks of level `sphere.level`, or of the
// next coarser level where no such block exists. Returns false if this rank's tables lack one.
bool nearby_blocks(const Mesh& mesh, const Sphere& sphere, std::vector<StartBlock>& starts) {
  starts.clear();
  if (sphere.level < 0) return false;
  for (const Key key : positions_around(mesh.geometry(), sphere.level, sphere)) {
    if (const Node* node = mesh.blocks(sphere.level).find(key)) {
      starts.push_back({sphere.level, node->owner, key});
      continue;
    }
    const Node* coarser =
        sphere.level > 0 ? mesh.blocks(sphere.level - 1).find(parent_key(key)) : nullptr;
    if (coarser == nullptr) return false;
    starts.push_back({sphere.level - 1, coarser->owner, parent_key(key)});
  }
  std::sort(starts.begin(), starts.end(), [](const StartBlock& a, const StartBlock& b) {
    return std::pair(a.level, a.key) < std::pair(b.level, b.key);
  });
  const auto same = [](const StartBlock& a, const StartBlock& b) {
    return a.level == b.level && a.key == b.key;
  };
  starts.erase(std::unique(starts.begin(), starts.end(), same), starts.end());
  return true;
}

// An item that reached leaf octants of an own block.
struct Arrival {
  std::int32_t source, number, level, slot;
  std::uint8_t octants;
  std::size_t bytes;  // offset of the item's bytes

  auto order() const { return std::tuple(source, number, level, slot); }
};

class Search {
 public:
  Search(const Mesh& mesh, std::size_t item_bytes) : mesh_(mesh), item_bytes_(item_bytes) {}

  // Sends every item to the blocks around its sphere, then to finer blocks, until all have reached
  // leaf octants. The messages of a round tell all ranks whether another one follows. Collective.
  void run(std::span<const Sphere> spheres, std::span<const std::byte> items) {
    const std::vector<std::int32_t> unlocated = start_nearby(spheres, items);
    const std::int64_t flags =
        exchange((spheres.empty() ? 0 : k_some_items) | (unlocated.empty() ? 0 : k_some_unlocated));
    any_items_ = (flags & k_some_items) != 0;
    bool moves_on = (flags & k_some_moved) != 0;
    if ((flags & k_some_unlocated) != 0) {
      start_from_directory(unlocated, spheres, items);
      moves_on = true;
    }
    while (moves_on) moves_on = exchange(0) != 0;
  }

  ReachedBytes result() {
    std::sort(arrivals_.begin(), arrivals_.end(),
              [](const Arrival& a, const Arrival& b) { return a.order() < b.order(); });
    ReachedBytes reached;
    reached.any = any_items_;
    reached.items.reserve(items_.size());
    for (std::size_t n = 0; n < arrivals_.size(); ++n) {
      const Arrival& a = arrivals_[n];
      const bool is_new =
          n == 0 || a.source != arrivals_[n - 1].source || a.number != arrivals_[n - 1].number;
      if (is_new) {
        const auto bytes = std::span(items_).subspan(a.bytes, item_bytes_);
        reached.items.insert(reached.items.end(), bytes.begin(), bytes.end());
        reached.sources.push_back(a.source);
        reached.numbers.push_back(a.number);
      }
      const auto item = static_cast<std::int32_t>(reached.sources.size() - 1);
      if (!is_new && reached.overlaps.back().level == a.level &&
          reached.overlaps.back().slot == a.slot)
        reached.overlaps.back().octants |= a.octants;
      else reached.overlaps.push_back({item, a.level, a.slot, a.octants});
    }
    return reached;
  }

 private:
  // Flags of a round of messages.
  static constexpr std::int64_t k_some_moved = 1, k_some_items = 2, k_some_unlocated = 4;

  std::span<const std::byte> item(std::span<const std::byte> items, std::size_t n) const {
    return items.subspan(n * item_bytes_, item_bytes_);
  }

  // Starts the search for items whose initial blocks are in this rank's tables; returns the others.
  std::vector<std::int32_t> start_nearby(std::span<const Sphere> spheres,
                                         std::span<const std::byte> items) {
    std::vector<StartBlock> starts;
    std::vector<std::int32_t> unlocated;
    items_.reserve(items.size());
    for (std::size_t n = 0; n < spheres.size(); ++n) {
      check_radius(spheres[n]);
      const auto number = static_cast<std::int32_t>(n);
      if (!nearby_blocks(mesh_, spheres[n], starts)) {
        unlocated.push_back(number);
        continue;
      }
      start_search(spheres[n], number, starts, item(items, n));
    }
    return unlocated;
  }

  // Starts the search for items in the blocks of the base level that the directory lists.
  // Collective.
  void start_from_directory(std::span<const std::int32_t> unlocated,
                            std::span<const Sphere> spheres, std::span<const std::byte> items) {
    std::vector<StartBlock> starts;
    std::vector<std::vector<Key>> wanted;
    std::vector<Key> keys;
    for (const std::int32_t n : unlocated) {
      wanted.push_back(positions_around(mesh_.geometry(), 0, spheres[n]));
      keys.insert(keys.end(), wanted.back().begin(), wanted.back().end());
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const std::vector<std::int32_t> owners = mesh_.tree().owners(0, keys);
    for (std::size_t s = 0; s < unlocated.size(); ++s) {
      starts.clear();
      for (const Key key : wanted[s]) {
        const auto index = std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
        starts.push_back({0, owners[index], key});
      }
      start_search(spheres[unlocated[s]], unlocated[s], starts, item(items, unlocated[s]));
    }
  }

  // Sends the outgoing visits and descends from those received. Returns the flags of all ranks,
  // among them k_some_moved if any visit was sent. Collective.
  std::int64_t exchange(std::int64_t flags) {
    const OutgoingVisits sent = std::exchange(outgoing_, {});
    if (!sent.ranks.empty()) flags |= k_some_moved;
    const std::size_t width = sizeof(Visit) + item_bytes_;
    const auto arrived = route_bytes(mesh_.communicator(), sent.ranks, sent.bytes, width, flags);
    items_.reserve(items_.size() + arrived.items.size());
    for (std::size_t at = 0; at < arrived.items.size(); at += width) {
      Visit visit;
      std::memcpy(&visit, &arrived.items[at], sizeof(Visit));
      const auto bytes = std::span(arrived.items).subspan(at + sizeof(Visit), item_bytes_);
      const std::size_t begin = items_.size();
      items_.insert(items_.end(), bytes.begin(), bytes.end());
      if (!descend(visit, begin)) items_.resize(begin);
    }
    return flags;
  }

  // Starts an item's search in own blocks, and sends the item to the owners of the other blocks.
  void start_search(const Sphere& sphere, std::int32_t number, std::span<const StartBlock> starts,
                    std::span<const std::byte> item) {
    const int rank = mesh_.communicator().rank();
    const std::size_t bytes = items_.size();
    items_.insert(items_.end(), item.begin(), item.end());
    bool found = false;
    for (const StartBlock& b : starts) {
      const Visit visit{b.key, sphere.centre, sphere.radius, b.level, rank, number};
      if (b.owner == rank) found = descend(visit, bytes) || found;
      else outgoing_.send(b.owner, visit, item);
    }
    if (!found) items_.resize(bytes);
  }

  void check_radius(const Sphere& sphere) const {
    const Geometry& geometry = mesh_.geometry();
    for (int d = 0; d < 3; ++d)
      OCTANT_REQUIRE(
          !geometry.periodic(d) || 2.0 * sphere.radius <= geometry.upper()[d] - geometry.lower()[d],
          "a radius of {} is more than half of the periodic domain", sphere.radius);
  }

  // Descends from an own block to its leaf octants; visits of other ranks' finer blocks are added
  // to `outgoing_`. Returns true if the item reached leaf octants of this rank.
  bool descend(const Visit& visit, std::size_t bytes) {
    const TreeLevel& blocks = mesh_.blocks(visit.level);
    const Node* node = blocks.find(visit.key);
    OCTANT_REQUIRE(node != nullptr && node->slot >= 0,
                   "an item was sent to a rank that does not own its block of level {}",
                   visit.level);
    const DistancesToOctants distances(mesh_.geometry(), visit);
    Arrival arrival{visit.source, visit.number, visit.level, node->slot, 0, bytes};
    bool found = false;
    for (int octant = 0; octant < 8; ++octant) {
      const bool refined = (blocks.refined(node->slot) >> octant & 1) != 0;
      const double radius = refined ? k_slack * visit.radius : visit.radius;
      if (distances.square_to(octant) > radius * radius) continue;
      if (!refined) {
        arrival.octants |= static_cast<std::uint8_t>(1 << octant);
        continue;
      }
      Visit finer = visit;
      finer.level = visit.level + 1;
      finer.key = child_key(visit.key, octant);
      const int owner = mesh_.child_owners(visit.level, node->slot)[octant];
      if (owner == mesh_.communicator().rank()) found = descend(finer, bytes) || found;
      else outgoing_.send(owner, finer, std::span(items_).subspan(bytes, item_bytes_));
    }
    if (arrival.octants == 0) return found;
    arrivals_.push_back(arrival);
    return true;
  }

  const Mesh& mesh_;
  std::size_t item_bytes_;
  OutgoingVisits outgoing_;
  bool any_items_ = false;  // on any rank
  std::vector<std::byte> items_;
  std::vector<Arrival> arrivals_;
};

}  // namespace

Position nearest_image(const Geometry& geometry, const Position& from, const Position& to) {
  Position displacement;
  for (int d = 0; d < 3; ++d) {
    displacement[d] = to[d] - from[d];
    if (!geometry.periodic(d)) continue;
    const double size = geometry.upper()[d] - geometry.lower()[d];
    if (displacement[d] > 0.5 * size) displacement[d] -= size;
    else if (displacement[d] < -0.5 * size) displacement[d] += size;
  }
  return displacement;
}

ReachedBytes reach_bytes(const Mesh& mesh, std::span<const Sphere> spheres,
                         std::span<const std::byte> items, std::size_t item_bytes) {
  Search search(mesh, item_bytes);
  search.run(spheres, items);
  return search.result();
}

}  // namespace octant::mesh
