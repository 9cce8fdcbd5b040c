#include "hydro/sweep_batches.hpp"

#include <algorithm>

#include "core/teams.hpp"
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
  constexpr int shares = PackTraits<Pack>::width > 1 ? 1 : 6;  // of a tile's requests: about one
  Kokkos::parallel_for(
      "hydro::answers", Policy(batch.count * shares, team_threads(threads)),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int tile = team.league_rank() / shares, share = team.league_rank() % shares;
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const FluxAnswers<Planes> answers(a, view, planes);
        answers.all(team, share, shares);
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

double* BatchBuffer::safe_cell(const KernelArguments& a) {
  if (static_cast<int>(safe_cell_.extent(0)) != a.variables) {
    safe_cell_ = mesh::uninitialised<double>("batches", a.variables);
    double* const cell = safe_cell_.data();
    Kokkos::parallel_for(
        "hydro::safe_cell", 1, KOKKOS_LAMBDA(int) { write_safe_cell(a, cell); });
  }
  return safe_cell_.data();
}

void BatchBuffer::begin(int tiles) {
  batches_ = 0;
  if (static_cast<int>(speeds_.extent(0)) < tiles)
    speeds_ = mesh::uninitialised<double>("batches", tiles);
}

void sweep_in_batches(const SweepKernels& scheme, const KernelArguments& a) {
  const int tiles = a.sweep.tiles.count();
  BatchBuffer& buffer = *a.sweep.batches;
  const std::int64_t per_tile = scheme.states.tile_doubles[a.patch](a.variables);
  const auto at_a_time =
      static_cast<int>(std::clamp<std::int64_t>(buffer.doubles() / per_tile, 1, tiles));
  double* const memory = buffer.hold(at_a_time * per_tile);
  double* const safe_cell = buffer.safe_cell(a);
  for (int first = 0; first < tiles; first += at_a_time) {
    const Batch batch{first, std::min(at_a_time, tiles - first), memory, per_tile, safe_cell};
    scheme.states.of_batch[a.patch](a, batch);
    scheme.fluxes.of_batch[a.patch](a, batch);
    const Fastest fastest(buffer.next_speed());
    if (a.patch == 0) finish_batch<8>(a, batch, fastest);
    else finish_batch<16>(a, batch, fastest);
  }
}

}  // namespace octant::hydro
