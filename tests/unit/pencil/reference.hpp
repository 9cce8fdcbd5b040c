// The discrete operator applied entry by entry, and fields that every rank can make alone.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "comm/communicator.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::pencil::reference {

inline const Communicator& world() {
  static const Communicator communicator = Communicator::world();
  return communicator;
}

// Ranks share the combinations of a test, which are counted here.
class Share {
 public:
  bool takes_next() { return next_++ % world().size() == world().rank(); }

 private:
  int next_ = 0;
};

// Every process grid of this many ranks, with at most so many ranks along an axis.
inline std::vector<ProcessGrid> process_grids(int ranks, int most_y, int most_z) {
  std::vector<ProcessGrid> grids;
  for (int y = 1; y <= ranks; ++y)
    if (ranks % y == 0 && y <= most_y && ranks / y <= most_z) grids.push_back({y, ranks / y});
  return grids;
}

// For tests of many combinations: on more than four ranks only grids that cut both axes.
inline std::vector<ProcessGrid> selected_grids(int ranks, int most_y, int most_z) {
  std::vector<ProcessGrid> grids = process_grids(ranks, most_y, most_z);
  if (ranks > 4) std::erase_if(grids, [](ProcessGrid grid) { return grid.y == 1 || grid.z == 1; });
  return grids;
}

// A global array in C order [z][y][x].
struct Array {
  Cells cells;
  std::vector<double> values;

  explicit Array(const Cells& cells)
      : cells(cells), values(static_cast<std::size_t>(cells[0]) * cells[1] * cells[2]) {}
  double& operator()(int i, int j, int k) { return values[(k * cells[1] + j) * cells[0] + i]; }
  double operator()(int i, int j, int k) const { return values[(k * cells[1] + j) * cells[0] + i]; }
  double largest() const {
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
  }
};

inline Array random_array(const Cells& cells, unsigned seed) {
  Array array(cells);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  for (double& entry : array.values) entry = value(random);
  return array;
}

inline Field local_part(const Array& array, const PencilGrid& grid) {
  const Box box = grid.box(Orientation::x);
  Field field(box);
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      for (int i = 0; i < field.nx(); ++i)
        field(i, j, k) = array(i, box[1].begin + j, box[2].begin + k);
  return field;
}

// The whole array, on every rank of the grid.
inline Array gathered(const Field& field, const PencilGrid& grid) {
  std::vector<double> own;
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      own.insert(own.end(), field.row(k, j), field.row(k, j) + field.nx());
  std::vector<double> all =
      grid.communicator().gather_to_root(std::span<const double>(own.data(), own.size()));
  grid.communicator().broadcast(all);
  Array array(grid.cells());
  std::size_t next = 0;
  for (int rank = 0; rank < grid.communicator().size(); ++rank) {
    const Box box = grid.box(Orientation::x, rank);
    for (int k = box[2].begin; k < box[2].end; ++k)
      for (int j = box[1].begin; j < box[1].end; ++j)
        for (int i = 0; i < grid.cells()[0]; ++i) array(i, j, k) = all[next++];
  }
  return array;
}

// (phi_(i-1) - 2 phi_i + phi_(i+1)) / h^2 with the ghosts that boundary.hpp describes.
template <class Value>
double second_difference(const AxisConditions& conditions, int i, int n, double h,
                         const Value& value) {
  const auto ghost = [&](Condition condition, int end, int inside) {
    if (condition == Condition::periodic) return value(end == 0 ? n - 1 : 0);
    if (conditions.location == Location::centre)
      return condition == Condition::dirichlet ? -value(end) : value(end);
    if (condition == Condition::dirichlet) return 0.0;
    return conditions.location == Location::face ? value(inside) : value(end);
  };
  const double below = i > 0 ? value(i - 1) : ghost(conditions.lower, 0, 1);
  const double above = i < n - 1 ? value(i + 1) : ghost(conditions.upper, n - 1, n - 2);
  return (below - 2.0 * value(i) + above) / (h * h);
}

struct Operator {
  PoissonProblem problem;
  double identity = 0.0, laplacian = 1.0;

  Cells unknown(const Cells& cells) const {
    return {unknowns(cells[0], problem.x), unknowns(cells[1], problem.y), problem.z.size()};
  }
  // The entries that are no unknowns stay 0.
  Array apply(const Array& phi) const {
    const auto [nx, ny, nz] = unknown(phi.cells);
    const TridiagonalMatrix& z = problem.z;
    Array result(phi.cells);
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) {
          double sum = second_difference(problem.x, i, nx, problem.spacing_x,
                                         [&](int n) { return phi(n, j, k); }) +
                       second_difference(problem.y, j, ny, problem.spacing_y,
                                         [&](int n) { return phi(i, n, k); }) +
                       z.diagonal[k] * phi(i, j, k);
          if (k > 0 || z.periodic) sum += z.lower[k] * phi(i, j, (k + nz - 1) % nz);
          if (k < nz - 1 || z.periodic) sum += z.upper[k] * phi(i, j, (k + 1) % nz);
          result(i, j, k) = identity * phi(i, j, k) + laplacian * sum;
        }
    return result;
  }
  // A bound of the operator's largest row sum.
  double norm() const {
    double most = 0.0;
    for (const double b : problem.z.diagonal) most = std::max(most, std::abs(b));
    return std::abs(identity) +
           std::abs(laplacian) * (4.0 / (problem.spacing_x * problem.spacing_x) +
                                  4.0 / (problem.spacing_y * problem.spacing_y) + 2.0 * most);
  }
  // |L phi - f| / (|L| |phi| + |f|) over the unknowns.
  double backward_error(const Array& phi, const Array& f) const {
    const Array image = apply(phi);
    const auto [nx, ny, nz] = unknown(phi.cells);
    double most = 0.0;
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) most = std::max(most, std::abs(image(i, j, k) - f(i, j, k)));
    if (!std::isfinite(phi.largest())) return phi.largest();
    return most / (norm() * phi.largest() + f.largest());
  }
};

// n + 1 faces of an axis of length 1, closer together at both ends, and not symmetric.
inline std::vector<double> stretched_faces(int n) {
  std::vector<double> faces;
  for (int k = 0; k <= n; ++k) {
    const double s = static_cast<double>(k) / n;
    faces.push_back(0.5 + 0.5 * std::tanh(2.2 * (s - 0.5)) / std::tanh(1.1) + 0.03 * s);
  }
  return faces;
}

inline const std::vector<AxisConditions> k_all_conditions = [] {
  using enum Condition;
  return std::vector<AxisConditions>{
      {periodic, periodic, Location::centre},    {dirichlet, dirichlet, Location::centre},
      {neumann, neumann, Location::centre},      {dirichlet, neumann, Location::centre},
      {neumann, dirichlet, Location::centre},    {periodic, periodic, Location::face},
      {dirichlet, dirichlet, Location::face},    {neumann, neumann, Location::face},
      {dirichlet, neumann, Location::face},      {neumann, dirichlet, Location::face},
      {neumann, neumann, Location::inner_face},  {dirichlet, neumann, Location::inner_face},
      {neumann, dirichlet, Location::inner_face}};
}();

// Cells along z for which the matrix has as many unknowns as the array has planes, or one less.
inline int cells_along_z(const AxisConditions& z, int planes) {
  const bool both_ends = z.location == Location::face && z.lower == Condition::neumann &&
                         z.upper == Condition::neumann;
  return both_ends ? planes - 1 : planes;
}

inline PoissonProblem problem_of(const AxisConditions& x, const AxisConditions& y,
                                 const AxisConditions& z, const Cells& cells) {
  const auto faces = stretched_faces(cells_along_z(z, cells[2]));
  return {1.0 / cells[0], 0.7 / cells[1], x, y, second_derivative(faces, z), z.allows_constant()};
}

// A random right-hand side; of a singular operator, one in its range.
inline Array right_hand_side(const Operator& op, const Cells& cells, unsigned seed) {
  const PoissonProblem& p = op.problem;
  const Array random = random_array(cells, seed);
  const bool singular =
      op.identity == 0.0 && p.x.allows_constant() && p.y.allows_constant() && p.z_allows_constant;
  return singular ? op.apply(random) : random;
}

inline double largest_difference(const Array& a, const Array& b) {
  double most = 0.0;
  for (std::size_t n = 0; n < a.values.size(); ++n)
    most = std::max(most, std::abs(a.values[n] - b.values[n]));
  return most;
}

// 1 - 0.02 d2/dz2 on a stretched axis: implicit diffusion.
inline TridiagonalMatrix diffusion(const AxisConditions& conditions, int cells) {
  TridiagonalMatrix matrix = second_derivative(stretched_faces(cells), conditions);
  for (auto* part : {&matrix.lower, &matrix.diagonal, &matrix.upper})
    for (double& value : *part) value *= -0.02;
  for (double& value : matrix.diagonal) value += 1.0;
  return matrix;
}

}  // namespace octant::pencil::reference
