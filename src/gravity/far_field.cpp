#include "gravity/far_field.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "comm/route.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int P = FarNode::k_order, k_terms = FarNode::k_terms;

// The truncation error of the force of one node that is accepted, relative to that of the whole
// mass. Bounds add up over nodes; true errors have all signs.
constexpr double k_tolerance = 1e-4;
// Expansions of nodes nearer than this many of their radii converge too slowly.
constexpr double k_nearest = 1.3;

// Place of the term x^a y^b z^c: by a + b + c, then a, then b.
KOKKOS_FORCEINLINE_FUNCTION constexpr int term(int a, int b, int c) {
  const int n = a + b + c, rest = b + c;
  return n * (n + 1) * (n + 2) / 6 + rest * (rest + 1) / 2 + c;
}

constexpr int terms_to(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }

// --- nodes -------------------------------------------------------------------------------------

DeviceArray<double> copy_of(const DeviceArray<double>& density) {
  const auto copy = mesh::uninitialised<double>("density of the far field", density.extent(0));
  Kokkos::parallel_for(
      "gravity: copy density", Kokkos::RangePolicy<>(0, density.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t n) { copy(n) = density(n); });
  return copy;
}

// Mass, centre of mass, radius and moments of one cube; sums over x for every power, then over y,
// then over z, always in the same order.
template <class Density>
KOKKOS_INLINE_FUNCTION void find_moments(int side, const double (&corner)[3],
                                         const Density& density, FarNode& node) {
  double mass = 0.0, first[3] = {};
  for (int k = 0; k < side; ++k)
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const double m = density(i, j, k);
        mass += m;
        first[0] += m * (i + 0.5), first[1] += m * (j + 0.5), first[2] += m * (k + 0.5);
      }
  double centre[3];
  for (int d = 0; d < 3; ++d) {
    centre[d] = mass > 0.0 ? first[d] / mass : 0.5 * side;
    node.centre[d] = corner[d] + centre[d];
  }
  for (int n = 0; n < k_terms; ++n) node.moments[n] = 0.0;
  double furthest = 0.0;
  for (int k = 0; k < side; ++k) {
    const double z = k + 0.5 - centre[2];
    double plane[(P + 1) * (P + 2) / 2] = {};  // x^a y^b, by a, then b
    for (int j = 0; j < side; ++j) {
      const double y = j + 0.5 - centre[1];
      double row[P + 1] = {};
      for (int i = 0; i < side; ++i) {
        const double x = i + 0.5 - centre[0], m = density(i, j, k);
        if (m == 0.0) continue;
        furthest = max(furthest, (x * x + y * y) + z * z);
        double power = m;
        for (int a = 0; a <= P; ++a, power *= x) row[a] += power;
      }
      for (int a = 0, n = 0; a <= P; ++a) {
        double power = row[a];
        for (int b = 0; a + b <= P; ++b, ++n, power *= y) plane[n] += power;
      }
    }
    for (int a = 0, n = 0; a <= P; ++a)
      for (int b = 0; a + b <= P; ++b, ++n) {
        double power = plane[n];
        for (int c = 0; a + b + c <= P; ++c, power *= z) node.moments[term(a, b, c)] += power;
      }
  }
  node.radius = Kokkos::sqrt(furthest);
}

std::vector<FarNode> nodes_of(const std::vector<FarCube>& cubes, int side, int patch_side,
                              const DeviceArray<const StripTable>& strips,
                              const DeviceArray<double>& density) {
  const auto list = mesh::to_device("cubes", cubes);
  const auto nodes = mesh::uninitialised<FarNode>("far nodes", std::ssize(cubes));
  Kokkos::parallel_for(
      "gravity: moments", Kokkos::RangePolicy<>(0, std::ssize(cubes)),
      KOKKOS_LAMBDA(const std::int64_t n) {
        const FarCube& cube = list(n);
        const double corner[3] = {cube.corner[0], cube.corner[1], cube.corner[2]};
        find_moments(
            side, corner,
            [&](int i, int j, int k) {
              const double* row = row_of(strips.data(), patch_side, density.data(), cube.patch,
                                         cube.begin[1] + j, cube.begin[2] + k);
              return row ? row[split(cube.begin[0] + i, patch_side)] : 0.0;
            },
            nodes(n));
      });
  return to_vector(Cargo::numbers, nodes);
}

struct LeafCells {
  double mass[64];  // [k][j][i]
};

std::vector<LeafCells> cells_of_cubes(const std::vector<FarCube>& cubes, int side, int patch_side,
                                      const DeviceArray<const StripTable>& strips,
                                      const DeviceArray<double>& density) {
  const auto list = mesh::to_device("cubes", cubes);
  const auto cells = mesh::uninitialised<LeafCells>("far cells", std::ssize(cubes));
  Kokkos::parallel_for(
      "gravity: far cells", Kokkos::RangePolicy<>(0, std::ssize(cubes)),
      KOKKOS_LAMBDA(const std::int64_t n) {
        const FarCube& cube = list(n);
        for (int k = 0; k < side; ++k)
          for (int j = 0; j < side; ++j) {
            const double* row = row_of(strips.data(), patch_side, density.data(), cube.patch,
                                       cube.begin[1] + j, cube.begin[2] + k);
            for (int i = 0; i < side; ++i)
              cells(n).mass[(k * side + j) * side + i] =
                  row ? row[split(cube.begin[0] + i, patch_side)] : 0.0;
          }
      });
  return to_vector(Cargo::numbers, cells);
}

double binomial(int n, int k) {
  double value = 1.0;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

// Adds the moments of a child about another centre.
void add_moments(const FarNode& child, FarNode& parent) {
  double powers[3][P + 1];
  for (int d = 0; d < 3; ++d) {
    powers[d][0] = 1.0;
    for (int n = 1; n <= P; ++n)
      powers[d][n] = powers[d][n - 1] * (child.centre[d] - parent.centre[d]);
  }
  // Along one axis after the other.
  std::array<double, k_terms> from, to;
  std::copy_n(child.moments, k_terms, from.begin());
  for (int d = 0; d < 3; ++d) {
    for (int a = 0; a <= P; ++a)
      for (int b = 0; a + b <= P; ++b)
        for (int c = 0; a + b + c <= P; ++c) {
          std::array<int, 3> at{a, b, c};
          const int power = at[d];
          double sum = 0.0;
          for (int n = 0; n <= power; ++n) {
            at[d] = n;
            sum += binomial(power, n) * powers[d][power - n] * from[term(at[0], at[1], at[2])];
          }
          to[term(a, b, c)] = sum;
        }
    from = to;
  }
  for (int n = 0; n < k_terms; ++n) parent.moments[n] += from[n];
}

FarNode joined(std::span<const FarNode> children) {
  FarNode node{};
  double mass = 0.0;
  for (const FarNode& child : children) mass += child.mass();
  for (int d = 0; d < 3; ++d) {
    double sum = 0.0;
    for (const FarNode& child : children) sum += child.mass() * child.centre[d];
    node.centre[d] = mass > 0.0 ? sum / mass : children[0].centre[d];
  }
  for (const FarNode& child : children) {
    if (child.mass() == 0.0) continue;
    add_moments(child, node);
    node.radius =
        std::max(node.radius, child.radius + std::hypot(child.centre[0] - node.centre[0],
                                                        child.centre[1] - node.centre[1],
                                                        child.centre[2] - node.centre[2]));
  }
  return node;
}

// Sums of m r^n over a node's mass, n = 0 .. order + 1: even ones from moments, odd ones and the
// last one as bounds.
struct RadialSums {
  double of[P + 2];

  explicit RadialSums(const FarNode& node) {
    constexpr double factorials[] = {1.0, 1.0, 2.0, 6.0, 24.0};
    for (int half = 0; 2 * half <= P; ++half) {
      double sum = 0.0;
      for (int a = 0; a <= half; ++a)
        for (int b = 0; a + b <= half; ++b) {
          const int c = half - a - b;
          sum += factorials[half] / (factorials[a] * factorials[b] * factorials[c]) *
                 node.moments[term(2 * a, 2 * b, 2 * c)];
        }
      of[2 * half] = std::max(sum, 0.0);
    }
    for (int n = 1; n < P; n += 2) of[n] = std::sqrt(of[n - 1] * of[n + 1]);
    of[P + 1] = node.radius * of[P];
  }
};

// --- potentials --------------------------------------------------------------------------------

// The terms of an expansion in their order, and the places of those that they follow from.
struct Term {
  int order, before[3], twice_before[3];  // k_terms where there is none
};

std::vector<Term> make_terms() {
  std::vector<Term> terms(k_terms);
  for (int a = 0; a <= P; ++a)
    for (int b = 0; a + b <= P; ++b)
      for (int c = 0; a + b + c <= P; ++c) {
        Term& t = terms[term(a, b, c)];
        t.order = a + b + c;
        const std::array<int, 3> k{a, b, c};
        for (int d = 0; d < 3; ++d)
          for (int steps = 1; steps <= 2; ++steps) {
            std::array<int, 3> lower = k;
            lower[d] -= steps;
            (steps == 1 ? t.before : t.twice_before)[d] =
                lower[d] < 0 ? k_terms : term(lower[0], lower[1], lower[2]);
          }
      }
  return terms;
}

constexpr int k_lanes = 8;  // points that are evaluated at once

// Subtracts the potentials of a node, to some order, from those of up to k_lanes points. The
// coefficients b_k = D^k (1/r) / k! obey (Duan & Krasny 2001)
//   |k| r^2 b_k = -(2 |k| - 1) sum_i x_i b_(k - e_i) - (|k| - 1) sum_i b_(k - 2 e_i),
// and 1/|x - y| = sum_k (-1)^|k| b_k(x) y^k.
void expand(const FarNode& node, int order, const std::array<double, 3>* points, int count,
            double* potentials) {
  static const std::vector<Term> terms = make_terms();
  double x[3][k_lanes], inverse[k_lanes], sum[k_lanes];
  double b[k_terms + 1][k_lanes];
  for (int l = 0; l < k_lanes; ++l) {
    double r2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      x[d][l] = points[std::min(l, count - 1)][d] - node.centre[d];
      r2 += x[d][l] * x[d][l];
    }
    inverse[l] = 1.0 / r2;
    b[0][l] = 1.0 / std::sqrt(r2);
    b[k_terms][l] = 0.0;
    sum[l] = b[0][l] * node.moments[0];
  }
  const int last = terms_to(order);
  for (int t = 1; t < last; ++t) {
    const Term& k = terms[t];
    const double *first[3], *second[3];
    for (int d = 0; d < 3; ++d) first[d] = b[k.before[d]], second[d] = b[k.twice_before[d]];
    const double once = -(2.0 * k.order - 1.0) / k.order, twice = -(k.order - 1.0) / k.order,
                 moment = (k.order % 2 == 0 ? 1.0 : -1.0) * node.moments[t];
    for (int l = 0; l < k_lanes; ++l) {
      const double s = (x[0][l] * first[0][l] + x[1][l] * first[1][l]) + x[2][l] * first[2][l];
      const double q = (second[0][l] + second[1][l]) + second[2][l];
      b[t][l] = (once * s + twice * q) * inverse[l];
      sum[l] += b[t][l] * moment;
    }
  }
  for (int l = 0; l < count; ++l) potentials[l] -= sum[l];
}

// A cell acts as a ball of its volume.
double potential_of_cell(double mass, double r2) {
  constexpr double radius = 0.62035049089940001667;  // (3 / (4 pi))^(1/3)
  if (r2 < radius * radius)
    return -mass * (3.0 * radius * radius - r2) / (2.0 * radius * radius * radius);
  return -mass / std::sqrt(r2);
}

double distance(const std::array<double, 3>& a, const double* b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// What items[n] of rank ranks[n] is answered to, all questions of a rank at once.
template <class Answer, class Answerer>
std::vector<Answer> ask_together(const Communicator& communicator, std::span<const int> ranks,
                                 std::span<const Key> questions, const Answerer& answer) {
  const auto asked = route<Key>(communicator, ranks, questions);
  const std::vector<Answer> answers = answer(asked.items);
  const auto arrived = route<Answer>(communicator, asked.sources, answers);
  std::vector<std::size_t> order(questions.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  std::vector<Answer> in_order(questions.size());
  for (std::size_t n = 0; n < order.size(); ++n) in_order[order[n]] = arrived.items[n];
  return in_order;
}

}  // namespace

// A group in base cells.
struct FarField::View {
  std::array<double, 3> centre;
  double radius;
  std::vector<std::array<double, 3>> points;
  double force = 0.0;  // of the whole mass, about
  double error = 0.0;
};
struct FarField::Pair {
  std::uint32_t view;
  Key node;
};

FarField::FarField(const LevelPatches& patches, const mesh::Geometry& geometry,
                   const DeviceArray<double>& density)
    : communicator_(patches.communicator()),
      cell_size_(geometry.cell_size(0)),
      lower_(geometry.lower()),
      directory_(patches.directory()),
      strips_(patches.strips()),
      density_(copy_of(density)) {
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

// Of nodes that are own patches or parts of them.
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
  return nodes_of(cubes_of(grid, keys), 1 << grid, 1 << patch_grid_, strips_, density_);
}

// The nodes of patches, and all larger ones.
void FarField::build() {
  built_ = true;
  grids_.resize(top_grid_ - patch_grid_ + 1);
  Grid& finest = grids_.front();
  finest.nodes = own_nodes(patch_grid_, patches_);
  for (std::size_t n = 0; n < patches_.size(); ++n)
    finest.index.insert(patches_[n], static_cast<std::int32_t>(n));
  for (int grid = patch_grid_ + 1; grid <= top_grid_; ++grid) join(grid);
}

// Children in the order of their keys.
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
    coarser.nodes.push_back(joined(nodes));
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
  for (const PatchFacts& facts : directory_.ask(patches)) owners.push_back(facts.owner);
  return owners;
}

std::vector<double> FarField::potentials(std::span<const PointGroup> groups) {
  if (!built_) build();

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
  }
  std::vector<std::vector<double>> sums;
  for (const View& view : views) sums.emplace_back(view.points.size(), 0.0);
  const auto for_chunks = [&](const Pair& pair, const auto& evaluate) {
    const auto& points = views[pair.view].points;
    for (std::size_t n = 0; n < points.size(); n += k_lanes)
      evaluate(&points[n], static_cast<int>(std::min<std::size_t>(k_lanes, points.size() - n)),
               &sums[pair.view][n]);
  };

  // From the top down. Every view meets its nodes in the order of grids, then of keys.
  std::vector<Pair> pairs, next;
  for (std::size_t n = 0; n < views.size(); ++n)
    if (!views[n].points.empty()) pairs.push_back({static_cast<std::uint32_t>(n), Key{0}});
  std::vector<Pair> leaves;
  for (int grid = top_grid_; grid >= leaf_grid(); --grid) {
    std::vector<Key> keys;
    for (const Pair& pair : pairs) keys.push_back(pair.node);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const std::vector<FarNode> nodes = ask_together<FarNode>(
        communicator_, owners_of(grid, keys), keys, [&](const std::vector<Key>& asked) {
          if (grid < patch_grid_) return own_nodes(grid, asked);
          const Grid& held = grids_[grid - patch_grid_];
          std::vector<FarNode> found;
          for (const Key key : asked) found.push_back(held.nodes[*held.index.find(key)]);
          return found;
        });
    std::vector<RadialSums> radial;
    for (const FarNode& node : nodes) radial.emplace_back(node);
    next.clear();
    for (const Pair& pair : pairs) {
      const auto place = std::lower_bound(keys.begin(), keys.end(), pair.node) - keys.begin();
      const FarNode& node = nodes[place];
      const RadialSums& sum = radial[place];
      View& view = views[pair.view];
      if (node.mass() == 0.0) continue;
      const double centre_distance = distance(view.centre, node.centre);
      if (grid == top_grid_)
        view.force = node.mass() / (centre_distance * centre_distance + sum.of[2] / node.mass());
      const double d = centre_distance - view.radius;
      int order = P + 1;
      double error = 0.0;
      if (d > k_nearest * node.radius && d > 0.0) {
        const double series = 1.0 / (1.0 - node.radius / d);
        double power = 1.0 / (d * d * d * d);  // 1 / d^(n + 3)
        for (order = 1; order <= P; ++order, power /= d) {
          error = (order + 2) * sum.of[order + 1] * power * series;
          if (error <= k_tolerance * view.force) break;
        }
      }
      if (order <= P) {
        view.error += error;
        for_chunks(pair, [&](const std::array<double, 3>* points, int n, double* potentials) {
          expand(node, order, points, n, potentials);
        });
      } else if (grid == leaf_grid()) {
        leaves.push_back(pair);
      } else {
        const BlockCoordinates c = morton_decode(pair.node);
        for (int child = 0; child < 8; ++child) {
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            const std::int64_t first = (2 * std::int64_t{c[d]} + (child >> d & 1)) << (grid - 1);
            inside = inside && static_cast<double>(first) < extent_[d];
          }
          if (inside) next.push_back({pair.view, (pair.node << 3) + static_cast<Key>(child)});
        }
      }
    }
    std::stable_sort(next.begin(), next.end(), [](const Pair& a, const Pair& b) {
      return std::tuple(a.view, a.node) < std::tuple(b.view, b.node);
    });
    pairs.swap(next);
  }
  // Cell by cell.
  std::vector<Key> keys;
  for (const Pair& pair : leaves) keys.push_back(pair.node);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const std::vector<LeafCells> cells = ask_together<LeafCells>(
      communicator_, owners_of(leaf_grid(), keys), keys, [&](const std::vector<Key>& asked) {
        return cells_of_cubes(cubes_of(leaf_grid(), asked), 1 << leaf_grid(), 1 << patch_grid_,
                              strips_, density_);
      });
  const int side = 1 << leaf_grid();
  for (const Pair& pair : leaves) {
    const LeafCells& leaf =
        cells[std::lower_bound(keys.begin(), keys.end(), pair.node) - keys.begin()];
    const BlockCoordinates c = morton_decode(pair.node);
    const auto corner = [&](int d) {
      return static_cast<double>(std::int64_t{c[d]} << leaf_grid()) + 0.5;
    };
    for_chunks(pair, [&](const std::array<double, 3>* points, int n, double* potentials) {
      for (int k = 0; k < side; ++k)
        for (int j = 0; j < side; ++j)
          for (int i = 0; i < side; ++i) {
            const double mass = leaf.mass[(k * side + j) * side + i];
            if (mass == 0.0) continue;
            for (int l = 0; l < n; ++l) {
              const double x = points[l][0] - corner(0) - i, y = points[l][1] - corner(1) - j,
                           z = points[l][2] - corner(2) - k;
              potentials[l] += potential_of_cell(mass, (x * x + y * y) + z * z);
            }
          }
    });
  }
  // The potential of density times h^3 / h.
  std::vector<double> values;
  double worst = 0.0;
  for (std::size_t v = 0; v < views.size(); ++v) {
    for (const double sum : sums[v]) values.push_back(cell_size_ * cell_size_ * sum);
    if (views[v].force > 0.0) worst = std::max(worst, views[v].error / views[v].force);
  }
  error_ = std::max(error_, communicator_.max(worst));
  return values;
}

}  // namespace octant::gravity
