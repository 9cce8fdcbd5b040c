#include "hydro/diagnostics.hpp"

#include "hydro/euler.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

namespace {

// Sums of one block in packs: lane by lane first, then over the lanes in one fixed order.
template <class V>
struct Accumulator {
  V mass{0.0}, momentum[3]{V(0.0), V(0.0), V(0.0)}, total{0.0}, kinetic{0.0}, speed_sum{0.0};
  V fastest{0.0};
  bool broken = false;

  KOKKOS_FORCEINLINE_FUNCTION void add(const double* cell, int stride, const Gas& gas, bool leaf) {
    const State<V> u = load_state<V>(cell, stride);
    V inverse;
    State<V> w = unfloored_primitive(u, gas, inverse);
    const V kinetic_energy = V(0.5) * momentum_dot_velocity(u, w);
    broken = broken || any(!(u[k_mass] > V(0.0))) || any(!(u[k_energy] > V(0.0)));
    if (gas.dual_energy) {
      const V entropy = PackTraits<V>::load(cell + k_entropy * stride);
      w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], entropy, gas);
    }
    w[k_pressure] = max(w[k_pressure], V(gas.pressure_floor));
    fastest = max(fastest, signal_speed(w, gas));
    if (!leaf) return;
    mass = mass + u[k_mass];
    total = total + u[k_energy];
    kinetic = kinetic + kinetic_energy;
    for (int d = 0; d < 3; ++d) momentum[d] = momentum[d] + u[k_momentum_x + d];
    speed_sum = speed_sum +
                square_root(u[k_momentum_x] * u[k_momentum_x] + u[k_momentum_y] * u[k_momentum_y] +
                            u[k_momentum_z] * u[k_momentum_z]);
  }

  KOKKOS_FORCEINLINE_FUNCTION static double sum(const V& v) {
    double lanes[PackTraits<V>::width];
    PackTraits<V>::store(lanes, v);
    double total = 0.0;
    for (const double lane : lanes) total += lane;
    return total;
  }

  KOKKOS_FORCEINLINE_FUNCTION void finish(BlockTotals& t) const {
    t.mass = sum(mass);
    t.total_energy = sum(total);
    t.kinetic_energy = sum(kinetic);
    t.absolute_momentum = sum(speed_sum);
    for (int d = 0; d < 3; ++d) t.momentum[d] = sum(momentum[d]);
    t.fastest = largest(fastest);
  }
};

template <class V>
KOKKOS_INLINE_FUNCTION void measure_block(const double* block, int block_size, int stride,
                                          unsigned refined, const Gas& gas, BlockTotals& totals) {
  const int half = block_size / 2;
  Accumulator<V> sums;
  for (int k = 0; k < block_size; ++k)
    for (int j = 0; j < block_size; ++j)
      for (int side = 0; side < 2; ++side) {
        const int octant = side + 2 * (j >= half) + 4 * (k >= half);
        const bool leaf = !(refined >> octant & 1);
        const double* row = block + (k * block_size + j) * block_size + side * half;
        for (int i = 0; i < half; i += PackTraits<V>::width) sums.add(row + i, stride, gas, leaf);
        totals.leaf_cells += leaf ? half : 0;
      }
  sums.finish(totals);
  if (!sums.broken) return;
  for (int c = 0; c < block_size * block_size * block_size && totals.broken_cell < 0; ++c)
    if (!(block[c] > 0.0) || !(block[c + k_energy * stride] > 0.0)) totals.broken_cell = c;
}

}  // namespace

std::vector<BlockTotals> measure_blocks(const HydroOptions& options,
                                        const mesh::BlockLayout& layout, const double* blocks,
                                        std::span<const int> slots,
                                        const std::vector<std::uint8_t>& refined) {
  const auto slot = mesh::to_device("slots", std::vector<int>(slots.begin(), slots.end()));
  const auto mask = mesh::to_device("refined octants", refined);
  const auto totals = mesh::DeviceArray<BlockTotals>("block totals", slots.size());
  const Gas gas = options.gas();
  const bool wide = layout.block_size / 2 >= PackTraits<Pack>::width;
  Kokkos::parallel_for(
      "measure blocks", static_cast<int>(slots.size()), KOKKOS_LAMBDA(int n) {
        const double* block = blocks + slot(n) * layout.stride_slot;
        if (wide)
          measure_block<Pack>(block, layout.block_size, layout.stride_variable, mask(n), gas,
                              totals(n));
        else
          measure_block<double>(block, layout.block_size, layout.stride_variable, mask(n), gas,
                                totals(n));
      });
  std::vector<BlockTotals> host(slots.size());
  Kokkos::View<BlockTotals*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> view(host.data(),
                                                                              host.size());
  Kokkos::deep_copy(view, totals);
  return host;
}

}  // namespace octant::hydro
