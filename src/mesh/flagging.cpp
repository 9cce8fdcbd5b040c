#include "mesh/flagging.hpp"

#include "mesh/device.hpp"

namespace octant::mesh {

void flag_dense_cells(const Mesh& mesh, int level, const DenseCells& wanted, int buffer,
                      const DeviceArray<std::uint64_t>& masks) {
  const auto own = mesh.blocks(level).own();
  const auto slots = to_device("own blocks", std::vector<std::int32_t>(own.begin(), own.end()));
  const int N = mesh.geometry().block_size();
  Kokkos::parallel_for(
      "flag dense cells", slots.extent(0), KOKKOS_LAMBDA(std::int64_t n) {
        const std::int64_t slot = slots(n);
        const double* value = wanted.field.data + slot * wanted.field.stride;
        std::uint64_t mask = 0;
        for (int c = 0; c < N * N * N; ++c) {
          if (!(value[c] > wanted.threshold)) continue;
          if (wanted.share.data &&
              !(wanted.share.data[slot * wanted.share.stride + c] >
                wanted.least_share * wanted.whole.data[slot * wanted.whole.stride + c]))
            continue;
          mask |= octant_mask(octants_near(c % N, buffer, N / 2),
                              octants_near(c / N % N, buffer, N / 2),
                              octants_near(c / N / N, buffer, N / 2));
        }
        masks(slot) |= mask;
      });
  Kokkos::fence();
}

}  // namespace octant::mesh
