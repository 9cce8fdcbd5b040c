#include "hydro/restore.hpp"

#include "hydro/euler.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

namespace {

template <class V>
KOKKOS_FORCEINLINE_FUNCTION bool any_broken(const double* cell, int stride, const Gas& gas) {
  const State<V> u = load_state<V>(cell, stride);
  const State<V> w = physical_state(u, cell + k_entropy * stride, gas);
  return any(!(u[k_mass] >= V(gas.density_floor))) ||
         any(!(w[k_pressure] >= V(gas.pressure_floor)));
}

}  // namespace

std::vector<RestoredCells> restore_broken_cells(const HydroOptions& options,
                                                const mesh::BlockLayout& layout,
                                                std::span<const int> slots, const double* old,
                                                double* now) {
  const auto count = static_cast<int>(slots.size());
  const auto slot = mesh::to_device("slots", std::vector<int>(slots.begin(), slots.end()));
  const mesh::DeviceArray<RestoredCells> restored("restored cells", count);
  const Gas gas = options.gas();
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  const int width = cells % PackTraits<Pack>::width == 0 ? PackTraits<Pack>::width : 1;
  int broken_blocks = 0;
  Kokkos::parallel_reduce(
      "restore broken cells", count,
      KOKKOS_LAMBDA(int n, int& broken) {
        const std::int64_t block = slot(n) * layout.stride_slot;
        const std::int64_t stride = layout.stride_variable;
        RestoredCells gained;
        for (int c = 0; c < cells; c += width) {
          double* first = now + block + c;
          if (width > 1 ? !any_broken<Pack>(first, layout.stride_variable, gas)
                        : !any_broken<double>(first, layout.stride_variable, gas))
            continue;
          for (int lane = 0; lane < width; ++lane) {
            double* cell = first + lane;
            if (!any_broken<double>(cell, layout.stride_variable, gas)) continue;
            const double* before = old + block + c + lane;
            ++gained.cells;
            gained.mass += before[k_mass * stride] - cell[k_mass * stride];
            gained.energy += before[k_energy * stride] - cell[k_energy * stride];
            for (int v = 0; v < layout.variables; ++v) cell[v * stride] = before[v * stride];
          }
        }
        restored(n) = gained;
        broken += gained.cells > 0;
      },
      broken_blocks);
  if (broken_blocks == 0) return {};
  std::vector<RestoredCells> host(slots.size());
  Kokkos::View<RestoredCells*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> view(host.data(),
                                                                                host.size());
  Kokkos::deep_copy(view, restored);
  return host;
}

}  // namespace octant::hydro
