#include "hydro/stage_boundary.hpp"

#include "core/kernel_work.hpp"
#include "core/teams.hpp"
#include "hydro/euler.hpp"
#include "hydro/floors.hpp"
#include "mesh/task_teams.hpp"

namespace octant::hydro {

namespace {

using mesh::CorrectedBlock;
using mesh::CorrectionTask;
using mesh::TaskTeam;
using mesh::TaskTeams;

// A share of the cell's mass before the step. The fractions of a smaller rest have few digits.
constexpr double k_least_certain_mass = 0.1;

// Finer levels take less than this share of a cell's mass in a step of the coarse one.
constexpr double k_most_to_finer = 0.5;

struct Range {
  double least, greatest;

  KOKKOS_FORCEINLINE_FUNCTION void include(double value) {
    least = min(least, value);
    greatest = max(greatest, value);
  }
};

// The cells beside finer ones of one level.
//
// With the weights w_s of the stages' fluxes in those of the step, `certain` amounts are
//   U(old) + sum over the stages so far of w_s times the fluxes, without what flowed in from finer
//   cells.
// In all schemes this sum is a mean of the old and the new state of a stage: the weight of the new
// one is that of the next stage's, or of the first flux where two stages follow. If a stage s has
// no more of rho (X - m) and rho (M - X) than the certain amounts of both, divided by the weights
// of all stages to come, then these amounts stay positive to the step's end, since no stage lets
// out more than there is (fractions.hpp). After the last stage, finer levels are still to come. The
// gas obeys the same rule; of the gas before the step finer levels take what the coarse flux has
// already taken, so that their share counts only for what a cell has gained.
struct BoundaryCells {
  static constexpr int k_most = FractionGroups::k_most_variables;

  mesh::BlockLayout layout;
  CoarseFineBoundary boundary;
  FractionGroups groups;
  Gas gas;
  const double *old, *current;
  double* next;
  bool is_first, is_last;  // of the step's stages
  bool gives_back;
  double a1;               // of what was withheld
  double so_far, to_come;  // sums of w_s

  KOKKOS_FORCEINLINE_FUNCTION int half() const { return layout.block_size / 2; }
  KOKKOS_FORCEINLINE_FUNCTION int side_cells() const { return half() * half(); }

  KOKKOS_INLINE_FUNCTION void operator()(const TaskTeam& team) const {
    const CorrectedBlock block = boundary.corrections.blocks(team.league_rank());
    if (block.begin == block.end) return;
    if (gives_back) {
      give_back(team, block);
      team.team_barrier();
    }
    for (int first = k_hydro_variables; first < layout.variables;) {
      const int end = groups.end[first];
      if (end > first) {
        Range ranges[k_most];
        for (int v = first; v < end; ++v)
          ranges[v - first] = range_in_block(team, boundary.corrections.tasks(block.begin).slot, v);
        for_cells(team, block, [&](int task, int n, std::int64_t cell) {
          withhold_group(block, ranges, first, end, task, n, cell);
        });
      }
      first = max(end, first + 1);
    }
    team.team_barrier();
    for_cells(team, block,
              [&](int task, int n, std::int64_t cell) { withhold_gas(block, task, n, cell); });
  }

  // Adds what was withheld.
  KOKKOS_INLINE_FUNCTION void give_back(const TaskTeam& team, const CorrectedBlock& block) const {
    for_cells(team, block, [&](int task, int n, std::int64_t cell) {
      for (int v = 0; v < layout.variables; ++v) {
        const double amount = *withheld(task, v, n);
        if (amount != 0.0) next[at(cell, v)] += a1 * amount;
      }
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t cell, int v) const {
    return cell + static_cast<std::int64_t>(v) * layout.stride_variable;
  }
  KOKKOS_FORCEINLINE_FUNCTION double* withheld(int task, int v, int n) const {
    const std::int64_t side = boundary.corrections.tasks(task).coarse;
    return boundary.withheld + (side * layout.variables + v) * side_cells() + n;
  }

  // Calls visit(task, n, cell) for each cell once: cell n of that side, which begins at `cell`.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_cells(const TaskTeam& team, const CorrectedBlock& block,
                                        const Visit& visit) const {
    for (int t = block.begin; t < block.end; ++t) {
      const CorrectionTask& side = boundary.corrections.tasks(t);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, side_cells()), [&](int n) {
        const int in_block = side.cell_in_block(n % half(), n / half(), layout.block_size);
        for (int before = block.begin; before < t; ++before)
          if (number_in(boundary.corrections.tasks(before), in_block) >= 0) return;
        visit(t, n, side.slot * layout.stride_slot + in_block);
      });
    }
  }
  // The number of the cell in a side; -1: it is in another one.
  KOKKOS_INLINE_FUNCTION int number_in(const CorrectionTask& side, int in_block) const {
    const int N = layout.block_size;
    const int index[3] = {in_block % N, in_block / N % N, in_block / (N * N)};
    const int a = index[side.axis == 0 ? 1 : 0] - side.a_begin;
    const int b = index[side.axis == 2 ? 1 : 2] - side.b_begin;
    const bool is_inside =
        index[side.axis] == side.cell && a >= 0 && a < half() && b >= 0 && b < half();
    return is_inside ? b * half() + a : -1;
  }

  // The range of a fraction in a block at the start of the step.
  KOKKOS_INLINE_FUNCTION Range range_in_block(const TaskTeam& team, int slot, int v) const {
    const double* const mass = old + slot * layout.stride_slot;
    const double* const amount = mass + static_cast<std::int64_t>(v) * layout.stride_variable;
    const int cells = layout.block_size * layout.block_size * layout.block_size;
    Range range;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, cells),
        [&](int n, double& least) { least = min(least, amount[n] / mass[n]); },
        Kokkos::Min<double>(range.least));
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, cells),
        [&](int n, double& greatest) { greatest = max(greatest, amount[n] / mass[n]); },
        Kokkos::Max<double>(range.greatest));
    return range;
  }

  // The mass of a cell that refluxing does not touch, and the amount of a fraction.
  KOKKOS_INLINE_FUNCTION double certain(const CorrectedBlock& block, std::int64_t cell,
                                        int in_block, int v) const {
    double sum = (1.0 - so_far) * old[at(cell, v)] + so_far * next[at(cell, v)];
    for (int t = block.begin; t < block.end; ++t) {
      const CorrectionTask& side = boundary.corrections.tasks(t);
      const int n = number_in(side, in_block);
      if (n < 0) continue;
      const double* const flux =
          boundary.coarse_fluxes + side.coarse * std::int64_t{layout.variables} * side_cells() + n;
      const double factor = side.sign * boundary.inverse_cell_size;
      if (factor * flux[k_mass * side_cells()] > 0.0) sum -= factor * flux[v * side_cells()];
    }
    return sum;
  }

  KOKKOS_INLINE_FUNCTION void withhold_group(const CorrectedBlock& block,
                                             const Range (&ranges)[k_most], int first, int end,
                                             int task, int n, std::int64_t cell) const {
    const CorrectionTask& side = boundary.corrections.tasks(task);
    const int in_block = static_cast<int>(cell - side.slot * layout.stride_slot);
    const double mass = next[cell], old_mass = old[cell];
    const double certain_mass = certain(block, cell, in_block, k_mass);
    const bool is_certain = certain_mass > k_least_certain_mass * old_mass;
    double share[k_most], away[k_most];  // withheld of the distance to the certain value; that
    double sum = 0.0, certain_sum = 0.0, largest = 0.0;
    for (int v = first; v < end; ++v) {
      const double value = next[at(cell, v)] / mass, before = old[at(cell, v)] / old_mass;
      const double sure = is_certain ? certain(block, cell, in_block, v) / certain_mass : before;
      Range range = ranges[v - first];
      range.include(current[at(cell, v)] / current[cell]);
      if (is_first) range.include(value);
      const double ratio = is_certain ? certain_mass / (to_come * mass) : 0.0;
      const double high = max(range.least + ratio * max(sure - range.least, 0.0), sure);
      const double low = min(range.greatest - ratio * max(range.greatest - sure, 0.0), sure);
      const double beyond = value > high ? value - high : value < low ? value - low : 0.0;
      away[v - first] = value - sure;
      share[v - first] = beyond == 0.0 ? 0.0 : beyond / (value - sure);
      largest = max(largest, share[v - first]);
      sum += value;
      certain_sum += sure;
    }
    const bool is_mixture = end > first + 1 && absolute(sum - 1.0) < groups.tolerance &&
                            absolute(certain_sum - 1.0) < groups.tolerance;
    for (int v = first; v < end; ++v) {
      const double amount = mass * (is_mixture ? largest : share[v - first]) * away[v - first];
      next[at(cell, v)] -= amount;
      *withheld(task, v, n) = amount;
    }
  }

  // Returns true if the coarse fluxes so far bring mass into a cell from finer ones.
  KOKKOS_INLINE_FUNCTION bool has_inflow(const CorrectedBlock& block, int in_block) const {
    for (int t = block.begin; t < block.end; ++t) {
      const CorrectionTask& side = boundary.corrections.tasks(t);
      const int n = number_in(side, in_block);
      if (n < 0) continue;
      const double* const flux =
          boundary.coarse_fluxes + side.coarse * std::int64_t{layout.variables} * side_cells() + n;
      if (side.sign * flux[k_mass * side_cells()] > 0.0) return true;
    }
    return false;
  }

  // The share of the change since the step began that stays in a cell's state. With so much of it,
  // `limit`, the certain amounts would be just physical if all later stages took away all of the
  // state. The share is 1 if the limit is 1 or more, 0 if the limit is half or less, and at most
  // the limit between.
  KOKKOS_INLINE_FUNCTION double kept_share(const CorrectedBlock& block, int task, int n,
                                           std::int64_t cell, int in_block) const {
    if (!has_inflow(block, in_block)) return 1.0;
    // A sweep's own unphysical state is repaired; not what has become of it with what was withheld.
    if (is_unphysical(next + cell, layout.stride_variable, gas))
      return is_first || *withheld(task, k_mass, n) == 0.0 ? 1.0 : 0.0;
    State<double> rest, taken;
    double rest_of_entropy = 0.0, taken_entropy = 0.0;
    const auto find = [&](int v, double& rest_of, double& taken_of) {
      const double before = old[at(cell, v)];
      rest_of = certain(block, cell, in_block, v) - (is_last ? 0.0 : to_come * before);
      taken_of = to_come * (next[at(cell, v)] - before);
    };
    for (int v = 0; v < k_hydro_variables; ++v) find(v, rest[v], taken[v]);
    if (gas.dual_energy) find(k_entropy, rest_of_entropy, taken_entropy);
    Gas without_floors = gas;
    without_floors.density_floor = without_floors.pressure_floor = 0.0;
    const auto lasts = [&](double share) {
      State<double> u;
      for (int v = 0; v < k_hydro_variables; ++v) u[v] = rest[v] - share * taken[v];
      const double entropy = rest_of_entropy - share * taken_entropy;
      return !is_unphysical(u, physical_state(u, entropy, without_floors), entropy, without_floors);
    };
    if (lasts(1.0)) return 1.0;
    if (!lasts(0.5)) return 0.0;
    double limit = 0.5, beyond = 1.0;
    for (int bisection = 0; bisection < 20; ++bisection) {
      const double middle = 0.5 * (limit + beyond);
      (lasts(middle) ? limit : beyond) = middle;
    }
    return 2.0 - 1.0 / limit;
  }

  KOKKOS_INLINE_FUNCTION void withhold_gas(const CorrectedBlock& block, int task, int n,
                                           std::int64_t cell) const {
    const int in_block =
        static_cast<int>(cell - boundary.corrections.tasks(task).slot * layout.stride_slot);
    const double share = kept_share(block, task, n, cell, in_block);
    for (int v = 0; v < layout.variables; ++v) {
      double& value = next[at(cell, v)];
      const double before = old[at(cell, v)];
      const double kept = share == 1.0 ? value : before + share * (value - before);
      const double amount = value - kept;
      if (groups.end[v] > 0) *withheld(task, v, n) += amount;
      else *withheld(task, v, n) = amount;
      value = kept;
    }
  }
};

}  // namespace

std::int64_t withheld_values(const mesh::BlockLayout& layout, std::int64_t registers) {
  const int half = layout.block_size / 2;
  return registers * layout.variables * half * half;
}

void withhold_inflow(const HydroOptions& options, const mesh::BlockLayout& layout,
                     const SweepArguments& arguments, const Stage& stage,
                     const CoarseFineBoundary& boundary, bool is_repaired) {
  const int count = boundary.corrections.count();
  const auto all = stages(options.integrator);
  if (count == 0 || all.size() == 1) return;
  double so_far = 0.0;
  for (const Stage& s : all.first(static_cast<std::size_t>(&stage - all.data()) + 1))
    so_far += s.flux_weight;
  const bool is_second_last = !stage.last && (&stage)[1].last;
  const BoundaryCells cells{.layout = layout,
                            .boundary = boundary,
                            .groups = options.fractions(),
                            .gas = options.gas(),
                            .old = arguments.old,
                            .current = arguments.current.buffer[mesh::k_own],
                            .next = arguments.next,
                            .is_first = stage.time == 0.0,
                            .is_last = stage.last,
                            .gives_back = stage.time != 0.0 && !is_repaired,
                            .a1 = stage.new_weight,
                            .so_far = is_second_last ? (&stage)[1].new_weight
                                      : stage.last   ? 1.0
                                                     : so_far,
                            .to_come = stage.last ? k_most_to_finer : 1.0 - so_far};
  const int fractions = static_cast<int>(options.scalars.size());
  const double side_cells = boundary.corrections.tasks.extent_int(0) * cells.side_cells();
  const double block_cells = layout.block_size * layout.block_size * layout.block_size;
  // Each cell at the boundary: old, new and withheld values and the mass flux; for the ranges of
  // fractions the mass and the amounts in the whole block.
  announce_kernel(
      "withhold inflow", count,
      {8.0 * side_cells / count * (4 * layout.variables + 1) +
           (fractions > 0 ? 8.0 * block_cells * (1 + fractions) : 0.0),
       side_cells / count * (3 * layout.variables + 10) + block_cells * 4.0 * fractions});
  Kokkos::parallel_for("withhold inflow", TaskTeams(count, team_threads()), cells);
}

void give_back_inflow(const mesh::BlockLayout& layout, const CoarseFineBoundary& boundary,
                      double* next) {
  const int count = boundary.corrections.count();
  if (count == 0) return;
  const BoundaryCells cells{.layout = layout,
                            .boundary = boundary,
                            .groups = {},
                            .gas = {},
                            .old = nullptr,
                            .current = nullptr,
                            .next = next,
                            .is_first = false,
                            .is_last = true,
                            .gives_back = true,
                            .a1 = 1.0,
                            .so_far = 1.0,
                            .to_come = 0.0};
  announce_kernel("give back inflow",
                  std::int64_t{boundary.corrections.tasks.extent_int(0)} * cells.side_cells(),
                  {8.0 * layout.variables, 0.0});
  Kokkos::parallel_for(
      "give back inflow", TaskTeams(count, team_threads()), KOKKOS_LAMBDA(const TaskTeam& team) {
        cells.give_back(team, cells.boundary.corrections.blocks(team.league_rank()));
      });
}

}  // namespace octant::hydro
