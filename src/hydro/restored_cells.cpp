#include "hydro/restored_cells.hpp"

#include <algorithm>

#include "hydro/dual_energy.hpp"
#include "hydro/euler.hpp"
#include "hydro/sweep_costs.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

using mesh::TaskTeam;

namespace {

// Maximum ratio of the pressure from the energy to that from the entropy; above it, the energy is
// reset from the entropy.
constexpr double k_max_heating = 2.0;

// Blocks of a level, and those that corrections have changed.
struct CorrectedBlocks {
  mesh::BlockLayout layout;
  mesh::Corrections corrected;
  const double* old;
  double* now;
  Gas gas;
  bool overwrite;  // DualEnergy::overwrite
  double cell_size;
  int spin;  // index of the first of spin_variables(), or -1

  KOKKOS_INLINE_FUNCTION int side_cells() const {
    return layout.block_size * layout.block_size / 4;
  }

  // Offset of cell n of a side.
  KOKKOS_INLINE_FUNCTION std::int64_t offset(const mesh::CorrectionTask& side, int n) const {
    const int half = layout.block_size / 2;
    return side.slot * layout.stride_slot +
           side.cell_in_block(n % half, n / half, layout.block_size);
  }

  KOKKOS_INLINE_FUNCTION int count_unphysical(const TaskTeam& team) const {
    int broken = 0;
    const mesh::CorrectedBlock block = corrected.blocks(team.league_rank());
    for (int t = block.begin; t < block.end; ++t) {
      int in_side = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, side_cells()),
          [&](int n, int& count) {
            double* const cell = now + offset(corrected.tasks(t), n);
            if (overwrite) reset_energy(cell);
            count += is_unphysical(cell, layout.stride_variable, gas);
          },
          in_side);
      broken += in_side;
    }
    return broken;
  }

  // Resets the energy from the entropy in cold gas. Fluxes of the finer level and those that they
  // replace differ by truncation errors, also of the kinetic energy, which appear as (possibly
  // negative) internal energy. Shock heating is already in the coarse level's own sweep.
  KOKKOS_INLINE_FUNCTION void reset_energy(double* cell) const {
    const State<double> u = load_state<double>(cell, layout.stride_variable);
    const double entropy = cell[k_entropy * layout.stride_variable];
    if (!(u[k_mass] >= gas.density_floor) || !(entropy > 0.0)) return;
    const double pressure = pressure_of_energy(u, gas);
    const double expected = entropy * power(u[k_mass], gas.gamma - 1.0);
    if (!(pressure > 0.0) || pressure > k_max_heating * expected)
      cell[k_energy * layout.stride_variable] = energy_at(u, expected, gas);
  }

  // Serial over cells: a cell may have several corrected sides, and the sum needs a fixed order.
  KOKKOS_INLINE_FUNCTION RestoredCells restore(int number) const {
    RestoredCells change;
    const mesh::CorrectedBlock block = corrected.blocks(number);
    for (int t = block.begin; t < block.end; ++t) {
      change.slot = corrected.tasks(t).slot;
      for (int n = 0; n < side_cells(); ++n) {
        const std::int64_t at = offset(corrected.tasks(t), n);
        if (is_unphysical(now + at, layout.stride_variable, gas))
          restore_cell(old + at, now + at, static_cast<int>(at % layout.stride_slot), change);
      }
    }
    return change;
  }

  // Restores cell `index` of a block and adds the amounts that it gains.
  KOKKOS_INLINE_FUNCTION void restore_cell(const double* before, double* cell, int index,
                                           RestoredCells& change) const {
    const int stride = layout.stride_variable, N = layout.block_size;
    const auto spin_along = [&](int d) {
      return spin < 0 ? 0.0 : cell[std::int64_t{spin + d} * stride];
    };
    const State<double> broken = load_state<double>(cell, stride);
    const double old_spin[3] = {spin_along(0), spin_along(1), spin_along(2)};
    set_physical(before, cell);
    const State<double> restored = load_state<double>(cell, stride);
    const auto gain = [&](int n) { return restored[n] - broken[n]; };
    change.cells += gain(k_mass) != 0.0 || gain(k_energy) != 0.0;
    change.mass += gain(k_mass);
    change.energy += gain(k_energy);
    const double x[3] = {(index % N + 0.5) * cell_size, (index / N % N + 0.5) * cell_size,
                         (index / (N * N) + 0.5) * cell_size};
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      change.momentum[d] += gain(k_momentum_x + d);
      change.angular_momentum[d] += x[e] * gain(k_momentum_x + f) - x[f] * gain(k_momentum_x + e) +
                                    (spin_along(d) - old_spin[d]);
    }
  }

  // Restores all or part of the state of a cell.
  KOKKOS_INLINE_FUNCTION void set_physical(const double* before, double* cell) const {
    const int stride = layout.stride_variable;
    const double ratio = cell[k_mass] / before[k_mass];
    const State<double> u = load_state<double>(cell, stride);
    if (!(u[k_mass] >= gas.density_floor) || !(u[k_energy] > 0.0)) {
      for (int v = 0; v < layout.swept; ++v)
        cell[std::int64_t{v} * stride] = before[std::int64_t{v} * stride];
      return;
    }
    double pressure = pressure_of_energy(u, gas);
    if (follows_entropy(u, gas)) {
      cell[k_entropy * stride] =
          max(ratio * before[k_entropy * stride], entropy_at(u[k_mass], gas.pressure_floor, gas));
      return;
    }
    if (!(pressure >= gas.pressure_floor)) {
      pressure = max(ratio * pressure_of_energy(load_state<double>(before, stride), gas),
                     gas.pressure_floor);
      cell[k_energy * stride] = energy_at(u, pressure, gas);
    }
    if (gas.dual_energy) cell[k_entropy * stride] = entropy_at(u[k_mass], pressure, gas);
  }
};

}  // namespace

std::vector<RestoredCells> restore_refluxed_cells(const HydroOptions& options,
                                                  const mesh::BlockLayout& layout,
                                                  const mesh::Corrections& corrected,
                                                  double cell_size, const double* old,
                                                  double* now) {
  const int count = corrected.count();
  if (count == 0) return {};
  const CorrectedBlocks blocks{.layout = layout,
                               .corrected = corrected,
                               .old = old,
                               .now = now,
                               .gas = options.gas(),
                               .overwrite = options.dual_energy == DualEnergy::overwrite,
                               .cell_size = cell_size,
                               .spin = options.spin()};
  const auto restored = mesh::uninitialised<RestoredCells>("restored cells", count);
  record_kernel_work("restore unphysical cells",
                     std::int64_t{corrected.tasks.extent_int(0)} * blocks.side_cells(),
                     cost_of_validation(blocks.gas));
  mesh::for_tasks(
      "restore unphysical cells", count, {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const int number = team.league_rank();
        const bool is_invalid = blocks.count_unphysical(team) > 0;
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          restored(number) = is_invalid ? blocks.restore(number) : RestoredCells{};
        });
      });
  std::vector<RestoredCells> change = to_vector(TransferKind::numbers, restored);
  const bool is_restored =
      std::any_of(change.begin(), change.end(), [](const auto& block) { return block.cells > 0; });
  return is_restored ? change : std::vector<RestoredCells>{};
}

}  // namespace octant::hydro
