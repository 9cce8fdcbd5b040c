#include "dns/other_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"

namespace octant::dns {

namespace {

// What an entry follows from: sum of weight[n] * stored[index[n]], and a constant.
struct Weights {
  static constexpr int k_points = 4;
  int count = 0;
  std::array<int, k_points> index{};
  std::array<double, k_points> weight{};
  double constant = 0.0;  // what a boundary's value brings
};

// The points along an axis that hold a quantity, in ascending order, and what a boundary prescribes
// among them.
struct Line {
  std::vector<double> position;
  std::vector<int> index;     // of the stored entry; -1: prescribed
  std::vector<double> value;  // if it is
};

Line periodic_line(const std::vector<double>& points, double length) {
  const int n = static_cast<int>(points.size());
  Line line;
  for (int i = -3; i < n + 3; ++i) {
    const int round = i < 0 ? -((n - 1 - i) / n) : i / n;
    line.position.push_back(points[i - round * n] + round * length);
    line.index.push_back(i - round * n);
    line.value.push_back(0.0);
  }
  return line;
}

void add_prescribed(Line& line, double position, double value) {
  line.position.push_back(position);
  line.index.push_back(-1);
  line.value.push_back(value);
}

// Lagrange's polynomial through the points next to x.
Weights weights_at(const Line& line, double x) {
  const int n = static_cast<int>(line.position.size());
  Weights result;
  result.count = std::min(n, Weights::k_points);
  const int above = static_cast<int>(
      std::lower_bound(line.position.begin(), line.position.end(), x) - line.position.begin());
  const int first = std::clamp(above - Weights::k_points / 2, 0, n - result.count);
  for (int a = 0; a < result.count; ++a) {
    double weight = 1.0;
    for (int b = 0; b < result.count; ++b)
      if (b != a)
        weight *=
            (x - line.position[first + b]) / (line.position[first + a] - line.position[first + b]);
    const bool is_prescribed = line.index[first + a] < 0;
    result.index[a] = is_prescribed ? 0 : line.index[first + a];
    result.weight[a] = is_prescribed ? 0.0 : weight;
    if (is_prescribed) result.constant += weight * line.value[first + a];
  }
  return result;
}

std::vector<Weights> weights_at(const Line& line, const std::vector<double>& points, Range range) {
  std::vector<Weights> weights;
  for (int i = range.begin; i < range.end; ++i) weights.push_back(weights_at(line, points[i]));
  return weights;
}

std::vector<double> read_points(const Hdf5Reader& file, const std::string& name,
                                std::int64_t count) {
  require_shape(file, name, {count});
  auto points = read_finite(file, name, {0, count});
  for (std::size_t n = 1; n < points.size(); ++n)
    if (!(points[n] > points[n - 1]))
      throw InputError("'{}': {}: {} follows {}; expected ascending numbers", file.path(), name,
                       points[n], points[n - 1]);
  return points;
}

bool agree(const std::vector<double>& found, const std::vector<double>& own, double length) {
  return std::equal(found.begin(), found.end(), own.begin(), own.end(),
                    [&](double a, double b) { return std::abs(a - b) <= 1e-12 * length; });
}

}  // namespace

std::vector<double> centres(const Grid& grid, int axis) {
  std::vector<double> points;
  for (int n = 0; n < grid.cells[axis]; ++n)
    points.push_back(axis == 2 ? grid.centre[n] : (n + 0.5) * grid.spacing(axis));
  return points;
}

std::vector<double> faces(const Grid& grid, int axis) {
  std::vector<double> points;
  for (int n = 0; n < grid.cells[axis]; ++n)
    points.push_back(axis == 2 ? grid.face[n] : (n + 1) * grid.spacing(axis));
  return points;
}

StoredPoints::StoredPoints(const Hdf5Reader& file, const Domain& domain)
    : file_(file), domain_(domain) {
  if (!file_.exists("/fields/u")) throw InputError("'{}': /fields/u is missing", file_.path());
  const auto shape = file_.shape("/fields/u");
  if (shape.size() != 3)
    throw InputError("'{}': /fields/u has the shape {}; expected [k][j][i]", file_.path(), shape);
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t cells = shape[2 - axis];
    const std::string name = std::string("/grid/") + "xyz"[axis];
    const double length = domain_.grid.size[axis];
    const Points own{centres(domain_.grid, axis), faces(domain_.grid, axis)};
    if (!file_.exists(name) || !file_.exists(name + "_face")) {
      if (cells != domain_.grid.cells[axis])
        throw InputError(
            "'{}': /fields/u has {} cells along {}, and this run {}; where they are must be in {} "
            "and {}_face",
            file_.path(), cells, "xyz"[axis], domain_.grid.cells[axis], name, name);
      points_[axis] = own;
      continue;
    }
    points_[axis] = {read_points(file_, name, cells), read_points(file_, name + "_face", cells)};
    if (!(std::abs(points_[axis].faces.back() - length) <= 1e-9 * length))
      throw InputError("'{}': {}_face ends at {}, and grid.size says {}: the domains must be equal",
                       file_.path(), name, points_[axis].faces.back(), length);
    is_same_ = is_same_ && agree(points_[axis].centres, own.centres, length) &&
               agree(points_[axis].faces, own.faces, length);
  }
}

void StoredPoints::interpolate(const std::string& dataset, int component, Field& field) const {
  const Boundaries& boundaries = domain_.boundaries;
  std::array<std::vector<Weights>, 3> weights;
  std::array<int, 3> cells;
  for (int axis = 0; axis < 3; ++axis) {
    const bool on_faces = component == axis;
    const auto& stored = on_faces ? points_[axis].faces : points_[axis].centres;
    cells[axis] = static_cast<int>(stored.size());
    const double length = domain_.grid.size[axis];
    Line line;
    if (boundaries.periodic(axis)) {
      line = periodic_line(stored, length);
    } else {
      const auto is_prescribed = [&](int end) {
        return component >= 0 &&
               boundaries.of_velocity(component, axis, end) == Condition::dirichlet;
      };
      if (is_prescribed(0)) add_prescribed(line, 0.0, boundaries.velocity(axis, 0)[component]);
      for (int n = 0; n < cells[axis]; ++n) {
        line.position.push_back(stored[n]);
        line.index.push_back(n);
        line.value.push_back(0.0);
      }
      if (!on_faces && is_prescribed(1))
        add_prescribed(line, length, boundaries.velocity(axis, 1)[component]);
    }
    const auto own = on_faces ? faces(domain_.grid, axis) : centres(domain_.grid, axis);
    weights[axis] = weights_at(line, own, domain_.box[axis]);
  }

  const auto& [nx, ny, nz] = cells;
  if (!file_.exists(dataset)) throw InputError("'{}': {} is missing", file_.path(), dataset);
  require_shape(file_, dataset, {nz, ny, nx});
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j)
      std::fill_n(field.row(k, j), domain_.nx, weights[2][k].constant);

  // Plane by plane of those that this rank needs, in ascending order.
  std::vector<std::uint8_t> is_needed(nz, 0);
  for (const Weights& of_plane : weights[2])
    for (int a = 0; a < of_plane.count; ++a)
      if (of_plane.weight[a] != 0.0) is_needed[of_plane.index[a]] = 1;
  std::vector<int> needed;
  for (int k = 0; k < nz; ++k)
    if (is_needed[k]) needed.push_back(k);
  const int most = file_.communicator().max(static_cast<int>(needed.size()));
  std::vector<double> along_x(static_cast<std::size_t>(ny) * domain_.nx);
  std::vector<double> plane(static_cast<std::size_t>(domain_.ny) * domain_.nx);
  for (int n = 0; n < most; ++n) {
    const bool is_here = n < static_cast<int>(needed.size());
    const auto stored = read_finite(file_, dataset, {is_here ? needed[n] : 0, is_here ? 1 : 0});
    if (!is_here) continue;
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < domain_.nx; ++i) {
        const Weights& w = weights[0][i];
        double sum = w.constant;
        for (int a = 0; a < w.count; ++a)
          sum += w.weight[a] * stored[static_cast<std::size_t>(j) * nx + w.index[a]];
        along_x[static_cast<std::size_t>(j) * domain_.nx + i] = sum;
      }
    for (int j = 0; j < domain_.ny; ++j)
      for (int i = 0; i < domain_.nx; ++i) {
        const Weights& w = weights[1][j];
        double sum = w.constant;
        for (int a = 0; a < w.count; ++a)
          sum += w.weight[a] * along_x[static_cast<std::size_t>(w.index[a]) * domain_.nx + i];
        plane[static_cast<std::size_t>(j) * domain_.nx + i] = sum;
      }
    for (int k = 0; k < domain_.nz; ++k) {
      const Weights& w = weights[2][k];
      for (int a = 0; a < w.count; ++a) {
        if (w.index[a] != needed[n] || w.weight[a] == 0.0) continue;
        for (int j = 0; j < domain_.ny; ++j) {
          double* row = field.row(k, j);
          for (int i = 0; i < domain_.nx; ++i)
            row[i] += w.weight[a] * plane[static_cast<std::size_t>(j) * domain_.nx + i];
        }
      }
    }
  }
}

void open_lower_faces(const Domain& domain, int axis, State& state) {
  if (!domain.ends(axis, 0)) return;
  Field& field = state.velocity(axis);
  std::array<int, 3> cells{domain.nx, domain.ny, domain.nz}, beyond{};
  cells[axis] = 1;
  beyond[axis] = -1;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i)
        field(i + beyond[0], j + beyond[1], k + beyond[2]) = field(i, j, k);
}

}  // namespace octant::dns
