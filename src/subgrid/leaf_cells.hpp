// Loops of a process over the gas in the leaf cells of a level's own blocks, on the device.
#pragma once

#include "comm/reproducible_sum.hpp"
#include "hydro/gas_cell.hpp"
#include "mesh/mesh.hpp"

namespace octant::subgrid {

// The gas of a level, on this rank.
struct GasLevel {
  mesh::BlockLayout layout;
  double* blocks;
  mesh::DeviceArray<const std::int32_t> slots;    // of own blocks, in the order of their keys
  mesh::DeviceArray<const std::uint8_t> refined;  // masks of their octants
  double cell_volume;
  hydro::Gas gas;

  // The present state.
  GasLevel(mesh::Mesh& mesh, int level, const hydro::Gas& gas);

  // Calls visit(cell) for the leaf cells of row (j, k) of own block n, in the order of i.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_row(int n, int row, const Visit& visit) const {
    const int N = layout.block_size, half = N / 2, j = row % N, k = row / N;
    double* const first = blocks + slots(n) * layout.stride_slot + std::int64_t{N} * row;
    for (int side = 0; side < 2; ++side) {
      const int octant = side + 2 * (j >= half) + 4 * (k >= half);
      if (refined(n) >> octant & 1) continue;
      for (int i = side * half; i < (side + 1) * half; ++i)
        visit(hydro::GasCell(first + i, layout.stride_variable, gas));
    }
  }
};

// The sum of each of `sums`, times the cell's volume.
ReproducibleSum sum_of_blocks(const mesh::DeviceArray<double>& sums, double cell_volume);

// Calls change(cell), a KOKKOS_LAMBDA that may change the gas, for every leaf cell. Returns the
// volume integral of what it returned, on this rank: the sum over a block has one order.
template <class Change>
ReproducibleSum change_leaf_cells(const GasLevel& level, const Change& change) {
  using Policy = Kokkos::TeamPolicy<>;
  using Rows =
      Kokkos::View<double*, Policy::execution_space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  const int blocks = static_cast<int>(level.slots.extent(0));
  const int rows = level.layout.block_size * level.layout.block_size;
  const mesh::DeviceArray<double> sums("sums over leaf cells", blocks);
  Policy policy(blocks, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(Rows::shmem_size(rows)));
  Kokkos::parallel_for(
      "change leaf cells", policy, KOKKOS_LAMBDA(const Policy::member_type& team) {
        const Rows row_sums(team.team_scratch(0), rows);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int row) {
          double sum = 0.0;
          level.visit_row(team.league_rank(), row,
                          [&](const hydro::GasCell& cell) { sum += change(cell); });
          row_sums(row) = sum;
        });
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int row = 0; row < rows; ++row) sums(team.league_rank()) += row_sums(row);
        });
      });
  return sum_of_blocks(sums, level.cell_volume);
}

// The largest of what rate(cell) returns for any leaf cell, or 0; on this rank.
template <class Rate>
double largest_of_leaf_cells(const GasLevel& level, const Rate& rate) {
  const int rows = level.layout.block_size * level.layout.block_size;
  const auto all_rows = static_cast<std::int64_t>(level.slots.extent(0)) * rows;
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "largest of leaf cells", Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>(0, all_rows),
      KOKKOS_LAMBDA(const std::int64_t n, double& most) {
        level.visit_row(static_cast<int>(n / rows), static_cast<int>(n % rows),
                        [&](const hydro::GasCell& cell) {
                          const double value = rate(cell);
                          most = value > most ? value : most;
                        });
      },
      Kokkos::Max<double>(largest));
  return largest > 0.0 ? largest : 0.0;
}

}  // namespace octant::subgrid
