#include "gravity/coarse_cycle.hpp"

#include "core/observer.hpp"
#include "gravity/mask.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

Key key_of(const std::array<std::int64_t, 3>& c) {
  return morton_encode({static_cast<BlockCoordinate>(c[0]), static_cast<BlockCoordinate>(c[1]),
                        static_cast<BlockCoordinate>(c[2])});
}

// Returns the cells of the next coarser grid, of half the extents, in the order of their first
// child. `row_sums` are those of `cells`.
std::vector<CoarseCell> coarsened(const std::vector<CoarseCell>& cells,
                                  const std::vector<double>& row_sums) {
  KeyTable<std::int32_t> index;
  std::vector<CoarseCell> coarse;
  for (std::size_t m = 0; m < cells.size(); ++m) {
    const CoarseCell& cell = cells[m];
    const std::array<std::int64_t, 3> c{cell.position[0] / 2, cell.position[1] / 2,
                                        cell.position[2] / 2};
    const std::int32_t* known = index.find(key_of(c));
    const int n = known ? *known : static_cast<int>(coarse.size());
    if (!known) {
      index.insert(key_of(c), n);
      coarse.push_back({c, 0.0, 0.0});
    }
    coarse[n].cover += 0.125 * cell.cover;
    coarse[n].row_sum += 0.125 * row_sums[m];
  }
  return coarse;
}

// Returns the index of each value in the finest grid.
DeviceArray<const std::int32_t> cells_in(const std::vector<std::int32_t>& order,
                                         const std::vector<std::int32_t>& index) {
  std::vector<std::int32_t> cells;
  for (const std::int32_t cell : order) cells.push_back(index[cell]);
  return mesh::to_device("coarse grid cells", cells);
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

// Grid under construction, with the tables of CellGrid.
struct CoarseCycle::Tables {
  std::array<std::int64_t, 3> extent;
  int cells = 0, red = 0;
  bool open = true;
  std::vector<std::array<std::int32_t, 6>> next;
  std::vector<std::array<std::int32_t, 8>> parents, children;
  std::vector<double> diagonal;
  std::vector<double> row_sums;  // row sums of all input cells
};

CoarseCycle::CoarseCycle(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
                         const std::array<bool, 3>& periodic, bool finest, const CellOrders& orders)
    : periodic_(periodic) {
  std::vector<CoarseCell> present = cells;
  std::vector<std::int32_t> index;
  Positions fine_positions;
  std::vector<Tables> grids;
  for (;;) {
    grids.push_back(make_tables(present, extent, finest, index));
    Tables& grid = grids.back();
    if (grids.size() == 1) {
      grids_.f_cells = cells_in(orders.f, index);
      grids_.phi_cells = cells_in(orders.phi, index);
    }
    KeyTable<std::int32_t> table;
    Positions positions(grid.cells);
    for (std::size_t n = 0; n < present.size(); ++n) {
      table.insert(key_of(present[n].position), index[n]);
      if (index[n] < grid.cells) positions[index[n]] = present[n].position;
    }
    if (grids.size() > 1) link(grids[grids.size() - 2], fine_positions, grid, table);
    const bool even = extent[0] % 2 == 0 && extent[1] % 2 == 0 && extent[2] % 2 == 0;
    if (grid.cells <= k_coarsest_cells || !even) break;
    present = coarsened(present, grid.row_sums);
    for (auto& e : extent) e /= 2;
    finest = false;
    fine_positions = std::move(positions);
  }
  place(grids);
}

bool CoarseCycle::wrap(std::array<std::int64_t, 3>& c,
                       const std::array<std::int64_t, 3>& extent) const {
  for (int d = 0; d < 3; ++d) {
    if (periodic_[d]) c[d] = (c[d] + extent[d]) % extent[d];
    if (c[d] < 0 || c[d] >= extent[d]) return false;
  }
  return true;
}

CoarseCycle::Tables CoarseCycle::make_tables(const std::vector<CoarseCell>& cells,
                                             const std::array<std::int64_t, 3>& extent, bool finest,
                                             std::vector<std::int32_t>& index_of) const {
  Tables grid;
  grid.extent = extent;
  KeyTable<std::int32_t> present;
  for (std::size_t n = 0; n < cells.size(); ++n)
    present.insert(key_of(cells[n].position), static_cast<std::int32_t>(n));

  std::vector<std::int32_t> active;
  for (const int colour : {0, 1}) {
    // After the loop, `red` is the number of red cells, which precede the black ones.
    grid.red = static_cast<int>(active.size());
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const auto& c = cells[n].position;
      if (((c[0] + c[1] + c[2]) & 1) == colour && cells[n].cover > 0.5)
        active.push_back(static_cast<std::int32_t>(n));
    }
  }
  grid.cells = static_cast<int>(active.size());
  index_of.assign(cells.size(), grid.cells);
  for (int n = 0; n < grid.cells; ++n) index_of[active[n]] = n;

  grid.row_sums.assign(cells.size(), 0.0);
  for (const int n : active) {
    std::array<std::int32_t, 6> next;
    double beside[6];
    for (int face = 0; face < 6; ++face) {
      auto c = cells[n].position;
      c[face / 2] += face % 2 == 0 ? -1 : 1;
      const std::int32_t* other = wrap(c, extent) ? present.find(key_of(c)) : nullptr;
      next[face] = other ? index_of[*other] : grid.cells;
      beside[face] = other ? cells[*other].cover : 0.0;
    }
    grid.next.push_back(next);
    const CellEquation equation = cell_equation(cells[n].cover, beside, finest, cells[n].row_sum);
    grid.diagonal.push_back(equation.diagonal);
    grid.row_sums[n] = equation.row_sum;
    grid.open = grid.open && equation.row_sum == 0.0;
  }
  return grid;
}

void CoarseCycle::link(Tables& fine, const Positions& fine_positions, Tables& coarse,
                       const KeyTable<std::int32_t>& coarse_index) const {
  std::vector<int> known(coarse.cells, 0);  // number of children of each cell
  coarse.children.resize(coarse.cells);
  for (auto& children : coarse.children) children.fill(fine.cells);
  for (int cell = 0; cell < fine.cells; ++cell) {
    const auto& position = fine_positions[cell];
    std::array<std::int32_t, 8> parents;
    for (int n = 0; n < 8; ++n) {
      std::array<std::int64_t, 3> c;
      for (int d = 0; d < 3; ++d)
        c[d] = position[d] / 2 + ((n >> d & 1) == 0 ? 0 : (position[d] & 1) ? 1 : -1);
      const std::int32_t* found = wrap(c, coarse.extent) ? coarse_index.find(key_of(c)) : nullptr;
      parents[n] = found ? *found : coarse.cells;
    }
    fine.parents.push_back(parents);
    const std::int32_t parent = parents[0];
    if (parent < coarse.cells) coarse.children[parent][known[parent]++] = cell;
  }
}

// Copies all grids to the device, finest first. The finest has no children, the coarsest no
// parents.
void CoarseCycle::place(const std::vector<Tables>& grids) {
  Tables all;
  for (const Tables& grid : grids) {
    append(all.next, grid.next);
    append(all.diagonal, grid.diagonal);
    append(all.parents, grid.parents);
    append(all.children, grid.children);
  }
  next_ = mesh::to_device("coarse grid neighbours", all.next);
  diagonal_ = mesh::to_device("coarse grid diagonals", all.diagonal);
  parents_ = mesh::to_device("coarse grid parents", all.parents);
  children_ = mesh::to_device("coarse grid children", all.children);
  const std::size_t values = all.next.size() + grids.size();
  phi_ = DeviceArray<double>("coarse grid phi", values);
  f_ = DeviceArray<double>("coarse grid f", values);
  grids_.residual = DeviceArray<double>("residual", grids.back().cells);
  grids_.direction = DeviceArray<double>("direction", grids.back().cells + 1);
  grids_.terms = DeviceArray<double>("terms", grids.front().cells);

  std::vector<CellGrid> placed;
  std::size_t cell = 0, parents = 0, children = 0;
  for (const Tables& grid : grids) {
    const std::size_t value = cell + placed.size();
    placed.push_back({.cells = grid.cells,
                      .red = grid.red,
                      .open = grid.open,
                      .next = next_.data() + cell,
                      .parents = parents_.data() + parents,
                      .children = children_.data() + children,
                      .diagonal = diagonal_.data() + cell,
                      .phi = phi_.data() + value,
                      .f = f_.data() + value});
    cell += grid.next.size();
    parents += grid.parents.size();
    children += grid.children.size();
  }
  grids_.grids = mesh::to_device("coarse grids", placed);
}

// --- solving -----------------------------------------------------------------------------------

namespace {

// Calls body(cell) for a range of cells in parallel, followed by a barrier.
template <class Body>
KOKKOS_FUNCTION void for_each_cell(const Team& team, int begin, int end, const Body& body) {
  in_team(team, end - begin, [&](int n) { body(begin + n); });
  team.team_barrier();
}

// Sums terms in the order of the cells. Each thread computes the whole sum.
template <class Term>
KOKKOS_FUNCTION double sum_of_cells(const Team& team, int cells, const Term& term) {
  double sum = 0.0;
  for (int c = 0; c < cells; ++c) sum += term(c);
  team.team_barrier();
  return sum;
}

// Red-black sweeps: red cells depend on black ones only, and vice versa.
KOKKOS_FUNCTION void sweep(const Team& team, const CellGrid& grid) {
  for (int time = 0; time < k_coarse_sweeps; ++time) {
    for_each_cell(team, 0, grid.red, [&](int c) { relax(grid, c); });
    for_each_cell(team, grid.red, grid.cells, [&](int c) { relax(grid, c); });
  }
}

KOKKOS_FUNCTION void restrict_residual(const Team& team, const CellGrid& grid,
                                       const CellGrid& coarse) {
  for_each_cell(team, 0, coarse.cells, [&](int c) {
    double sum = 0.0;
    for (int n = 0; n < 8; ++n) {
      const std::int32_t child = coarse.children[c][n];
      if (child < grid.cells) sum += 0.5 * residual(grid, child);
    }
    coarse.f[c] = sum;
    coarse.phi[c] = 0.0;
  });
}

KOKKOS_FUNCTION void correct(const Team& team, const CellGrid& grid, const CellGrid& coarse) {
  for_each_cell(team, 0, grid.cells, [&](int c) { prolong(grid, c, coarse.phi); });
}

// Solves on the coarsest grid, of any extent, by conjugate gradients.
KOKKOS_FUNCTION void solve_coarsest(const Team& team, const CellGrid& grid, const CellGrids& all) {
  constexpr int iteration_limit = 200;
  constexpr double reduction = 1e-3;  // relative reduction of the residual norm to be reached
  const int cells = grid.cells;
  double *const residual = all.residual.data(), *const direction = all.direction.data(),
                *const image = all.terms.data();
  for_each_cell(team, 0, cells, [&](int c) {
    residual[c] = direction[c] =
        (neighbours(grid, c, grid.phi) - grid.diagonal[c] * grid.phi[c]) - grid.f[c];
  });
  if (grid.open) {
    // Without a boundary, a solution exists only for a mean of 0, so the mean is subtracted.
    const double mean = sum_of_cells(team, cells, [&](int c) { return residual[c] / cells; });
    for_each_cell(team, 0, cells, [&](int c) { direction[c] = residual[c] -= mean; });
  }
  const auto squared_residual = [&] {
    return sum_of_cells(team, cells, [&](int c) { return residual[c] * residual[c]; });
  };
  double squared = squared_residual();
  const double enough = reduction * reduction * squared;
  for (int n = 0; n < iteration_limit && squared > enough; ++n) {
    for_each_cell(team, 0, cells, [&](int c) {
      image[c] = grid.diagonal[c] * direction[c] - neighbours(grid, c, direction);
    });
    const double curvature =
        sum_of_cells(team, cells, [&](int c) { return direction[c] * image[c]; });
    if (!(curvature > 0.0)) return;
    const double step = squared / curvature;
    for_each_cell(team, 0, cells, [&](int c) {
      grid.phi[c] += step * direction[c];
      residual[c] -= step * image[c];
    });
    const double before = squared;
    squared = squared_residual();
    for_each_cell(team, 0, cells,
                  [&](int c) { direction[c] = residual[c] + squared / before * direction[c]; });
  }
}

// Common part of the kernels OneCycle and CyclesToTarget, with f and phi in the given orders.
struct BottomWork {
  CellGrids all;
  const double* f;
  double* phi;

  KOKKOS_FUNCTION void begin(const Team& team) const {
    const CellGrid& finest = all.grids(0);
    for_each_cell(team, 0, count(all.f_cells), [&](int n) {
      const std::int32_t c = all.f_cells(n);
      if (c < finest.cells) finest.f[c] = f[n], finest.phi[c] = 0.0;
    });
  }
  KOKKOS_FUNCTION void end(const Team& team) const {
    for_each_cell(team, 0, count(all.phi_cells),
                  [&](int n) { phi[n] = all.grids(0).phi[all.phi_cells(n)]; });
  }
  KOKKOS_FUNCTION void v_cycle(const Team& team) const {
    const int coarsest = static_cast<int>(all.grids.extent(0)) - 1;
    for (int g = 0; g < coarsest; ++g) {
      sweep(team, all.grids(g));
      restrict_residual(team, all.grids(g), all.grids(g + 1));
    }
    solve_coarsest(team, all.grids(coarsest), all);
    for (int g = coarsest; g-- > 0;) {
      correct(team, all.grids(g), all.grids(g + 1));
      sweep(team, all.grids(g));
    }
  }
  KOKKOS_FUNCTION double residual_norm(const Team& team) const {
    const CellGrid& finest = all.grids(0);
    double* const squares = all.terms.data();
    for_each_cell(team, 0, finest.cells, [&](int c) {
      const double r = residual(finest, c);
      squares[c] = r * r;
    });
    return Kokkos::sqrt(sum_of_cells(team, finest.cells, [&](int c) { return squares[c]; }));
  }

 private:
  KOKKOS_FUNCTION static int count(const DeviceArray<const std::int32_t>& cells) {
    return static_cast<int>(cells.extent(0));
  }
};

struct OneCycle {
  BottomWork work;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    work.begin(team);
    work.v_cycle(team);
    work.end(team);
  }
};

struct CyclesToTarget {
  BottomWork work;
  double target;
  int most;
  DeviceArray<SolveOutcome> outcome;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    work.begin(team);
    SolveOutcome reached{0, work.residual_norm(team)};
    bool falls = true;  // false once rounding prevents further reduction of the residual
    for (; falls && reached.residual > target && reached.cycles < most; ++reached.cycles) {
      const double before = reached.residual;
      work.v_cycle(team);
      reached.residual = work.residual_norm(team);
      falls = reached.residual < before;
    }
    work.end(team);
    Kokkos::single(Kokkos::PerTeam(team), [&] { outcome(0) = reached; });
  }
};

// Records the work of V-cycles. Each cell of each grid reads f, the diagonal and the indices of
// other cells, and writes phi. Operations: four relaxations (10 each), the residual and its sum
// (9), and the correction (17). Conjugate gradients on the coarsest grid are not counted.
void record_cycles(int cycles, std::size_t cells) {
  record_kernel_work("gravity: coarse grid", cycles * static_cast<std::int64_t>(cells),
                     {84.0, 66.0});
}

}  // namespace

void CoarseCycle::cycle(const double* f, double* phi) const {
  record_cycles(1, diagonal_.extent(0));
  for_teams("gravity: coarse grid", 1, {}, OneCycle{{grids_, f, phi}});
}

SolveOutcome CoarseCycle::solve(const double* f, double* phi, double target, int most) const {
  const DeviceArray<SolveOutcome> outcome("outcome", 1);
  for_teams("gravity: coarse grid", 1, {}, CyclesToTarget{{grids_, f, phi}, target, most, outcome});
  const SolveOutcome reached = to_vector(TransferKind::numbers, outcome).front();
  record_cycles(reached.cycles, diagonal_.extent(0));  // the number of cycles is known only now
  return reached;
}

std::int64_t CoarseCycle::bytes() const {
  return bytes_of(grids_.grids) + bytes_of(grids_.f_cells) + bytes_of(grids_.phi_cells) +
         bytes_of(grids_.residual) + bytes_of(grids_.direction) + bytes_of(grids_.terms) +
         bytes_of(next_) + bytes_of(parents_) + bytes_of(children_) + bytes_of(diagonal_) +
         bytes_of(phi_) + bytes_of(f_);
}

}  // namespace octant::gravity
