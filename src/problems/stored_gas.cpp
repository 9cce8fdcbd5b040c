#include "problems/stored_gas.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"

namespace octant::problems {

namespace {

// Overlap of the cells of a stored grid and of a mesh level along an axis, in integer units of
// which the domain has grid_cells * mesh_cells.
struct Overlap {
  std::int64_t grid_cells, mesh_cells;

  // Fraction of a mesh cell that a cell of the grid covers.
  double share(std::int64_t mesh_cell, std::int64_t grid_cell) const {
    const std::int64_t begin = std::max(mesh_cell * grid_cells, grid_cell * mesh_cells);
    const std::int64_t end = std::min((mesh_cell + 1) * grid_cells, (grid_cell + 1) * mesh_cells);
    return static_cast<double>(end - begin) / static_cast<double>(grid_cells);
  }
  // Range of existing grid cells that overlap with mesh cells.
  RowRange of_grid(std::int64_t begin, std::int64_t end, const GridAxis& axis) const {
    const std::int64_t first = std::max(axis.begin, begin * grid_cells / mesh_cells);
    const std::int64_t last = std::min(axis.end, (end * grid_cells - 1) / mesh_cells + 1);
    return {first, std::max<std::int64_t>(0, last - first)};
  }
};

// Returns true if a finer grid covers cell n of a grid along an axis; partial cover does not occur.
bool is_within(const GridAxis& coarse, std::int64_t n, const GridAxis& fine) {
  return n * fine.cells >= fine.begin * coarse.cells &&
         (n + 1) * fine.cells <= fine.end * coarse.cells;
}

// Returns a position as a number of cells from the domain's lower side, if it is a whole number.
std::optional<std::int64_t> whole_cells(double length, double cell) {
  const double cells = length / cell, whole = std::round(cells);
  constexpr double k_most = 1e9;  // products of two numbers of cells are exact in 64 bits
  if (!(std::abs(cells - whole) < 1e-6) || std::abs(whole) > k_most) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

// Blocks of a level, and the state of their cells during the accumulation: sums of conserved
// quantities, or the state of the one file cell that coincides with a mesh cell.
class Means {
 public:
  Means(const mesh::Mesh& mesh, int level, std::size_t quantities)
      : N_(mesh.layout().block_size), quantities_(quantities) {
    const BlockCoordinates extent = mesh.geometry().extent(level);
    for (int d = 0; d < 3; ++d) mesh_cells_[d] = std::int64_t{extent[d]} * N_;
    for (const int slot : mesh.blocks(level).own()) {
      slots_.push_back(slot);
      const BlockCoordinates block = morton_decode(mesh.blocks(level).key(slot));
      auto& first = first_.emplace_back();
      for (int d = 0; d < 3; ++d) first[d] = std::int64_t{block[d]} * N_;
    }
    const std::size_t cells = slots_.size() * cells_per_block();
    values_.assign(cells * (quantities_ + 1), 0.0);
    is_whole_.assign(cells, 0);
  }

  std::size_t blocks() const { return slots_.size(); }
  std::size_t cells_per_block() const { return std::size_t{1} * N_ * N_ * N_; }
  int slot(std::size_t block) const { return slots_[block]; }
  Overlap overlap(const StoredGrid& grid, int axis) const {
    return {grid.axes[axis].cells, mesh_cells_[axis]};
  }
  RowRange planes(const StoredGrid& grid, std::size_t block, int axis) const {
    const std::int64_t first = first_[block][axis];
    return overlap(grid, axis).of_grid(first, first + N_, grid.axes[axis]);
  }
  double* values(std::size_t cell) { return values_.data() + cell * (quantities_ + 1); }
  bool is_whole(std::size_t cell) const { return is_whole_[cell] != 0; }
  int quantities() const { return static_cast<int>(quantities_); }

  // Adds some planes of a grid, read into an array per quantity, where no finer grid covers them.
  void add(std::size_t block, const StoredGrid& grid, const StoredGrid* finer, RowRange planes,
           const std::vector<std::vector<double>>& read);

 private:
  void add_overlap(std::size_t cell, double share, const std::vector<std::vector<double>>& read,
                   std::size_t from);

  int N_;
  std::size_t quantities_;
  std::array<std::int64_t, 3> mesh_cells_;  // cells of the level across the domain
  std::vector<int> slots_;
  std::vector<std::array<std::int64_t, 3>> first_;  // first cell of each block
  std::vector<double> values_;  // [block][cell][quantity, and the kinetic energy]
  std::vector<std::uint8_t> is_whole_;
};

double energy_of_motion(double density, const double* velocity) {
  return 0.5 * density *
         (velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
}

void Means::add_overlap(std::size_t cell, double share,
                        const std::vector<std::vector<double>>& read, std::size_t from) {
  using enum StoredGas::Quantity;
  double* value = values(cell);
  if (share == 1.0) {
    for (std::size_t n = 0; n < quantities_; ++n) value[n] = read[n][from];
    is_whole_[cell] = 1;
    return;
  }
  const double mass = share * read[k_density][from];
  value[k_density] += mass;
  value[k_pressure] += share * read[k_pressure][from];
  for (std::size_t n = k_velocity; n < quantities_; ++n) value[n] += mass * read[n][from];
  const double velocity[] = {read[k_velocity][from], read[k_velocity + 1][from],
                             read[k_velocity + 2][from]};
  value[quantities_] += energy_of_motion(mass, velocity);
}

void Means::add(std::size_t block, const StoredGrid& grid, const StoredGrid* finer, RowRange planes,
                const std::vector<std::vector<double>>& read) {
  std::array<RowRange, 3> mine;
  for (int d = 0; d < 3; ++d) mine[d] = this->planes(grid, block, d);
  const std::int64_t begin = std::max(mine[2].begin, planes.begin);
  const std::int64_t end = std::min(mine[2].end(), planes.end());
  const std::int64_t nx = grid.axes[0].end - grid.axes[0].begin;
  const std::int64_t ny = grid.axes[1].end - grid.axes[1].begin;
  const auto within = [&](int axis, std::int64_t n) {
    return finer != nullptr && is_within(grid.axes[axis], n, finer->axes[axis]);
  };
  // Cells of the block that overlap with a cell of the grid, as indices in the block.
  const auto cells_at = [&](int axis, std::int64_t n) {
    const Overlap along = overlap(grid, axis);
    const std::int64_t first = first_[block][axis];
    const std::int64_t from = std::max(first, n * along.mesh_cells / along.grid_cells);
    const std::int64_t to =
        std::min(first + N_, ((n + 1) * along.mesh_cells - 1) / along.grid_cells + 1);
    return RowRange{from - first, to - from};
  };
  for (std::int64_t k = begin; k < end; ++k)
    for (std::int64_t j = mine[1].begin; j < mine[1].end(); ++j) {
      const bool may_be_within = within(2, k) && within(1, j);
      const RowRange zs = cells_at(2, k), ys = cells_at(1, j);
      for (std::int64_t i = mine[0].begin; i < mine[0].end(); ++i) {
        if (may_be_within && within(0, i)) continue;
        const std::int64_t row = (k - planes.begin) * ny + (j - grid.axes[1].begin);
        const auto from = static_cast<std::size_t>(row * nx + (i - grid.axes[0].begin));
        const RowRange xs = cells_at(0, i);
        for (std::int64_t z = zs.begin; z < zs.end(); ++z)
          for (std::int64_t y = ys.begin; y < ys.end(); ++y)
            for (std::int64_t x = xs.begin; x < xs.end(); ++x) {
              const double share = overlap(grid, 2).share(first_[block][2] + z, k) *
                                   overlap(grid, 1).share(first_[block][1] + y, j) *
                                   overlap(grid, 0).share(first_[block][0] + x, i);
              add_overlap(block * cells_per_block() + (z * N_ + y) * N_ + x, share, read, from);
            }
      }
    }
}

// Planes of a grid that any block needs, in pieces of at most about 8 MiB for each quantity.
std::vector<RowRange> pieces(const Means& means, const StoredGrid& grid) {
  const std::vector<std::int64_t> shape = grid.shape();
  const std::int64_t most =
      std::max<std::int64_t>(1, (std::int64_t{8} << 20) / (8 * shape[1] * shape[2]));
  std::vector<std::uint8_t> is_needed(shape[0], 0);
  const std::int64_t below = grid.axes[2].begin;
  for (std::size_t block = 0; block < means.blocks(); ++block) {
    if (means.planes(grid, block, 0).count == 0 || means.planes(grid, block, 1).count == 0)
      continue;
    const RowRange planes = means.planes(grid, block, 2);
    for (std::int64_t k = planes.begin; k < planes.end(); ++k) is_needed[k - below] = 1;
  }
  std::vector<RowRange> result;
  for (std::int64_t k = 0; k < shape[0]; ++k) {
    if (!is_needed[k]) continue;
    if (result.empty() || result.back().end() != below + k || result.back().count == most)
      result.push_back({below + k, 0});
    ++result.back().count;
  }
  return result;
}

std::string level_of(int level) { return fmt::format("/gas/level_{}", level); }

}  // namespace

std::vector<std::int64_t> StoredGrid::shape() const {
  return {axes[2].end - axes[2].begin, axes[1].end - axes[1].begin, axes[0].end - axes[0].begin};
}

StoredGas::StoredGas(const Hdf5Reader& file, const mesh::Geometry& geometry,
                     const hydro::HydroOptions& hydro, const CodeUnits& units,
                     const CodeUnits& run_units)
    : file_(file), units_(units), per_pressure_(1.0 / (hydro.gamma - 1.0)) {
  if (!file_.exists(level_of(0)))
    throw InputError(
        "'{}': /gas/level_0 is missing: the file has no gas; write the file with "
        "octools.write_initial(..., gas = ...), or set hydro.enabled = false",
        file_.path());
  for (int level = 0; file_.exists(level_of(level)); ++level) {
    const StoredGrid grid = read_grid(geometry, level_of(level));
    if (level > 0) check_nesting(grid);
    grids_.push_back(grid);
  }
  check_levels();
  find_quantities(hydro);
  set_factors(run_units);
}

StoredGrid StoredGas::read_grid(const mesh::Geometry& geometry, const std::string& group) const {
  const std::string density = group + "/density";
  if (!file_.exists(density)) throw InputError("'{}': {} is missing", file_.path(), density);
  const auto shape = file_.shape(density);
  if (shape.size() != 3 || *std::min_element(shape.begin(), shape.end()) < 1)
    throw InputError("'{}': {} has shape {}; expected [k][j][i]", file_.path(), density, shape);
  const auto lower = finite_attributes(file_, group, "lower", 3);
  const auto upper = finite_attributes(file_, group, "upper", 3);
  StoredGrid grid{group, {}};
  for (int d = 0; d < 3; ++d) {
    const double first = geometry.lower()[d], size = geometry.upper()[d] - first;
    const double begin = units_.length * lower[d] - first;
    const double cell =
        (units_.length * upper[d] - first - begin) / static_cast<double>(shape[2 - d]);
    const auto cells = whole_cells(size, cell), before = whole_cells(begin, cell);
    if (!(cell > 0.0) || !cells || !before || *before < 0 || *before + shape[2 - d] > *cells)
      throw InputError(
          "'{}': {}: along {}, the {} cells from {} to {} do not match a uniform grid covering the "
          "domain, from {} to {}",
          file_.path(), group, "xyz"[d], shape[2 - d], lower[d], upper[d], first / units_.length,
          (first + size) / units_.length);
    grid.axes[d] = {*cells, *before, *before + shape[2 - d]};
    if (grids_.empty() && shape[2 - d] != *cells)
      throw InputError(
          "'{}': {} extends from {} to {} along {}; the first grid must cover the domain, from {} "
          "to {}",
          file_.path(), group, lower[d], upper[d], "xyz"[d], first / units_.length,
          (first + size) / units_.length);
  }
  return grid;
}

void StoredGas::check_levels() const {
  for (const std::string& name : file_.children("/gas")) {
    const auto has_name = [&](const StoredGrid& grid) { return grid.group == "/gas/" + name; };
    if (std::none_of(grids_.begin(), grids_.end(), has_name))
      throw InputError(
          "'{}': /gas/{} is not a level; levels must be named level_0, level_1 and so on without "
          "gaps; found level_0 to level_{}",
          file_.path(), name, grids_.size() - 1);
  }
}

void StoredGas::check_nesting(const StoredGrid& grid) const {
  for (int d = 0; d < 3; ++d) {
    const GridAxis &fine = grid.axes[d], &coarse = grids_.back().axes[d];
    const auto is_on_face = [&](std::int64_t n) { return n * coarse.cells % fine.cells == 0; };
    if (fine.cells < coarse.cells || !is_on_face(fine.begin) || !is_on_face(fine.end) ||
        fine.begin * coarse.cells < coarse.begin * fine.cells ||
        fine.end * coarse.cells > coarse.end * fine.cells)
      throw InputError(
          "'{}': {} must lie within {}, be aligned with its cells, and have cells of the same size "
          "or "
          "smaller; this is not the case along {}",
          file_.path(), grid.group, grids_.back().group, "xyz"[d]);
  }
}

void StoredGas::find_quantities(const hydro::HydroOptions& hydro) {
  is_hot_ = file_.exists(level_of(0) + "/temperature");
  names_ = {"density", is_hot_ ? "temperature" : "pressure", "velocity_x", "velocity_y",
            "velocity_z"};
  for (const std::string& name : file_.children(level_of(0))) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    const auto place = hydro.variable_index(name);
    if (!place || *place < hydro.first_scalar())
      throw InputError("'{}': {}/{} is not a gas variable of this run; its scalars are: {}",
                       file_.path(), level_of(0), name,
                       hydro.scalars.empty()
                           ? "none (hydro.scalars)"
                           : fmt::format("{}", fmt::join(hydro::shown_names(hydro.scalars), ", ")));
    names_.push_back(name);
    places_.push_back(*place);
  }
  for (const StoredGrid& grid : grids_) {
    for (const std::string& name : names_) {
      const std::string dataset = grid.group + "/" + name;
      if (!file_.exists(dataset)) throw InputError("'{}': {} is missing", file_.path(), dataset);
      require_shape(file_, dataset, grid.shape());
    }
    for (const std::string& name : file_.children(grid.group))
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        throw InputError("'{}': {}/{} does not occur in {}", file_.path(), grid.group, name,
                         level_of(0));
  }
}

void StoredGas::set_factors(const CodeUnits& run_units) {
  factors_.assign(names_.size(), 1.0);
  factors_[k_density] = units_.density();
  factors_[k_pressure] = units_.energy_density();
  for (int d = 0; d < 3; ++d) factors_[k_velocity + d] = units_.velocity();
  if (!is_hot_) return;
  const bool has_units = run_units.length != 1.0 || run_units.mass != 1.0 || run_units.time != 1.0;
  factors_[k_pressure] = has_units ? 1.0 / run_units.temperature() : 1.0;
}

// Reads an array [k][j][i] for each quantity, in the run's units.
std::vector<std::vector<double>> StoredGas::read(const StoredGrid& grid, RowRange planes) const {
  std::vector<std::vector<double>> values;
  for (std::size_t n = 0; n < names_.size(); ++n) {
    const std::string name = grid.group + "/" + names_[n];
    const bool must_be_positive = n == k_density || n == k_pressure;
    const RowRange rows{planes.count > 0 ? planes.begin - grid.axes[2].begin : 0, planes.count};
    values.push_back(must_be_positive ? read_finite(file_, name, rows, 0.0)
                                      : read_finite(file_, name, rows));
    if (factors_[n] != 1.0)
      for (double& value : values.back()) value *= factors_[n];
  }
  if (is_hot_)
    for (std::size_t cell = 0; cell < values[k_pressure].size(); ++cell)
      values[k_pressure][cell] *= values[k_density][cell];
  return values;
}

void StoredGas::give(const mesh::Mesh& mesh, int level,
                     const Problem::StateReceiver& receive) const {
  Means means(mesh, level, names_.size());
  for (std::size_t n = 0; n < grids_.size(); ++n) {
    const StoredGrid* finer = n + 1 < grids_.size() ? &grids_[n + 1] : nullptr;
    const std::vector<RowRange> own = pieces(means, grids_[n]);
    const std::int64_t most = mesh.communicator().max(std::int64_t{std::ssize(own)});
    for (std::int64_t piece = 0; piece < most; ++piece) {
      const RowRange planes = piece < std::ssize(own) ? own[piece] : RowRange{};
      const auto values = read(grids_[n], planes);
      for (std::size_t block = 0; planes.count > 0 && block < means.blocks(); ++block)
        means.add(block, grids_[n], finer, planes, values);
    }
  }
  GasState gas;
  for (std::size_t block = 0; block < means.blocks(); ++block)
    for (std::size_t c = 0; c < means.cells_per_block(); ++c) {
      const std::size_t cell = block * means.cells_per_block() + c;
      double* value = means.values(cell);
      const double density = value[k_density];
      if (!means.is_whole(cell)) {
        for (std::size_t n = k_velocity; n < names_.size(); ++n) value[n] /= density;
        const double lost = value[names_.size()] - energy_of_motion(density, value + k_velocity);
        value[k_pressure] += std::max(0.0, lost) / per_pressure_;
      }
      gas.density = density;
      gas.velocity = {value[k_velocity], value[k_velocity + 1], value[k_velocity + 2]};
      gas.pressure = value[k_pressure];
      gas.others.clear();
      for (std::size_t n = 0; n < places_.size(); ++n)
        gas.others.emplace_back(places_[n], value[k_scalars + n]);
      receive(means.slot(block), static_cast<int>(c), gas);
    }
}

}  // namespace octant::problems
