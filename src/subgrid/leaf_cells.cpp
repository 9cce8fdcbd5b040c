#include "subgrid/leaf_cells.hpp"

#include "mesh/device.hpp"

namespace octant::subgrid {

GasLevel::GasLevel(mesh::Mesh& mesh, int level, const hydro::Gas& of_run)
    : layout(mesh.layout()),
      blocks(mesh.fields(level).blocks(mesh::LevelFields::k_now)),
      cell_volume(mesh.geometry().cell_volume(level)),
      gas(of_run) {
  const auto own = mesh.blocks(level).own();
  std::vector<std::uint8_t> masks;
  for (const int slot : own) masks.push_back(mesh.blocks(level).refined(slot));
  slots = mesh::to_device("own blocks", std::vector<std::int32_t>(own.begin(), own.end()));
  refined = mesh::to_device("refined octants", masks);
}

ReproducibleSum sum_of_blocks(const mesh::DeviceArray<double>& sums, double cell_volume) {
  ReproducibleSum sum;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sums);
  for (std::size_t n = 0; n < host.extent(0); ++n) sum += cell_volume * host(n);
  return sum;
}

}  // namespace octant::subgrid
