#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/ranges.h>

#include "amr/amr_simulation.hpp"
#include "comm/runtime.hpp"
#include "commands/check_report.hpp"
#include "commands/command_line.hpp"
#include "commands/rehearsal.hpp"
#include "core/log.hpp"
#include "run/commands.hpp"
#include "run/memory_need.hpp"

namespace octant {

namespace {

// Limits of the CPU time of rehearsals and of the initial mesh, in seconds.
constexpr double k_rehearsal_seconds = 15.0, k_mesh_seconds = 5.0;

double product(const std::array<int, 3>& factors) {
  return 1.0 * factors[0] * factors[1] * factors[2];
}

// Number of cells of all blocks except those under finer ones.
double leaf_cells(const std::vector<double>& blocks, int block_size) {
  if (blocks.empty()) return 0.0;
  const double all = std::accumulate(blocks.begin(), blocks.end(), 0.0);
  return std::pow(block_size, 3) * (all - (all - blocks[0]) / 8.0);
}

// Formats "64, 512 and 96", or fewer numbers if finer levels are empty.
std::string list_of(std::vector<double> numbers) {
  while (numbers.size() > 1 && numbers.back() == 0.0) numbers.pop_back();
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(fmt::format("{:.0f}", number));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Describes the methods in one line.
std::string describe_physics(const AmrOptions& options) {
  std::vector<std::string> parts;
  const hydro::HydroOptions& gas = options.hydro;
  if (gas.enabled)
    parts.push_back(
        fmt::format("gas ({}, {}, {}, gamma = {:.6g}{})", gas.reconstruction,
                    name_of(gas.integrator), gas.riemann, gas.gamma,
                    gas.is_ideal() ? std::string() : fmt::format(", {}", name_of(gas.eos.kind))));
  if (options.radiation.enabled) parts.push_back("grey radiation (M1)");
  if (options.radiation.photon_groups > 0)
    parts.push_back(fmt::format("photons in {} groups", options.radiation.photon_groups));
  if (options.gravity.enabled) parts.push_back("self-gravity");
  if (options.universe) parts.push_back("cosmology");
  for (const auto& process : options.processes) parts.push_back(process->name());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_end(const AmrOptions& options) {
  if (!options.universe) return fmt::format("time {:.6g}", options.end_time());
  const double z = cosmology::redshift(options.universe->scale_factor(options.end_time()));
  return fmt::format("redshift {:.6g}", 1e-9 * std::round(1e9 * z) + 0.0);  // never -0
}

void describe_run(const AmrOptions& options, CheckReport& report) {
  report.add("run", "model \"amr\", problem \"{}\"", options.problem_name);
  report.add("physics", "{}", describe_physics(options));
  const auto& mesh = options.mesh;
  const mesh::Geometry geometry(mesh);
  report.add("mesh",
             "base grid {} x {} x {}, blocks of {}^3, levels 0 to {}; cells of {:.4g} to {:.4g}",
             mesh.base_cells[0], mesh.base_cells[1], mesh.base_cells[2], mesh.block_size,
             mesh.max_level, geometry.cell_size(0), geometry.cell_size(mesh.max_level));
  report.add_end(options.universe ? "cosmology.end" : "time.end", describe_end(options),
                 options.time.max_steps);
  for (const std::string& about :
       {options.about_dimensions(), options.about_disabled_sections(), options.about_pressures()})
    if (!about.empty()) report.note(about);
  if (options.problem)
    for (const std::string& note : options.problem->notes()) report.note(note);
  if (!options.preset_assignments.empty())
    report.note(fmt::format("subgrid.preset = \"{}\" sets {} parameters (--all shows them)",
                            name_of(options.preset), options.preset_assignments.size()));
}

// Describes the files of a run whose snapshots have `cells` cells and which starts at `begin`.
void describe_files(const AmrOptions& options, double cells, double begin, CheckReport& report) {
  const auto fields = options.output.fields.empty() ? shown_names(options.hydro.variables())
                                                    : options.output.fields;
  CheckReport::Files files{begin, options.end_time(), options.snapshot_times()};
  if (options.hydro.enabled) {
    const double variables = static_cast<double>(options.hydro.variables().size()) +
                             (options.gravity.enabled ? 1.0 : 0.0);
    files.snapshot_bytes = cells * static_cast<double>(fields.size()) *
                           (options.output.precision == Precision::float32 ? 4.0 : 8.0);
    files.checkpoint_bytes = cells * 8.0 * variables;
  }
  report.add_files(options.output, files);
  if (options.problem && !options.problem->particle_kinds().empty())
    report.note("particle files are not counted");
}

// Start time of a run that is not built. It is unknown for an expanding box, where snapshots at
// intervals are therefore not counted.
double begin_of(const AmrOptions& options) { return options.universe ? options.end_time() : 0.0; }

// Returns true if a mesh has blocks on a level.
bool reaches(const InitialMesh& mesh, std::size_t level) {
  return level < mesh.blocks.size() && mesh.blocks[level] > 0.0;
}

// Describes the method and the limits of the estimate.
void describe_rehearsals(const std::vector<Rehearsal>& rehearsals,
                         const std::optional<InitialMesh>& initial, CheckReport& report) {
  for (const Rehearsal& rehearsal : rehearsals)
    report.detail(
        "rehearsal on {} times coarser cells to time {:.4g}: {:.3g} cell updates in {:.0f} steps",
        rehearsal.coarsening, rehearsal.time, rehearsal.size.updates, rehearsal.steps);
  const Rehearsal& finest = rehearsals.back();
  if (!finest.failure.empty())
    report.note(fmt::format("the rehearsal ended early: {}", finest.failure));
  else if (!finest.whole)
    report.note(fmt::format("the rehearsal covered {:.1f} % of the run; the rest is extrapolated",
                            100.0 * finest.share));
  if (!initial)
    report.note(
        "the base grid is too large to find structure that coarser cells miss: cell updates "
        "are a lower bound");
  else if (!initial->has_all_levels && !reaches(finest.initial, initial->blocks.size()))
    report.note(
        fmt::format("the initial mesh was refined to level {} only: cell updates are a lower "
                    "bound",
                    initial->blocks.size() - 1));
}

// Describes a run without a rehearsal: its initial mesh, or less.
double describe_beginning(const Communicator& communicator, const AmrOptions& options,
                          const std::optional<InitialMesh>& initial, CheckReport& report) {
  if (!initial || initial->coarsening != 1.0) {
    const double bytes = base_grid_bytes(options) / communicator.size();
    report.answer_least_memory("the fields of the run", bytes);
    describe_files(options, product(options.mesh.base_cells), begin_of(options), report);
    return bytes;
  }
  report.add("blocks", "{} on levels 0, 1, ... of the initial mesh", list_of(initial->blocks));
  const double steps = std::ceil(std::min((options.end_time() - initial->begin) / initial->dt,
                                          static_cast<double>(options.time.max_steps)));
  const double updates = steps * initial->work;
  std::string cost;
  if (std::isfinite(updates)) {
    cost = fmt::format("about {:.2g} cell updates, ", updates);
    const double rate = initial->updates_per_second;
    report.add(
        "cost",
        "{:.3g} cell updates in {:.0f} step(s){}, if the mesh and the time step do not change",
        updates, steps, rate > 0.0 ? ", " + duration_text(updates / rate) : "");
  }
  report.add("memory", "memory of the largest rank with the initial mesh: {:.0f} MB",
             1e-6 * initial->peak_bytes);
  if (!initial->has_all_levels)
    report.note(fmt::format("the initial mesh was refined to level {} only: the run needs more",
                            initial->blocks.size() - 1));
  const double leaves =
      std::accumulate(initial->leaf_cells.begin(), initial->leaf_cells.end(), 0.0);
  report.table = memory_table(communicator, leaves);
  describe_files(options, leaves, initial->begin, report);
  report.answer = fmt::format("{}{:.0f} MB per rank, if the mesh does not change", cost,
                              1e-6 * initial->peak_bytes);
  return initial->peak_bytes;
}

// Number of blocks of the base grid.
double base_blocks(const AmrOptions& options) {
  return product(options.mesh.base_cells) / std::pow(options.mesh.block_size, 3);
}

// Adds a note if the base grid has fewer blocks than the run has ranks.
void note_idle_ranks(const AmrOptions& options, int ranks, CheckReport& report) {
  const double blocks = base_blocks(options);
  if (blocks < ranks)
    report.note(
        fmt::format("the base grid has {:.0f} block(s) for {} ranks: {:.0f} of them have no "
                    "work before the mesh is refined",
                    blocks, ranks, ranks - blocks));
}

double describe_size(const Communicator& communicator, const AmrOptions& options,
                     const std::vector<Rehearsal>& rehearsals,
                     const std::optional<InitialMesh>& initial, CheckReport& report) {
  const RunSize size = extrapolate(rehearsals, initial, base_blocks(options));
  const double seconds = size.updates / size.updates_per_second;
  report.add("blocks", "at most {} on levels 0, 1, ...", list_of(size.blocks));
  report.add("cost", "{:.3g} cell updates, {} at the rate of the rehearsal, {} rank(s)",
             size.updates, duration_text(seconds), communicator.size());
  report.add("memory", "peak memory of the largest rank: {:.0f} MB", 1e-6 * size.peak_bytes);
  describe_rehearsals(rehearsals, initial, report);
  describe_files(options, leaf_cells(size.blocks, options.mesh.block_size),
                 rehearsals.back().initial.begin, report);
  report.answer = fmt::format("about {:.2g} cell updates, {}, {:.0f} MB per rank", size.updates,
                              duration_text(seconds), 1e-6 * size.peak_bytes);
  return size.peak_bytes;
}

}  // namespace

int check_amr(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  const auto options = read_options<AmrOptions>(request, communicator);
  CheckReport report;
  describe_run(options, report);
  note_idle_ranks(options, communicator.size(), report);
  if (!why_no_kernels().empty()) {
    // Rehearsals need kernels.
    report.note(why_no_kernels() + ": no rehearsal");
    report.answer_least_memory("the fields of the base grid",
                               base_grid_bytes(options) / communicator.size());
    describe_files(options, product(options.mesh.base_cells), begin_of(options), report);
    report.print(communicator, request, options.resolved());
    return k_done;
  }
  log::start(communicator.rank(), "", log::Level::warn);  // suppresses log lines of rehearsals
  auto rehearsals = rehearse(communicator, request, k_rehearsal_seconds);
  if (!rehearsals.empty())
    report.table = memory_table(communicator,
                                leaf_cells(rehearsals.back().size.blocks, options.mesh.block_size));
  const auto initial = make_initial_mesh(communicator, request, rehearsals, k_mesh_seconds);
  if (initial && !rehearsals.empty() && miss_structure(rehearsals, *initial)) {
    report.note(
        "coarser cells miss structure in the initial state; the rehearsal uses the run's own "
        "resolution");
    const Rehearsal itself = rehearse_itself(communicator, request, k_rehearsal_seconds);
    if (itself.steps > 0.0) rehearsals = {itself};
  }
  if (rehearsals.empty())
    report.note("the base grid cannot be coarsened to rehearse the growth of the mesh");
  else if (rehearsals.back().steps == 0.0)
    report.note("the rehearsal on coarser cells failed: " + rehearsals.back().failure);
  const double bytes = rehearsals.empty() || rehearsals.back().steps == 0.0
                           ? describe_beginning(communicator, options, initial, report)
                           : describe_size(communicator, options, rehearsals, initial, report);
  report.print(communicator, request, options.resolved(), [&] {
    require_memory(communicator, bytes, "the run", "mesh.base_cells or mesh.max_level");
  });
  return k_done;
}

}  // namespace octant
