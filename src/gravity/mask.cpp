#include "gravity/mask.hpp"

#include <utility>

#include "core/memory_transfer.hpp"
#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

template <int T>
void write_equations(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                     const double* cover, const double* finer, double* diagonal, double* row_sum) {
  const auto strips = patches.strips();
  for_teams(
      "gravity: cell equations", patches.own(), teams(PatchScratch<T, 2>::bytes()),
      KOKKOS_LAMBDA(const Team& team) {
        const int patch = team.league_rank();
        const PatchScratch<T, 2> share(team);
        gather(team, tables(patch), strips.data(), cover, 1, share);
        team.team_barrier();
        for_rows<T>(team, 0, [&](int j, int k) {
          double* row_sums = row_of(strips.data(), T, row_sum, patch, j, k);
          if (!row_sums) return;
          // Coarse grids have no patches stored as strips.
          const std::int64_t first = ((std::int64_t{patch} * T + k) * T + j) * T;
          for (int i = 0; i < T; ++i) {
            const int parity = i & 1, e = i >> 1, cell = split(i, T);
            const Neighbours<T, 2> around(share, parity, j, k);
            const double beside[6] = {around.left[e],    around.right[e],   around.below_y[e],
                                      around.above_y[e], around.below_z[e], around.above_z[e]};
            const CellEquation equation = cell_equation(share.pairs(parity, j, k)[e], beside,
                                                        !finer, finer ? finer[first + cell] : 0.0);
            if (diagonal) diagonal[first + cell] = equation.diagonal;
            row_sums[cell] = equation.row_sum;
          }
        });
      });
}

template <int T>
void find_rows(const LevelPatches& patches, const DeviceArray<const std::int32_t>& masked,
               const DeviceArray<const PatchTable>& tables, const double* cells,
               const GridMask& mask) {
  const auto strips = patches.strips();
  for_teams(
      "gravity: masked rows", masked.extent(0), teams(PatchScratch<T, 2>::bytes()),
      KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = masked(team.league_rank());
        const PatchScratch<T, 2> here(team);
        gather(team, tables(patch), strips.data(), cells, 2, here);
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          PatchRows& found = mask.rows(patch);
          RowCells* row = mask.cells.data() + patch * masked_rows(T);
          for (std::uint32_t& plane : found.planes) plane = 0;
          for (int k = -2; k < T + 2; ++k)
            for (int j = -2; j < T + 2; ++j) {
              RowCells bits = 0;
              for (int parity = 0; parity < 2; ++parity) {
                const double* pairs = here.pairs(parity, j, k);
                for (int e = -1; e <= T / 2; ++e)
                  if (pairs[e] > 0.0) bits |= bit_of(parity, e);
              }
              if (bits != 0) found.planes[k + 3] |= std::uint32_t{1} << (j + 3);
              *row++ = bits;
            }
        });
      });
}

// Sets the values in copies of other ranks' patches to 0.
void clear_copies(const LevelPatches& patches, int side, const DeviceArray<double>& field) {
  const std::int64_t own = patches.own() * cells_of(side), all = patches.slots() * cells_of(side);
  fill(Kokkos::subview(field, std::pair(own, all)), 0.0);
}

}  // namespace

void set_cover(const LevelPatches& patches, const DeviceArray<double>& cover) {
  const int side = patches.side(), piece = patches.piece_side();
  fill(cover, 0.0);
  std::vector<Piece> all = patches.local_pieces();
  all.insert(all.end(), patches.arriving_pieces().begin(), patches.arriving_pieces().end());
  const auto pieces = mesh::to_device("pieces", all);
  const auto strips = patches.strips();
  for_items(
      "gravity: covered cells", all.size(), KOKKOS_LAMBDA(const std::int64_t n) {
        const Piece& p = pieces(n);
        for (int k = 0; k < piece; ++k)
          for (int j = 0; j < piece; ++j) {
            double* row = row_of(strips.data(), side, cover.data(), p.patch, p.in_patch[1] + j,
                                 p.in_patch[2] + k);
            for (int i = 0; i < piece; ++i) row[split(p.in_patch[0] + i, side)] = 1.0;
          }
      });
}

void coarsen_means(const LevelPatches& patches, int side, const DeviceArray<double>& fine,
                   const DeviceArray<double>& coarse) {
  const int C = side / 2;
  const auto strips = patches.strips();
  clear_copies(patches, C, coarse);
  for_items(
      {"gravity: coarsen means", {72.0, 8.0}}, patches.own() * cells_of(C),
      KOKKOS_LAMBDA(const std::int64_t n) {
        const auto i = static_cast<int>(n % C), j = static_cast<int>(n / C % C),
                   k = static_cast<int>(n / (C * C) % C);
        const std::int64_t patch = n / (C * C * C);
        double sum = 0.0;
        for (int line = 0; line < 4; ++line) {
          const double* row = row_of(strips.data(), side, fine.data(), patch, 2 * j + (line & 1),
                                     2 * k + (line >> 1));
          if (row) sum += row[i] + row[i + C];
        }
        coarse((patch * C * C + k * C + j) * C + split(i, C)) = 0.125 * sum;
      });
}

void find_row_sums(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                   int side, const DeviceArray<double>& cover, const DeviceArray<double>& row_sum) {
  if (patches.own() == 0) return;
  with_patch_side(side, [&](auto T) {
    write_equations<T.value>(patches, tables, cover.data(), nullptr, nullptr, row_sum.data());
  });
}

DeviceArray<double> find_equations(const LevelPatches& patches,
                                   const DeviceArray<const PatchTable>& tables, int side,
                                   const DeviceArray<double>& cover,
                                   const DeviceArray<double>& finer,
                                   const DeviceArray<double>& row_sum) {
  const auto diagonal = mesh::uninitialised<double>("diagonal", patches.slots() * cells_of(side));
  clear_copies(patches, side, diagonal);
  if (patches.own() == 0) return diagonal;
  with_patch_side(side, [&](auto T) {
    write_equations<T.value>(patches, tables, cover.data(), finer.data(), diagonal.data(),
                             row_sum.data());
  });
  return diagonal;
}

GridMask find_mask(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                   const DeviceArray<const std::int32_t>& masked, int side,
                   const DeviceArray<double>& cells) {
  const GridMask mask{
      mesh::uninitialised<PatchRows>("masked rows", patches.own()),
      mesh::uninitialised<RowCells>("masked cells", patches.own() * masked_rows(side))};
  if (masked.extent(0) == 0) return mask;
  with_patch_side(side,
                  [&](auto T) { find_rows<T.value>(patches, masked, tables, cells.data(), mask); });
  return mask;
}

}  // namespace octant::gravity
