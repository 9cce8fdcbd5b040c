#include "gravity/coarse_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gravity/mask.hpp"
#include "gravity/smoothing.hpp"

namespace octant::gravity {

namespace {

constexpr int k_most_iterations = 200;
constexpr double k_coarsest_reduction = 1e-3;  // of the residual

Key key_of(const std::array<std::int64_t, 3>& c) {
  return morton_encode({static_cast<BlockCoordinate>(c[0]), static_cast<BlockCoordinate>(c[1]),
                        static_cast<BlockCoordinate>(c[2])});
}

// Half of the cells of each extent; all cells of 2^3 children, by the order of the first.
std::vector<CoarseCell> coarsened(const std::vector<CoarseCell>& cells) {
  KeyTable<std::int32_t> index;
  std::vector<CoarseCell> coarse;
  for (const CoarseCell& cell : cells) {
    const std::array<std::int64_t, 3> c{cell.position[0] / 2, cell.position[1] / 2,
                                        cell.position[2] / 2};
    const std::int32_t* known = index.find(key_of(c));
    const int n = known ? *known : static_cast<int>(coarse.size());
    if (!known) {
      index.insert(key_of(c), n);
      coarse.push_back({c, 0.0});
    }
    coarse[n].cover += 0.125 * cell.cover;
  }
  return coarse;
}

}  // namespace

CoarseSolver::CoarseSolver(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
                           const std::array<bool, 3>& periodic, bool finest)
    : periodic_(periodic) {
  std::vector<CoarseCell> present = cells;
  std::vector<std::int32_t> index;
  Positions fine_positions;
  for (;;) {
    grids_.push_back(make_grid(present, extent, finest, index));
    Grid& grid = grids_.back();
    if (grids_.size() == 1) index_ = index;
    KeyTable<std::int32_t> table;
    Positions positions(grid.cells);
    for (std::size_t n = 0; n < present.size(); ++n) {
      table.insert(key_of(present[n].position), index[n]);
      if (index[n] < grid.cells) positions[index[n]] = present[n].position;
    }
    if (grids_.size() > 1) link(grids_[grids_.size() - 2], fine_positions, grid, table);
    const bool even = extent[0] % 2 == 0 && extent[1] % 2 == 0 && extent[2] % 2 == 0;
    if (grid.cells <= k_few_cells || !even) break;
    present = coarsened(present);
    for (auto& e : extent) e /= 2;
    finest = false;
    fine_positions = std::move(positions);
  }
}

bool CoarseSolver::wrap(std::array<std::int64_t, 3>& c,
                        const std::array<std::int64_t, 3>& extent) const {
  for (int d = 0; d < 3; ++d) {
    if (periodic_[d]) c[d] = (c[d] + extent[d]) % extent[d];
    if (c[d] < 0 || c[d] >= extent[d]) return false;
  }
  return true;
}

CoarseSolver::Grid CoarseSolver::make_grid(const std::vector<CoarseCell>& cells,
                                           std::array<std::int64_t, 3> extent, bool finest,
                                           std::vector<std::int32_t>& index_of) const {
  Grid grid;
  grid.extent = extent;
  KeyTable<std::int32_t> present;
  for (std::size_t n = 0; n < cells.size(); ++n)
    present.insert(key_of(cells[n].position), static_cast<std::int32_t>(n));

  std::vector<std::int32_t> active;
  for (const int colour : {0, 1})
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const auto& c = cells[n].position;
      if (((c[0] + c[1] + c[2]) & 1) == colour && cells[n].cover > 0.5)
        active.push_back(static_cast<std::int32_t>(n));
    }
  grid.cells = static_cast<int>(active.size());
  index_of.assign(cells.size(), grid.cells);
  for (int n = 0; n < grid.cells; ++n) index_of[active[n]] = n;

  for (const int n : active) {
    std::array<std::int32_t, 6> next;
    const double inside = 2.0 * cells[n].cover - 1.0;
    double boundary = 0.0;
    for (int face = 0; face < 6; ++face) {
      auto c = cells[n].position;
      c[face / 2] += face % 2 == 0 ? -1 : 1;
      const std::int32_t* other = wrap(c, extent) ? present.find(key_of(c)) : nullptr;
      next[face] = other ? index_of[*other] : grid.cells;
      boundary += boundary_term(inside, other ? 2.0 * cells[*other].cover - 1.0 : -1.0);
    }
    grid.next.push_back(next);
    if (boundary == 0.0) boundary = hole_term(cells[n].cover);
    grid.diagonal.push_back(finest ? 6.0 : 6.0 + boundary);
    grid.open = grid.open && boundary == 0.0;
  }
  grid.phi.assign(grid.cells + 1, 0.0);
  grid.f.assign(grid.cells + 1, 0.0);
  return grid;
}

void CoarseSolver::link(Grid& fine, const Positions& fine_positions, const Grid& coarse,
                        const KeyTable<std::int32_t>& coarse_index) const {
  for (const auto& position : fine_positions) {
    std::array<std::int32_t, 8> above;
    for (int n = 0; n < 8; ++n) {
      std::array<std::int64_t, 3> c;
      for (int d = 0; d < 3; ++d)
        c[d] = position[d] / 2 + ((n >> d & 1) == 0 ? 0 : (position[d] & 1) ? 1 : -1);
      const std::int32_t* found = wrap(c, coarse.extent) ? coarse_index.find(key_of(c)) : nullptr;
      above[n] = found ? *found : coarse.cells;
    }
    fine.above.push_back(above);
    fine.parent.push_back(above[0]);
  }
}

// --- solving -----------------------------------------------------------------------------------

double CoarseSolver::neighbours(const Grid& grid, int c) const {
  const auto& n = grid.next[c];
  const std::vector<double>& phi = grid.phi;
  return ((phi[n[0]] + phi[n[1]]) + (phi[n[2]] + phi[n[3]])) + (phi[n[4]] + phi[n[5]]);
}

void CoarseSolver::sweep(const Grid& grid, int times) const {
  for (int t = 0; t < times; ++t)
    for (int c = 0; c < grid.cells; ++c)
      grid.phi[c] = (1.0 - k_relaxation) * grid.phi[c] +
                    (neighbours(grid, c) - grid.f[c]) * (k_relaxation / grid.diagonal[c]);
}

void CoarseSolver::v_cycle(std::size_t g) const {
  const Grid& grid = grids_[g];
  if (g + 1 == grids_.size()) return solve_coarsest(grid);
  const Grid& coarse = grids_[g + 1];
  sweep(grid, k_sweeps);
  std::fill(coarse.f.begin(), coarse.f.end(), 0.0);
  std::fill(coarse.phi.begin(), coarse.phi.end(), 0.0);
  for (int c = 0; c < grid.cells; ++c)
    coarse.f[grid.parent[c]] +=
        0.5 * ((grid.f[c] - neighbours(grid, c)) + grid.diagonal[c] * grid.phi[c]);
  v_cycle(g + 1);
  constexpr double weights[8] = {27.0 / 64, 9.0 / 64, 9.0 / 64, 3.0 / 64,
                                 9.0 / 64,  3.0 / 64, 3.0 / 64, 1.0 / 64};
  for (int c = 0; c < grid.cells; ++c) {
    double correction = 0.0;
    for (int n = 0; n < 8; ++n) correction += weights[n] * coarse.phi[grid.above[c][n]];
    grid.phi[c] += correction;
  }
  sweep(grid, k_sweeps);
}

// Conjugate gradients: they also solve grids of odd extents, which have no coarser one.
void CoarseSolver::solve_coarsest(const Grid& grid) const {
  const int cells = grid.cells;
  const auto product = [cells](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (int c = 0; c < cells; ++c) sum += a[c] * b[c];
    return sum;
  };
  std::vector<double> residual(cells), direction(cells + 1, 0.0), image(cells);
  for (int c = 0; c < cells; ++c)
    residual[c] = direction[c] = (neighbours(grid, c) - grid.diagonal[c] * grid.phi[c]) - grid.f[c];
  if (grid.open) {
    // Only a right-hand side without a mean has a solution; rounding must not make it grow.
    double mean = 0.0;
    for (int c = 0; c < cells; ++c) mean += residual[c] / cells;
    for (int c = 0; c < cells; ++c) direction[c] = residual[c] -= mean;
  }
  double squared = product(residual, residual);
  const double enough = k_coarsest_reduction * k_coarsest_reduction * squared;
  for (int n = 0; n < k_most_iterations && squared > enough; ++n) {
    for (int c = 0; c < cells; ++c) {
      const auto& next = grid.next[c];
      image[c] =
          grid.diagonal[c] * direction[c] -
          (((direction[next[0]] + direction[next[1]]) + (direction[next[2]] + direction[next[3]])) +
           (direction[next[4]] + direction[next[5]]));
    }
    const double curvature = product(direction, image);
    if (!(curvature > 0.0)) return;
    const double step = squared / curvature;
    for (int c = 0; c < cells; ++c) {
      grid.phi[c] += step * direction[c];
      residual[c] -= step * image[c];
    }
    const double before = squared;
    squared = product(residual, residual);
    for (int c = 0; c < cells; ++c) direction[c] = residual[c] + squared / before * direction[c];
  }
}

void CoarseSolver::cycle(std::span<const double> f, std::span<double> phi, bool from_zero) {
  const Grid& finest = grids_.front();
  for (std::size_t n = 0; n < index_.size(); ++n) {
    finest.f[index_[n]] = f[n];
    finest.phi[index_[n]] = from_zero ? 0.0 : phi[n];
  }
  finest.phi[finest.cells] = 0.0;
  v_cycle(0);
  for (std::size_t n = 0; n < index_.size(); ++n) phi[n] = finest.phi[index_[n]];
}

double CoarseSolver::residual_norm(std::span<const double> f, std::span<const double> phi) const {
  const Grid& finest = grids_.front();
  for (std::size_t n = 0; n < index_.size(); ++n) {
    finest.f[index_[n]] = f[n];
    finest.phi[index_[n]] = phi[n];
  }
  finest.phi[finest.cells] = 0.0;
  double norm = 0.0;
  for (int c = 0; c < finest.cells; ++c) {
    const double r = (finest.f[c] - neighbours(finest, c)) + finest.diagonal[c] * finest.phi[c];
    norm += r * r;
  }
  return norm;
}

std::int64_t CoarseSolver::bytes() const {
  const auto size = [](const auto& values) {
    return static_cast<std::int64_t>(values.size() * sizeof(values[0]));
  };
  std::int64_t sum = size(index_);
  for (const Grid& grid : grids_)
    sum += size(grid.next) + size(grid.above) + size(grid.parent) + size(grid.diagonal) +
           size(grid.phi) + size(grid.f);
  return sum;
}

}  // namespace octant::gravity
