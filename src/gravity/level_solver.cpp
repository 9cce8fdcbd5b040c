#include "gravity/level_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "gravity/mask.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

LevelSolver::LevelSolver(PatchLevel& level, const CommOptions& options)
    : level_(level), patches_(level.patches()) {
  group_patches();
  build_grids(options);
}

void LevelSolver::group_patches() {
  for (const bool wanted : {false, true}) {
    std::vector<std::int32_t> open, masked;
    for (int slot = 0; slot < patches_.own(); ++slot) {
      bool border = false;
      for (const int next : patches_.tables()[slot]) border = border || next >= patches_.own();
      if (border == wanted) (patches_.masked()[slot] ? masked : open).push_back(slot);
    }
    groups_[wanted].open = static_cast<int>(open.size());
    open.insert(open.end(), masked.begin(), masked.end());
    groups_[wanted].patches = mesh::to_device("patches", open);
  }
  if (!k_device_is_host) return;
  cycles_ = mesh::zeros<std::uint64_t>("patch cycles", patches_.own());
  for (PatchGroup& group : groups_) group.cycles = cycles_.data();
}

// The cycles of a patch are divided equally among the pieces of the patch, which have equal sizes.
void LevelSolver::take_block_cycles(std::span<std::uint64_t> by_slot) {
  if (cycles_.extent(0) == 0) return;
  const std::span cycles(cycles_.data(), cycles_.extent(0));
  std::vector<std::uint64_t> pieces(cycles.size());
  for (const Piece& piece : patches_.local_pieces()) ++pieces[piece.patch];
  for (const Piece& piece : patches_.local_pieces())
    by_slot[piece.block] += cycles[piece.patch] / pieces[piece.patch];
  std::fill(cycles.begin(), cycles.end(), 0);
}

void LevelSolver::build_grids(const CommOptions& options) {
  DeviceArray<double> cover = level_.make_field("cover");
  set_cover(patches_, cover);
  DeviceArray<double> row_sums;  // means of the row sums of the finer grid
  int side = patches_.side();
  for (; side > 2; side /= 2) {
    Grid grid;
    grid.side = side;
    const bool finest = grids_.empty();
    if (!finest) grid.own_halo = std::make_unique<HaloExchange>(patches_, side, 2, options);
    grid.near = finest ? &level_.halo() : grid.own_halo.get();
    if (patches_.any_masked()) {
      grid.near->run(cover.data());
      const DeviceArray<double> own_sums = level_.make_field("row sums", side);
      if (finest) {
        find_row_sums(patches_, level_.tables(), side, cover, own_sums);
      } else {
        grid.diagonal = find_equations(patches_, level_.tables(), side, cover, row_sums, own_sums);
        grid.near->run(grid.diagonal.data());
      }
      row_sums = own_sums;
      grid.mask = find_mask(patches_, level_.tables(), level_.masked_patches(), side,
                            finest ? cover : grid.diagonal);
      if (finest) mask_ = grid.mask;
    }
    const auto coarsen = [&](const char* name, DeviceArray<double>& field) {
      const DeviceArray<double> coarse = level_.make_field(name, side / 2);
      coarsen_means(patches_, side, field, coarse);
      field = coarse;
    };
    coarsen("cover", cover);
    if (row_sums.extent(0) > 0) coarsen("row sums", row_sums);
    grids_.push_back(std::move(grid));
  }
  if (!grids_.empty()) {
    deep_halo_ = std::make_unique<HaloExchange>(patches_, patches_.side(), 3, options);
  } else if (patches_.any_masked()) {
    level_.halo().run(cover.data());
    mask_ = find_mask(patches_, level_.tables(), level_.masked_patches(), side, cover);
  }
  coarse_grids_ = CoarseGridSolver::make(patches_, grids_.empty(), {cover, row_sums}, options);
}

// --- V-cycle -----------------------------------------------------------------------------------

GridView LevelSolver::view(const Grid& grid) const {
  return {.side = grid.side,
          .tables = level_.tables().data(),
          .strips = patches_.strips().data(),
          .phi = grid.phi.data(),
          .next = grid.next.data(),
          .f = grid.f.data(),
          .diagonal = grid.diagonal.data(),
          .mask = grid.mask};
}

// Downward pass: sweep and restriction. Starts the halo exchange of the new phi.
void LevelSolver::descend(std::size_t g, double* norms) {
  Grid& grid = grids_[g];
  const bool finest = g == 0;
  double* coarse_f = g + 1 < grids_.size() ? grids_[g + 1].f.data() : coarse_f_.data();
  HaloExchange& halo = finest ? *deep_halo_ : *grid.near;
  halo.start(finest ? grid.phi.data() : grid.f.data());
  gravity::descend(view(grid), groups_[0], !finest, coarse_f, norms);
  halo.finish();
  gravity::descend(view(grid), groups_[1], !finest, coarse_f, norms);
  std::swap(grid.phi, grid.next);
  grid.near->start(grid.phi.data());
}

void LevelSolver::ascend(std::size_t g) {
  Grid& grid = grids_[g];
  const bool last = g + 1 == grids_.size();
  grid.near->finish();
  if (!last) grids_[g + 1].near->start(grids_[g + 1].phi.data());
  if (!last) grids_[g + 1].near->finish();
  const double* coarse_phi = last ? coarse_phi_.data() : grids_[g + 1].phi.data();
  for (const PatchGroup& group : groups_) gravity::ascend(view(grid), group, coarse_phi);
  std::swap(grid.phi, grid.next);
}

// Coarse-grid correction, including the upward pass on the finest grid.
void LevelSolver::correct() {
  for (std::size_t g = 1; g < grids_.size(); ++g) descend(g, nullptr);
  coarse_grids_->solve(coarse_f_, coarse_phi_);
  for (std::size_t g = grids_.size(); g-- > 0;) ascend(g);
}

namespace {

// Upper bound of the norm of a residual due to rounding. In units of epsilon phi: 8 from the sum of
// six neighbours, 9 from subtraction of the right-hand side, which may include masked neighbours, 3
// from six times phi, and 6 from the rounding of phi.
double rounding_of(const FieldNorms& norms) {
  return 26.0 * std::numeric_limits<double>::epsilon() * norms.potential;
}

// Norms of the residuals of a solve, and of its source. Those of several V-cycles are reduced over
// ranks together.
class ResidualHistory {
 public:
  ResidualHistory(const Communicator& communicator, const SourceNorm& source)
      : communicator_(communicator), source_(source), pending_{source.squares} {}

  // Adds the residual of a V-cycle, given by the sum of squares in each own patch. Local.
  void add(const DeviceArray<double>& squares) { pending_.push_back(own_sum(squares)); }
  // Reduces the added residuals and, in the first call, the source. Collective.
  void reduce() {
    std::int64_t cells = source_.cells;
    reproducible_sum(communicator_, std::span(pending_), std::span(&cells, 1));
    auto next = pending_.begin();
    if (residuals_.empty())
      norm_ = std::max({source_.least, std::sqrt((next++)->to_double()),
                        source_.rounding * std::sqrt(static_cast<double>(cells))});
    for (; next != pending_.end(); ++next) residuals_.push_back(std::sqrt(next->to_double()));
    pending_.clear();
  }
  // Number of reduced residuals.
  int count() const { return static_cast<int>(residuals_.size()); }
  double operator[](int cycle) const { return residuals_[cycle]; }
  // Norm of the source, but at least its rounding error; valid after reduce().
  double source() const { return norm_; }

 private:
  Communicator communicator_;
  SourceNorm source_;
  std::vector<ReproducibleSum> pending_;  // the first one is that of the source
  std::vector<double> residuals_;
  double norm_ = 0.0;
};

// Ratio of a residual to the tolerance above which the next solve of the level is not expected to
// reach the tolerance in as many V-cycles.
constexpr double k_far = 4.0;

// Convergence criterion of a solve.
class Target {
 public:
  Target(double source, double tolerance) : source_(source), tolerance_(tolerance) {}

  // Returns true if the criterion requires norms of the potential.
  bool needs_norms(double residual, int cycles) {
    if (cycles == 0) from_outside_ = residual > source_;
    stands_still_ = cycles > 0 && residual > 0.5 * before_;
    before_ = residual;
    const bool needed = residual > tolerance_ * source_ && (from_outside_ || stands_still_);
    needed_norms_ = needed_norms_ || needed;
    return needed;
  }
  bool is_reached(double residual) {
    by_rounding_ = false;
    return residual <= tolerance_ * source_;
  }
  bool is_reached_after_standstill(double residual, const FieldNorms& norms) {
    stands_still_ = true;
    return is_reached(residual, norms);
  }
  bool is_reached(double residual, const FieldNorms& norms) {
    reference_ = std::max(source_, norms.variation);
    by_rounding_ = residual > tolerance_ * reference_;
    return !by_rounding_ || (stands_still_ && residual <= rounding_of(norms));
  }
  // Returns a report with residuals relative to the reference.
  SolveReport report(int cycles, double first, double residual, bool reached) const {
    const double reference = std::max({source_, reference_, std::numeric_limits<double>::min()});
    return {.cycles = cycles,
            .first_residual = first / reference,
            .residual = residual / reference,
            .reference = reference,
            .by_rounding = reached && by_rounding_};
  }
  SolveReport report(const ResidualHistory& residuals, bool reached) const {
    const int cycles = residuals.count() - 1;
    SolveReport report = this->report(cycles, residuals[0], residuals[cycles], reached);
    while (!needed_norms_ && report.far_cycles < cycles &&
           residuals[report.far_cycles] > k_far * tolerance_ * source_)
      ++report.far_cycles;
    return report;
  }

 private:
  double source_, tolerance_, reference_ = 0.0, before_ = 0.0;
  bool from_outside_ = false, stands_still_ = false, by_rounding_ = false;
  bool needed_norms_ = false;
};

}  // namespace

SolveReport LevelSolver::solve(DeviceArray<double>& phi, const DeviceArray<double>& f,
                               const SourceNorm& source, double tolerance, int most_cycles,
                               const MeasureField& measure, const UncheckedCycles& unchecked) {
  coarse_f_ = level_.make_field("coarse f", 2);
  coarse_phi_ = level_.make_field("coarse phi", 2);
  if (grids_.empty()) return solve_coarse_grid(phi, f, source, tolerance, most_cycles, measure);

  for (Grid& grid : grids_) {
    const bool finest = &grid == &grids_[0];
    grid.phi = finest ? phi : level_.make_field("phi", grid.side);
    grid.next = level_.make_field("next phi", grid.side);
    grid.f = finest ? f : level_.make_field("f", grid.side);
  }
  const auto norms = mesh::uninitialised<double>("residuals", patches_.own());
  ResidualHistory residuals(patches_.communicator(), source);
  std::optional<Target> target;
  bool reached = false;
  const std::int64_t rounds_before = finest_rounds();
  for (int cycle = 0;; ++cycle) {
    descend(0, norms.data());
    residuals.add(norms);
    if (cycle < std::min(unchecked.count, most_cycles)) {
      correct();
      continue;
    }
    int next = residuals.count();
    residuals.reduce();
    if (!target) target.emplace(residuals.source(), tolerance);
    for (; next <= cycle; ++next) {
      const double residual = residuals[next];
      reached = target->is_reached(residual);
      const bool needs_norms = !reached && target->needs_norms(residual, next) && measure;
      const bool is_last = next == cycle;
      if (!is_last && (reached || needs_norms || !std::isfinite(residual)))
        return solve_again(phi, f, source, tolerance, most_cycles, measure, unchecked);
      if (!needs_norms) continue;
      grids_[0].near->finish();
      reached = target->is_reached(residual, measure(grids_[0].phi));
      grids_[0].near->start(grids_[0].phi.data());
    }
    if (reached || cycle == most_cycles || !std::isfinite(residuals[cycle])) break;
    correct();
  }
  grids_[0].near->finish();
  SolveReport report = target->report(residuals, reached);
  if (!reached) report_failure(report, tolerance);
  report.rounds = finest_rounds() - rounds_before;
  phi = grids_[0].phi;
  release_fields();
  return report;
}

void LevelSolver::release_fields() {
  for (Grid& grid : grids_) grid.phi = grid.next = grid.f = {};
  coarse_f_ = coarse_phi_ = {};
}

// Solves again, with a check after each V-cycle.
SolveReport LevelSolver::solve_again(DeviceArray<double>& phi, const DeviceArray<double>& f,
                                     const SourceNorm& source, double tolerance, int most_cycles,
                                     const MeasureField& measure,
                                     const UncheckedCycles& unchecked) {
  grids_[0].near->finish();
  phi = {};
  release_fields();
  unchecked.restore(phi);
  return solve(phi, f, source, tolerance, most_cycles, measure);
}

// Solves a level with patches of 2^3 cells. V-cycles begin with phi = 0, where the residual is f.
SolveReport LevelSolver::solve_coarse_grid(DeviceArray<double>& phi, const DeviceArray<double>& f,
                                           const SourceNorm& source, double tolerance,
                                           int most_cycles, const MeasureField& measure) {
  ResidualHistory first(patches_.communicator(), source);
  first.add(level_.squares(f));
  first.reduce();
  Target target(first.source(), tolerance);
  const auto [cycles, residual] =
      coarse_grids_->solve(f, phi, tolerance * first.source(), most_cycles);
  bool reached = target.is_reached(residual);
  if (!reached && cycles < most_cycles && measure)
    reached = target.is_reached_after_standstill(residual, measure(phi));
  const SolveReport report = target.report(cycles, first[0], residual, reached);
  if (!reached) report_failure(report, tolerance);
  return report;
}

void LevelSolver::report_failure(const SolveReport& report, double tolerance) const {
  throw RunError(
      "gravity: level {} did not converge: after {} V-cycles the relative residual is {:.3g} "
      "(initially {:.3g}, gravity.tolerance = {:.3g}); increase gravity.tolerance or "
      "gravity.max_cycles, and check that the density is finite",
      patches_.level(), report.cycles, report.residual, report.first_residual, tolerance);
}

}  // namespace octant::gravity
