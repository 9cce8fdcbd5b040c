#include "gravity/coarse_grid_solver.hpp"

#include <algorithm>
#include <numeric>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_exchange.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int k_cells = 8;  // cells of a patch; cell (x, y, z) has the index x + 2 y + 4 z

// --- agglomerated grid -------------------------------------------------------------------------

std::vector<Segment> segments_of(const std::vector<int>& sources) {
  std::vector<Segment> segments;
  for (const int rank : sources) count_items(segments, rank);
  return segments;
}

std::vector<Segment> to_root(std::int64_t count) {
  return count > 0 ? std::vector<Segment>{{0, count}} : std::vector<Segment>{};
}

// Grid that is gathered on the root in one exchange, solved on the root, and scattered in a second
// exchange, all in the memory of Kokkos' default execution space.
class AgglomeratedGrid final : public CoarseGridSolver {
 public:
  AgglomeratedGrid(const LevelPatches& patches, bool finest, const CoarseCells& cells,
                   const CommOptions& options);

  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) override {
    const double* all = gather(f);
    if (cycle_) cycle_->cycle(all, phi_at_root(phi));
    spread(phi);
  }
  SolveOutcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi, double target,
                     int most) override {
    const double* all = gather(f);
    SolveOutcome outcome{0, 0.0};
    if (cycle_) outcome = cycle_->solve(all, phi_at_root(phi), target, most);
    communicator_.broadcast(outcome);
    spread(phi);
    return outcome;
  }
  std::int64_t bytes() const override {
    return bytes_of(arrived_) + bytes_of(sent_) + (cycle_ ? cycle_->bytes() : 0);
  }
  int spread_grids() const override { return 0; }

 private:
  struct PatchCells {
    Key key;
    double cover[8], row_sums[8];
  };
  // Gathers f of all patches on the root.
  const double* gather(const DeviceArray<double>& f);
  // Returns the array in which the root stores phi before spread() distributes it.
  double* phi_at_root(const DeviceArray<double>& phi) const;
  void spread(const DeviceArray<double>& phi);

  Communicator communicator_;
  bool alone_;  // true if all patches are own patches, in the order of their keys
  std::unique_ptr<ExchangePlan> gather_plan_, spread_plan_;
  Exchanger exchanger_;

  // Solver on the root, which reads and writes the messages.
  std::unique_ptr<CoarseCycle> cycle_;
  DeviceArray<double> arrived_, sent_;
};

AgglomeratedGrid::AgglomeratedGrid(const LevelPatches& patches, bool finest,
                                   const CoarseCells& cells_of_patches, const CommOptions& options)
    : communicator_(patches.communicator()),
      alone_(communicator_.size() == 1),
      exchanger_("gravity bottom", communicator_, options, patches.level(), Buffers::of_device) {
  // Cover and row sums of all own patches, on the host.
  const auto shares = on_host(TransferKind::numbers, cells_of_patches.cover);
  const auto row_sums = on_host(TransferKind::numbers, cells_of_patches.row_sums);
  std::vector<PatchCells> own(patches.own(), PatchCells{});
  std::vector<Key> slots(patches.slots());
  for (int slot = 0; slot < patches.slots(); ++slot) slots[slot] = patches.key(slot);
  for (int slot = 0; slot < patches.own(); ++slot) {
    own[slot].key = slots[slot];
    std::copy_n(shares.data() + slot * k_cells, k_cells, own[slot].cover);
    if (row_sums.size() > 0)
      std::copy_n(row_sums.data() + slot * k_cells, k_cells, own[slot].row_sums);
  }
  const std::vector<int> destinations_of_own(own.size(), 0), destinations_of_slots(slots.size(), 0);
  const auto arrived = route<PatchCells>(communicator_, destinations_of_own, own);
  const auto wanted = route<Key>(communicator_, destinations_of_slots, slots);
  gather_plan_ = std::make_unique<ExchangePlan>(communicator_, to_root(patches.own()),
                                                segments_of(arrived.sources));
  spread_plan_ = std::make_unique<ExchangePlan>(communicator_, segments_of(wanted.sources),
                                                to_root(patches.slots()));
  if (!communicator_.is_root()) return;

  std::vector<std::int32_t> order(arrived.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return arrived.items[a].key < arrived.items[b].key; });
  KeyTable<std::int32_t> index;
  std::vector<CoarseCell> cells;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const PatchCells& patch = arrived.items[order[n]];
    index.insert(patch.key, static_cast<std::int32_t>(n));
    const BlockCoordinates corner = morton_decode(patch.key);
    for (int c = 0; c < k_cells; ++c)
      cells.push_back(
          {{2 * std::int64_t{corner[0]} + (c & 1), 2 * std::int64_t{corner[1]} + (c >> 1 & 1),
            2 * std::int64_t{corner[2]} + (c >> 2)},
           patch.cover[c],
           patch.row_sums[c]});
  }
  auto extent = patches.extent();
  for (auto& e : extent) e *= 2;
  CellOrders orders;
  const auto add_patch = [](std::vector<std::int32_t>& cells_of, std::int32_t patch) {
    for (int c = 0; c < k_cells; ++c) cells_of.push_back(k_cells * patch + c);
  };
  for (const PatchCells& patch : arrived.items) add_patch(orders.f, *index.find(patch.key));
  for (const Key key : wanted.items) add_patch(orders.phi, *index.find(key));
  cycle_ = std::make_unique<CoarseCycle>(cells, extent, patches.periodic(), finest, orders);
  if (alone_) return;
  arrived_ = mesh::uninitialised<double>("coarse grid received", std::ssize(orders.f));
  sent_ = mesh::uninitialised<double>("coarse grid sent", std::ssize(orders.phi));
}

const double* AgglomeratedGrid::gather(const DeviceArray<double>& f) {
  if (alone_) return f.data();
  exchanger_.run<double>(*gather_plan_, f.data(), arrived_.data(), k_cells);
  return arrived_.data();
}

double* AgglomeratedGrid::phi_at_root(const DeviceArray<double>& phi) const {
  return alone_ ? phi.data() : sent_.data();
}

void AgglomeratedGrid::spread(const DeviceArray<double>& phi) {
  if (!alone_) exchanger_.run<double>(*spread_plan_, sent_.data(), phi.data(), k_cells);
}

// --- distributed grid --------------------------------------------------------------------------

// Returns cell n of the four red cells (even x + y + z: 0, 3, 5, 6) or of the four black cells (1,
// 2, 4, 7), computed because device kernels cannot read a host table.
KOKKOS_FORCEINLINE_FUNCTION int cell_of_colour(int colour, int n) {
  const int y = n & 1, z = n >> 1;
  return 2 * n + ((y + z + colour) & 1);
}

// Grid of patches for kernels, with the interface of grids in coarse_cycle.hpp.
struct PatchGrid {
  const PatchTable* tables;
  const double *diagonal, *f;  // values of own cells; the diagonal of masked cells is 0
  double* phi;

  KOKKOS_FORCEINLINE_FUNCTION double beside(const double* field, std::int64_t n, int face) const {
    constexpr int strides[3] = {1, 3, 9};
    const int axis = face / 2, step = face % 2 == 0 ? -1 : 1, bit = 1 << axis;
    const auto cell = static_cast<int>(n % k_cells);
    const bool leaves = ((cell & bit) != 0) == (step > 0);
    const std::int32_t patch = tables[n / k_cells][13 + (leaves ? step * strides[axis] : 0)];
    return patch < 0 ? 0.0 : field[std::int64_t{patch} * k_cells + (cell ^ bit)];
  }
  // Value in a coarse cell. `field` has one value per patch.
  KOKKOS_FORCEINLINE_FUNCTION double above(const double* field, std::int64_t n, int corner) const {
    constexpr int strides[3] = {1, 3, 9};
    int at = 13;
    for (int d = 0; d < 3; ++d)
      if (corner >> d & 1) at += n >> d & 1 ? strides[d] : -strides[d];
    const std::int32_t patch = tables[n / k_cells][at];
    return patch < 0 ? 0.0 : field[patch];
  }
};

// Fields of cell_equation() of own cells.
struct GridEquations {
  DeviceArray<double> diagonal, row_sum;
};

// Computes the equations of own cells. The cover must be set in all copies.
GridEquations find_equations(const LevelPatches& patches,
                             const DeviceArray<const PatchTable>& tables,
                             const CoarseCells& cells) {
  const std::int64_t count = patches.own() * k_cells;
  const GridEquations equations{mesh::uninitialised<double>("diagonals", count),
                                mesh::uninitialised<double>("row sums", count)};
  const DeviceArray<double> cover = cells.cover, finer = cells.row_sums;
  const bool holes = finer.extent(0) > 0;
  for_items(
      "gravity: cell equations", count, KOKKOS_LAMBDA(const std::int64_t n) {
        const PatchGrid grid{tables.data(), nullptr, nullptr, nullptr};
        double around[6];
        for (int face = 0; face < 6; ++face) around[face] = grid.beside(cover.data(), n, face);
        const CellEquation equation =
            cell_equation(cover(n), around, false, holes ? finer(n) : 0.0);
        equations.diagonal(n) = equation.diagonal;
        equations.row_sum(n) = equation.row_sum;
      });
  return equations;
}

// Relaxes the cells of one colour: half a sweep.
void relax_colour(int own, int colour, const PatchGrid& grid) {
  for_items(
      "gravity: relax", std::int64_t{own} * 4, KOKKOS_LAMBDA(const std::int64_t task) {
        const std::int64_t n =
            task / 4 * k_cells + cell_of_colour(colour, static_cast<int>(task % 4));
        if (grid.diagonal[n] != 0.0) relax(grid, n);
      });
}

// Restricts the residual: half of its sum over each own patch, red cells before black ones.
void restrict_to_patches(int own, const PatchGrid& grid, const DeviceArray<double>& coarse) {
  for_items(
      "gravity: restrict", own, KOKKOS_LAMBDA(const std::int64_t patch) {
        double sum = 0.0;
        for (int number = 0; number < k_cells; ++number) {
          const std::int64_t n = patch * k_cells + cell_of_colour(number / 4, number % 4);
          if (grid.diagonal[n] != 0.0) sum += 0.5 * residual(grid, n);
        }
        coarse(patch) = sum;
      });
}

// Prolongation: adds the interpolated coarse values, one per patch, to phi.
void prolong_from_patches(int own, const PatchGrid& grid, const DeviceArray<double>& coarse) {
  for_items(
      "gravity: correct", std::int64_t{own} * k_cells, KOKKOS_LAMBDA(const std::int64_t n) {
        if (grid.diagonal[n] != 0.0) prolong(grid, n, coarse.data());
      });
}

// Returns the mean over the cells of each own patch.
DeviceArray<double> patch_means(int own, const DeviceArray<double>& values) {
  const auto mean = mesh::uninitialised<double>("means", own);
  for_items(
      "gravity: coarsen means", own, KOKKOS_LAMBDA(const std::int64_t patch) {
        double sum = 0.0;
        for (int cell = 0; cell < k_cells; ++cell) sum += 0.125 * values(patch * k_cells + cell);
        mean(patch) = sum;
      });
  return mean;
}

// Location of the value of a piece: in a message, in a field with one value per patch, or in the
// cell of the coarser grid that the patch becomes.
enum class PieceAs { message, patch, cell };

template <PieceAs as>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t value_index(const Piece& piece, std::int64_t n) {
  if constexpr (as == PieceAs::message) return n;
  else if constexpr (as == PieceAs::patch) return piece.block;
  else
    return std::int64_t{piece.patch} * k_cells + piece.in_patch[0] + 2 * piece.in_patch[1] +
           4 * piece.in_patch[2];
}

template <PieceAs from, PieceAs to>
void copy_pieces(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& source,
                 const DeviceArray<double>& target) {
  for_items(
      "gravity: copy pieces", pieces.extent(0), KOKKOS_LAMBDA(const std::int64_t n) {
        target(value_index<to>(pieces(n), n)) = source(value_index<from>(pieces(n), n));
      });
}

class DistributedGrid final : public CoarseGridSolver {
 public:
  // The extents in patches must be even. Fills the copies of cells.cover.
  DistributedGrid(const LevelPatches& patches, const CoarseCells& cells, const CommOptions& options,
                  std::int64_t gathered);

  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) override;
  SolveOutcome solve(const DeviceArray<double>& /*f*/, const DeviceArray<double>& /*phi*/,
                     double /*target*/, int /*most*/) override {
    throw RunError("gravity: the finest grid of a level must be gathered");
  }
  std::int64_t bytes() const override;
  int spread_grids() const override { return 1 + coarser_->spread_grids(); }

 private:
  void sweep(const PatchGrid& grid, const DeviceArray<double>& phi);
  void restrict_to_owners(const DeviceArray<double>& values, const DeviceArray<double>& cells);
  void prolong_from_owners(const DeviceArray<double>& cells, const DeviceArray<double>& values);

  const LevelPatches& patches_;
  DeviceArray<const PatchTable> tables_;
  HaloExchange cells_halo_, patches_halo_;  // halo exchange of cells, and of one value per patch
  DeviceArray<double> diagonal_;            // diagonal of own cells; 0 in masked cells
  DeviceArray<double> coarse_;              // one value per patch, copies included

  // Coarser grid, whose cells are the patches of this grid.
  LevelPatches coarser_patches_;
  DeviceArray<const Piece> local_, leaving_, arriving_;
  DeviceArray<double> leaving_values_, arriving_values_;
  Exchanger exchanger_;
  DeviceArray<double> coarser_f_, coarser_phi_;
  std::unique_ptr<CoarseGridSolver> coarser_;
};

DistributedGrid::DistributedGrid(const LevelPatches& patches, const CoarseCells& cells,
                                 const CommOptions& options, std::int64_t gathered)
    : patches_(patches),
      tables_(mesh::to_device("patch tables", patches.tables())),
      cells_halo_(patches, {{2, 2}}, options),
      patches_halo_(patches, {{1, 1}}, options),
      coarse_("coarse values", patches.slots()),
      coarser_patches_(patches),
      local_(mesh::to_device("pieces", coarser_patches_.local_pieces())),
      leaving_(mesh::to_device("pieces", coarser_patches_.leaving_pieces())),
      arriving_(mesh::to_device("pieces", coarser_patches_.arriving_pieces())),
      leaving_values_("leaving values", leaving_.extent(0)),
      arriving_values_("arriving values", arriving_.extent(0)),
      exchanger_("gravity bottom", patches.communicator(), options, patches.level(),
                 Buffers::of_device),
      coarser_f_("coarser f", coarser_patches_.slots() * k_cells),
      coarser_phi_("coarser phi", coarser_patches_.slots() * k_cells) {
  cells_halo_.run(cells.cover.data());
  const GridEquations equations = find_equations(patches, tables_, cells);
  diagonal_ = equations.diagonal;
  const std::int64_t coarser_cells = coarser_patches_.slots() * k_cells;
  const CoarseCells coarser{DeviceArray<double>("cover", coarser_cells),
                            DeviceArray<double>("row sums", coarser_cells)};
  restrict_to_owners(patch_means(patches.own(), cells.cover), coarser.cover);
  restrict_to_owners(patch_means(patches.own(), equations.row_sum), coarser.row_sums);
  coarser_ = CoarseGridSolver::make(coarser_patches_, false, coarser, options, gathered);
}

// Restriction: copies one value per own patch to own cells of the coarser grid.
void DistributedGrid::restrict_to_owners(const DeviceArray<double>& values,
                                         const DeviceArray<double>& cells) {
  copy_pieces<PieceAs::patch, PieceAs::message>(leaving_, values, leaving_values_);
  exchanger_.start<double>(coarser_patches_.piece_plan(), leaving_values_.data(),
                           arriving_values_.data(), 1);
  copy_pieces<PieceAs::patch, PieceAs::cell>(local_, values, cells);
  exchanger_.finish();
  copy_pieces<PieceAs::message, PieceAs::cell>(arriving_, arriving_values_, cells);
}

// Prolongation: copies own cells of the coarser grid to one value per own patch.
void DistributedGrid::prolong_from_owners(const DeviceArray<double>& cells,
                                          const DeviceArray<double>& values) {
  copy_pieces<PieceAs::cell, PieceAs::message>(arriving_, cells, arriving_values_);
  exchanger_.start<double>(coarser_patches_.piece_plan(), arriving_values_.data(),
                           leaving_values_.data(), 1, Direction::reverse);
  copy_pieces<PieceAs::cell, PieceAs::patch>(local_, cells, values);
  exchanger_.finish();
  copy_pieces<PieceAs::message, PieceAs::patch>(leaving_, leaving_values_, values);
}

// Relaxes red cells, then black ones, each with the updated values of the other colour.
void DistributedGrid::sweep(const PatchGrid& grid, const DeviceArray<double>& phi) {
  for (int half = 0; half < 2 * k_coarse_sweeps; ++half) {
    relax_colour(patches_.own(), half % 2, grid);
    cells_halo_.run(phi.data());
  }
}

void DistributedGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  const PatchGrid grid{tables_.data(), diagonal_.data(), f.data(), phi.data()};
  fill(phi, 0.0);
  sweep(grid, phi);
  restrict_to_patches(patches_.own(), grid, coarse_);
  restrict_to_owners(coarse_, coarser_f_);
  coarser_->solve(coarser_f_, coarser_phi_);
  prolong_from_owners(coarser_phi_, coarse_);
  patches_halo_.run(coarse_.data());
  prolong_from_patches(patches_.own(), grid, coarse_);
  cells_halo_.run(phi.data());
  sweep(grid, phi);
}

std::int64_t DistributedGrid::bytes() const {
  return bytes_of(tables_) + bytes_of(diagonal_) + bytes_of(coarse_) + bytes_of(local_) +
         bytes_of(leaving_) + bytes_of(arriving_) + bytes_of(leaving_values_) +
         bytes_of(arriving_values_) + bytes_of(coarser_f_) + bytes_of(coarser_phi_) +
         coarser_patches_.bytes() + coarser_->bytes();
}

// --- choice of solver ----------------------------------------------------------------------------

std::int64_t active_cells(const LevelPatches& patches, const DeviceArray<double>& cover) {
  const auto shares = on_host(TransferKind::numbers, cover);
  std::int64_t active = 0;
  for (std::int64_t n = 0; n < std::int64_t{k_cells} * patches.own(); ++n)
    active += shares(n) > 0.5 ? 1 : 0;
  return patches.communicator().sum(active);
}

bool stays_distributed(const LevelPatches& patches, const DeviceArray<double>& cover,
                       std::int64_t gathered) {
  double all_cells = k_cells;  // of the whole domain: an upper bound without a reduction
  for (const auto extent : patches.extent()) {
    if (extent % 2 != 0) return false;
    all_cells *= static_cast<double>(extent);
  }
  const std::int64_t most = std::max(gathered, CoarseCycle::k_coarsest_cells);
  return all_cells > static_cast<double>(most) && active_cells(patches, cover) > most;
}

}  // namespace

std::unique_ptr<CoarseGridSolver> CoarseGridSolver::make(const LevelPatches& patches, bool finest,
                                                         const CoarseCells& cells,
                                                         const CommOptions& options,
                                                         std::int64_t gathered) {
  if (!finest && stays_distributed(patches, cells.cover, gathered))
    return std::make_unique<DistributedGrid>(patches, cells, options, gathered);
  return std::make_unique<AgglomeratedGrid>(patches, finest, cells, options);
}

}  // namespace octant::gravity
