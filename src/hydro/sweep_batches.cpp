#include "hydro/sweep_batches.hpp"

#include <algorithm>

#include "hydro/cell_update.hpp"
#include "hydro/flux_answers.hpp"
#include "hydro/gather.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

namespace {

using Fastest = Kokkos::View<double, mesh::DeviceSpace, Kokkos::MemoryUnmanaged>;

template <int M>
void update_batch(const KernelArguments& a, const Batch& batch, const Fastest& fastest) {
  using Planes = BatchFluxes<M>;
  using Inner = PackGrid<0, M, 0, M>;
  constexpr int per_tile = M * Inner::packs;
  Kokkos::parallel_reduce(
      "hydro::update", Kokkos::RangePolicy<Kokkos::IndexType<int>>(0, batch.count * per_tile),
      KOKKOS_LAMBDA(int n, double& largest_yet) {
        const int tile = n / per_tile, k = n % per_tile / Inner::packs, m = n % Inner::packs;
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const CellUpdate<Planes> update(a, view, planes);
        Outcome<Pack> outcome;
        update(k, Inner::j(m), Inner::i(m), outcome);
        if (any(outcome.bad)) a.sweep.bad_tiles[batch.first + tile] = 1;
        largest_yet = max(largest_yet, largest(outcome.fastest));
      },
      Kokkos::Max<double, mesh::DeviceSpace>(fastest));
}

template <int M>
void answer_requests(const KernelArguments& a, const Batch& batch) {
  using Planes = BatchFluxes<M>;
  using Policy = Kokkos::TeamPolicy<>;
  constexpr int threads = PackTraits<Pack>::width > 1 ? 1 : M * M;
  Kokkos::parallel_for(
      "hydro::answers", Policy(batch.count, threads),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const TileView view(a.sweep.tiles, batch.first + team.league_rank());
        const Planes planes(batch, team.league_rank(), a.variables);
        const FluxAnswers<Planes> answers(a, view, planes);
        if (!answers.requested()) return;
        for (int k = 0; k <= M; ++k) answers.plane(team, k);
      });
}

template <int M>
void finish_batch(const KernelArguments& a, const Batch& batch, const Fastest& fastest) {
  update_batch<M>(a, batch, fastest);
  if (a.sweep.tiles.requests.extent(0) > 0) answer_requests<M>(a, batch);
}

}  // namespace

double* BatchBuffer::hold(std::int64_t doubles) {
  if (static_cast<std::int64_t>(memory_.extent(0)) < doubles)
    memory_ = mesh::uninitialised<double>("batches", doubles);
  return memory_.data();
}

double sweep_in_batches(const SweepKernels& scheme, const KernelArguments& a) {
  const int tiles = a.sweep.tiles.count();
  if (tiles == 0) return 0.0;
  const std::int64_t per_tile = scheme.states.tile_doubles[a.patch](a.variables);
  const auto at_a_time =
      static_cast<int>(std::clamp<std::int64_t>(a.sweep.batches->doubles() / per_tile, 1, tiles));
  const int batches = (tiles + at_a_time - 1) / at_a_time;
  double* const memory = a.sweep.batches->hold(at_a_time * per_tile + a.variables + batches);
  double* const safe_cell = memory + at_a_time * per_tile;
  double* const fastest = safe_cell + a.variables;  // of each batch
  Kokkos::parallel_for(
      "hydro::safe_cell", 1, KOKKOS_LAMBDA(int) { write_safe_cell(a, safe_cell); });
  for (int n = 0; n < batches; ++n) {
    const int first = n * at_a_time;
    const Batch batch{first, std::min(at_a_time, tiles - first), memory, per_tile, safe_cell};
    scheme.states.of_batch[a.patch](a, batch);
    scheme.fluxes.of_batch[a.patch](a, batch);
    if (a.patch == 0) finish_batch<8>(a, batch, Fastest(fastest + n));
    else finish_batch<16>(a, batch, Fastest(fastest + n));
  }
  if (a.sweep.tile_cycles)
    Kokkos::parallel_for(
        "hydro::tile_cycles", tiles, KOKKOS_LAMBDA(int t) { a.sweep.tile_cycles[t] += 1; });
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "hydro::fastest", batches,
      KOKKOS_LAMBDA(int n, double& of_all) { of_all = max(of_all, fastest[n]); },
      Kokkos::Max<double>(largest));
  return largest;
}

}  // namespace octant::hydro
