#include "gravity/resident_fourier.hpp"

#include "core/residency.hpp"

namespace octant::gravity {

namespace {

// Cell n of a field of patches, [slot][k][j][split i], and its place in the whole grid.
struct CellOfPatches {
  const std::array<std::int32_t, 3>* corners;
  int side;
  pencil::FieldView grid;

  KOKKOS_FUNCTION double& in_grid(std::int64_t n) const {
    const auto e = static_cast<int>(n % side), j = static_cast<int>(n / side % side);
    const auto k = static_cast<int>(n / (side * side) % side);
    const int half = side / 2, i = e < half ? 2 * e : 2 * (e - half) + 1;
    const std::array<std::int32_t, 3>& corner = corners[n / (std::int64_t{side} * side * side)];
    return grid.row(corner[2] + k, corner[1] + j)[corner[0] + i];
  }
};

struct ToGrid {
  CellOfPatches cell;
  const double* field;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { cell.in_grid(n) = field[n]; }
};

struct ToPatches {
  CellOfPatches cell;
  double* field;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { field[n] = cell.in_grid(n); }
};

}  // namespace

void ResidentFourier::connect(const LevelPatches& patches) {
  side_ = patches.side();
  std::vector<std::array<std::int32_t, 3>> corners(patches.own());
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates patch = morton_decode(patches.key(slot));
    for (int d = 0; d < 3; ++d) corners[slot][d] = static_cast<std::int32_t>(patch[d] * side_);
  }
  corners_ = on_device(Cargo::tables, "corners of patches", corners);
}

void ResidentFourier::solve(ModeFactors& factors, const DeviceArray<double>& f,
                            const DeviceArray<double>& phi) {
  if (factors.table.size() == 0) factors.table = fourier_.factors(factors.of);
  const CellOfPatches cell{corners_.data(), side_, fourier_.values()};
  const pencil::DeviceTasks cells(0, static_cast<std::int64_t>(corners_.size()) * cells_of(side_));
  fourier_.clear();
  Kokkos::parallel_for("gravity: patches to grid", cells, ToGrid{cell, f.data()});
  fourier_.multiply_modes(factors.table);
  Kokkos::parallel_for("gravity: grid to patches", cells, ToPatches{cell, phi.data()});
}

}  // namespace octant::gravity
