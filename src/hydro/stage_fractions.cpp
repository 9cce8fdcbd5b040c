#include "hydro/stage_fractions.hpp"

#include "core/kernel_work.hpp"
#include "core/teams.hpp"
#include "hydro/euler.hpp"
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
// out more than there is (fractions.hpp). After the last stage, finer levels are still to come.
struct BoundaryCells {
  static constexpr int k_most = FractionGroups::k_most_variables;

  mesh::BlockLayout layout;
  CoarseFineBoundary boundary;
  FractionGroups groups;
  const double *old, *current;
  double* next;
  bool is_first;
  double a1;               // of what was withheld
  double so_far, to_come;  // sums of w_s

  KOKKOS_FORCEINLINE_FUNCTION int half() const { return layout.block_size / 2; }
  KOKKOS_FORCEINLINE_FUNCTION int side_cells() const { return half() * half(); }

  KOKKOS_INLINE_FUNCTION void operator()(const TaskTeam& team) const {
    const CorrectedBlock block = boundary.corrections.blocks(team.league_rank());
    if (block.begin == block.end) return;
    if (!is_first) {
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
  }

  // Adds what was withheld.
  KOKKOS_INLINE_FUNCTION void give_back(const TaskTeam& team, const CorrectedBlock& block) const {
    for_cells(team, block, [&](int task, int n, std::int64_t cell) {
      for (int v = k_hydro_variables; v < layout.variables; ++v)
        if (groups.end[v] > 0) next[at(cell, v)] += a1 * *withheld(task, v, n);
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t cell, int v) const {
    return cell + static_cast<std::int64_t>(v) * layout.stride_variable;
  }
  KOKKOS_FORCEINLINE_FUNCTION double* withheld(int task, int v, int n) const {
    const std::int64_t side = boundary.corrections.tasks(task).coarse;
    const int passive = layout.variables - k_hydro_variables;
    return boundary.withheld + (side * passive + v - k_hydro_variables) * side_cells() + n;
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
};

}  // namespace

std::int64_t withheld_values(const mesh::BlockLayout& layout, std::int64_t registers) {
  const int half = layout.block_size / 2;
  return registers * (layout.variables - k_hydro_variables) * half * half;
}

void withhold_fractions(const HydroOptions& options, const mesh::BlockLayout& layout,
                        const SweepArguments& arguments, const Stage& stage,
                        const CoarseFineBoundary& boundary) {
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
                            .old = arguments.old,
                            .current = arguments.current.buffer[mesh::k_own],
                            .next = arguments.next,
                            .is_first = stage.time == 0.0,
                            .a1 = stage.new_weight,
                            .so_far = is_second_last ? (&stage)[1].new_weight
                                      : stage.last   ? 1.0
                                                     : so_far,
                            .to_come = stage.last ? k_most_to_finer : 1.0 - so_far};
  const int N = layout.block_size, passive = layout.variables - options.first_scalar();
  announce_kernel("withhold fractions", std::int64_t{count} * N * N * N,
                  {8.0 * (1 + passive), 4.0 * passive});
  Kokkos::parallel_for("withhold fractions", TaskTeams(count, team_threads()), cells);
}

void give_back_fractions(const HydroOptions& options, const mesh::BlockLayout& layout,
                         const CoarseFineBoundary& boundary, double* now) {
  const int count = boundary.corrections.count();
  if (count == 0) return;
  const BoundaryCells cells{.layout = layout,
                            .boundary = boundary,
                            .groups = options.fractions(),
                            .old = nullptr,
                            .current = nullptr,
                            .next = now,
                            .is_first = false,
                            .a1 = 1.0,
                            .so_far = 1.0,
                            .to_come = 0.0};
  const int passive = layout.variables - options.first_scalar();
  announce_kernel("give back fractions",
                  std::int64_t{boundary.corrections.tasks.extent_int(0)} * cells.side_cells(),
                  {24.0 * passive, 2.0 * passive});
  Kokkos::parallel_for(
      "give back fractions", TaskTeams(count, team_threads()), KOKKOS_LAMBDA(const TaskTeam& team) {
        cells.give_back(team, cells.boundary.corrections.blocks(team.league_rank()));
      });
}

}  // namespace octant::hydro
