#include "subgrid/friends/distributed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "comm/route.hpp"
#include "comm/succeeds.hpp"
#include "core/error.hpp"
#include "subgrid/friends/cell_list.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

namespace {

constexpr double k_cells_per_rank = 512.0;

// Bounding box of a rank's bodies in one cell of the coarse grid, sent to the rank that a hash
// assigns to `home_cell`: the cell itself or a touching cell.
struct Presence {
  std::int64_t home_cell, cell;
  Box box;
};

// Request to a rank with bodies in `cell` for copies near the box of another rank's bodies.
struct CopyRequest {
  std::int64_t cell;
  int rank;
  Box box;
};

struct Copy {
  Body body;
  int index;
};

// Cell width of the coarse grid: at least the linking length, so that links reach only adjacent
// cells, and large enough that each rank has few cells.
double width_of_coarse_cells(const Box& box, const Linking& linking, int ranks) {
  constexpr double k_rounding = 1.0 + 1e-9;
  double volume = 1.0;
  for (int d = 0; d < 3; ++d) volume *= std::max(box.upper[d] - box.lower[d], linking.length);
  return std::max(k_rounding * linking.length, std::cbrt(volume / (k_cells_per_rank * ranks)));
}

int home_of(std::int64_t cell, int ranks) {
  constexpr std::uint64_t k_golden = 0x9E3779B97F4A7C15;  // Fibonacci hashing
  return static_cast<int>((static_cast<std::uint64_t>(cell) * k_golden >> 32) %
                          static_cast<std::uint64_t>(ranks));
}

class CopyFinder {
 public:
  CopyFinder(const Communicator& communicator, std::span<const Body> bodies, const Linking& linking,
             const CellGrid& grid, const CellList& list)
      : communicator_(communicator), bodies_(bodies), linking_(linking), grid_(grid), list_(list) {}

  Copies find() const { return send(requests_from(presences())); }

 private:
  std::vector<std::int64_t> touched_cells(std::int64_t key) const;
  Routed<Presence> presences() const;
  std::vector<CopyRequest> requests_from(const Routed<Presence>& presences) const;
  Copies send(const std::vector<CopyRequest>& requests) const;

  Communicator communicator_;
  std::span<const Body> bodies_;
  Linking linking_;
  const CellGrid& grid_;
  const CellList& list_;
};

// Returns the keys of a cell and its neighbours without duplicates.
std::vector<std::int64_t> CopyFinder::touched_cells(std::int64_t key) const {
  std::vector<std::int64_t> keys;
  const CellIndices cell_index = grid_.coordinates(key);
  for (int n = 0; n < 27; ++n) {
    CellIndices there{cell_index[0] + n % 3 - 1, cell_index[1] + n / 3 % 3 - 1,
                      cell_index[2] + n / 9 - 1};
    if (grid_.wrap(0, there[0]) && grid_.wrap(1, there[1]) && grid_.wrap(2, there[2]))
      keys.push_back(grid_.key(there));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Sends bounding boxes of bodies in cells to the cells' home ranks. Returns those received.
Routed<Presence> CopyFinder::presences() const {
  const Linking wider{1.1 * linking_.length, linking_.period};  // margin for the rounding of cell
                                                                // corners
  std::vector<Presence> announced;
  std::vector<int> homes;
  for (int cell = 0; cell < list_.cells(); ++cell) {
    const std::int64_t key = list_.keys()[cell];
    const Box box = bounding_box(list_.points(list_.first_subcell(cell)));
    for (const std::int64_t touched : touched_cells(key)) {
      if (touched != key && !may_be_near(box, grid_.box(touched), wider)) continue;
      announced.push_back({touched, key, box});
      homes.push_back(home_of(touched, communicator_.size()));
    }
  }
  return route(communicator_, homes, std::span<const Presence>(announced));
}

// Finds, on the home rank of each cell, pairs of ranks whose bodies may be linked, and
// sends the lower rank of a pair a request to send copies to the higher one. Returns the requests
// that this rank received. Collective.
std::vector<CopyRequest> CopyFinder::requests_from(const Routed<Presence>& presences) const {
  std::vector<std::size_t> order(presences.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return presences.items[a].home_cell < presences.items[b].home_cell;
  });
  std::vector<CopyRequest> requests;
  std::vector<int> holders;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::int64_t cell = presences.items[order[begin]].home_cell;
    while (end < order.size() && presences.items[order[end]].home_cell == cell) ++end;
    for (std::size_t a = begin; a < end; ++a) {
      const Presence& held = presences.items[order[a]];
      if (held.cell != cell) continue;
      for (std::size_t b = begin; b < end; ++b) {
        const Presence& other = presences.items[order[b]];
        const int holder = presences.sources[order[a]], requester = presences.sources[order[b]];
        if (holder >= requester || !may_be_near(held.box, other.box, linking_)) continue;
        requests.push_back({cell, requester, other.box});
        holders.push_back(holder);
      }
    }
  }
  return route(communicator_, holders, std::span<const CopyRequest>(requests)).items;
}

Copies CopyFinder::send(const std::vector<CopyRequest>& requests) const {
  std::vector<std::pair<int, int>> sent;  // rank, and index of the body
  for (const CopyRequest& request : requests) {
    const auto found = std::lower_bound(list_.keys().begin(), list_.keys().end(), request.cell);
    const int subcell = list_.first_subcell(static_cast<int>(found - list_.keys().begin()));
    for (int n = list_.begin(subcell); n < list_.begin(subcell + 1); ++n)
      if (may_be_near({list_.points()[n], list_.points()[n]}, request.box, linking_))
        sent.emplace_back(request.rank, list_.order()[n]);
  }
  std::sort(sent.begin(), sent.end());
  sent.erase(std::unique(sent.begin(), sent.end()), sent.end());

  std::vector<Copy> outgoing;
  std::vector<int> ranks;
  for (const auto& [rank, index] : sent) {
    outgoing.push_back({bodies_[index], index});
    ranks.push_back(rank);
  }
  const auto incoming = route(communicator_, ranks, std::span<const Copy>(outgoing));
  Copies copies;
  for (std::size_t n = 0; n < incoming.items.size(); ++n) {
    copies.bodies.push_back(incoming.items[n].body);
    copies.origins.push_back({incoming.sources[n], incoming.items[n].index});
  }
  return copies;
}

}  // namespace

Copies copies_within(const Communicator& communicator, std::span<const Body> bodies,
                     const Linking& linking) {
  std::vector<Point> points(bodies.size());
  for (std::size_t n = 0; n < bodies.size(); ++n) points[n] = bodies[n].position;
  Box box = bounding_box(points);
  const auto check = [&] { check_points(points, box, linking); };
  // One reduction gives the box of all ranks' points and tells whether the check fails on any rank.
  std::vector<double> most(box.upper.begin(), box.upper.end());
  for (const double x : box.lower) most.push_back(-x);
  most.push_back(succeeds(check) ? 0.0 : 1.0);
  communicator.max_in_place(std::span(most));
  if (most.back() > 0.0) communicator.collective_try(check);
  for (int d = 0; d < 3; ++d) {
    box.upper[d] = most[d];
    box.lower[d] = -most[3 + d];
  }
  if (box.empty()) return {};  // no rank has a body
  check_points({}, box, linking);
  if (communicator.size() == 1) return {};
  const CellGrid grid(box, linking, width_of_coarse_cells(box, linking, communicator.size()));
  const CellList list(points, grid);
  return CopyFinder(communicator, bodies, linking, grid, list).find();
}

namespace {

// Name of the part of a group on one rank: the rank, and the index of the part's first body.
using PartName = std::uint64_t;

PartName name_of(int rank, int first) {
  return static_cast<PartName>(rank) << 32 | static_cast<PartName>(first);
}
int rank_of(PartName name) { return static_cast<int>(name >> 32); }
int first_of(PartName name) { return static_cast<int>(name & 0xffffffff); }

// Minimum of the values that are offered to each part of a group.
class PartMinima {
 public:
  void add(PartName part, std::uint64_t value) {
    const auto [entry, is_new] = least_.try_emplace(part, value);
    if (!is_new) entry->second = std::min(entry->second, value);
  }

  struct PartMinimum {
    PartName part;
    std::uint64_t value;
  };
  // Sends the values to the owners of the parts. Returns those for this rank, and replaces `flags`
  // by the flags of all ranks. Collective.
  std::vector<PartMinimum> deliver(const Communicator& communicator, std::int64_t& flags) const {
    std::vector<int> ranks;
    std::vector<PartMinimum> minima;
    for (const auto& [part, value] : least_) {
      ranks.push_back(rank_of(part));
      minima.push_back({part, value});
    }
    return route(communicator, ranks, std::span<const PartMinimum>(minima), flags).items;
  }
  std::vector<PartMinimum> deliver(const Communicator& communicator) const {
    std::int64_t no_flags = 0;
    return deliver(communicator, no_flags);
  }

 private:
  std::map<PartName, std::uint64_t> least_;
};

// Two parts of groups that contain the same body. `own` is on this rank.
struct Link {
  PartName own, other;

  auto operator<=>(const Link&) const = default;
};

// Parts of groups on this rank that are linked to parts on other ranks.
class Parts {
 public:
  Parts(const Communicator& communicator, std::vector<PartName> names)
      : communicator_(communicator),
        names_(std::move(names)),
        parent_(names_),
        grandparent_(names_) {}

  // Iterates until all parts of a group have the same grandparent: rounds of FastSV, until one
  // changes no grandparent on any rank. Returns the number of rounds. Collective, as are the
  // functions below.
  int merge(const std::vector<Link>& links) {
    int rounds = 0;
    for (std::int64_t changed = links.empty() ? 0 : 1;; ++rounds) {
      PartMinima to_neighbours;
      for (const auto& [own, other] : links) to_neighbours.add(other, grandparent_[index_of(own)]);
      const auto received = to_neighbours.deliver(communicator_, changed);
      if (changed == 0) return rounds;
      changed = hook_and_shorten(received) ? 1 : 0;
    }
  }

  // Returns, for each part of this rank, the minimum of `values` over all parts of its group.
  std::vector<std::uint64_t> least(std::span<const std::uint64_t> values) const {
    PartMinima minima;
    for (std::size_t n = 0; n < names_.size(); ++n) minima.add(grandparent_[n], values[n]);
    std::vector<std::uint64_t> least(names_.size(), std::numeric_limits<std::uint64_t>::max());
    for (const auto& [part, value] : minima.deliver(communicator_))
      least[index_of(part)] = std::min(least[index_of(part)], value);
    return values_of(grandparent_, least);
  }

 private:
  std::size_t index_of(PartName own) const {
    return std::lower_bound(names_.begin(), names_.end(), own) - names_.begin();
  }

  // One round, with the grandparents of linked parts. Returns true if the grandparent of any part
  // on this rank has changed.
  bool hook_and_shorten(const std::vector<PartMinima::PartMinimum>& of_neighbours) {
    PartMinima to_parents;
    std::vector<PartName> next = parent_;
    for (const auto& [part, value] : of_neighbours) {
      to_parents.add(parent_[index_of(part)], value);
      next[index_of(part)] = std::min(next[index_of(part)], value);
    }
    for (const auto& [part, value] : to_parents.deliver(communicator_))
      next[index_of(part)] = std::min(next[index_of(part)], value);
    for (std::size_t n = 0; n < next.size(); ++n) next[n] = std::min(next[n], grandparent_[n]);

    parent_ = std::move(next);
    std::vector<PartName> grandparent = values_of(parent_, parent_);
    grandparent_.swap(grandparent);
    return grandparent != grandparent_;
  }

  // Fetches the values of parts from their owners.
  std::vector<std::uint64_t> values_of(std::span<const PartName> parts,
                                       std::span<const std::uint64_t> values) const {
    std::vector<PartName> names(parts.begin(), parts.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<int> ranks;
    for (const PartName name : names) ranks.push_back(rank_of(name));
    const auto requests = route(communicator_, ranks, std::span<const PartName>(names));
    std::vector<std::uint64_t> answers;
    for (const PartName name : requests.items) answers.push_back(values[index_of(name)]);
    // Names are sorted by rank, and so are the answers.
    const auto received =
        route(communicator_, requests.sources, std::span<const std::uint64_t>(answers)).items;
    std::vector<std::uint64_t> found;
    for (const PartName part : parts)
      found.push_back(received[std::lower_bound(names.begin(), names.end(), part) - names.begin()]);
    return found;
  }

  Communicator communicator_;
  std::vector<PartName> names_;  // ascending
  std::vector<PartName> parent_, grandparent_;
};

// Returns the links between parts of groups on different ranks: one part contains a body, and the
// other a copy of that body. Both ranks get each link, with `own` on that rank. Collective.
std::vector<Link> links_by_copies(const Communicator& communicator, std::span<const int> groups,
                                  std::span<const Origin> origins) {
  struct Held {
    int index;      // index of the body on the receiving rank
    PartName part;  // part of the copy
  };
  const std::size_t own = groups.size() - origins.size();
  std::vector<int> ranks;
  std::vector<Held> held;
  for (std::size_t n = 0; n < origins.size(); ++n) {
    ranks.push_back(origins[n].rank);
    held.push_back({origins[n].index, name_of(communicator.rank(), groups[own + n])});
  }
  std::vector<Link> links;
  for (const Held& copy : route(communicator, ranks, std::span<const Held>(held)).items)
    links.push_back({name_of(communicator.rank(), groups[copy.index]), copy.part});
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());

  std::vector<Link> reversed;
  ranks.clear();
  for (const Link& link : links) {
    ranks.push_back(rank_of(link.other));
    reversed.push_back({link.other, link.own});
  }
  const auto announced = route(communicator, ranks, std::span<const Link>(reversed)).items;
  links.insert(links.end(), announced.begin(), announced.end());
  return links;
}

}  // namespace

MergedLabels merge_labels(const Communicator& communicator, std::span<const int> groups,
                          std::span<const std::uint64_t> ids, std::span<const Origin> origins) {
  std::vector<std::uint64_t> least(groups.size(), std::numeric_limits<std::uint64_t>::max());
  for (std::size_t n = 0; n < groups.size(); ++n)
    least[groups[n]] = std::min(least[groups[n]], ids[n]);

  const std::vector<Link> links = links_by_copies(communicator, groups, origins);
  std::vector<PartName> names;
  for (const Link& link : links) names.push_back(link.own);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());

  Parts parts(communicator, names);
  MergedLabels merged;
  merged.rounds = parts.merge(links);
  std::vector<std::uint64_t> values;
  for (const PartName name : names) values.push_back(least[first_of(name)]);
  const auto of_group = parts.least(values);
  for (std::size_t n = 0; n < names.size(); ++n) least[first_of(names[n])] = of_group[n];

  const std::size_t own = groups.size() - origins.size();
  merged.label.resize(own);
  for (std::size_t n = 0; n < own; ++n) merged.label[n] = least[groups[n]];
  return merged;
}

}  // namespace octant::subgrid::friends
