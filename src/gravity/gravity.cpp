#include "gravity/gravity.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/log.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Rejects symmetry planes, because no solver mirrors the mass as reflecting boundaries mirror the
// gas. A domain with six reflecting boundaries only gives a warning.
void refuse_symmetry_planes(const GravityOptions& options, const mesh::Geometry& geometry) {
  if (options.beyond_walls == BeyondWalls::vacuum) return;
  int reflecting = 0, axis_of_one = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      if (geometry.boundary(axis, side) == mesh::Boundary::reflecting) {
        ++reflecting;
        axis_of_one = axis;
      }
  if (reflecting == 0) return;
  if (reflecting < 6)
    throw InputError(
        "mesh.boundary_{}: \"reflecting\" with gravity.enabled = true is not supported as a "
        "symmetry plane: the gas is mirrored there, but no gravity.solver includes image masses. "
        "Simulate the whole system in a domain with \"outflow\" boundaries, or set "
        "gravity.beyond_walls = \"vacuum\" if the boundaries are walls around the whole system",
        static_cast<char>('x' + axis_of_one));
  log::warn(
      "all boundaries of the domain are reflecting: gravity includes only the mass inside the "
      "domain, without image masses; set gravity.beyond_walls = \"vacuum\" if this is intended");
}

std::unique_ptr<PotentialSolver> make_solver(const SolverSetting& setting) {
  refuse_symmetry_planes(setting.options, setting.mesh.geometry());
  for (const auto& kind : setting.options.solvers)
    if (setting.options.solver == kind->name()) return kind->make(setting);
  throw RunError("unknown gravity solver \"{}\"", setting.options.solver);
}

}  // namespace

Gravity::Gravity(const GravityOptions& options, mesh::Mesh& mesh, const CommOptions& comm_options,
                 FourierSchedule schedule)
    : mesh_(mesh),
      periodic_(mesh.geometry().periodic(0) && mesh.geometry().periodic(1) &&
                mesh.geometry().periodic(2)),
      gas_(mesh),
      stored_(std::make_unique<StoredPotential>(mesh, comm_options)),
      pool_(mesh.working_memory()),
      levels_(std::make_unique<PatchLevels>(mesh, comm_options, pool_)),
      base_(std::make_unique<BaseGrid>(mesh, comm_options, *levels_, schedule)),
      potential_work_(std::make_unique<PotentialWork>(mesh, *stored_, *levels_)),
      solver_(make_solver({options, comm_options, mesh, *stored_, *base_, *levels_, pool_})),
      strongest_(mesh.geometry().max_level() + 1, 0.0) {
  sources_.constant = options.constant;
  sources_.density = [gas = gas_](int level) { return gas.density(level); };
}

// --- structure ---------------------------------------------------------------------------------

int Gravity::adapt_to_mesh() {
  const int finest = mesh_.finest_level();
  stored_->release_finer(finest);
  gas_.release_finer(finest);
  std::fill(strongest_.begin() + finest + 1, strongest_.end(), 0.0);
  levels_->connect();
  base_->connect();
  potential_work_->connect();
  solver_->connect();
  std::vector<std::vector<int>> fresh;
  std::vector<std::int32_t> is_changed;  // by level: on any rank
  for (int level = 0; level <= finest; ++level) {
    fresh.push_back(stored_->follow_mesh(level));
    is_changed.push_back(!fresh.back().empty());
  }
  mesh_.communicator().max_in_place(std::span(is_changed));
  for (int level = 0; level <= finest; ++level)
    if (is_changed[level]) begin_blocks(level, mesh_.cells(level, fresh[level]));
  return static_cast<int>(std::ranges::find(is_changed, 1) - is_changed.begin());
}

void Gravity::begin_blocks(int level, const CellRange& blocks) {
  stored_->inherit_times(level);
  if (level > 0 && stored_->times(level - 1).solved) return solver_->guess(level, blocks);
  for (const Field field : {Field::potential, Field::previous_potential})
    clear_blocks(blocks, stored_->field(level, field));
}

// --- solving -----------------------------------------------------------------------------------

LevelRange Gravity::solved_with(int level) const {
  return {level, solver_->solves_single_levels() ? level : mesh_.finest_level()};
}

void Gravity::measure_sources() {
  if (periodic_) sources_.mean = base_->mean(sources_.density(0).field);
  solver_->measure(sources_);
}

SolveReport Gravity::solve(LevelRange levels, double time) {
  if (levels.first == 0) measure_sources();
  // Levels are initialised here if the coarser level was solved for the first time in this call.
  for (int level = std::max(levels.first, 1); level <= levels.last; ++level)
    if (!stored_->times(level).solved) begin_blocks(level, mesh_.cells(level));
  for (int level = levels.first; level <= levels.last; ++level) {
    gas_.add_first_half_of_work(level, stored_->acceleration(level));
    stored_->begin_solution(level, time);
  }
  const SolveReport report = solver_->solve(levels, sources_);
  for (int level = levels.first; level <= levels.last; ++level) {
    stored_->end_solution(level);
  }
  measure_strongest(levels);
  return report;
}

void Gravity::measure_strongest(LevelRange levels) {
  for (int level = levels.first; level <= levels.last; ++level)
    strongest_[level] = strongest_of(mesh_.cells(level), stored_->acceleration(level));
  strongest_is_local_ = true;
}

void Gravity::resume() {
  measure_sources();
  measure_strongest({0, mesh_.finest_level()});
}

// --- gas ---------------------------------------------------------------------------------------

void Gravity::kick(int level, double dt, Half half) {
  if (half == Half::second && gas_.by_potential()) gas_.add_potential_work(level, *potential_work_);
  gas_.kick(level, dt, half, stored_->acceleration(level));
}

// --- sums --------------------------------------------------------------------------------------

PowerSpectrum Gravity::power_spectrum(const BlockField& density,
                                      const std::optional<BlockField>& means) {
  return base_->power_spectrum(density, means ? &*means : nullptr);
}

ReproducibleSum Gravity::potential_energy(const Attracting& density) const {
  ReproducibleSum energy;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    add_binding(mesh_.cells(level), density(level).field, sources_.mean,
                stored_->field(level, Field::potential), 0.5 * mesh_.geometry().cell_volume(level),
                energy);
  return energy;
}

ReproducibleSum Gravity::unresolved_energy() {
  const std::int64_t N = mesh_.geometry().block_size();
  ReproducibleSum sum;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const auto found = pool_.allocate("unresolved energy", mesh_.blocks(level).slots() * N * N * N);
    const BlockField energy{found.data(), N * N * N};
    if (!solver_->find_unresolved_energy(level, energy)) return {};
    add_sum(mesh_.cells(level).leaves(), energy, mesh_.geometry().cell_volume(level), sum);
  }
  return sum;
}

}  // namespace octant::gravity
