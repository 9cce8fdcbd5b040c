#include "hydro/sweep_gpu.hpp"

#include <algorithm>

#include "hydro/conservative_update.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

namespace {

using Fastest = Kokkos::View<double, mesh::DeviceSpace, Kokkos::MemoryUnmanaged>;

template <int M, class G>
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
        const CellUpdate<Planes, G> update(a, view, planes);
        UpdateResult<SimdDouble> result;
        update(k, Inner::j(m), Inner::i(m), result);
        if (any(result.bad)) a.sweep.bad_tiles[batch.first + tile] = 1;
        largest_yet = max(largest_yet, largest(result.fastest));
      },
      Kokkos::Max<double, mesh::DeviceSpace>(fastest));
}

template <int M>
void accumulate_registers(const KernelArguments& a, const Batch& batch) {
  using Planes = BatchFluxes<M>;
  constexpr int threads = SimdTraits<SimdDouble>::width > 1 ? 1 : M * M;
  // number of parts of a tile's requests: about one request per thread team
  constexpr int parts = SimdTraits<SimdDouble>::width > 1 ? 1 : 6;
  mesh::for_teams(
      "hydro::flux_registers", batch.count * parts, {.threads = threads},
      KOKKOS_LAMBDA(const mesh::Team& team) {
        const int tile = team.league_rank() / parts, part = team.league_rank() % parts;
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const FluxRegisterSums<Planes> sums(a, view, planes);
        sums.all(team, part, parts);
      });
}

template <int M>
void finish_batch(const KernelArguments& a, const Batch& batch, const Fastest& fastest) {
  with_type_of(a.gas, [&]<class G>() { update_batch<M, G>(a, batch, fastest); });
  if (a.sweep.tiles.requests.extent(0) > 0) accumulate_registers<M>(a, batch);
}

}  // namespace

double* BatchBuffer::hold(std::int64_t doubles) {
  if (static_cast<std::int64_t>(memory_.extent(0)) < doubles)
    memory_ = mesh::uninitialised<double>("batches", doubles);
  return memory_.data();
}

double* BatchBuffer::fill_state(const KernelArguments& a) {
  if (static_cast<int>(fill_state_.extent(0)) != a.variables) {
    fill_state_ = mesh::uninitialised<double>("batches", a.variables);
    double* const cell = fill_state_.data();
    mesh::for_items(
        "hydro::fill_state", 1, KOKKOS_LAMBDA(int) { write_fill_state(a, cell); });
  }
  return fill_state_.data();
}

void BatchBuffer::begin(int tiles) {
  batches_ = 0;
  if (static_cast<int>(speeds_.extent(0)) < tiles)
    speeds_ = mesh::uninitialised<double>("batches", tiles);
}

void sweep_in_batches(const SchemeOps& ops, const KernelArguments& a) {
  const int tiles = a.sweep.tiles.count();
  BatchBuffer& buffer = *a.sweep.batches;
  const std::int64_t per_tile = ops.tile_doubles[a.patch](a);
  const auto at_a_time =
      static_cast<int>(std::clamp<std::int64_t>(buffer.doubles() / per_tile, 1, tiles));
  double* const memory = buffer.hold(at_a_time * per_tile);
  double* const fill_state = buffer.fill_state(a);
  for (int first = 0; first < tiles; first += at_a_time) {
    const Batch batch{first, std::min(at_a_time, tiles - first), memory, per_tile, fill_state};
    ops.states_of_batch[a.patch](a, batch);
    ops.fluxes_of_batch[a.patch](a, batch);
    const Fastest fastest(buffer.next_speed());
    if (a.patch == 0) finish_batch<8>(a, batch, fastest);
    else finish_batch<16>(a, batch, fastest);
  }
}

}  // namespace octant::hydro
