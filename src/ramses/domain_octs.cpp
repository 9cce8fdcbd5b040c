// Exchange of octs with the ranks that write domains.
#include <algorithm>
#include <numeric>
#include <utility>

#include "ramses/export.hpp"

namespace octant {

DomainOcts::DomainOcts(const Communicator& ranks, const OctTree& tree, int first, Share share)
    : ranks_(ranks),
      tree_(tree),
      first_(first),
      last_(std::min(first + ranks.size(), static_cast<int>(tree.counts().front().size()))),
      domain_(first + ranks.rank() < last_ ? first + ranks.rank() : -1) {
  for (const OctLevel& octs : tree.levels()) {
    OctRoute& way = routes_.emplace_back(route_of(octs, share));
    HeldLevel& level = held_.emplace_back();
    level.number = static_cast<int>(held_.size());
    level.octs = exchange(octs, way);
  }
}

DomainOcts::OctRoute DomainOcts::route_of(const OctLevel& octs, Share share) const {
  OctRoute route;
  const auto add = [&](std::size_t oct, int domain) {
    if (domain < first_ || domain >= last_) return;
    route.octs.push_back(static_cast<std::int64_t>(oct));
    route.ranks.push_back(domain - first_);
  };
  for (std::size_t n = 0; n < octs.keys.size(); ++n) {
    if (share == Share::own) add(n, octs.owners[n]);
    else
      for (std::int64_t h = octs.first_holder[n]; h < octs.first_holder[n + 1]; ++h)
        add(n, octs.holders[h]);
  }
  return route;
}

// Receives the octs of this rank's domain, ordered by owner, then by key.
std::vector<OctItem> DomainOcts::exchange(const OctLevel& octs, OctRoute& way) const {
  std::vector<OctItem> items;
  for (const std::int64_t n : way.octs)
    items.push_back({octs.keys[n], octs.owners[n], octs.refined[n]});
  const auto arrived = way.exchange_values(ranks_, items);
  way.order.resize(arrived.size());
  std::iota(way.order.begin(), way.order.end(), std::size_t{0});
  std::ranges::sort(way.order, {},
                    [&](std::size_t n) { return std::pair(arrived[n].owner, arrived[n].key); });
  return way.ordered(arrived);
}

std::vector<double> DomainOcts::values(std::size_t level, int variable) const {
  const OctRoute& way = routes_[level];
  std::vector<OctValues> items;
  {
    const auto own = tree_.values(tree_.levels()[level], variable);
    items.reserve(way.octs.size());
    for (const std::int64_t n : way.octs) items.push_back(own[n]);
  }
  std::vector<double> values;
  values.reserve(way.order.size() * k_oct_cells);
  for (const OctValues& oct : way.exchange_values(ranks_, items))
    values.insert(values.end(), oct.begin(), oct.end());
  return values;
}

int DomainOcts::finest_level_containing(const RamsesPlace& cell, int min_level) const {
  auto level = static_cast<int>(held_.size());
  Key key = key_of(cell) >> 3 * (k_finest_ramses_level + 1 - level);
  const auto is_there = [&] {
    const auto& octs = held_[level - 1].octs;
    const auto where = std::pair(std::int32_t{domain_}, key);
    const auto as_pair = [](const OctItem& oct) { return std::pair(oct.owner, oct.key); };
    const auto at = std::ranges::lower_bound(octs, where, {}, as_pair);
    return at != octs.end() && as_pair(*at) == where;
  };
  for (; level > min_level && !is_there(); --level) key = parent_key(key);
  return level;
}

}  // namespace octant
