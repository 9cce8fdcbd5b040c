#include "dns/field_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"

namespace octant::dns {

namespace {

// Part of a dataset [k][j][i] that this rank holds; `first` are the field indices of the lower
// corner of this part.
struct Part {
  pencil::Cells whole;
  pencil::Box own;
  std::array<int, 3> first;
};

Part all_cells(const Domain& domain) { return {domain.grid.cells, domain.box, {0, 0, 0}}; }

// Returns the part that consists of the faces on the lower side along an axis.
Part lower_faces(const Domain& domain, int axis) {
  Part part = all_cells(domain);
  part.whole[axis] = 1;
  part.own.range[axis] = {0, domain.ends(axis, 0) ? 1 : 0};
  part.first[axis] = -1;
  return part;
}

std::vector<double> plane_of(const Part& part, const Field& field, int plane) {
  const int count = part.own[1].count(), width = part.own[0].count();
  std::vector<double> values(static_cast<std::size_t>(count) * width);
  const auto [x, y, z] = part.first;
  for (int j = 0; j < count; ++j)
    std::copy_n(field.row(z + plane, y + j) + x, width,
                values.data() + static_cast<std::ptrdiff_t>(j) * width);
  return values;
}

StoredField stored(const char* group, const char* name, const DatasetMeaning& meaning,
                   int face_axis, const Part& part, const Field& field) {
  return {group, name, meaning, face_axis, part.whole, part.own, [part, &field](int plane) {
            return plane_of(part, field, plane);
          }};
}

void read_part(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
               const Part& part, Field& field) {
  const auto& [nx, ny, nz] = part.whole;
  const std::vector<std::int64_t> expected{nz, ny, nx};
  const auto shape = file.shape(dataset);
  if (shape != expected)
    throw InputError("{}: {} has shape {}; expected {} (planes, rows, cells) from grid.cells",
                     file.path(), dataset, shape, expected);
  const auto [x, y, z] = part.first;
  const int most = domain.pencils.communicator().max(part.own[2].count());
  for (int k = 0; k < most; ++k) {
    const bool here = k < part.own[2].count();
    const std::vector<double> plane =
        read_finite(file, dataset, {here ? part.own[2].begin + k : 0, here ? 1 : 0});
    for (int j = 0; here && j < part.own[1].count(); ++j)
      std::copy_n(plane.data() + static_cast<std::ptrdiff_t>(part.own[1].begin + j) * nx,
                  part.own[0].count(), field.row(z + k, y + j) + x);
  }
}

constexpr const char* k_velocity_names[] = {"u", "v", "w"};

std::string lower_faces_name(int axis) {
  return std::string("/lower_faces/") + k_velocity_names[axis];
}

bool has_lower_faces(const Domain& domain, int axis) {
  return domain.boundaries.side(axis, 0) == Side::outflow;
}

}  // namespace

std::vector<StoredField> stored_fields(const Domain& domain, const State& state,
                                       const Field* scalar) {
  static const DatasetMeaning velocity[] = {{"length / time", "x velocity, on the upper x faces"},
                                            {"length / time", "y velocity, on the upper y faces"},
                                            {"length / time", "z velocity, on the upper z faces"}};
  const Part cells = all_cells(domain);
  std::vector<StoredField> fields;
  for (int axis = 0; axis < 3; ++axis)
    fields.push_back(stored("fields", k_velocity_names[axis], velocity[axis], axis, cells,
                            state.velocity(axis)));
  fields.push_back(stored(
      "fields", "p",
      {"length^2 / time^2", "pressure divided by density, at the cell centres, up to a constant"},
      -1, cells, state.p));
  if (scalar)
    fields.push_back(
        stored("fields", "t", {"scalar", "scalar, at the cell centres"}, -1, cells, *scalar));
  for (int axis = 0; axis < 3; ++axis)
    if (has_lower_faces(domain, axis))
      fields.push_back(
          stored("lower_faces", k_velocity_names[axis],
                 {"length / time", "velocity through the lower boundary of the domain"}, axis,
                 lower_faces(domain, axis), state.velocity(axis)));
  return fields;
}

void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field) {
  read_part(file, domain, dataset, all_cells(domain), field);
}

void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!has_lower_faces(domain, axis)) continue;
    const Part part = lower_faces(domain, axis);
    Field& field = state.velocity(axis);
    const std::string name = lower_faces_name(axis);
    if (file.exists(name)) read_part(file, domain, name, part, field);
    else open_lower_faces(domain, axis, state);
  }
}

namespace {

// Weights of an interpolated value: the sum of weight[n] * stored[index[n]], plus a constant.
struct Weights {
  static constexpr int k_points = 4;
  int count = 0;
  std::array<int, k_points> index{};
  std::array<double, k_points> weight{};
  double constant = 0.0;  // contribution of prescribed boundary values
};

// Points along an axis at which a quantity is known, in ascending order, including boundaries with
// prescribed values.
struct Line {
  std::vector<double> position;
  std::vector<int> index;     // index of the stored entry; -1: prescribed value
  std::vector<double> value;  // prescribed value

  void add(double place, int stored, double prescribed = 0.0) {
    position.push_back(place);
    index.push_back(stored);
    value.push_back(prescribed);
  }
};

Line periodic_line(const std::vector<double>& points, double length) {
  const int n = static_cast<int>(points.size());
  Line line;
  for (int i = -3; i < n + 3; ++i) {
    const int round = i < 0 ? -((n - 1 - i) / n) : i / n;
    line.add(points[i - round * n] + round * length, i - round * n);
  }
  return line;
}

// Returns the interpolation points along an axis of a velocity component (-1: a cell-centred
// field).
Line line_of(const Domain& domain, int component, int axis, const std::vector<double>& stored) {
  const Boundaries& boundaries = domain.boundaries;
  const double length = domain.grid.size[axis];
  if (boundaries.periodic(axis)) return periodic_line(stored, length);
  const auto is_prescribed = [&](int end) {
    return component >= 0 &&
           boundaries.velocity_condition(component, axis, end) == Condition::dirichlet;
  };
  Line line;
  if (is_prescribed(0)) line.add(0.0, -1, boundaries.velocity(axis, 0)[component]);
  for (std::size_t n = 0; n < stored.size(); ++n) line.add(stored[n], static_cast<int>(n));
  // The last face of the normal component lies on the boundary and is already included.
  if (component != axis && is_prescribed(1))
    line.add(length, -1, boundaries.velocity(axis, 1)[component]);
  return line;
}

// Returns the weights of Lagrange interpolation at x with the nearest points.
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
  auto points = read_finite_on_root(file, name);
  for (std::size_t n = 1; n < points.size(); ++n)
    if (!(points[n] > points[n - 1]))
      throw InputError("'{}': {}: {} follows {}; expected increasing values", file.path(), name,
                       points[n], points[n - 1]);
  return points;
}

// Returns the planes with nonzero weights, in ascending order.
std::vector<int> needed_planes(const std::vector<Weights>& weights) {
  std::vector<int> needed;
  for (const Weights& w : weights)
    for (int a = 0; a < w.count; ++a)
      if (w.weight[a] != 0.0) needed.push_back(w.index[a]);
  std::ranges::sort(needed);
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

// Interpolates `stored`, [j][stored_cells], along x to `result`, [j][i], with one weight set per i.
void interpolate_x(const std::vector<Weights>& weights, std::span<const double> stored,
                   std::size_t stored_cells, std::span<double> result) {
  const std::size_t nx = weights.size(), rows = result.size() / nx;
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < nx; ++i) {
      const Weights& w = weights[i];
      double sum = w.constant;
      for (int a = 0; a < w.count; ++a) sum += w.weight[a] * stored[j * stored_cells + w.index[a]];
      result[j * nx + i] = sum;
    }
}

// Interpolates `rows` along y to `result`, [j][nx], with one weight set per j.
void interpolate_y(const std::vector<Weights>& weights, std::span<const double> rows,
                   std::size_t nx, std::span<double> result) {
  for (std::size_t j = 0; j < weights.size(); ++j)
    for (std::size_t i = 0; i < nx; ++i) {
      const Weights& w = weights[j];
      double sum = w.constant;
      for (int a = 0; a < w.count; ++a) sum += w.weight[a] * rows[w.index[a] * nx + i];
      result[j * nx + i] = sum;
    }
}

// Adds `weight` times the rows [j][nx] to plane k of a field.
void add_plane(double weight, std::span<const double> rows, int nx, int k, Field& field) {
  const int ny = static_cast<int>(rows.size()) / nx;
  for (int j = 0; j < ny; ++j) {
    double* row = field.row(k, j);
    for (int i = 0; i < nx; ++i) row[i] += weight * rows[static_cast<std::size_t>(j) * nx + i];
  }
}

bool agree_within(const std::vector<double>& found, const std::vector<double>& own, double length) {
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
    throw InputError("'{}': /fields/u has shape {}; expected [k][j][i]", file_.path(), shape);
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t cells = shape[2 - axis];
    const std::string name = std::string("/grid/") + "xyz"[axis];
    const double length = domain_.grid.size[axis];
    const Points own{centres(domain_.grid, axis), faces(domain_.grid, axis)};
    if (!file_.exists(name) || !file_.exists(name + "_face")) {
      if (cells != domain_.grid.cells[axis])
        throw InputError(
            "'{}': /fields/u has {} cells along {}, but this run has {}; interpolation requires "
            "the cell positions in {} and {}_face",
            file_.path(), cells, "xyz"[axis], domain_.grid.cells[axis], name, name);
      points_[axis] = own;
      continue;
    }
    points_[axis] = {read_points(file_, name, cells), read_points(file_, name + "_face", cells)};
    if (!(std::abs(points_[axis].faces.back() - length) <= 1e-9 * length))
      throw InputError(
          "'{}': {}_face ends at {}, but grid.size is {}: the domains must be identical",
          file_.path(), name, points_[axis].faces.back(), length);
    is_same_ = is_same_ && agree_within(points_[axis].centres, own.centres, length) &&
               agree_within(points_[axis].faces, own.faces, length);
  }
}

void StoredPoints::interpolate(const std::string& dataset, int component, Field& field) const {
  std::array<std::vector<Weights>, 3> weights;
  std::array<std::int64_t, 3> stored_cells;
  for (int axis = 0; axis < 3; ++axis) {
    const bool on_faces = component == axis;
    const auto& stored = on_faces ? points_[axis].faces : points_[axis].centres;
    const auto own = on_faces ? faces(domain_.grid, axis) : centres(domain_.grid, axis);
    weights[axis] = weights_at(line_of(domain_, component, axis, stored), own, domain_.box[axis]);
    stored_cells[axis] = std::ssize(stored);
  }
  const auto& [nx, ny, nz] = stored_cells;
  if (!file_.exists(dataset)) throw InputError("'{}': {} is missing", file_.path(), dataset);
  require_shape(file_, dataset, {nz, ny, nx});
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j)
      std::fill_n(field.row(k, j), domain_.nx, weights[2][k].constant);

  // Reads the required planes one by one. All ranks make the same number of collective reads.
  const std::vector<int> needed = needed_planes(weights[2]);
  const int count = static_cast<int>(needed.size()), most = file_.communicator().max(count);
  std::vector<double> along_x(static_cast<std::size_t>(ny) * domain_.nx);
  std::vector<double> plane(static_cast<std::size_t>(domain_.ny) * domain_.nx);
  for (int n = 0; n < most; ++n) {
    if (n >= count) {
      read_finite(file_, dataset, {0, 0});
      continue;
    }
    interpolate_x(weights[0], read_finite(file_, dataset, {needed[n], 1}), nx, along_x);
    interpolate_y(weights[1], along_x, domain_.nx, plane);
    for (int k = 0; k < domain_.nz; ++k) {
      const Weights& w = weights[2][k];
      for (int a = 0; a < w.count; ++a)
        if (w.index[a] == needed[n] && w.weight[a] != 0.0)
          add_plane(w.weight[a], plane, domain_.nx, k, field);
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
