#include "gravity/spread_grid.hpp"

#include "gravity/mask.hpp"
#include "gravity/smoothing.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int k_cells = 8;  // of a patch: cell x + 2 y + 4 z

using Cells = Kokkos::RangePolicy<>;

// Number n of the four red cells, of which x + y + z is even, or of the four black ones: 0, 3, 5, 6
// or 1, 2, 4, 7. (Kernels on a device cannot index a table of the host.)
KOKKOS_FORCEINLINE_FUNCTION int cell_of_colour(int colour, int n) {
  const int y = n & 1, z = n >> 1;
  return 2 * n + ((y + z + colour) & 1);
}

// The value in the cell beside one of an own patch, along an axis; 0 where there is none.
KOKKOS_FORCEINLINE_FUNCTION double beside(const PatchTable& table, const double* field, int cell,
                                          int axis, int step) {
  constexpr int strides[3] = {1, 3, 9};
  const int bit = 1 << axis;
  const bool leaves = ((cell & bit) != 0) == (step > 0);
  const std::int32_t patch = table[13 + (leaves ? step * strides[axis] : 0)];
  return patch < 0 ? 0.0 : field[std::int64_t{patch} * k_cells + (cell ^ bit)];
}

KOKKOS_FORCEINLINE_FUNCTION double neighbours(const PatchTable& table, const double* phi,
                                              int cell) {
  return ((beside(table, phi, cell, 0, -1) + beside(table, phi, cell, 0, 1)) +
          (beside(table, phi, cell, 1, -1) + beside(table, phi, cell, 1, 1))) +
         (beside(table, phi, cell, 2, -1) + beside(table, phi, cell, 2, 1));
}

// Fields of cell_equation(), of own cells.
struct GridEquations {
  DeviceArray<double> diagonal, row_sum;
};

// The cover has all copies.
GridEquations find_equations(const LevelPatches& patches,
                             const DeviceArray<const PatchTable>& tables,
                             const BottomCells& cells) {
  const std::int64_t count = patches.own() * k_cells;
  const GridEquations equations{mesh::uninitialised<double>("diagonals", count),
                                mesh::uninitialised<double>("row sums", count)};
  const DeviceArray<double> cover = cells.cover, finer = cells.row_sums;
  const bool holes = finer.extent(0) > 0;
  Kokkos::parallel_for(
      "gravity: cell equations", Cells(0, count), KOKKOS_LAMBDA(const std::int64_t n) {
        const auto cell = static_cast<int>(n % k_cells);
        const PatchTable& table = tables(n / k_cells);
        double around[6];
        for (int face = 0; face < 6; ++face)
          around[face] = beside(table, cover.data(), cell, face / 2, face % 2 == 0 ? -1 : 1);
        const CellEquation equation =
            cell_equation(cover(n), around, false, holes ? finer(n) : 0.0);
        equations.diagonal(n) = equation.diagonal;
        equations.row_sum(n) = equation.row_sum;
      });
  return equations;
}

// Half a sweep: the cells of one colour.
void relax(int own, int colour, const DeviceArray<const PatchTable>& tables,
           const DeviceArray<double>& diagonal, const DeviceArray<double>& f,
           const DeviceArray<double>& phi) {
  Kokkos::parallel_for(
      "gravity: relax", Cells(0, own * 4), KOKKOS_LAMBDA(const std::int64_t task) {
        const std::int64_t patch = task / 4;
        const int cell = cell_of_colour(colour, static_cast<int>(task % 4));
        const std::int64_t n = patch * k_cells + cell;
        if (diagonal(n) == 0.0) return;
        const double sum = neighbours(tables(patch), phi.data(), cell);
        phi(n) = (1.0 - k_relaxation) * phi(n) + (sum - f(n)) * (k_relaxation / diagonal(n));
      });
}

// The residual, summed over every own patch: red cells before black ones.
void restrict_residual(int own, const DeviceArray<const PatchTable>& tables,
                       const DeviceArray<double>& diagonal, const DeviceArray<double>& f,
                       const DeviceArray<double>& phi, const DeviceArray<double>& coarse) {
  Kokkos::parallel_for(
      "gravity: restrict", Cells(0, own), KOKKOS_LAMBDA(const std::int64_t patch) {
        double sum = 0.0;
        for (int place = 0; place < k_cells; ++place) {
          const int cell = cell_of_colour(place / 4, place % 4);
          const std::int64_t n = patch * k_cells + cell;
          if (diagonal(n) == 0.0) continue;
          sum +=
              0.5 * ((f(n) - neighbours(tables(patch), phi.data(), cell)) + diagonal(n) * phi(n));
        }
        coarse(patch) = sum;
      });
}

// phi += coarse values, one per patch, interpolated.
void correct(int own, const DeviceArray<const PatchTable>& tables,
             const DeviceArray<double>& diagonal, const DeviceArray<double>& coarse,
             const DeviceArray<double>& phi) {
  Kokkos::parallel_for(
      "gravity: correct", Cells(0, own * k_cells), KOKKOS_LAMBDA(const std::int64_t n) {
        if (diagonal(n) == 0.0) return;
        const auto cell = static_cast<int>(n % k_cells);
        const PatchTable& table = tables(n / k_cells);
        constexpr int strides[3] = {1, 3, 9};
        double correction = 0.0;
        for (int corner = 0; corner < k_cells; ++corner) {
          int at = 13, away = 0;
          for (int d = 0; d < 3; ++d) {
            if (!(corner >> d & 1)) continue;
            at += (cell >> d & 1) ? strides[d] : -strides[d];
            ++away;
          }
          constexpr double weights[4] = {27.0 / 64, 9.0 / 64, 3.0 / 64, 1.0 / 64};
          const double value = table[at] < 0 ? 0.0 : coarse(table[at]);
          correction += weights[away] * value;
        }
        phi(n) += correction;
      });
}

KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell_of(const Piece& piece) {
  return std::int64_t{piece.patch} * k_cells + piece.in_patch[0] + 2 * piece.in_patch[1] +
         4 * piece.in_patch[2];
}

// The means of own patches.
DeviceArray<double> patch_means(int own, const DeviceArray<double>& values) {
  const auto mean = mesh::uninitialised<double>("means", own);
  Kokkos::parallel_for(
      "gravity: coarsen means", Cells(0, own), KOKKOS_LAMBDA(const std::int64_t patch) {
        double sum = 0.0;
        for (int cell = 0; cell < k_cells; ++cell) sum += 0.125 * values(patch * k_cells + cell);
        mean(patch) = sum;
      });
  return mean;
}

// Calls copy(n, piece) for every piece.
template <class Copy>
void for_pieces(const DeviceArray<const Piece>& pieces, const Copy& copy) {
  Kokkos::parallel_for(
      "gravity: hand on", Cells(0, pieces.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t n) { copy(n, pieces(n)); });
}

// Between a value per patch and a message, and the cells that the patches are of a coarser grid.
void pack(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& values,
          const DeviceArray<double>& message) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t n, const Piece& p) { message(n) = values(p.block); });
}
void unpack(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& message,
            const DeviceArray<double>& values) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t n, const Piece& p) { values(p.block) = message(n); });
}
void pack_cells(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& cells,
                const DeviceArray<double>& message) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t n, const Piece& p) { message(n) = cells(cell_of(p)); });
}
void unpack_cells(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& message,
                  const DeviceArray<double>& cells) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t n, const Piece& p) { cells(cell_of(p)) = message(n); });
}
void to_cells(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& values,
              const DeviceArray<double>& cells) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t, const Piece& p) { cells(cell_of(p)) = values(p.block); });
}
void from_cells(const DeviceArray<const Piece>& pieces, const DeviceArray<double>& cells,
                const DeviceArray<double>& values) {
  for_pieces(
      pieces, KOKKOS_LAMBDA(std::int64_t, const Piece& p) { values(p.block) = cells(cell_of(p)); });
}

}  // namespace

SpreadGrid::SpreadGrid(const LevelPatches& patches, const BottomCells& cells,
                       const CommOptions& options, std::int64_t gathered)
    : patches_(patches),
      tables_(mesh::to_device("patch tables", patches.tables())),
      cells_halo_(patches, 2, 2, options),
      patches_halo_(patches, 1, 1, options),
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
  const BottomCells coarser{DeviceArray<double>("cover", coarser_cells),
                            DeviceArray<double>("row sums", coarser_cells)};
  hand_on(patch_means(patches.own(), cells.cover), coarser.cover);
  hand_on(patch_means(patches.own(), equations.row_sum), coarser.row_sums);
  coarser_ = std::make_unique<Bottom>(coarser_patches_, false, coarser, options, gathered);
}

// From a value per own patch to own cells of the coarser grid.
void SpreadGrid::hand_on(const DeviceArray<double>& values, const DeviceArray<double>& cells) {
  pack(leaving_, values, leaving_values_);
  exchanger_.start<double>(coarser_patches_.piece_plan(), leaving_values_.data(),
                           arriving_values_.data(), 1);
  to_cells(local_, values, cells);
  exchanger_.finish();
  unpack_cells(arriving_, arriving_values_, cells);
}

// The way back.
void SpreadGrid::hand_back(const DeviceArray<double>& cells, const DeviceArray<double>& values) {
  pack_cells(arriving_, cells, arriving_values_);
  exchanger_.start<double>(coarser_patches_.piece_plan(), arriving_values_.data(),
                           leaving_values_.data(), 1, Direction::reverse);
  from_cells(local_, cells, values);
  exchanger_.finish();
  unpack(leaving_, leaving_values_, values);
}

// Red cells, then black ones, each from what the others have become.
void SpreadGrid::sweep(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  for (int half = 0; half < 2 * CoarseSolver::k_sweeps; ++half) {
    relax(patches_.own(), half % 2, tables_, diagonal_, f, phi);
    cells_halo_.run(phi.data());
  }
}

void SpreadGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  fill(phi, 0.0);
  sweep(f, phi);
  restrict_residual(patches_.own(), tables_, diagonal_, f, phi, coarse_);
  hand_on(coarse_, coarser_f_);
  coarser_->solve(coarser_f_, coarser_phi_);
  hand_back(coarser_phi_, coarse_);
  patches_halo_.run(coarse_.data());
  correct(patches_.own(), tables_, diagonal_, coarse_, phi);
  cells_halo_.run(phi.data());
  sweep(f, phi);
}

std::int64_t SpreadGrid::bytes() const {
  const auto size = [](const auto& array) {
    return static_cast<std::int64_t>(array.size() * sizeof(array(0)));
  };
  return size(tables_) + size(diagonal_) + size(coarse_) + size(local_) + size(leaving_) +
         size(arriving_) + size(leaving_values_) + size(arriving_values_) + size(coarser_f_) +
         size(coarser_phi_) + coarser_patches_.bytes() + coarser_->bytes();
}

}  // namespace octant::gravity
