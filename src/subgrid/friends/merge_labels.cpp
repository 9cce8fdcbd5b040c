#include "subgrid/friends/merge_labels.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "comm/route.hpp"

namespace octant::subgrid::friends {

namespace {

// A part of a group is what lies on one rank. Its name is that rank, and the first of its bodies.
using PartName = std::uint64_t;

PartName name_of(int rank, int first) {
  return static_cast<PartName>(rank) << 32 | static_cast<PartName>(first);
}
int rank_of(PartName name) { return static_cast<int>(name >> 32); }
int first_of(PartName name) { return static_cast<int>(name & 0xffffffff); }

// Numbers for parts, of which the least counts.
class Offers {
 public:
  void add(PartName part, std::uint64_t value) {
    const auto [place, is_new] = least_.try_emplace(part, value);
    if (!is_new) place->second = std::min(place->second, value);
  }

  struct Offer {
    PartName part;
    std::uint64_t value;
  };
  // Those for the parts of this rank. Collective.
  std::vector<Offer> deliver(const Communicator& communicator) const {
    std::vector<int> ranks;
    std::vector<Offer> offers;
    for (const auto& [part, value] : least_) {
      ranks.push_back(rank_of(part));
      offers.push_back({part, value});
    }
    return route(communicator, ranks, std::span<const Offer>(offers)).items;
  }

 private:
  std::map<PartName, std::uint64_t> least_;
};

// Two parts that share a body: one is on this rank.
struct Link {
  PartName own, other;

  auto operator<=>(const Link&) const = default;
};

// The parts of this rank that have bodies on others, too.
class Parts {
 public:
  Parts(const Communicator& communicator, std::vector<PartName> names)
      : communicator_(communicator),
        names_(std::move(names)),
        parent_(names_),
        grandparent_(names_) {}

  // Lets parents of parents be the same for all parts of a group; returns the number of rounds.
  // Collective, like the following.
  int merge(const std::vector<Link>& links) {
    if (!communicator_.any(!links.empty())) return 0;
    int rounds = 1;
    while (communicator_.any(hook_and_shorten(links))) ++rounds;
    return rounds;
  }

  // The least of the values of a group's parts, for each of this rank.
  std::vector<std::uint64_t> least(std::span<const std::uint64_t> values) const {
    Offers offers;
    for (std::size_t n = 0; n < names_.size(); ++n) offers.add(grandparent_[n], values[n]);
    std::vector<std::uint64_t> least(names_.size(), std::numeric_limits<std::uint64_t>::max());
    for (const auto& [part, value] : offers.deliver(communicator_))
      least[place(part)] = std::min(least[place(part)], value);
    return values_of(grandparent_, least);
  }

 private:
  std::size_t place(PartName own) const {
    return std::lower_bound(names_.begin(), names_.end(), own) - names_.begin();
  }

  // One round of FastSV. Whether the grandparent of any part on this rank has changed.
  bool hook_and_shorten(const std::vector<Link>& links) {
    Offers to_neighbours, to_parents;
    for (const auto& [own, other] : links) to_neighbours.add(other, grandparent_[place(own)]);
    std::vector<PartName> next = parent_;
    for (const auto& [part, value] : to_neighbours.deliver(communicator_)) {
      to_parents.add(parent_[place(part)], value);
      next[place(part)] = std::min(next[place(part)], value);
    }
    for (const auto& [part, value] : to_parents.deliver(communicator_))
      next[place(part)] = std::min(next[place(part)], value);
    for (std::size_t n = 0; n < next.size(); ++n) next[n] = std::min(next[n], grandparent_[n]);

    parent_ = std::move(next);
    std::vector<PartName> grandparent = values_of(parent_, parent_);
    grandparent_.swap(grandparent);
    return grandparent != grandparent_;
  }

  // For each of some parts of any rank, its value there.
  std::vector<std::uint64_t> values_of(std::span<const PartName> parts,
                                       std::span<const std::uint64_t> values) const {
    std::vector<PartName> names(parts.begin(), parts.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<int> ranks;
    for (const PartName name : names) ranks.push_back(rank_of(name));
    const auto asked = route(communicator_, ranks, std::span<const PartName>(names));
    std::vector<std::uint64_t> answers;
    for (const PartName name : asked.items) answers.push_back(values[place(name)]);
    // Names are in the order of ranks, and so are their answers.
    const auto heard =
        route(communicator_, asked.sources, std::span<const std::uint64_t>(answers)).items;
    std::vector<std::uint64_t> found;
    for (const PartName part : parts)
      found.push_back(heard[std::lower_bound(names.begin(), names.end(), part) - names.begin()]);
    return found;
  }

  Communicator communicator_;
  std::vector<PartName> names_;  // ascending
  std::vector<PartName> parent_, grandparent_;
};

// The links that copies make, on the ranks of both parts. Collective.
std::vector<Link> links_by_copies(const Communicator& communicator, std::span<const int> groups,
                                  std::span<const Origin> origins) {
  struct Held {
    int index;      // of the body on the rank that is told
    PartName part;  // of the copy
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

  std::vector<Link> from_there;
  ranks.clear();
  for (const Link& link : links) {
    ranks.push_back(rank_of(link.other));
    from_there.push_back({link.other, link.own});
  }
  const auto told = route(communicator, ranks, std::span<const Link>(from_there)).items;
  links.insert(links.end(), told.begin(), told.end());
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
