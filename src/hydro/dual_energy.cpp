#include "hydro/dual_energy.hpp"

#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

namespace {

KOKKOS_INLINE_FUNCTION void synchronise_cell(double* cell, int stride, bool overwrite,
                                             const Gas& gas) {
  const State<double> u = load_state<double>(cell, stride);
  double& entropy = cell[k_entropy * stride];
  double volume;
  const State<double> w = unfloored_primitive(u, gas, volume);
  const double scale = power(w[k_density], gas.gamma - 1.0);  // pressure over entropy density
  if (!entropy_rules(w[k_pressure], u[k_energy], gas)) {
    entropy = w[k_pressure] / scale;
  } else if (overwrite) {
    cell[k_energy * stride] =
        u[k_energy] - w[k_pressure] / (gas.gamma - 1.0) + entropy * scale / (gas.gamma - 1.0);
  }
}

}  // namespace

void synchronise_dual_energy(const HydroOptions& options, const mesh::TileSet& tiles,
                             double* blocks) {
  if (!options.has_dual_energy()) return;
  using Policy = Kokkos::TeamPolicy<>;
  const Gas gas = options.gas();
  const bool overwrite = options.dual_energy == DualEnergy::overwrite;
  const int M = tiles.patch;
  Kokkos::parallel_for(
      "hydro::synchronise_dual_energy", Policy(tiles.count(), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const TileView view(tiles, team.league_rank());
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, M * M), [&](int n) {
          const BlockRow row = view.block_row(n % M, n / M);
          for (int i = 0; i < M; ++i) {
            const int slot = view.entry(row, i);
            if (slot < 0 || view.box(slot).buffer != mesh::k_own) continue;
            synchronise_cell(blocks + view.offset(row, slot, i), view.box(slot).stride_variable,
                             overwrite, gas);
          }
        });
      });
}

}  // namespace octant::hydro
