#include "commands/rehearsal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "amr/amr_simulation.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "run/memory_need.hpp"

namespace octant {

namespace {

// Maximum number of base-grid cells of a rehearsal, which keeps its memory small for any run.
constexpr double k_max_base_cells = 128.0 * 128 * 128;

bool is_small(const mesh::MeshOptions& mesh) {
  double base_cells = 1.0;
  for (const int cells : mesh.base_cells) base_cells *= cells;
  return base_cells <= k_max_base_cells;
}

// CPU time of this thread since the construction, in seconds. Other programs on the same cores
// lengthen the wall-clock time of a rehearsal, but do not change which rehearsals are run.
class ProcessorClock {
 public:
  double seconds() const { return 1e-9 * static_cast<double>(thread_cpu_ns() - start_); }

 private:
  std::int64_t start_ = thread_cpu_ns();
};

// Returns true if files of initial conditions determine the base grid.
bool has_fixed_grid(const AmrOptions& run) {
  return run.universe && run.initial.kind == cosmology::InitialKind::grafic;
}

// Factors by which a base grid can be coarsened in whole blocks, largest first. It must not be
// coarser than files of initial conditions.
std::vector<int> coarsenings(const AmrOptions& run) {
  if (has_fixed_grid(run)) return {};
  const mesh::MeshOptions& mesh = run.mesh;
  int common = 0;
  double base_cells = 1.0;
  for (const int cells : mesh.base_cells) {
    common = std::gcd(common, cells / mesh.block_size);
    base_cells *= cells;
  }
  std::vector<int> factors;
  for (int factor = common; factor > 1; --factor)
    if (common % factor == 0 && base_cells / std::pow(factor, 3) <= k_max_base_cells)
      factors.push_back(factor);
  return factors;
}

// Reads the options of a rehearsal, which writes no files.
AmrOptions rehearsal_options(const RunRequest& request,
                             const ParameterSchema::Overrides& overrides) {
  AmrOptions options = AmrOptions::from_file(request.file, overrides, *request.files);
  if (options.problem) options.problem->keep_files();
  return options;
}

AmrOptions coarse_options(const AmrOptions& run, const RunRequest& request,
                          ParameterSchema::Overrides overrides, int coarsening) {
  const auto& cells = run.mesh.base_cells;
  overrides.push_back(fmt::format("mesh.base_cells=[{}, {}, {}]", cells[0] / coarsening,
                                  cells[1] / coarsening, cells[2] / coarsening));
  if (run.time.max_steps < std::numeric_limits<int>::max())
    overrides.push_back(
        fmt::format("time.max_steps={}", (run.time.max_steps + coarsening - 1) / coarsening));
  return rehearsal_options(request, overrides);
}

// Updates the maximum size of the mesh.
void note_size(const AmrSimulation& simulation, RunSize& size) {
  const auto& blocks = simulation.totals().blocks;
  size.blocks.resize(blocks.size(), 0.0);
  for (std::size_t l = 0; l < blocks.size(); ++l)
    size.blocks[l] = std::max(size.blocks[l], static_cast<double>(blocks[l]));
  const mesh::Mesh& mesh = simulation.mesh();
  const auto bytes = mesh.communicator().max(static_cast<double>(mesh.bytes()));
  const auto count =
      static_cast<double>(std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}));
  size.bytes_per_block = std::max(size.bytes_per_block, bytes / count);
}

// Leaf cells of all blocks are updated once per step of their level.
InitialMesh measure_initial_mesh(const AmrSimulation& simulation, const AmrOptions& options,
                                 double coarsening) {
  InitialMesh mesh;
  mesh.coarsening = coarsening;
  const Totals& totals = simulation.totals();
  for (std::size_t l = 0; l < totals.blocks.size(); ++l) {
    mesh.blocks.push_back(static_cast<double>(totals.blocks[l]));
    mesh.leaf_cells.push_back(static_cast<double>(totals.leaf_cells[l]));
    mesh.work += std::ldexp(mesh.leaf_cells[l], options.time.subcycle ? static_cast<int>(l) : 0);
  }
  mesh.begin = simulation.time();
  mesh.dt = simulation.stable_dt();
  return mesh;
}

Rehearsal rehearse_once(const Communicator& communicator, AmrOptions& options, int coarsening,
                        double seconds) {
  Rehearsal rehearsal;
  rehearsal.coarsening = coarsening;
  const ProcessorClock clock;
  const Clock wall_clock;
  AmrSimulation simulation(communicator, options);
  const double end = options.end_time();
  try {
    simulation.initialise();
    simulation.measure();
    rehearsal.initial = measure_initial_mesh(simulation, options, coarsening);
    while (!rehearsal.whole && communicator.max(clock.seconds()) < seconds) {
      simulation.adapt();
      simulation.measure();
      note_size(simulation, rehearsal.size);
      simulation.step(std::min(simulation.stable_dt(), end - simulation.time()));
      rehearsal.whole = simulation.time() >= end - 1e-14 * std::abs(end) ||
                        simulation.step_count() >= options.time.max_steps;
    }
  } catch (const RunError& error) {  // thrown on every rank
    rehearsal.failure = error.what();
  }
  rehearsal.time = simulation.time();
  rehearsal.steps = static_cast<double>(simulation.step_count());
  if (!rehearsal.whole && rehearsal.steps > 0.0)
    rehearsal.share =
        std::max((rehearsal.time - rehearsal.initial.begin) / (end - rehearsal.initial.begin),
                 rehearsal.steps / static_cast<double>(options.time.max_steps));
  rehearsal.size.updates = static_cast<double>(communicator.sum(simulation.cell_updates()));
  rehearsal.size.updates_per_second =
      rehearsal.size.updates / communicator.max(wall_clock.seconds());
  rehearsal.size.peak_bytes = communicator.max(static_cast<double>(scarce_memory_use().peak));
  return rehearsal;
}

// Number of blocks, or of another quantity that grows with resolution, in a run of relative
// resolution s (1 is the run itself); `cover` is the value that fills the domain.
struct Growth {
  double s, value, cover;

  bool is_everywhere() const { return value >= 0.95 * cover; }
};

// Extrapolates to s = 1. Values grow with s^2 along surfaces and with s^3 in volumes; two of them
// determine the mixture, unless the coarser grid is filled even by a surface.
double extrapolate_growth(const Growth& coarse, const Growth& fine) {
  const double surface_only = fine.value / (fine.s * fine.s), volume_only = surface_only / fine.s;
  if (fine.is_everywhere()) return volume_only;
  if (coarse.is_everywhere()) return surface_only;
  const double volume = (surface_only - coarse.value / (coarse.s * coarse.s)) / (fine.s - coarse.s);
  return std::clamp(surface_only - volume * fine.s + volume, surface_only, volume_only);
}

// Extrapolates from a single run with an exponent between surface and volume.
double extrapolate_growth(const Growth& run) {
  return run.value / std::pow(run.s, run.is_everywhere() ? 3.0 : 2.5);
}

double total(const std::vector<double>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

// Peak memory of a run with `blocks` blocks: linear in their number, from the finest rehearsals,
// whose peaks increase.
double extrapolate_memory(const std::vector<Rehearsal>& rehearsals, double blocks) {
  const RunSize& fine = rehearsals.back().size;
  double per_block = fine.bytes_per_block;
  if (rehearsals.size() > 1) {
    const RunSize& coarse = rehearsals.end()[-2].size;
    const double more = total(fine.blocks) - total(coarse.blocks);
    if (more > 0.0) per_block = std::max(per_block, (fine.peak_bytes - coarse.peak_bytes) / more);
  }
  return fine.peak_bytes + per_block * (blocks - total(fine.blocks));
}

constexpr double k_endless = std::numeric_limits<double>::infinity();

// Value for the run itself from the two finest rehearsals; `full_cover` is the value that fills its
// domain.
double value_at_one(const std::vector<Rehearsal>& rehearsals,
                    const std::function<double(const Rehearsal&)>& value, double full_cover) {
  const auto growth = [&](const Rehearsal& rehearsal) {
    const double s = 1.0 / rehearsal.coarsening;
    return Growth{s, value(rehearsal), full_cover * s * s * s};
  };
  if (rehearsals.size() == 1) return extrapolate_growth(growth(rehearsals[0]));
  return extrapolate_growth(growth(rehearsals.end()[-2]), growth(rehearsals.end()[-1]));
}

// Work of a coarse step on the initial mesh, extrapolated from the rehearsals.
double expected_initial_work(const std::vector<Rehearsal>& rehearsals) {
  return value_at_one(
      rehearsals, [](const Rehearsal& run) { return run.initial.work; }, k_endless);
}

// Adds to the size of a run the parts of its initial mesh that the cells of the rehearsals did not
// resolve; `expected` is the extrapolated work of a coarse step on the initial mesh. Rehearsals
// that miss structure also miss its signal speeds: the ratio of the first steps of the initial mesh
// and of the finest rehearsal gives the reduction of the run's time steps.
void add_unresolved_structure(const std::vector<Rehearsal>& rehearsals, const InitialMesh& initial,
                              RunSize& size) {
  const double expected = expected_initial_work(rehearsals);
  const Rehearsal& finest = rehearsals.back();
  const double finer = std::pow(initial.coarsening, 2.5);  // between surfaces and volumes
  for (std::size_t l = 1; l < std::min(initial.blocks.size(), size.blocks.size()); ++l)
    size.blocks[l] = std::max(size.blocks[l], initial.blocks[l] * finer);
  size.updates_per_second = std::max(size.updates_per_second, initial.updates_per_second);
  const double missed = initial.work * finer - expected;
  if (missed <= 0.0) return;
  double shorter = finest.initial.dt / (initial.dt / initial.coarsening) / finest.coarsening;
  shorter = std::isfinite(shorter) ? std::max(1.0, shorter) : 1.0;
  const double steps = finest.steps * finest.coarsening / finest.share;
  size.updates *= 1.0 + (shorter - 1.0) * missed / (missed + expected);
  size.updates += missed * shorter * steps;
}

// Cell updates per second in a coarse step; 0 if such a step would take long, or fails.
double measure_rate(AmrSimulation& simulation, const InitialMesh& mesh, double end) {
  constexpr double k_max_work = 1e6;
  const double dt = std::min(mesh.dt, end - mesh.begin);
  if (mesh.work > k_max_work || !(dt > 0.0) || !std::isfinite(dt)) return 0.0;
  const Communicator& ranks = simulation.mesh().communicator();
  const Clock clock;
  try {
    simulation.step(dt);
  } catch (const RunError&) {  // thrown on every rank
    return 0.0;
  }
  return static_cast<double>(ranks.sum(simulation.cell_updates())) / ranks.max(clock.seconds());
}

// Fraction of the blocks of a level that are refined to the next one; 0 if there is none.
double refined_part(const InitialMesh& mesh, std::size_t level) {
  if (level + 1 >= mesh.blocks.size() || mesh.blocks[level] == 0.0) return 0.0;
  return mesh.blocks[level + 1] / (8.0 * mesh.blocks[level]);
}

// Returns true if another level of an initial mesh would be too large. Structure that the
// rehearsals miss is small: the refined fraction of the next level is little more than that of the
// rehearsals or of the level below.
bool is_next_level_large(const Communicator& communicator, const InitialMesh& mesh,
                         const std::vector<Rehearsal>& rehearsals) {
  constexpr double k_large_mesh = 4e6, k_bytes_per_cell = 150.0;
  const std::size_t level = mesh.blocks.size() - 1;
  double part = level > 0 ? refined_part(mesh, level - 1) : 0.0;
  for (const Rehearsal& rehearsal : rehearsals)
    part = std::max(part, refined_part(rehearsal.initial, level));
  const double all = 8.0 * mesh.leaf_cells.back();
  const double memory = communicator.min(static_cast<double>(memory_limit()));
  return all * std::min(1.0, 2.0 * part + 0.1) > k_large_mesh ||
         all * k_bytes_per_cell > memory / 2;
}

}  // namespace

Rehearsal rehearse_itself(const Communicator& communicator, const RunRequest& request,
                          double seconds) {
  AmrOptions options = rehearsal_options(request, request.overrides);
  return rehearse_once(communicator, options, 1, seconds);
}

std::vector<Rehearsal> rehearse(const Communicator& communicator, const RunRequest& request,
                                double seconds) {
  const AmrOptions run = AmrOptions::from_file(request.file, request.overrides, *request.files);
  std::vector<Rehearsal> rehearsals;
  const ProcessorClock clock;
  double last_seconds = 0.0;
  const std::vector<int> factors = coarsenings(run);
  for (const int coarsening : factors) {
    const double left = seconds - communicator.max(clock.seconds());
    if (!rehearsals.empty()) {  // steps times blocks along surfaces, a common growth
      const double growth = std::pow(rehearsals.back().coarsening / coarsening, 3);
      if (growth * last_seconds > left) break;
    }
    const ProcessorClock lap;
    try {
      AmrOptions options = coarse_options(run, request, request.overrides, coarsening);
      const Rehearsal rehearsal = rehearse_once(communicator, options, coarsening, left);
      last_seconds = communicator.max(lap.seconds());
      if (rehearsal.whole || rehearsals.empty()) rehearsals.push_back(rehearsal);
      if (!rehearsal.whole) break;
    } catch (const InputError&) {  // thrown on every rank
      // Lengths in cells, such as the radius of a blast, may exceed a domain of fewer cells, but
      // not the run's own. If that is too large for a rehearsal, the user must decide.
      if (coarsening == factors.back() && !is_small(run.mesh)) throw;
    }
  }
  if (rehearsals.empty() && !factors.empty())
    rehearsals.push_back(rehearse_itself(communicator, request, seconds));
  return rehearsals;
}

std::optional<InitialMesh> make_initial_mesh(const Communicator& communicator,
                                             const RunRequest& request,
                                             const std::vector<Rehearsal>& rehearsals,
                                             double seconds) {
  const AmrOptions run = AmrOptions::from_file(request.file, request.overrides, *request.files);
  std::vector<int> factors = coarsenings(run);
  if (is_small(run.mesh)) factors.push_back(1);
  if (factors.empty()) return std::nullopt;
  const int coarsening = factors.back();
  std::optional<InitialMesh> found;
  const ProcessorClock clock;
  for (int level = 0; level <= run.mesh.max_level; ++level) {
    if (found && found->blocks.back() == 0.0) break;  // no refinement
    const double used = communicator.max(clock.seconds());
    if (found && (is_next_level_large(communicator, *found, rehearsals) ||
                  (level > 1 && 4.0 * used > seconds))) {
      found->has_all_levels = false;
      break;
    }
    ParameterSchema::Overrides lower = request.overrides;
    lower.push_back(fmt::format("mesh.max_level={}", level));
    try {
      AmrOptions options = coarse_options(run, request, lower, coarsening);
      AmrSimulation simulation(communicator, options);
      simulation.initialise();
      simulation.measure();
      found = measure_initial_mesh(simulation, options, coarsening);
      found->updates_per_second = measure_rate(simulation, *found, options.end_time());
    } catch (const std::runtime_error&) {  // thrown on every rank
      // Parameters may be inconsistent with fewer levels, or the state may become unphysical.
      if (found) found->has_all_levels = false;
      break;
    }
  }
  if (found) found->peak_bytes = communicator.max(static_cast<double>(scarce_memory_use().peak));
  return found;
}

bool miss_structure(const std::vector<Rehearsal>& rehearsals, const InitialMesh& initial) {
  constexpr double k_much = 1.5;
  return initial.coarsening == 1.0 && initial.work > k_much * expected_initial_work(rehearsals);
}

RunSize extrapolate(const std::vector<Rehearsal>& rehearsals,
                    const std::optional<InitialMesh>& initial, double base_blocks) {
  RunSize size = rehearsals.back().size;
  // The step length is proportional to the cell size.
  const auto updates = [&](const Rehearsal& run) {
    return run.size.updates * run.coarsening / run.share;
  };
  size.updates = value_at_one(rehearsals, updates, k_endless);
  double cover = base_blocks;
  for (std::size_t l = 0; l < size.blocks.size(); ++l, cover *= 8.0) {
    const auto blocks = [&](const Rehearsal& run) { return run.size.blocks.at(l); };
    size.blocks[l] =
        l == 0 ? base_blocks : std::min(cover, value_at_one(rehearsals, blocks, cover));
  }
  if (initial) add_unresolved_structure(rehearsals, *initial, size);
  size.peak_bytes = extrapolate_memory(rehearsals, total(size.blocks));
  if (initial && initial->coarsening == 1.0)
    size.peak_bytes = std::max(size.peak_bytes, initial->peak_bytes);
  return size;
}

}  // namespace octant
