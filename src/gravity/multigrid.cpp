// Potential of each level by multigrid, or optionally by Fourier transforms on the base level.
//
// Levels are solved separately. The right-hand side is the density of the level (in refined regions
// the mean of finer cells), and boundary values are interpolated from the coarser level, whose
// potential is extrapolated to the time of the level.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "comm/clocks.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gravity/base_grid.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/interpolated.hpp"
#include "gravity/level_solver.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/stored_potential.hpp"
#include "mesh/device.hpp"
#include "pencil/fft.hpp"

namespace octant::gravity {

class Multigrid final : public PotentialSolver {
 public:
  static constexpr const char* name = "multigrid";

  // No parameters besides GravityOptions.
  struct Parameters {
    void declare(ParameterSchema& /*schema*/) {}
  };

  Multigrid(const Parameters& parameters, const SolverSetting& setting);

  bool solves_single_levels() const override { return true; }
  void connect() override;
  void measure(const Sources& sources) override;
  SolveReport solve(LevelRange levels, const Sources& sources) override;
  bool find_unresolved_energy(int level, const BlockField& energy) override;
  void guess(int level, const CellRange& blocks) override;
  void set_transfer(TransferFunction transfer) override;
  void take_block_cycles(int level, std::span<std::uint64_t> by_slot) override;
  std::string report(int level) const override;

 private:
  struct Level {
    PatchLevel* patches = nullptr;
    // Solver of the level; null if the level is solved by Fourier transforms.
    std::unique_ptr<LevelSolver> solver;
    CoarseBoxes* boxes = nullptr;
    bool has_far_field_values = false;
  };
  struct Statistics {
    std::int64_t solves = 0, cycles = 0, most_cycles = 0;
    int far_cycles = 0;  // SolveReport::far_cycles of the last solve
  };
  bool by_fourier(int level) const { return level == 0 && fourier_base_; }
  void connect(int level);
  SolveReport solve(int level, const Sources& sources);
  SolveReport solve_base(const Sources& sources, const DeviceArray<double>& f,
                         const DeviceArray<double>& phi);
  SolveReport solve_by_cycles(int level, double rounding, const DeviceArray<double>& f,
                              DeviceArray<double>& phi);
  void fill_boxes(int level, const Combination& coarse_potential);
  Surroundings surroundings(int level) const;

  const mesh::Mesh& mesh_;
  BaseGrid& base_;
  FieldPool& pool_;
  PatchLevels& patch_levels_;
  CommOptions comm_options_;
  Laplacian laplacian_;
  double tolerance_;
  int max_cycles_, gradient_order_;
  bool isolated_, fourier_base_;
  TransferFunction transfer_;
  std::optional<FarField> far_;  // set by measure()
  double far_error_ = 0.0;       // maximum of FarField::estimated_error()
  bool warned_of_rounding_ = false;
  double constant_ = 1.0;  // Newton's constant at the last measure()
  std::vector<Level> levels_;
  std::vector<Statistics> statistics_;
};

template <>
std::unique_ptr<PotentialSolverKind> potential_solver_kind<Multigrid>() {
  return std::make_unique<SolverKind<Multigrid>>();
}

namespace {

// Minimum ratio of a right-hand side to 4 pi G rho; smaller values are rounding errors.
constexpr double k_smallest_source = 1e-11;

bool is_isolated(const mesh::Geometry& geometry) {
  const int periodic = geometry.periodic(0) + geometry.periodic(1) + geometry.periodic(2);
  if (periodic != 0 && periodic != 3)
    throw InputError(
        "gravity.enabled = true: mesh.boundary_x, _y and _z must be either all periodic or all "
        "non-periodic (isolated system)");
  return periodic == 0;
}

// Returns true if the base level is solved by Fourier transforms. The default is transforms on a
// host only, because results must not depend on the number of ranks, and a GPU library may add in
// another order if the number of lines per rank differs.
bool choose_fourier(const GravityOptions& options, bool isolated) {
  if (isolated && options.laplacian != Laplacian::discrete)
    throw InputError(
        "gravity.laplacian = \"{}\" requires periodic mesh.boundary_x, _y and _z; set it to "
        "\"discrete\" for an isolated system",
        name_of(options.laplacian));
  return options.base ? options.base == BaseSolver::fft : k_device_is_host;
}

}  // namespace

Multigrid::Multigrid(const Parameters& /*parameters*/, const SolverSetting& setting)
    : PotentialSolver(setting),
      mesh_(setting.mesh),
      base_(setting.base),
      pool_(setting.pool),
      patch_levels_(setting.levels),
      comm_options_(setting.comm_options),
      laplacian_(setting.options.laplacian),
      tolerance_(setting.options.tolerance),
      max_cycles_(setting.options.max_cycles),
      gradient_order_(setting.options.gradient_order),
      isolated_(is_isolated(setting.mesh.geometry())),
      fourier_base_(choose_fourier(setting.options, isolated_)),
      statistics_(setting.mesh.geometry().max_level() + 1) {
  if (gradient_order_ == 3) throw InputError("gravity.gradient_order = 3: expected 2 or 4");
}

void Multigrid::connect() {
  levels_.clear();
  levels_.resize(mesh_.finest_level() + 1);
  for (int level = 0; level <= mesh_.finest_level(); ++level) connect(level);
}

void Multigrid::connect(int level) {
  Level& l = levels_[level];
  l.patches = &patch_levels_.at(level);
  if (by_fourier(level)) return;
  l.solver = std::make_unique<LevelSolver>(*l.patches, comm_options_);
  l.boxes = &patch_levels_.boxes(level);
}

void Multigrid::measure(const Sources& sources) {
  constant_ = sources.constant;
  if (!isolated_ || (fourier_base_ && mesh_.geometry().max_level() == 0)) return;
  PatchLevel& base = base_.level();
  far_.emplace(base.patches(), mesh_.geometry(),
               base.make_field("density", {.x = sources.density(0).field}));
  for (Level& level : levels_) level.has_far_field_values = false;
}

void Multigrid::set_transfer(TransferFunction transfer) {
  if (!fourier_base_ || isolated_)
    throw InputError("gravity.transfer requires gravity.base = \"fft\" and a periodic domain");
  transfer_ = std::move(transfer);
}

// --- the coarser level's potential -------------------------------------------------------------

// Fills the boxes of a level. The field of the coarser level is allocated at least as large as a
// field of the level, so that the level's next field reuses the memory from the pool.
void Multigrid::fill_boxes(int level, const Combination& coarse_potential) {
  DeviceArray<double> phi;
  if (level > 0) {
    PatchLevel& coarse = *levels_[level - 1].patches;
    const auto values = [](const PatchLevel& of) {
      return of.patches().values(of.patches().side());
    };
    phi = pool_.allocate("coarse phi", std::max(values(coarse), values(*levels_[level].patches)));
    coarse.transfer().to_patches(std::array{PatchValues{coarse_potential, phi.data()}});
  }
  Level& l = levels_[level];
  if (l.boxes->need_far_field() && far_ && !l.has_far_field_values) {
    l.boxes->set_far_field(far_->potentials(l.boxes->far_groups()));
    l.has_far_field_values = true;
    far_error_ = std::max(far_error_, far_->estimated_error());
  }
  l.boxes->fill(phi.data(), constant_);
}

void Multigrid::guess(int level, const CellRange& blocks) {
  Level& l = levels_[level];
  const PotentialTimes times = stored().times(level);
  const std::int64_t cells = cells_of(mesh_.layout().block_size);
  const auto interpolated =
      pool_.allocate("interpolated potential", mesh_.blocks(level).slots() * cells);
  const BlockField everywhere{interpolated.data(), cells};
  for (const Field field : {Field::potential, Field::previous_potential}) {
    const double time = field == Field::potential ? times.now : times.previous;
    fill_boxes(level, stored().potential_at(level - 1, time));
    const DeviceArray<double> phi = l.patches->make_field("phi");
    interpolate_potential(*l.patches, *l.boxes, phi.data());
    l.boxes->release();
    l.patches->transfer().to_blocks(phi.data(), everywhere);
    copy_blocks(blocks, everywhere, stored().field(level, field));
  }
}

// --- solving -----------------------------------------------------------------------------------

SolveReport Multigrid::solve(LevelRange levels, const Sources& sources) {
  SolveReport report;
  for (int level = levels.first; level <= levels.last; ++level) report = solve(level, sources);
  return report;
}

SolveReport Multigrid::solve(int level, const Sources& sources) {
  Level& l = levels_[level];
  constant_ = sources.constant;
  const double h = mesh_.geometry().cell_size(level);
  const double scale = 4.0 * M_PI * sources.constant * h * h;
  auto [phi, f] = l.patches->make_fields(
      {{"phi", {.x = stored().field(level, Field::potential)}},
       {"f", {.a = scale, .x = sources.density(level).field, .c = -scale * sources.mean}}});
  const SolveReport report =
      by_fourier(level) ? solve_base(sources, f, phi)
                        : solve_by_cycles(level, k_smallest_source * scale * sources.mean, f, phi);
  l.patches->transfer().to_blocks(phi.data(), stored().field(level, Field::potential));
  acceleration(*l.patches, surroundings(level), phi.data(), gradient_order_, h,
               stored().acceleration(level));
  if (l.boxes) l.boxes->release();
  Statistics& s = statistics_[level];
  ++s.solves;
  s.cycles += report.cycles;
  s.most_cycles = std::max<std::int64_t>(s.most_cycles, report.cycles);
  s.far_cycles = report.far_cycles;
  return report;
}

// Solves the base level by Fourier transforms, without measuring the residual, which is round-off.
SolveReport Multigrid::solve_base(const Sources& sources, const DeviceArray<double>& f,
                                  const DeviceArray<double>& phi) {
  WaveFactor factor;
  if (transfer_) factor = [&](double k) { return transfer_(k, sources.scale_factor); };
  SolveReport report;
  {
    const MpiStopwatch mpi;
    const std::int64_t begun = thread_cpu_ns();
    base_.solve(laplacian_, factor, f, phi);
    report.shared_ns = thread_cpu_ns() - begun - mpi.cpu_ns();
  }
  base_.level().halo().run(phi.data());
  return report;
}

// Moves boundary values into f and solves by V-cycles. Values of f up to `rounding` are round-off.
SolveReport Multigrid::solve_by_cycles(int level, double rounding, const DeviceArray<double>& f,
                                       DeviceArray<double>& phi) {
  Level& l = levels_[level];
  const std::int64_t N = mesh_.geometry().block_size();
  const SourceNorm source(own_sum(l.patches->squares(f)), mesh_.blocks(level).count() * N * N * N,
                          rounding);
  if (l.patches->patches().any_masked()) {
    const double time = stored().times(level).now;
    fill_boxes(level, level > 0 ? stored().potential_at(level - 1, time) : Combination{});
    move_boundary_into(*l.patches, l.solver->mask(), *l.boxes, f.data());
  }
  const SolveReport report = l.solver->solve(
      phi, f, source, tolerance_, max_cycles_,
      [&](const DeviceArray<double>& now) {
        return field_norms(*l.patches, surroundings(level), now.data());
      },
      {statistics_[level].far_cycles, [&](DeviceArray<double>& again) {
         again = l.patches->make_field("phi", {.x = stored().field(level, Field::potential)});
       }});
  if (report.by_rounding && !warned_of_rounding_) {
    warned_of_rounding_ = true;
    log::warn(
        "gravity: level {}: round-off limits the relative residual to {:.2g}, above "
        "gravity.tolerance = {:.2g}; the solution is accurate to round-off (further occurrences "
        "are not reported)",
        level, report.residual, tolerance_);
  }
  // The mean of a periodic potential is set to 0, because the solution is unique up to a constant.
  if (level == 0 && !isolated_) shift(phi, -l.patches->sum(phi) / base_.cells());
  return report;
}

Surroundings Multigrid::surroundings(int level) const {
  const Level& l = levels_[level];
  if (!l.solver) return {};
  return {l.solver->mask(), l.boxes};
}

bool Multigrid::find_unresolved_energy(int level, const BlockField& energy) {
  Level& l = levels_[level];
  const DeviceArray<double> phi =
      l.patches->make_field("phi", {.x = stored().field(level, Field::potential)});
  l.patches->halo().run(phi.data());
  if (l.boxes && l.patches->patches().any_masked())
    fill_boxes(level, level > 0 ? stored().potential_at(level - 1, stored().times(level).now)
                                : Combination{});
  const DeviceArray<double> found = l.patches->make_field("unresolved energy");
  unresolved_energy(*l.patches, surroundings(level), phi.data(), gradient_order_,
                    mesh_.geometry().cell_size(level), constant_, found.data());
  if (l.boxes) l.boxes->release();
  l.patches->transfer().to_blocks(found.data(), energy);
  return true;
}

void Multigrid::take_block_cycles(int level, std::span<std::uint64_t> by_slot) {
  if (levels_[level].solver) levels_[level].solver->take_block_cycles(by_slot);
}

std::string Multigrid::report(int level) const {
  const Statistics& s = statistics_[level];
  if (by_fourier(level)) return fmt::format("{} FFT solves", s.solves);
  if (s.solves == 0) return {};
  std::string line =
      fmt::format("{} solves with {:.2f} V-cycles on average, {} at most", s.solves,
                  static_cast<double>(s.cycles) / static_cast<double>(s.solves), s.most_cycles);
  if (level == 0 && isolated_)
    line += fmt::format("; estimated maximum force error at the boundary: {:.1g}", far_error_);
  return line;
}

}  // namespace octant::gravity
