#include "hydro/withheld_inflow.hpp"

#include "hydro/dual_energy.hpp"
#include "hydro/euler.hpp"
#include "hydro/sweep_costs.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

namespace {

using mesh::CorrectedBlock;
using mesh::CorrectionTask;
using mesh::TaskTeam;

// Minimum certain mass, relative to the mass before the step, for which fractions are computed from
// certain amounts: smaller masses leave too few significant digits.
constexpr double k_min_certain_mass = 0.1;

// Maximum fraction of a cell's mass that finer levels remove in a step of the coarse level.
constexpr double k_max_to_finer = 0.5;

struct Range {
  double least, greatest;

  KOKKOS_FORCEINLINE_FUNCTION void include(double value) {
    least = min(least, value);
    greatest = max(greatest, value);
  }
};

// Coarse cells of one level beside finer cells.
//
// With the weights w_s of the stages' fluxes in the step, the `certain` amounts are
//   U(old) + sum over the stages so far of w_s times the fluxes, without inflow from finer cells.
// In all schemes this sum is a mean of the old and the new state of a stage; the weight of the new
// state is that of the next stage, or of the first flux if two stages follow. If rho (X - m) and
// rho (M - X) at a stage s do not exceed the certain amounts of both, divided by the weights of all
// later stages, these amounts stay positive to the end of the step, since no stage removes more
// than a cell contains (fractions.hpp). After the last stage, finer levels still advance, with the
// weight k_max_to_finer. The same rule holds for the gas. From the gas before the step, finer
// levels only remove what the coarse flux has already removed, so that k_max_to_finer applies only
// to the gain of a cell.
struct BoundaryCells {
  static constexpr int k_max_variables = FractionGroups::k_max_variables;

  mesh::BlockLayout layout;
  RefluxedLevel boundary;
  FractionGroups groups;
  Gas gas;
  const double *old, *current;
  double* next;
  bool is_first, is_last;  // first and last stage of the step
  bool adds_withheld;
  double a1;  // weight of the withheld amounts
  // weight of `next` in the amounts after the completed stages
  double completed_weight;
  // sum of w_s of the remaining stages; after the last stage, k_max_to_finer
  double remaining_weight;

  KOKKOS_FORCEINLINE_FUNCTION int half() const { return layout.block_size / 2; }
  KOKKOS_FORCEINLINE_FUNCTION int side_cells() const { return half() * half(); }

  KOKKOS_INLINE_FUNCTION void operator()(const TaskTeam& team) const {
    const CorrectedBlock block = boundary.corrections.blocks(team.league_rank());
    if (block.begin == block.end) return;
    if (adds_withheld) {
      add_withheld(team, block);
      team.team_barrier();
    }
    for (int first = k_hydro_variables; first < layout.swept;) {
      const int end = groups.end[first];
      if (end > first) {
        Range ranges[k_max_variables];
        for (int v = first; v < end; ++v)
          ranges[v - first] = range_in_block(team, boundary.corrections.tasks(block.begin).slot, v);
        for_cells(team, block, [&](int task, int n, std::int64_t cell) {
          withhold_group(block, ranges, first, end, task, n, cell);
        });
      }
      first = end > first ? end : first + 1;
    }
    team.team_barrier();
    for_cells(team, block,
              [&](int task, int n, std::int64_t cell) { withhold_gas(block, task, n, cell); });
  }

  // Adds the withheld amounts back to the new state.
  KOKKOS_INLINE_FUNCTION void add_withheld(const TaskTeam& team,
                                           const CorrectedBlock& block) const {
    for_cells(team, block, [&](int task, int n, std::int64_t cell) {
      for (int v = 0; v < layout.swept; ++v) {
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

  // Calls visit(task, n, cell) once for each cell: cell n of the task's side, at the offset `cell`.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_cells(const TaskTeam& team, const CorrectedBlock& block,
                                        const Visit& visit) const {
    for (int t = block.begin; t < block.end; ++t) {
      const CorrectionTask& side = boundary.corrections.tasks(t);
      mesh::in_team(team, side_cells(), [&](int n) {
        const int in_block = side.cell_in_block(n % half(), n / half(), layout.block_size);
        for (int before = block.begin; before < t; ++before)
          if (number_in(boundary.corrections.tasks(before), in_block) >= 0) return;
        visit(t, n, side.slot * layout.stride_slot + in_block);
      });
    }
  }
  // Number of a cell within a side; -1 if the cell is not on this side.
  KOKKOS_INLINE_FUNCTION int number_in(const CorrectionTask& side, int in_block) const {
    const int N = layout.block_size;
    const int index[3] = {in_block % N, in_block / N % N, in_block / (N * N)};
    const int a = index[side.axis == 0 ? 1 : 0] - side.a_begin;
    const int b = index[side.axis == 2 ? 1 : 2] - side.b_begin;
    const bool is_inside =
        index[side.axis] == side.cell && a >= 0 && a < half() && b >= 0 && b < half();
    return is_inside ? b * half() + a : -1;
  }

  // Range of a fraction in a block at the start of the step.
  KOKKOS_INLINE_FUNCTION Range range_in_block(const TaskTeam& team, int slot, int v) const {
    const double* const mass = old + slot * layout.stride_slot;
    const double* const amount = mass + static_cast<std::int64_t>(v) * layout.stride_variable;
    const int cells = layout.block_size * layout.block_size * layout.block_size;
    Kokkos::MinMaxScalar<double> range;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, cells),
        [&](int n, Kokkos::MinMaxScalar<double>& yet) {
          const double fraction = amount[n] / mass[n];
          yet.min_val = min(yet.min_val, fraction);
          yet.max_val = max(yet.max_val, fraction);
        },
        Kokkos::MinMax<double>(range));
    return {range.min_val, range.max_val};
  }

  // Amount of variable v in a cell without the inflow from finer cells, which refluxing replaces.
  KOKKOS_INLINE_FUNCTION double certain(const CorrectedBlock& block, std::int64_t cell,
                                        int in_block, int v) const {
    double sum = (1.0 - completed_weight) * old[at(cell, v)] + completed_weight * next[at(cell, v)];
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
                                             const Range (&ranges)[k_max_variables], int first,
                                             int end, int task, int n, std::int64_t cell) const {
    const CorrectionTask& side = boundary.corrections.tasks(task);
    const int in_block = static_cast<int>(cell - side.slot * layout.stride_slot);
    const double mass = next[cell], old_mass = old[cell];
    const double certain_mass = certain(block, cell, in_block, k_mass);
    const bool is_certain = certain_mass > k_min_certain_mass * old_mass;
    // difference from the certain value, and the fraction of it that is withheld
    double difference[k_max_variables], withheld_fraction[k_max_variables];
    double sum = 0.0, certain_sum = 0.0, largest = 0.0;
    for (int v = first; v < end; ++v) {
      const double value = next[at(cell, v)] / mass, before = old[at(cell, v)] / old_mass;
      const double certain_value =
          is_certain ? certain(block, cell, in_block, v) / certain_mass : before;
      Range range = ranges[v - first];
      range.include(current[at(cell, v)] / current[cell]);
      if (is_first) range.include(value);
      const double ratio = is_certain ? certain_mass / (remaining_weight * mass) : 0.0;
      const double high =
          max(range.least + ratio * max(certain_value - range.least, 0.0), certain_value);
      const double low =
          min(range.greatest - ratio * max(range.greatest - certain_value, 0.0), certain_value);
      const double excess = value > high ? value - high : value < low ? value - low : 0.0;
      difference[v - first] = value - certain_value;
      withheld_fraction[v - first] = excess == 0.0 ? 0.0 : excess / (value - certain_value);
      largest = max(largest, withheld_fraction[v - first]);
      sum += value;
      certain_sum += certain_value;
    }
    const bool is_mixture = end > first + 1 && absolute(sum - 1.0) < groups.tolerance &&
                            absolute(certain_sum - 1.0) < groups.tolerance;
    for (int v = first; v < end; ++v) {
      const double amount =
          mass * (is_mixture ? largest : withheld_fraction[v - first]) * difference[v - first];
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

  // Fraction of the change since the step began that remains in a cell's state. With the fraction
  // `limit`, the certain amounts would still be physical if all later stages removed the whole
  // state. The result is 1 if the limit is 1 or more, 0 if it is half or less, and at most the
  // limit in between.
  KOKKOS_INLINE_FUNCTION double kept_fraction(const CorrectedBlock& block, int task, int n,
                                              std::int64_t cell, int in_block) const {
    if (!has_inflow(block, in_block)) return 1.0;
    // A sweep's unphysical state is repaired separately, unless earlier withheld amounts caused it.
    if (is_unphysical(next + cell, layout.stride_variable, gas))
      return is_first || *withheld(task, k_mass, n) == 0.0 ? 1.0 : 0.0;
    State<double> rest, taken;
    double rest_of_entropy = 0.0, taken_entropy = 0.0;
    const auto find = [&](int v, double& rest_of, double& taken_of) {
      const double before = old[at(cell, v)];
      rest_of = certain(block, cell, in_block, v) - (is_last ? 0.0 : remaining_weight * before);
      taken_of = remaining_weight * (next[at(cell, v)] - before);
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
    const double share = kept_fraction(block, task, n, cell, in_block);
    for (int v = 0; v < layout.swept; ++v) {
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
                     const RefluxedLevel& boundary, bool is_repaired) {
  const int count = boundary.corrections.count();
  const auto all = stages(options.integrator);
  if (count == 0 || all.size() == 1) return;
  double flux_weight = 0.0;
  for (const Stage& s : all.first(static_cast<std::size_t>(&stage - all.data()) + 1))
    flux_weight += s.flux_weight;
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
                            .adds_withheld = stage.time != 0.0 && !is_repaired,
                            .a1 = stage.new_weight,
                            .completed_weight = is_second_last ? (&stage)[1].new_weight
                                                : stage.last   ? 1.0
                                                               : flux_weight,
                            .remaining_weight = stage.last ? k_max_to_finer : 1.0 - flux_weight};
  const int fractions = static_cast<int>(options.scalars.size());
  const double side_cells = boundary.corrections.tasks.extent_int(0) * cells.side_cells();
  const double block_cells = layout.block_size * layout.block_size * layout.block_size;
  // Each boundary cell: old, new and withheld values and the mass flux. Ranges of fractions: mass
  // and amounts in the whole block.
  const KernelCost cost{
      8.0 * side_cells / count * (4 * layout.variables + 1) +
          (fractions > 0 ? 8.0 * block_cells * (1 + fractions) : 0.0),
      side_cells / count * (3 * layout.variables + 10) + block_cells * 4.0 * fractions};
  mesh::for_tasks({"withhold inflow", cost}, count, {}, cells);
}

void give_back_inflow(const mesh::BlockLayout& layout, const RefluxedLevel& boundary,
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
                            .adds_withheld = true,
                            .a1 = 1.0,
                            .completed_weight = 1.0,
                            .remaining_weight = 0.0};
  record_kernel_work("return withheld inflow",
                     std::int64_t{boundary.corrections.tasks.extent_int(0)} * cells.side_cells(),
                     {8.0 * layout.variables, 0.0});
  mesh::for_tasks(
      "return withheld inflow", count, {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        cells.add_withheld(team, cells.boundary.corrections.blocks(team.league_rank()));
      });
}

}  // namespace octant::hydro
