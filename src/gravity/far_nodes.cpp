// Nodes of the tree of multipole expansions, and the potential of a node at points.
#include <algorithm>
#include <cmath>

#include "gravity/far_field.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int P = FarNode::k_order, k_terms = FarNode::k_terms;
using Point = std::array<double, 3>;

// Index of the term x^a y^b z^c: terms are ordered by a + b + c, then a, then b.
KOKKOS_FORCEINLINE_FUNCTION constexpr int term(int a, int b, int c) {
  const int n = a + b + c, rest = b + c;
  return n * (n + 1) * (n + 2) / 6 + rest * (rest + 1) / 2 + c;
}

constexpr int terms_to(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }

// --- nodes -------------------------------------------------------------------------------------

// Computes mass, centre of mass, radius and moments of one cube. Sums run over x, then y, then z,
// always in the same order.
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

// Copies a density. This is a function because nvcc allows no device lambda in a constructor.
DeviceArray<double> copy_of(const DeviceArray<double>& density) {
  const auto copy = mesh::uninitialised<double>("density of the far field", density.extent(0));
  for_items(
      "gravity: copy density", density.extent(0),
      KOKKOS_LAMBDA(const std::int64_t n) { copy(n) = density(n); });
  return copy;
}

}  // namespace

FarDensity::FarDensity(const LevelPatches& patches, const DeviceArray<double>& density)
    : patch_side_(patches.side()), strips_(patches.strips()), density_(copy_of(density)) {}

std::vector<FarNode> FarDensity::nodes(const std::vector<FarCube>& cubes, int side) const {
  const int patch_side = patch_side_;
  const auto strips = strips_;
  const auto density = density_;
  const auto list = mesh::to_device("cubes", cubes);
  const auto nodes = mesh::uninitialised<FarNode>("far nodes", std::ssize(cubes));
  for_items(
      "gravity: moments", std::ssize(cubes), KOKKOS_LAMBDA(const std::int64_t n) {
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
  return to_vector(TransferKind::numbers, nodes);
}

std::vector<FarCells> FarDensity::cells(const std::vector<FarCube>& cubes, int side) const {
  const int patch_side = patch_side_;
  const auto strips = strips_;
  const auto density = density_;
  const auto list = mesh::to_device("cubes", cubes);
  const auto cells = mesh::uninitialised<FarCells>("far cells", std::ssize(cubes));
  for_items(
      "gravity: far cells", std::ssize(cubes), KOKKOS_LAMBDA(const std::int64_t n) {
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
  return to_vector(TransferKind::numbers, cells);
}

namespace {

double binomial(int n, int k) {
  double value = 1.0;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

// Adds the moments of a child, shifted to the parent's centre, to the parent.
void add_moments(const FarNode& child, FarNode& parent) {
  double powers[3][P + 1];
  for (int d = 0; d < 3; ++d) {
    powers[d][0] = 1.0;
    for (int n = 1; n <= P; ++n)
      powers[d][n] = powers[d][n - 1] * (child.centre[d] - parent.centre[d]);
  }
  // The moments are shifted along one axis after the other.
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

}  // namespace

FarNode FarNode::joined(std::span<const FarNode> children) {
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

FarNode::RadialSums FarNode::radial_sums() const {
  constexpr double factorials[] = {1.0, 1.0, 2.0, 6.0, 24.0};
  RadialSums sums;
  for (int half = 0; 2 * half <= P; ++half) {
    double sum = 0.0;
    for (int a = 0; a <= half; ++a)
      for (int b = 0; a + b <= half; ++b) {
        const int c = half - a - b;
        sum += factorials[half] / (factorials[a] * factorials[b] * factorials[c]) *
               moments[term(2 * a, 2 * b, 2 * c)];
      }
    sums.of[2 * half] = std::max(sum, 0.0);
  }
  for (int n = 1; n < P; n += 2) sums.of[n] = std::sqrt(sums.of[n - 1] * sums.of[n + 1]);
  sums.of[P + 1] = radius * sums.of[P];
  return sums;
}

// --- potentials --------------------------------------------------------------------------------

namespace {

// Order of a term, and indices of the terms in its recurrence along each axis.
struct Term {
  int order, before[3], twice_before[3];  // k_terms if there is no such term
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

}  // namespace

// Evaluates the expansion 1/|x - y| = sum_k (-1)^|k| b_k(x) y^k, with the recurrence of the
// coefficients b_k = D^k (1/r) / k! (Duan & Krasny 2001):
//   |k| r^2 b_k = -(2 |k| - 1) sum_i x_i b_(k - e_i) - (|k| - 1) sum_i b_(k - 2 e_i).
void FarNode::add_potentials(int order, std::span<const Point> points, double* potentials) const {
  static const std::vector<Term> terms = make_terms();
  const int count = static_cast<int>(points.size());
  double x[3][k_far_lanes], inverse[k_far_lanes], sum[k_far_lanes];
  double b[k_terms + 1][k_far_lanes];
  for (int l = 0; l < k_far_lanes; ++l) {
    double r2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      x[d][l] = points[std::min(l, count - 1)][d] - centre[d];
      r2 += x[d][l] * x[d][l];
    }
    inverse[l] = 1.0 / r2;
    b[0][l] = 1.0 / std::sqrt(r2);
    b[k_terms][l] = 0.0;
    sum[l] = b[0][l] * moments[0];
  }
  const int last = terms_to(order);
  for (int t = 1; t < last; ++t) {
    const Term& k = terms[t];
    const double *first[3], *second[3];
    for (int d = 0; d < 3; ++d) first[d] = b[k.before[d]], second[d] = b[k.twice_before[d]];
    const double once = -(2.0 * k.order - 1.0) / k.order, twice = -(k.order - 1.0) / k.order,
                 moment = (k.order % 2 == 0 ? 1.0 : -1.0) * moments[t];
    for (int l = 0; l < k_far_lanes; ++l) {
      const double s = (x[0][l] * first[0][l] + x[1][l] * first[1][l]) + x[2][l] * first[2][l];
      const double q = (second[0][l] + second[1][l]) + second[2][l];
      b[t][l] = (once * s + twice * q) * inverse[l];
      sum[l] += b[t][l] * moment;
    }
  }
  for (int l = 0; l < count; ++l) potentials[l] -= sum[l];
}

namespace {

// Potential of a cell, approximated by a homogeneous sphere of the cell's volume.
double potential_of_cell(double mass, double r2) {
  constexpr double radius = 0.62035049089940001667;  // (3 / (4 pi))^(1/3)
  if (r2 < radius * radius)
    return -mass * (3.0 * radius * radius - r2) / (2.0 * radius * radius * radius);
  return -mass / std::sqrt(r2);
}

}  // namespace

void FarCells::add_potentials(int side, const Point& lower, std::span<const Point> points,
                              double* potentials) const {
  const double first[3] = {lower[0] + 0.5, lower[1] + 0.5, lower[2] + 0.5};
  for (int k = 0; k < side; ++k)
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const double m = mass[(k * side + j) * side + i];
        if (m == 0.0) continue;
        for (std::size_t l = 0; l < points.size(); ++l) {
          const double x = points[l][0] - first[0] - i, y = points[l][1] - first[1] - j,
                       z = points[l][2] - first[2] - k;
          potentials[l] += potential_of_cell(m, (x * x + y * y) + z * z);
        }
      }
}

}  // namespace octant::gravity
