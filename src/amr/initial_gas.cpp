#include "amr/initial_gas.hpp"

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "hydro/diagnostics.hpp"

namespace octant {

using mesh::LevelFields;

void set_initial_gas(StepContext& context, int level) {
  const AmrOptions& options = context.options;
  mesh::Mesh& mesh = context.mesh;
  if (!options.hydro.enabled) return;
  const auto timing = context.timers.time("initial state");
  const mesh::BlockLayout& layout = mesh.layout();
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  std::vector<double> values(layout.stride_slot, 1.0);
  const auto host = host_view(values);
  const int spin = options.hydro.spin(), N = layout.block_size;
  const double dx = mesh.geometry().cell_size(level);
  const auto with_spin = [&](int slot, int cell, problems::GasState gas) {
    auto centre = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
    const int index[3] = {cell % N, cell / N % N, cell / N / N};
    for (int d = 0; d < 3; ++d) centre[d] += (index[d] + 0.5) * dx;
    problems::add_spin(*options.problem, spin, centre, dx, gas);
    return gas;
  };
  const auto store = [&](int slot, int cell, const problems::GasState& gas) {
    problems::store_state(spin < 0 ? gas : with_spin(slot, cell, gas), options.hydro,
                          values.data() + cell, layout.stride_variable);
    if (cell + 1 < cells) return;
    const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
        mesh.fields(level).blocks(LevelFields::k_now) + slot * layout.stride_slot, values.size());
    copy_to_device(TransferKind::fields, block, host);
  };
  if (options.given_state)
    problems::give_level(mesh, level, options.hydro, options.given_state, store);
  else options.problem->initial_level(mesh, level, store);
}

InitialScales measure_scales(const StepContext& context) {
  const hydro::HydroOptions& gas = context.options.hydro;
  const mesh::Mesh& mesh = context.mesh;
  if (!gas.enabled) return {};
  double volume = 1.0;
  for (int d = 0; d < 3; ++d) volume *= mesh.geometry().upper()[d] - mesh.geometry().lower()[d];
  hydro::GasSums sums;
  for (int level = 0; level <= mesh.finest_level(); ++level)
    hydro::measure_gas(gas, mesh.layout(), mesh.fields(level).blocks(LevelFields::k_now),
                       mesh.cells(level), mesh.geometry().cell_volume(level), sums);
  reproducible_sum(mesh.communicator(), std::span<ReproducibleSum>(sums));
  const auto power_of_two = [&](const ReproducibleSum& sum) {
    const double mean = sum.to_double() / volume;
    if (!(mean > 0.0) || !std::isfinite(mean)) return 1.0;
    int exponent = 0;
    const double mantissa = std::frexp(mean, &exponent);  // in [1/2, 1)
    return std::ldexp(1.0, mantissa < std::numbers::sqrt2 / 2.0 ? exponent - 1 : exponent);
  };
  return {power_of_two(sums[hydro::k_mass_sum]), power_of_two(sums[hydro::k_total_energy_sum])};
}

void check_dimensions(const StepContext& context) {
  const hydro::HydroOptions& gas = context.options.hydro;
  const mesh::Mesh& mesh = context.mesh;
  if (!gas.enabled || gas.dimensions == 3) return;
  mesh.communicator().collective_try([&] {
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const mesh::CellRange cells = mesh.cells(level);
      const auto found = hydro::varying_cells(gas, mesh.layout(),
                                              mesh.fields(level).blocks(LevelFields::k_now), cells);
      if (found.empty()) continue;
      const mesh::Cell& cell = found.front();
      auto place = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(cell.slot)));
      for (int d = 0; d < 3; ++d)
        place[d] += (cells.coordinate(cell.index, d) + 0.5) * cells.cell_size;
      throw InputError(
          "hydro.dimensions = {}: the gas state in the cell at x = {}, y = {}, z = {} on level {} "
          "differs from that of its neighbours along {}",
          gas.dimensions, place[0], place[1], place[2], level,
          gas.dimensions == 2 ? "z" : "y or z");
    }
  });
}

}  // namespace octant
