#include "subgrid/friends/copies.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "subgrid/friends/box.hpp"
#include "subgrid/friends/cell_list.hpp"

namespace octant::subgrid::friends {

namespace {

constexpr double k_cells_per_rank = 512.0;

// A rank's bodies in one cell of the coarse grid, as told to the home of a cell that it touches.
struct Presence {
  std::int64_t home_cell, cell;
  Box box;
};

// To a rank that has bodies in `cell`: others, of this rank, are in this box near them.
struct Wish {
  std::int64_t cell;
  int rank;
  Box box;
};

struct Copy {
  Body body;
  int index;
};

// Wide enough for links to end in the next cell, and for few cells per rank.
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

  Copies find() const { return send(wishes_from(presences())); }

 private:
  std::vector<std::int64_t> touched_cells(std::int64_t key) const;
  Routed<Presence> presences() const;
  std::vector<Wish> wishes_from(const Routed<Presence>& presences) const;
  Copies send(const std::vector<Wish>& wishes) const;

  Communicator communicator_;
  std::span<const Body> bodies_;
  Linking linking_;
  const CellGrid& grid_;
  const CellList& list_;
};

// A cell and those around it, each once.
std::vector<std::int64_t> CopyFinder::touched_cells(std::int64_t key) const {
  std::vector<std::int64_t> keys;
  const CellPlace place = grid_.place(key);
  for (int n = 0; n < 27; ++n) {
    CellPlace there{place[0] + n % 3 - 1, place[1] + n / 3 % 3 - 1, place[2] + n / 9 - 1};
    if (grid_.wrap(0, there[0]) && grid_.wrap(1, there[1]) && grid_.wrap(2, there[2]))
      keys.push_back(grid_.key(there));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// What ranks tell the homes of cells, received by homes.
Routed<Presence> CopyFinder::presences() const {
  const Linking wider{1.1 * linking_.length, linking_.period};  // corners of cells are rounded
  std::vector<Presence> told;
  std::vector<int> homes;
  for (int cell = 0; cell < list_.cells(); ++cell) {
    const std::int64_t key = list_.keys()[cell];
    const Box box = bounding_box(list_.points(list_.first_clump(cell)));
    for (const std::int64_t touched : touched_cells(key)) {
      if (touched != key && !may_be_near(box, grid_.box(touched), wider)) continue;
      told.push_back({touched, key, box});
      homes.push_back(home_of(touched, communicator_.size()));
    }
  }
  return route(communicator_, homes, std::span<const Presence>(told));
}

// Homes introduce ranks to each other: the lower one hears the higher one's wish.
std::vector<Wish> CopyFinder::wishes_from(const Routed<Presence>& presences) const {
  std::vector<std::size_t> order(presences.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return presences.items[a].home_cell < presences.items[b].home_cell;
  });
  std::vector<Wish> wishes;
  std::vector<int> hear;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::int64_t cell = presences.items[order[begin]].home_cell;
    while (end < order.size() && presences.items[order[end]].home_cell == cell) ++end;
    for (std::size_t a = begin; a < end; ++a) {
      const Presence& held = presences.items[order[a]];
      if (held.cell != cell) continue;
      for (std::size_t b = begin; b < end; ++b) {
        const Presence& other = presences.items[order[b]];
        const int holder = presences.sources[order[a]], wisher = presences.sources[order[b]];
        if (holder >= wisher || !may_be_near(held.box, other.box, linking_)) continue;
        wishes.push_back({cell, wisher, other.box});
        hear.push_back(holder);
      }
    }
  }
  return route(communicator_, hear, std::span<const Wish>(wishes)).items;
}

Copies CopyFinder::send(const std::vector<Wish>& wishes) const {
  std::vector<std::pair<int, int>> sent;  // (rank, index of the body)
  for (const Wish& wish : wishes) {
    const auto found = std::lower_bound(list_.keys().begin(), list_.keys().end(), wish.cell);
    const int clump = list_.first_clump(static_cast<int>(found - list_.keys().begin()));
    for (int n = list_.begin(clump); n < list_.begin(clump + 1); ++n)
      if (may_be_near({list_.points()[n], list_.points()[n]}, wish.box, linking_))
        sent.emplace_back(wish.rank, list_.order()[n]);
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
  communicator.agree([&] { check_points(points, box, linking); });
  communicator.min_in_place(std::span<double>(box.lower));
  communicator.max_in_place(std::span<double>(box.upper));
  if (box.empty()) return {};  // no rank has a body
  check_points({}, box, linking);
  if (communicator.size() == 1) return {};
  const CellGrid grid(box, linking, width_of_coarse_cells(box, linking, communicator.size()));
  const CellList list(points, grid);
  return CopyFinder(communicator, bodies, linking, grid, list).find();
}

}  // namespace octant::subgrid::friends
