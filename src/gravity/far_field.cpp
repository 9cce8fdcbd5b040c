#include "gravity/far_field.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "comm/route.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Maximum truncation error of the force of one node, relative to the force of the total mass. The
// sum of all bounds exceeds the true error, because errors partly cancel.
constexpr double k_tolerance = 1e-4;
// Minimum distance of a node, in node radii; expansions of nearer nodes converge too slowly.
constexpr double k_nearest = 1.3;

double distance(const std::array<double, 3>& a, const double* b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Sends queries[n] to ranks[n] and returns the answers, with one exchange in each direction.
template <class Answer, class Answerer>
std::vector<Answer> query_owners(const Communicator& communicator, std::span<const int> ranks,
                                 std::span<const Key> queries, const Answerer& answer) {
  const auto queried = route<Key>(communicator, ranks, queries);
  const std::vector<Answer> answers = answer(queried.items);
  const auto arrived = route<Answer>(communicator, queried.sources, answers);
  std::vector<std::size_t> order(queries.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  std::vector<Answer> in_order(queries.size());
  for (std::size_t n = 0; n < order.size(); ++n) in_order[order[n]] = arrived.items[n];
  return in_order;
}

}  // namespace

// Group of points in units of base cells, and the potential at each point.
struct FarField::View {
  std::array<double, 3> centre;
  double radius;
  std::vector<std::array<double, 3>> points;
  std::vector<double> sums;
  double force = 0.0;  // approximate force of the total mass
  double error = 0.0;

  // Calls evaluate(points, their sums) for all points, up to k_far_lanes at a time.
  template <class Evaluate>
  void for_chunks(const Evaluate& evaluate) {
    for (std::size_t n = 0; n < points.size(); n += k_far_lanes) {
      const std::size_t count = std::min<std::size_t>(k_far_lanes, points.size() - n);
      evaluate(std::span(points).subspan(n, count), &sums[n]);
    }
  }
};
struct FarField::Pair {
  std::uint32_t view;
  Key node;
};

namespace {

// Lowest sufficient order of a node's expansion at a distance d from its centre, and the bound of
// the error of the force. expansion() returns none if no order suffices.
struct Expansion {
  int order;
  double error;
};
std::optional<Expansion> expansion(const FarNode& node, const FarNode::RadialSums& sums, double d,
                                   double largest_error) {
  if (!(d > k_nearest * node.radius && d > 0.0)) return std::nullopt;
  const double series = 1.0 / (1.0 - node.radius / d);
  double power = 1.0 / (d * d * d * d);  // 1 / d^(n + 3)
  for (int order = 1; order <= FarNode::k_order; ++order, power /= d) {
    const double error = (order + 2) * sums.of[order + 1] * power * series;
    if (error <= largest_error) return Expansion{order, error};
  }
  return std::nullopt;
}

// Returns the keys of the nodes of pairs without duplicates, in ascending order.
template <class Pairs>
std::vector<Key> keys_of(const Pairs& pairs) {
  std::vector<Key> keys;
  for (const auto& pair : pairs) keys.push_back(pair.node);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}
std::size_t place_of(const std::vector<Key>& keys, Key key) {
  return std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
}

}  // namespace

FarField::FarField(const LevelPatches& patches, const mesh::Geometry& geometry,
                   const DeviceArray<double>& density)
    : communicator_(patches.communicator()),
      cell_size_(geometry.cell_size(0)),
      lower_(geometry.lower()),
      directory_(patches.directory()),
      density_(patches, density) {
  while (1 << patch_grid_ < patches.side()) ++patch_grid_;
  top_grid_ = patch_grid_;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t cells = patches.extent()[d] * patches.side();
    while (std::int64_t{1} << top_grid_ < cells) ++top_grid_;
    extent_[d] = static_cast<double>(cells);
  }
  for (int slot = 0; slot < patches.own(); ++slot) patches_.push_back(patches.key(slot));
}

int FarField::home_of(Key key) const {
  auto h = static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u;
  if constexpr (sizeof(Key) > 8) h ^= static_cast<std::uint64_t>(key >> 64);
  return static_cast<int>((h ^ (h >> 32)) % static_cast<std::uint64_t>(communicator_.size()));
}

int FarField::find_patch(Key patch) const {
  return static_cast<int>(std::lower_bound(patches_.begin(), patches_.end(), patch) -
                          patches_.begin());
}

// Returns the cubes of cells of nodes that are own patches or parts of own patches.
std::vector<FarCube> FarField::cubes_of(int grid, std::span<const Key> keys) const {
  std::vector<FarCube> cubes;
  const std::int64_t within = (std::int64_t{1} << patch_grid_) - 1;
  for (const Key key : keys) {
    const BlockCoordinates c = morton_decode(key);
    FarCube& cube = cubes.emplace_back();
    cube.patch = find_patch(key >> (3 * (patch_grid_ - grid)));
    for (int d = 0; d < 3; ++d) {
      const std::int64_t corner = std::int64_t{c[d]} << grid;
      cube.begin[d] = static_cast<std::int16_t>(corner & within);
      cube.corner[d] = static_cast<double>(corner);
    }
  }
  return cubes;
}

std::vector<FarNode> FarField::own_nodes(int grid, std::span<const Key> keys) const {
  return density_.nodes(cubes_of(grid, keys), 1 << grid);
}

// Builds the nodes of patches and all larger nodes.
void FarField::build() {
  built_ = true;
  grids_.resize(top_grid_ - patch_grid_ + 1);
  Grid& finest = grids_.front();
  finest.nodes = own_nodes(patch_grid_, patches_);
  for (std::size_t n = 0; n < patches_.size(); ++n)
    finest.index.insert(patches_[n], static_cast<std::int32_t>(n));
  for (int grid = patch_grid_ + 1; grid <= top_grid_; ++grid) join(grid);
}

// Builds the nodes of a grid from their children, summed in the order of the children's keys.
void FarField::join(int grid) {
  struct Child {
    Key key;
    FarNode node;
  };
  const Grid& finer = grids_[grid - 1 - patch_grid_];
  std::vector<Child> children;
  for (const auto& [key, n] : finer.index) children.push_back({key, finer.nodes[n]});
  std::vector<int> homes;
  for (const Child& child : children) homes.push_back(home_of(child.key >> 3));
  auto arrived = route<Child>(communicator_, homes, children).items;
  std::sort(arrived.begin(), arrived.end(),
            [](const Child& a, const Child& b) { return a.key < b.key; });
  Grid& coarser = grids_[grid - patch_grid_];
  for (std::size_t n = 0; n < arrived.size();) {
    const Key parent = arrived[n].key >> 3;
    std::vector<FarNode> nodes;
    for (; n < arrived.size() && arrived[n].key >> 3 == parent; ++n)
      nodes.push_back(arrived[n].node);
    coarser.index.insert(parent, static_cast<std::int32_t>(coarser.nodes.size()));
    coarser.nodes.push_back(FarNode::joined(nodes));
  }
}

std::vector<int> FarField::owners_of(int grid, std::span<const Key> keys) const {
  std::vector<int> owners;
  if (grid > patch_grid_) {
    for (const Key key : keys) owners.push_back(home_of(key));
    return owners;
  }
  std::vector<Key> patches;
  for (const Key key : keys) patches.push_back(key >> (3 * (patch_grid_ - grid)));
  for (const PatchFacts& attributes : directory_.find_owners(patches))
    owners.push_back(attributes.owner);
  return owners;
}

std::vector<FarField::View> FarField::views_of(std::span<const PointGroup> groups) const {
  std::vector<View> views;
  const auto placed = [&](const std::array<double, 3>& x) {
    std::array<double, 3> place;
    for (int d = 0; d < 3; ++d) place[d] = (x[d] - lower_[d]) / cell_size_;
    return place;
  };
  for (const PointGroup& group : groups) {
    View& view = views.emplace_back();
    view.centre = placed(group.centre);
    view.radius = group.radius / cell_size_;
    for (const auto& x : group.points) view.points.push_back(placed(x));
    view.sums.assign(view.points.size(), 0.0);
  }
  return views;
}

std::vector<double> FarField::potentials(std::span<const PointGroup> groups) {
  if (!built_) build();
  std::vector<View> views = views_of(groups);
  add_cells(views, add_nodes(views));
  // Masses are density h^3 and distances in units of h, so the potential is h^2 times the sum.
  std::vector<double> values;
  double worst = 0.0;
  for (const View& view : views) {
    for (const double sum : view.sums) values.push_back(cell_size_ * cell_size_ * sum);
    if (view.force > 0.0) worst = std::max(worst, view.error / view.force);
  }
  error_ = std::max(error_, communicator_.max(worst));
  return values;
}

// Traverses the tree from the root. Nodes are added to each view in the order of grids, then of
// keys. Returns the remaining pairs, whose nodes must be summed cell by cell.
std::vector<FarField::Pair> FarField::add_nodes(std::vector<View>& views) {
  std::vector<Pair> pairs, leaves;
  for (std::size_t n = 0; n < views.size(); ++n)
    if (!views[n].points.empty()) pairs.push_back({static_cast<std::uint32_t>(n), Key{0}});
  for (int grid = top_grid_; grid >= leaf_grid(); --grid) {
    const std::vector<Key> keys = keys_of(pairs);
    const std::vector<FarNode> nodes = nodes_at(grid, keys);
    std::vector<FarNode::RadialSums> radial;
    for (const FarNode& node : nodes) radial.push_back(node.radial_sums());
    std::vector<Pair> next;
    for (const Pair& pair : pairs) {
      const std::size_t place = place_of(keys, pair.node);
      const FarNode& node = nodes[place];
      View& view = views[pair.view];
      if (node.mass() == 0.0) continue;
      const double d = distance(view.centre, node.centre);
      if (grid == top_grid_) view.force = node.mass() / (d * d + radial[place].of[2] / node.mass());
      if (const auto found =
              expansion(node, radial[place], d - view.radius, k_tolerance * view.force)) {
        view.error += found->error;
        view.for_chunks([&](std::span<const std::array<double, 3>> points, double* sums) {
          node.add_potentials(found->order, points, sums);
        });
      } else if (grid == leaf_grid()) {
        leaves.push_back(pair);
      } else {
        open(pair, grid, next);
      }
    }
    std::stable_sort(next.begin(), next.end(), [](const Pair& a, const Pair& b) {
      return std::tuple(a.view, a.node) < std::tuple(b.view, b.node);
    });
    pairs.swap(next);
  }
  return leaves;
}

// Fetches nodes of a grid from the ranks that store them. Collective.
std::vector<FarNode> FarField::nodes_at(int grid, std::span<const Key> keys) const {
  return query_owners<FarNode>(communicator_, owners_of(grid, keys), keys,
                               [&](const std::vector<Key>& queried) {
                                 if (grid < patch_grid_) return own_nodes(grid, queried);
                                 const Grid& held = grids_[grid - patch_grid_];
                                 std::vector<FarNode> found;
                                 for (const Key key : queried)
                                   found.push_back(held.nodes[*held.index.find(key)]);
                                 return found;
                               });
}

// Appends the pairs of a view and those children of a node that lie in the domain.
void FarField::open(const Pair& pair, int grid, std::vector<Pair>& children) const {
  const BlockCoordinates c = morton_decode(pair.node);
  for (int child = 0; child < 8; ++child) {
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const std::int64_t first = (2 * std::int64_t{c[d]} + (child >> d & 1)) << (grid - 1);
      inside = inside && static_cast<double>(first) < extent_[d];
    }
    if (inside) children.push_back({pair.view, (pair.node << 3) + static_cast<Key>(child)});
  }
}

// Adds the potentials of the nodes in `leaves` cell by cell.
void FarField::add_cells(std::vector<View>& views, const std::vector<Pair>& leaves) const {
  const std::vector<Key> keys = keys_of(leaves);
  const int side = 1 << leaf_grid();
  const std::vector<FarCells> cells = query_owners<FarCells>(
      communicator_, owners_of(leaf_grid(), keys), keys, [&](const std::vector<Key>& queried) {
        return density_.cells(cubes_of(leaf_grid(), queried), side);
      });
  for (const Pair& pair : leaves) {
    const BlockCoordinates c = morton_decode(pair.node);
    std::array<double, 3> lower;
    for (int d = 0; d < 3; ++d) lower[d] = static_cast<double>(std::int64_t{c[d]} << leaf_grid());
    views[pair.view].for_chunks([&](std::span<const std::array<double, 3>> points, double* sums) {
      cells[place_of(keys, pair.node)].add_potentials(side, lower, points, sums);
    });
  }
}

}  // namespace octant::gravity
