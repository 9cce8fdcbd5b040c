#include "hydro/restore.hpp"

#include "core/teams.hpp"
#include "hydro/floors.hpp"
#include "hydro/sweep_costs.hpp"
#include "mesh/device.hpp"
#include "mesh/task_teams.hpp"

namespace octant::hydro {

namespace {

using mesh::TaskTeam;
using mesh::TaskTeams;

// By so many times its pressure gas is heated only where its entropy tells of it, too.
constexpr double k_most_heating = 2.0;

// The blocks of a level, and those of them that corrections have changed.
struct CorrectedBlocks {
  mesh::BlockLayout layout;
  mesh::Corrections corrected;
  const double* old;
  double* now;
  Gas gas;
  bool overwrite;  // DualEnergy::overwrite

  KOKKOS_INLINE_FUNCTION int side_cells() const {
    return layout.block_size * layout.block_size / 4;
  }

  // Where the n-th cell of a side begins.
  KOKKOS_INLINE_FUNCTION std::int64_t offset(const mesh::CorrectionTask& side, int n) const {
    const int half = layout.block_size / 2;
    return side.slot * layout.stride_slot +
           side.cell_in_block(n % half, n / half, layout.block_size);
  }

  KOKKOS_INLINE_FUNCTION int count_broken(const TaskTeam& team) const {
    int broken = 0;
    const mesh::CorrectedBlock block = corrected.blocks(team.league_rank());
    for (int t = block.begin; t < block.end; ++t) {
      int in_side = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, side_cells()),
          [&](int n, int& count) {
            double* const cell = now + offset(corrected.tasks(t), n);
            if (overwrite) settle_energy(cell);
            count += is_unphysical(cell, layout.stride_variable, gas);
          },
          in_side);
      broken += in_side;
    }
    return broken;
  }

  // Fluxes of the finer level and those that they replace differ by truncation errors, also of the
  // kinetic energy, which come out as heat, or as less than none. Gas that is cold by its entropy
  // does not believe them: what shocks have heated, the coarse level's own sweep has seen.
  KOKKOS_INLINE_FUNCTION void settle_energy(double* cell) const {
    const State<double> u = load_state<double>(cell, layout.stride_variable);
    const double entropy = cell[k_entropy * layout.stride_variable];
    if (!(u[k_mass] >= gas.density_floor) || !(entropy > 0.0)) return;
    const double pressure = pressure_of_energy(u, gas);
    const double expected = entropy * power(u[k_mass], gas.gamma - 1.0);
    if (!(pressure > 0.0) || pressure > k_most_heating * expected)
      cell[k_energy * layout.stride_variable] = energy_at(u, expected, gas);
  }

  // One cell after the other: a cell may have several corrected sides, and the sum has an order.
  KOKKOS_INLINE_FUNCTION RestoredCells restore(int number) const {
    RestoredCells gained;
    const mesh::CorrectedBlock block = corrected.blocks(number);
    for (int t = block.begin; t < block.end; ++t)
      for (int n = 0; n < side_cells(); ++n) {
        double* const cell = now + offset(corrected.tasks(t), n);
        if (!is_unphysical(cell, layout.stride_variable, gas)) continue;
        const double* const before = old + offset(corrected.tasks(t), n);
        const State<double> broken = load_state<double>(cell, layout.stride_variable);
        mend(before, cell);
        const State<double> mended = load_state<double>(cell, layout.stride_variable);
        const double mass = mended[k_mass] - broken[k_mass];
        const double energy = mended[k_energy] - broken[k_energy];
        gained.cells += mass != 0.0 || energy != 0.0;
        gained.mass += mass;
        gained.energy += energy;
      }
    return gained;
  }

  KOKKOS_INLINE_FUNCTION void mend(const double* before, double* cell) const {
    const int stride = layout.stride_variable;
    const double ratio = cell[k_mass] / before[k_mass];
    const State<double> u = load_state<double>(cell, stride);
    if (!(u[k_mass] >= gas.density_floor) || !(u[k_energy] > 0.0)) {
      for (int v = 0; v < layout.variables; ++v)
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

std::vector<RestoredCells> restore_broken_cells(const HydroOptions& options,
                                                const mesh::BlockLayout& layout,
                                                const mesh::Corrections& corrected,
                                                const double* old, double* now) {
  const int count = corrected.count();
  if (count == 0) return {};
  const CorrectedBlocks blocks{layout, corrected,     old,
                               now,    options.gas(), options.dual_energy == DualEnergy::overwrite};
  const auto restored = mesh::uninitialised<RestoredCells>("restored cells", count);
  announce_kernel("restore broken cells",
                  std::int64_t{corrected.tasks.extent_int(0)} * blocks.side_cells(),
                  cost_of_judging(blocks.gas));
  int broken_blocks = 0;
  Kokkos::parallel_reduce(
      "restore broken cells", TaskTeams(count, team_threads()),
      KOKKOS_LAMBDA(const TaskTeam& team, int& broken) {
        const int number = team.league_rank();
        const bool is_broken = blocks.count_broken(team) > 0;
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          restored(number) = is_broken ? blocks.restore(number) : RestoredCells{};
          broken += restored(number).cells > 0;
        });
      },
      broken_blocks);
  if (broken_blocks == 0) return {};
  return to_vector(Cargo::numbers, restored);
}

}  // namespace octant::hydro
