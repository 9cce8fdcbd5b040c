#include "amr/radiation_step.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/transfer.hpp"
#include "radiation/lax_friedrichs.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// Sums of the moments over the cells of blocks, and their fastest wave of radiation pressure.
struct MomentTerms {
  enum { sums = radiation::k_moments, wave = sums, count };
  static constexpr int parts = mesh::k_sum_parts;

  mesh::BlockLayout layout;
  const double* blocks;
  radiation::RadiatingGas matter;
  double dx;
  int first;  // index of the energy among the variables

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const int stride = layout.stride_variable;
    const double* const state = blocks + layout.offset(cell);
    for (int n = 0; n < sums; ++n) terms[n] = SimdTraits<V>::load(state + (first + n) * stride);
    terms[wave] = matter.pressure_wave<V>(state, stride, terms[0], dx);
  }
};

}  // namespace

RadiationStep::RadiationStep(StepContext& context, GasSolver& gas, ProcessStep& processes)
    : context_(context),
      mesh_(context.mesh),
      options_(context.options.radiation),
      gas_(gas),
      processes_(processes),
      unsolved_(mesh::zeros<std::int64_t>("cells without solution", 1)) {}

// Photon numbers and fluxes are defined with the reduced speed of light; no other speed enters.
radiation::RadiatingGas RadiationStep::matter_of(int set, int level) const {
  const bool is_grey = options_.enabled && set == 0;
  radiation::RadiatingGas matter = options_.matter(context_.options.hydro.gas(), is_grey);
  if (!is_grey) matter.light.c = matter.light.reduced = speed_of_photons(level);
  return matter;
}

// Reduced speed of light in code units at the time of a level; it varies in an expanding box.
double RadiationStep::speed_of_photons(int level) const {
  const double reduced = options_.light().reduced;
  const auto* const universe = context_.options.universe.get();
  if (!universe) return reduced;
  const double a = universe->scale_factor(context_.clocks[level]);
  return reduced * universe->units(1.0).velocity() / universe->units(a).velocity();
}

double RadiationStep::longest_step(int level) const {
  if (!options_.is_active()) return std::numeric_limits<double>::infinity();
  const double slower = options_.light().reduced / speed_of_photons(level);
  return slower * options_.longest_step(mesh_.geometry().cell_size(level));
}

// State in which a substep stores its first stage: that before the step of the gas if there is no
// finer level, which would interpolate its ghost cells between this state and the present one.
int RadiationStep::state_between_stages(int level) const {
  const int old = mesh_.fields(level).old();
  if (level == mesh_.finest_level()) return old;
  return old == 1 ? 2 : 1;
}

void RadiationStep::advance(const LevelStep& step) {
  // Copies the moments at the beginning of the step, which the gas sweep does not write.
  const LevelFields& fields = mesh_.fields(step.level);
  mesh::copy_variables(mesh_.cells(step.level), mesh_.layout(), mesh_.layout().swept,
                       fields.blocks(fields.old()), fields.blocks(LevelFields::k_now));
  const double longest = options_.longest_substep(mesh_.geometry().cell_size(step.level)) *
                         (options_.light().reduced / speed_of_photons(step.level));
  const int substeps = std::max(1, static_cast<int>(std::ceil(step.dt / longest)));
  const int spare = state_between_stages(step.level);
  for (int n = 0; n < substeps; ++n) {
    stage(step, n, substeps, LevelFields::k_now, spare);
    if (options_.enabled) stage(step, n, substeps, spare, LevelFields::k_now);
    if (options_.photon_groups > 0)
      processes_.react(step.level, context_.clocks[step.level] + (n + 0.5) / substeps * step.dt,
                       step.dt / substeps, mesh_.fields(step.level).blocks(spare));
  }
  if (options_.interacts() && context_.options.hydro.is_barotropic())
    gas_.close_leaf_cells(step.level);
  // The exchange changes the temperature. On level 0 the next coarse step measures all signals.
  if (step.level > 0 && (options_.interacts() || options_.photon_groups > 0))
    gas_.measure_signal(step.level);
}

namespace {

// Sides of the domain through which radiation leaves. Ghost cells with copies of the inner cells
// would let radiation enter where its flux points inwards.
radiation::VacuumSides vacuum_beyond(const mesh::Geometry& geometry, int level) {
  using mesh::Boundary;
  radiation::VacuumSides vacuum;
  const auto is_open = [&](int axis, int side) {
    const Boundary boundary = geometry.boundary(axis, side);
    return boundary == Boundary::outflow || boundary == Boundary::open ||
           boundary == Boundary::diode;
  };
  for (int axis = 0; axis < 3; ++axis) {
    if (is_open(axis, 0)) vacuum.lower[axis] = 0;
    if (is_open(axis, 1))
      vacuum.upper[axis] = std::int64_t{geometry.extent(level)[axis]} * geometry.block_size();
  }
  return vacuum;
}

}  // namespace

// Stage of a substep: the first writes the state `target` from the present one, the second writes
// the present state from the target of the first. Photons have a single stage, the first.
void RadiationStep::stage(const LevelStep& step, int substep, int substeps, int source,
                          int target) {
  const int level = step.level;
  const bool is_second = source != LevelFields::k_now;
  const double share = (substep + (is_second ? 1.0 : 0.0)) / substeps;
  {
    const auto timing = context_.timers.time("ghost data", Phase::other, level);
    mesh_.set_inflow_time(level, context_.clocks[level] + share * step.dt);
    mesh_.fill_ghosts(level, source,
                      level == 0 ? 1.0 : step.begin + share * (step.end - step.begin));
  }
  const auto work = context_.counted_work("radiation", cost::cells, level);
  const double dt = step.dt / substeps;
  const LevelFields& fields = mesh_.fields(level);
  radiation::TransportStage transport{.tiles = mesh_.halo(level).tiles,
                                      .current = mesh_.pointers(level, source),
                                      .old = fields.blocks(LevelFields::k_now),
                                      .next = fields.blocks(target),
                                      .a0 = is_second ? 0.5 : 0.0,
                                      .a1 = is_second ? 0.5 : 1.0,
                                      .dt = dt,
                                      .dx = mesh_.geometry().cell_size(level),
                                      .flux_weight = 0.5 * dt,
                                      .registers = mesh_.registers(level),
                                      .first = first_of(0),
                                      .matter = matter_of(0, level),
                                      .vacuum = vacuum_beyond(mesh_.geometry(), level),
                                      .unsolved = unsolved_.data()};
  if (options_.enabled) radiation::advance(transport);
  if (is_second) return;
  for (int set = options_.enabled ? 1 : 0; set < options_.sets(); ++set) {
    transport.first = first_of(set);
    transport.matter = matter_of(set, level);
    transport.flux_weight = dt;
    radiation::advance_by_lax_friedrichs(transport);
  }
}

namespace {

// Cells in which a set of moments, beginning with variable `first`, is impossible: E < 0,
// |F| > c E but for rounding errors, or not a number.
std::vector<mesh::Cell> unphysical_cells(const mesh::Mesh& mesh, int level, int first, double c) {
  const mesh::BlockLayout& layout = mesh.layout();
  const double* const moments =
      mesh.fields(level).blocks(LevelFields::k_now) + std::int64_t{first} * layout.stride_variable;
  return mesh::find_cells(
      "unphysical radiation", mesh.cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        const double* const of = moments + layout.offset(cell);
        double square = 0.0;
        for (int n = radiation::k_flux_x; n < radiation::k_moments; ++n)
          square += of[n * layout.stride_variable] * of[n * layout.stride_variable];
        const double most = (1.0 + 1e-12) * c * of[0];
        return !(of[0] >= 0.0 && square <= most * most);
      });
}

}  // namespace

void RadiationStep::check_initial_state() const {
  const auto check = [&](int level, int set) {
    const double c = matter_of(set, level).light.c;
    const auto found = unphysical_cells(mesh_, level, first_of(set), c);
    if (found.empty()) return;
    const std::string& density =
        context_.options.hydro.separate[static_cast<std::size_t>(set * radiation::k_moments)].name;
    const auto place = mesh_.cells(level).centre(found.front());
    throw InputError(
        "problem.fields: the initial radiation in the cell at x = {}, y = {}, z = {} on level {} "
        "is impossible; expected {} >= 0, and a flux of at most the speed of light = {} times {}",
        place[0], place[1], place[2], level, density, c, density);
  };
  if (!options_.is_active()) return;
  mesh_.communicator().collective_try([&] {
    for (int level = 0; level <= mesh_.finest_level(); ++level)
      for (int set = 0; set < options_.sets(); ++set) check(level, set);
    if (options_.opacity_table) check_table();
  });
}

namespace {

// Leaf cells of a level outside the table of opacities.
std::vector<mesh::Cell> cells_outside(const mesh::Mesh& mesh, int level,
                                      const radiation::RadiatingGas& matter) {
  const mesh::BlockLayout& layout = mesh.layout();
  const double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  return mesh::find_cells(
      "cells outside the table", mesh.leaf_cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        return matter.is_outside_table(blocks + layout.offset(cell), layout.stride_variable);
      });
}

// 1 for a cell outside the table of opacities, else 0.
struct OutsideTerm {
  enum { sums = 1, count = 1 };
  static constexpr int parts = mesh::k_sum_parts;

  mesh::BlockLayout layout;
  const double* blocks;
  radiation::RadiatingGas matter;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const double* const state = blocks + layout.offset(cell);
    terms[0] = SimdTraits<V>::generate([&](int lane) {
      return matter.is_outside_table(state + lane, layout.stride_variable) ? 1.0 : 0.0;
    });
  }
};

}  // namespace

// Throws InputError if initial cells on this rank are outside the table of opacities.
void RadiationStep::check_table() const {
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const auto found = cells_outside(mesh_, level, matter_of(0, level));
    if (found.empty()) continue;
    const auto place = mesh_.leaf_cells(level).centre(found.front());
    throw InputError(
        "radiation.opacity_table: the initial gas in the cell at x = {}, y = {}, z = {} on level "
        "{} is outside the table, which has {}; use a table with larger ranges, or other initial "
        "conditions",
        place[0], place[1], place[2], level, options_.opacity_table->ranges());
  }
}

// Number of leaf cells on this rank outside the table of opacities.
std::int64_t RadiationStep::cells_outside_table() const {
  if (!options_.opacity_table) return 0;
  ReproducibleSum sum;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    mesh::add_totals("cells outside the table", mesh_.leaf_cells(level),
                     OutsideTerm{mesh_.layout(), mesh_.fields(level).blocks(LevelFields::k_now),
                                 matter_of(0, level)},
                     1.0, {&sum, 1});
  return static_cast<std::int64_t>(sum.to_double());
}

// Warns about the first cells that leave the table of opacities; `count` is the number on all
// ranks.
void RadiationStep::report_outside_table(std::int64_t count) {
  if (count == 0 || std::exchange(left_table_, true) || !mesh_.communicator().is_root()) return;
  log::warn(
      "{} cells are outside radiation.opacity_table, which has {}; their opacities are those at "
      "the limits of the table (column cells_outside_opacity_table of history.csv)",
      count, options_.opacity_table->ranges());
}

// Warns about cells without a solution; `count` is the number on all ranks.
void RadiationStep::report_unsolved(std::int64_t count) const {
  if (count == 0 || !mesh_.communicator().is_root()) return;
  log::warn(
      "radiation: the exchange of energy and momentum had no solution {} times before time {}, and "
      "took place in part: radiation accelerates gas to speeds near that of light; reduce "
      "radiation.cfl or the radiation energy",
      count, context_.time);
}

RadiationTotals RadiationStep::measure() {
  if (!options_.is_active()) return {};
  constexpr int moments = radiation::k_moments;
  std::vector<ReproducibleSum> sums(static_cast<std::size_t>(options_.sets()) * moments);
  std::vector<double> waves;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::Geometry& geometry = mesh_.geometry();
    double fastest = 0.0;
    for (int set = 0; set < options_.sets(); ++set) {
      const MomentTerms terms{mesh_.layout(), mesh_.fields(level).blocks(LevelFields::k_now),
                              matter_of(set, level), geometry.cell_size(level), first_of(set)};
      const auto [wave] = mesh::add_totals(
          "radiation totals", mesh_.leaf_cells(level), terms, geometry.cell_volume(level),
          std::span(sums).subspan(static_cast<std::size_t>(set) * moments, moments));
      fastest = std::max(fastest, wave);
    }
    waves.push_back(fastest);
  }
  std::vector<std::int64_t> counts{on_host(TransferKind::numbers, unsolved_)(0),
                                   cells_outside_table()};
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(sums), counts);
  report_unsolved(counts[0]);
  report_outside_table(counts[1]);
  fill(unsolved_, std::int64_t{0});
  mesh_.communicator().max_in_place(std::span(waves));
  gas_.set_radiation_waves(std::move(waves));
  RadiationTotals totals;
  totals.outside_table = counts[1];
  if (options_.enabled) {
    const radiation::Light light = options_.light();
    totals.energy = sums[0].to_double();
    for (int d = 0; d < 3; ++d)
      totals.momentum[d] = sums[1 + d].to_double() / (light.c * light.reduced);
  }
  for (int set = options_.sets() - options_.photon_groups; set < options_.sets(); ++set)
    totals.photons.push_back(sums[static_cast<std::size_t>(set) * moments].to_double());
  return totals;
}

}  // namespace octant
