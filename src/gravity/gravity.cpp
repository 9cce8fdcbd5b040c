#include "gravity/gravity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "mesh/device.hpp"
#include "pencil/fft.hpp"

namespace octant::gravity {

using mesh::LevelFields;

namespace {

// A right-hand side this much smaller than 4 pi G rho is rounding.
constexpr double k_smallest_source = 1e-11;

bool is_isolated(const mesh::Geometry& geometry) {
  const int periodic = geometry.periodic(0) + geometry.periodic(1) + geometry.periodic(2);
  if (periodic != 0 && periodic != 3)
    throw InputError(
        "gravity.enabled = true: mesh.boundary_x, _y and _z must be all periodic, or all of "
        "another kind (gravity is then that of an isolated system)");
  return periodic == 0;
}

// Throws InputError where Fourier transforms are asked for and cannot be done. On a GPU they pass
// through the host's memory and are slower than multigrid.
bool choose_fourier(const GravityOptions& options, bool isolated) {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, mesh::DeviceSpace>::accessible;
  if (isolated && options.laplacian != Laplacian::discrete)
    throw InputError(
        "gravity.laplacian = \"{}\" needs mesh.boundary_x, _y and _z to be periodic: expected "
        "\"discrete\" for an isolated system",
        name_of(options.laplacian));
  if (!options.base) return on_host && pencil::has_transforms();
  if (options.base != BaseSolver::fft) return false;
  if (!pencil::has_transforms())
    throw InputError(
        "gravity.base = \"fft\": this program was built without a library for Fourier transforms; "
        "expected \"multigrid\" or \"auto\"");
  return true;
}

}  // namespace

Gravity::Gravity(const GravityOptions& options, mesh::Mesh& mesh, const CommOptions& comm_options)
    : options_(options),
      mesh_(mesh),
      attracting_([this](int level) { return gas(level, density_); }),
      comm_options_(comm_options),
      layout_(mesh.layout().block_size, k_fields),
      density_(variable("density")),
      momentum_(variable("momentum_x")),
      energy_(variable("total_energy")),
      isolated_(is_isolated(mesh.geometry())),
      by_fourier_(choose_fourier(options, isolated_)),
      levels_(mesh.geometry().max_level() + 1),
      migration_("gravity migration", mesh.communicator(), comm_options) {
  levels_[0].statistics.by_fourier = by_fourier_;
  if (options.gradient_order == 3) throw InputError("gravity.gradient_order = 3: expected 2 or 4");
}

int Gravity::variable(const std::string& name) const {
  const auto& all = mesh_.variables();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const mesh::Variable& v) { return v.name == name; });
  OCTANT_REQUIRE(found != all.end(), "gravity: the mesh has no variable \"{}\"", name);
  return static_cast<int>(found - all.begin());
}

BlockField Gravity::stored(int level, Field field) const {
  return {levels_[level].blocks.values.data() + static_cast<int>(field) * layout_.stride_variable,
          layout_.stride_slot};
}

BlockField Gravity::gas(int level, int variable) const {
  const mesh::BlockLayout& layout = mesh_.layout();
  return {mesh_.fields(level).blocks(LevelFields::k_now) +
              static_cast<std::int64_t>(variable) * layout.stride_variable,
          layout.stride_slot};
}

VectorField Gravity::stored_acceleration(int level) const {
  return {stored(level, Field::acceleration_x), layout_.stride_variable};
}

// --- structure ---------------------------------------------------------------------------------

int Gravity::adapt_to_mesh() {
  pool_->release();
  const int finest = mesh_.finest_level();
  int first_changed = finest + 1;
  for (int level = 0; level <= finest; ++level) {
    connect(level);
    if (carry_blocks(level)) first_changed = std::min(first_changed, level);
  }
  for (int level = finest + 1; level <= mesh_.geometry().max_level(); ++level) {
    const LevelStatistics statistics = levels_[level].statistics;
    levels_[level] = {};
    levels_[level].statistics = statistics;
  }
  return first_changed;
}

void Gravity::connect(int level) {
  Level& l = levels_[level];
  l.boxes.reset();
  l.transfer.reset();
  l.solver = std::make_unique<LevelSolver>(mesh_.tree(), level, comm_options_, *pool_);
  l.transfer =
      std::make_unique<PieceTransfer>(l.solver->patches(), layout_.block_size, comm_options_);
  if (level == 0 && fourier_) fourier_->connect(l.solver->patches());
  l.boxes = std::make_unique<CoarseBoxes>(
      l.solver->patches(), level > 0 ? &levels_[level - 1].solver->patches() : nullptr,
      mesh_.geometry(), comm_options_);
}

// True if there are new blocks on any rank.
bool Gravity::carry_blocks(int level) {
  Level& l = levels_[level];
  const mesh::TreeLevel& blocks = mesh_.blocks(level);
  const StoredBlocks before = std::move(l.blocks);
  l.blocks.keys.clear();
  for (int slot = 0; slot < blocks.slots(); ++slot) l.blocks.keys.push_back(blocks.key(slot));
  l.blocks.values =
      mesh::uninitialised<double>("gravity fields", blocks.slots() * layout_.stride_slot);
  const auto is_new =
      carry_over(mesh_.communicator(), layout_.stride_slot, before, l.blocks, migration_);
  const bool any_new = std::find(is_new.begin(), is_new.end(), 1) != is_new.end();
  if (!mesh_.communicator().any(any_new)) return false;
  interpolate_new_blocks(level, is_new);
  return true;
}

// Their potentials at both times come from the coarser level's at the same times.
void Gravity::interpolate_new_blocks(int level, const std::vector<std::uint8_t>& is_new) {
  Level& l = levels_[level];
  const bool from_coarse = level > 0 && levels_[level - 1].times.solved;
  if (from_coarse && !l.times.solved) l.times = levels_[level - 1].times;
  const auto interpolated = mesh::uninitialised<double>(
      "interpolated potential", mesh_.blocks(level).slots() * layout_.stride_slot);
  std::vector<int> slots;
  for (const int slot : mesh_.blocks(level).own())
    if (is_new[slot]) slots.push_back(slot);
  const CellRange fresh = mesh_.cells(level, slots);
  for (const Field field : {Field::potential, Field::previous_potential}) {
    if (!from_coarse) {
      clear_blocks(fresh, stored(level, field));
      continue;
    }
    const double time = field == Field::potential ? l.times.now : l.times.previous;
    fill_boxes(level, potential_at(level - 1, time));
    const DeviceArray<double> phi = l.solver->make_field("phi");
    interpolate_potential(*l.solver, *l.boxes, phi.data());
    l.boxes->release();
    const BlockField everywhere{interpolated.data(), layout_.stride_slot};
    l.transfer->to_blocks(phi.data(), everywhere);
    copy_blocks(fresh, everywhere, stored(level, field));
  }
}

// --- solving -----------------------------------------------------------------------------------

// Linear in time through the present and the previous potential, at most as far beyond the present
// one as the two are apart: errors of the solutions grow with the distance.
Combination Gravity::potential_at(int level, double time) const {
  const PotentialTimes& t = levels_[level].times;
  const double apart = t.now - t.previous;
  const double weight = apart > 0.0 ? std::clamp((time - t.now) / apart, -1.0, 1.0) : 0.0;
  return {.a = 1.0 + weight,
          .x = stored(level, Field::potential),
          .b = -weight,
          .y = stored(level, Field::previous_potential)};
}

void Gravity::fill_boxes(int level, const Combination& coarse_potential) {
  DeviceArray<double> phi;
  if (level > 0) {
    Level& coarser = levels_[level - 1];
    phi = coarser.solver->make_field("coarse phi");
    if (coarser.solver->patches().any_masked()) Kokkos::deep_copy(phi, 0.0);
    coarser.transfer->to_patches(coarse_potential, phi.data());
  }
  levels_[level].boxes->fill(phi.data(), by_fourier_ ? nullptr : &far_, options_.constant);
}

double Gravity::base_cells() const {
  double cells = 1.0;
  for (const auto blocks : mesh_.geometry().extent(0))
    cells *= static_cast<double>(blocks) * layout_.block_size;
  return cells;
}

DeviceArray<double> Gravity::base_density(const Attracting& of) {
  const DeviceArray<double> density = levels_[0].solver->make_field("density");
  levels_[0].transfer->to_patches({.x = of(0)}, density.data());
  return density;
}

// What all levels' equations need to know of the whole domain.
void Gravity::measure_sources() {
  if (isolated_ && by_fourier_) return;
  const Level& base = levels_[0];
  const DeviceArray<double> density = base_density(attracting_);
  if (isolated_) far_ = Multipoles(base.solver->patches(), mesh_.geometry(), density);
  else mean_density_ = base.solver->sum(density) / base_cells();
}

// 4 pi G (rho - mean) h^2 in own patches, with the values beyond the level's end moved into it.
// `reference` becomes what residuals are measured against.
DeviceArray<double> Gravity::right_hand_side(int level, double& reference) {
  Level& l = levels_[level];
  const bool masked = l.solver->patches().any_masked();
  const DeviceArray<double> f = l.solver->make_field("f");
  if (masked) Kokkos::deep_copy(f, 0.0);
  const double h = mesh_.geometry().cell_size(level);
  const double scale = 4.0 * M_PI * options_.constant * h * h;
  l.transfer->to_patches({.a = scale, .x = attracting_(level), .c = -scale * mean_density_},
                         f.data());
  const auto blocks = static_cast<double>(
      mesh_.communicator().sum(static_cast<std::int64_t>(mesh_.blocks(level).count())));
  const double rounding = k_smallest_source * scale * mean_density_ *
                          std::sqrt(blocks * std::pow(layout_.block_size, 3));
  reference = std::max({l.solver->norm(f), rounding, std::numeric_limits<double>::min()});
  const bool by_fourier = level == 0 && by_fourier_;
  if (masked && !by_fourier) {
    fill_boxes(level, level > 0 ? potential_at(level - 1, l.times.now) : Combination{});
    move_boundary_into(*l.solver, *l.boxes, f.data());
  }
  l.solver->halo().run(f.data());
  return f;
}

SolveReport Gravity::solve(int level, double time) {
  Level& l = levels_[level];
  if (level == 0) measure_sources();
  // The coarser level may have been solved for the first time just now.
  if (level > 0 && !l.times.solved)
    interpolate_new_blocks(level, std::vector<std::uint8_t>(mesh_.blocks(level).slots(), 1));
  DeviceArray<double> phi = l.solver->make_field("phi");
  if (l.solver->patches().any_masked()) Kokkos::deep_copy(phi, 0.0);
  l.transfer->to_patches(potential_at(level, time), phi.data());

  const bool later = l.times.solved && time > l.times.now;
  if (later) {
    copy_blocks(mesh_.cells(level), stored(level, Field::potential),
                stored(level, Field::previous_potential));
    l.times.previous = l.times.now;
  }
  const bool first = !l.times.solved;
  l.times = {.now = time, .previous = first ? time : l.times.previous, .solved = true};

  double reference = 0.0;
  const DeviceArray<double> f = right_hand_side(level, reference);
  const bool by_fourier = level == 0 && by_fourier_;
  const SolveReport report =
      by_fourier ? solve_base_by_fourier(phi, f)
                 : l.solver->solve(phi, f, reference, options_.tolerance, options_.max_cycles);
  if (level == 0 && !isolated_ && !by_fourier) remove_mean(level, phi);
  if (l.kicking) add_half_of_work(mesh_.cells(level), stored_acceleration(level), work(level));
  l.transfer->to_blocks(phi.data(), stored(level, Field::potential));
  if (first) l.transfer->to_blocks(phi.data(), stored(level, Field::previous_potential));
  store_forces(level, phi);
  l.boxes->release();
  ++l.statistics.solves;
  l.statistics.cycles += report.cycles;
  l.statistics.most_cycles = std::max<std::int64_t>(l.statistics.most_cycles, report.cycles);
  l.statistics.rounds += report.rounds;
  return report;
}

BaseFourier& Gravity::fourier() {
  if (!fourier_) {
    fourier_ = std::make_unique<BaseFourier>(mesh_.geometry(), mesh_.communicator(), comm_options_);
    fourier_->connect(levels_[0].solver->patches());
  }
  return *fourier_;
}

// The residual is rounding; it is not measured.
SolveReport Gravity::solve_base_by_fourier(DeviceArray<double>& phi, const DeviceArray<double>& f) {
  solve_by_fourier(fourier(), base_green(), f, phi);
  levels_[0].solver->halo().run(phi.data());
  return {};
}

ModeFactor Gravity::base_green() {
  const pencil::Cells& cells = fourier().cells();
  if (isolated_) {
    if (!isolated_green_) isolated_green_ = std::make_unique<IsolatedGreen>(cells);
    return std::ref(*isolated_green_);
  }
  const GreenFunction green(cells, fourier().cell_size(), options_.laplacian);
  if (!transfer_) return green;
  return [this, green](const pencil::Mode& mode) {
    const double k = green.wave_number(mode);
    return k > 0.0 ? green(mode) * transfer_(k, scale_factor_) : 0.0;
  };
}

void Gravity::set_transfer(TransferFunction transfer) {
  if (!by_fourier_ || isolated_)
    throw InputError(
        "a transfer function of the potential needs gravity.base = \"fft\" and a periodic domain");
  transfer_ = std::move(transfer);
}

PowerSpectrum Gravity::power_spectrum(const Attracting& means) {
  OCTANT_REQUIRE(!isolated_, "gravity: the power spectrum needs a periodic domain");
  return measure_power_spectrum(fourier(), mesh_.communicator(), base_density(attracting_),
                                means ? base_density(means) : DeviceArray<double>{});
}

// A periodic potential is known up to a constant.
void Gravity::remove_mean(int level, const DeviceArray<double>& phi) const {
  const LevelSolver& solver = *levels_[level].solver;
  shift(phi, -solver.sum(phi) / base_cells());
}

void Gravity::store_forces(int level, const DeviceArray<double>& phi) {
  Level& l = levels_[level];
  const DeviceArray<double> g = l.solver->make_field("acceleration");
  for (int axis = 0; axis < 3; ++axis) {
    acceleration(*l.solver, level == 0 && by_fourier_ ? nullptr : l.boxes.get(), phi.data(), axis,
                 options_.gradient_order, mesh_.geometry().cell_size(level), g.data());
    l.transfer->to_blocks(
        g.data(),
        stored(level, static_cast<Field>(static_cast<int>(Field::acceleration_x) + axis)));
  }
  measure_strongest(level);
}

void Gravity::measure_strongest(int level) {
  Level& l = levels_[level];
  l.strongest =
      mesh_.communicator().max(strongest_of(mesh_.cells(level), stored_acceleration(level)));
}

void Gravity::resume() {
  measure_sources();
  for (int level = 0; level <= mesh_.finest_level(); ++level) measure_strongest(level);
}

// --- gas ---------------------------------------------------------------------------------------

GasFields Gravity::gas(int level) const {
  return {gas(level, density_),
          {gas(level, momentum_), mesh_.layout().stride_variable},
          gas(level, energy_)};
}

WorkFields Gravity::work(int level) const {
  const Level& l = levels_[level];
  const std::int64_t cells = mesh_.cells(level).cells_per_block();
  return {{{l.flow.data(), 3 * cells}, cells}, {l.owed.data(), cells}};
}

void Gravity::kick(int level, double dt, Half half) {
  Level& l = levels_[level];
  const CellRange& own = mesh_.cells(level);
  if (!work_on_flow_) return kick_blocks(own, dt, stored_acceleration(level), gas(level));
  l.kicking = half == Half::first;
  if (half == Half::second)
    return finish_work(own, dt, stored_acceleration(level), work(level), gas(level));
  const std::int64_t cells = std::int64_t{own.cells_per_block()} * mesh_.blocks(level).slots();
  if (static_cast<std::int64_t>(l.owed.extent(0)) < cells) {
    l.flow = mesh::uninitialised<double>("mass flow", 3 * cells);
    l.owed = mesh::uninitialised<double>("work", cells);
  }
  begin_work(own, dt, stored_acceleration(level), work(level), gas(level));
}

double Gravity::potential_energy(const Attracting& density) const {
  std::vector<double> terms;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const double half_volume = 0.5 * mesh_.geometry().cell_volume(level);
    for (const double sum : binding_of(mesh_.cells(level), density(level), mean_density_,
                                       stored(level, Field::potential)))
      terms.push_back(half_volume * sum);
  }
  return reproducible_sum(mesh_.communicator(), terms);
}

}  // namespace octant::gravity
