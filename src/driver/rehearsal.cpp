#include "driver/rehearsal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/clock.hpp"
#include "core/cpu_time.hpp"
#include "core/error.hpp"
#include "driver/amr_simulation.hpp"
#include "driver/memory_need.hpp"

namespace octant::driver {

namespace {

// Base grids of more cells are not rehearsed: memory stays small however large the run is.
constexpr double k_most_base_cells = 128.0 * 128 * 128;

// Processor time of this thread since the construction, in seconds. Other programs on the same
// cores lengthen the wall time of a rehearsal, but do not change which rehearsals are run.
class ProcessorClock {
 public:
  double seconds() const { return 1e-9 * static_cast<double>(thread_cpu_ns() - start_); }

 private:
  std::int64_t start_ = thread_cpu_ns();
};

// The factors by which a base grid can be coarsened in whole blocks, largest first. It must not be
// coarser than files of initial conditions.
std::vector<int> coarsenings(const AmrOptions& run) {
  if (run.universe && run.initial.kind == cosmology::InitialKind::grafic) return {};
  const mesh::MeshOptions& mesh = run.mesh;
  int common = 0;
  double base_cells = 1.0;
  for (const int cells : mesh.base_cells) {
    common = std::gcd(common, cells / mesh.block_size);
    base_cells *= cells;
  }
  std::vector<int> factors;
  for (int factor = common; factor > 1; --factor)
    if (common % factor == 0 && base_cells / std::pow(factor, 3) <= k_most_base_cells)
      factors.push_back(factor);
  return factors;
}

AmrOptions coarse_options(const AmrOptions& run, const std::string& file,
                          ParameterSchema::Overrides overrides, int coarsening) {
  const auto& cells = run.mesh.base_cells;
  overrides.push_back(fmt::format("mesh.base_cells=[{}, {}, {}]", cells[0] / coarsening,
                                  cells[1] / coarsening, cells[2] / coarsening));
  if (run.time.max_steps < std::numeric_limits<int>::max())
    overrides.push_back(
        fmt::format("time.max_steps={}", (run.time.max_steps + coarsening - 1) / coarsening));
  return AmrOptions::from_file(file, overrides);
}

// Notes the present size of the mesh where it is larger than before.
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
    while (!rehearsal.whole && communicator.max(clock.seconds()) < seconds) {
      simulation.adapt();
      simulation.measure();
      note_size(simulation, rehearsal.size);
      simulation.step(std::min(simulation.stable_dt(), end - simulation.time()));
      rehearsal.whole = simulation.time() >= end - 1e-14 * std::abs(end) ||
                        simulation.step_count() >= options.time.max_steps;
    }
  } catch (const RunError& error) {  // on every rank
    rehearsal.failure = error.what();
  }
  rehearsal.time = simulation.time();
  rehearsal.size.updates = static_cast<double>(communicator.sum(simulation.cell_updates()));
  rehearsal.size.updates_per_second =
      rehearsal.size.updates / communicator.max(wall_clock.seconds());
  rehearsal.size.peak_bytes = communicator.max(static_cast<double>(scarce_memory_use().peak));
  return rehearsal;
}

// A number of blocks, or of anything else that grows with resolution, in one run: of resolution s
// (1 is the run itself), where `cover` would fill the domain.
struct Growth {
  double s, value, cover;

  bool is_everywhere() const { return value >= 0.95 * cover; }
};

// The value at s = 1. Values grow with s^2 along surfaces and with s^3 in volumes; two of them tell
// the mixture, unless the coarser one is of a grid on which even a surface was everywhere.
double extrapolate_growth(const Growth& coarse, const Growth& fine) {
  const double surface_only = fine.value / (fine.s * fine.s), volume_only = surface_only / fine.s;
  if (fine.is_everywhere()) return volume_only;
  if (coarse.is_everywhere()) return surface_only;
  const double volume = (surface_only - coarse.value / (coarse.s * coarse.s)) / (fine.s - coarse.s);
  return std::clamp(surface_only - volume * fine.s + volume, surface_only, volume_only);
}

// The same from a single run: between surface and volume.
double extrapolate_growth(const Growth& run) {
  return run.value / std::pow(run.s, run.is_everywhere() ? 3.0 : 2.5);
}

double total(const std::vector<double>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

// The peak memory of a run of so many blocks: it grows with them, as between the finest rehearsals,
// which come to ever higher peaks.
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

}  // namespace

std::vector<Rehearsal> rehearse(const Communicator& communicator, const std::string& file,
                                const ParameterSchema::Overrides& overrides, double seconds) {
  const AmrOptions run = AmrOptions::from_file(file, overrides);
  std::vector<Rehearsal> rehearsals;
  const ProcessorClock clock;
  double last_seconds = 0.0;
  for (const int coarsening : coarsenings(run)) {
    const double left = seconds - communicator.max(clock.seconds());
    if (!rehearsals.empty()) {  // steps times blocks along surfaces: a growth that is often met
      const double growth = std::pow(rehearsals.back().coarsening / coarsening, 3);
      if (growth * last_seconds > left) break;
    }
    const ProcessorClock lap;
    AmrOptions options = coarse_options(run, file, overrides, coarsening);
    const Rehearsal rehearsal = rehearse_once(communicator, options, coarsening, left);
    last_seconds = communicator.max(lap.seconds());
    if (rehearsal.whole || rehearsals.empty()) rehearsals.push_back(rehearsal);
    if (!rehearsal.whole) break;
  }
  return rehearsals;
}

RunSize extrapolate(const std::vector<Rehearsal>& rehearsals, double base_blocks) {
  const auto at_one = [&](auto value, double full_cover) {
    const auto growth = [&](const Rehearsal& rehearsal) {
      const double s = 1.0 / rehearsal.coarsening;
      return Growth{s, value(rehearsal), full_cover * s * s * s};
    };
    if (rehearsals.size() == 1) return extrapolate_growth(growth(rehearsals[0]));
    return extrapolate_growth(growth(rehearsals.end()[-2]), growth(rehearsals.end()[-1]));
  };
  RunSize size = rehearsals.back().size;
  const auto updates = [](const Rehearsal& run) { return run.size.updates * run.coarsening; };
  size.updates = at_one(updates, std::numeric_limits<double>::infinity());
  double cover = base_blocks;
  for (std::size_t l = 0; l < size.blocks.size(); ++l, cover *= 8.0) {
    const auto blocks = [&](const Rehearsal& run) { return run.size.blocks.at(l); };
    size.blocks[l] = l == 0 ? base_blocks : std::min(cover, at_one(blocks, cover));
  }
  size.peak_bytes = extrapolate_memory(rehearsals, total(size.blocks));
  return size;
}

}  // namespace octant::driver
