#include "gravity/level_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "gravity/mask.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

LevelSolver::LevelSolver(PatchLevel& level, const CommOptions& options)
    : level_(level), patches_(level.patches()) {
  group_patches();
  build_grids(options);
}

// Returns a group with open patches before masked ones.
PatchGroup LevelSolver::group(std::vector<std::int32_t> slots) const {
  const auto masked = std::ranges::stable_partition(
      slots, [&](std::int32_t slot) { return patches_.masked()[slot] == 0; });
  return {mesh::to_device("patches", slots), static_cast<int>(masked.begin() - slots.begin()),
          cycles_.data()};
}

void LevelSolver::group_patches() {
  if (k_device_is_host) cycles_ = mesh::zeros<std::uint64_t>("patch cycles", patches_.own());
  std::vector<std::int32_t> slots(patches_.own());
  std::iota(slots.begin(), slots.end(), 0);
  all_ = group(slots);
  const auto border = std::ranges::stable_partition(slots, [&](std::int32_t slot) {
    return std::ranges::max(patches_.tables()[slot]) < patches_.own();
  });
  inner_ = group({slots.begin(), border.begin()});
  border_ = group({border.begin(), slots.end()});
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
  const auto halo_of = [&](const std::vector<HaloGrid>& grids) {
    return std::make_unique<HaloExchange>(patches_, grids, options, level_.halo().buffers());
  };
  DeviceArray<double> cover = level_.make_field("cover");
  set_cover(patches_, cover);
  DeviceArray<double> row_sums;  // means of the row sums of the finer grid
  int side = patches_.side();
  for (; side > 2; side /= 2) {
    Grid grid;
    grid.side = side;
    const bool finest = grids_.empty();
    if (!finest) grid.own_near = halo_of({{side, 2}});
    grid.near = finest ? &level_.halo() : grid.own_near.get();
    if (side > 4) grid.with_coarse_f = halo_of({{side, 2}, {side / 2, 2}});
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
    const int whole = patches_.side();
    first_halo_ = halo_of({{whole, 2}, {whole, 3}});
    deep_halo_ = halo_of({{whole, 3}});
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

// Halo exchange after the downward pass on a grid.
HaloExchange& LevelSolver::below(std::size_t g) const {
  return g + 1 < grids_.size() ? *grids_[g].with_coarse_f : *grids_[g].near;
}

// Downward pass: sweep and restriction. Finishes the halo exchange of phi on the finest grid, or of
// f, and starts that of the results. On coarse grids, two launches would take longer than the wait.
void LevelSolver::descend(std::size_t g, double* norms) {
  Grid& grid = grids_[g];
  const bool finest = g == 0;
  double* coarse_f = g + 1 < grids_.size() ? grids_[g + 1].f.data() : coarse_f_.data();
  if (finest) gravity::descend(view(grid), inner_, false, coarse_f, norms);
  if (finest) first_halo_->finish();
  (finest ? *deep_halo_ : below(g - 1)).finish();
  gravity::descend(view(grid), finest ? border_ : all_, !finest, coarse_f, norms,
                   below(g).outgoing({grid.next.data(), coarse_f}));
  std::swap(grid.phi, grid.next);
  below(g).start_packed();
}

// Upward pass: correction and sweep. Finishes the halo exchange of the coarse phi, or on the
// coarsest grid that of phi, and starts that of the result.
void LevelSolver::ascend(std::size_t g) {
  Grid& grid = grids_[g];
  const bool last = g + 1 == grids_.size();
  (last ? below(g) : *grids_[g + 1].near).finish();
  HaloExchange& halo = g == 0 ? *deep_halo_ : *grid.near;
  gravity::ascend(view(grid), all_, last ? coarse_phi_.data() : grids_[g + 1].phi.data(),
                  halo.outgoing({grid.next.data()}));
  std::swap(grid.phi, grid.next);
  halo.start_packed();
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
  // Drops the last reduced residual.
  void drop_last() { residuals_.pop_back(); }
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
constexpr double k_far = 1.5;

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
  // On one rank a reduction takes no time.
  const int first_checked =
      patches_.communicator().size() == 1 ? 0 : std::min(unchecked.count, most_cycles);
  first_halo_->start({f.data(), phi.data()});
  DeviceArray<double> last_unchecked;  // phi after the last V-cycle that is not checked by itself
  for (int cycle = 0;; ++cycle) {
    descend(0, norms.data());
    residuals.add(norms);
    if (cycle < first_checked) {
      if (cycle + 1 == first_checked) {
        last_unchecked = level_.make_field("previous phi");
        copy_within(last_unchecked, grids_[0].phi);
      }
      correct();
      continue;
    }
    int next = residuals.count();
    residuals.reduce();
    if (!target) target.emplace(residuals.source(), tolerance);
    for (; next <= cycle; ++next) {
      const double residual = residuals[next];
      reached = target->is_reached(residual);
      if (reached && next + 1 == cycle && cycle == first_checked) {
        return_to(last_unchecked);
        residuals.drop_last();
        break;
      }
      const bool needs_norms = !reached && target->needs_norms(residual, next) && measure;
      const bool is_last = next == cycle;
      if (!is_last && (reached || needs_norms || !std::isfinite(residual)))
        return solve_again(phi, f, source, tolerance, most_cycles, measure, unchecked);
      if (!needs_norms) continue;
      below(0).finish();
      reached = target->is_reached(residual, measure(grids_[0].phi));
    }
    if (reached || cycle == most_cycles || !std::isfinite(residuals[cycle])) break;
    correct();
  }
  below(0).finish();
  SolveReport report = target->report(residuals, reached);
  if (!reached) report_failure(report, tolerance);
  report.rounds = finest_rounds() - rounds_before;
  phi = grids_[0].phi;
  release_fields();
  return report;
}

// Replaces phi by its state before the last V-cycle, with its halo.
void LevelSolver::return_to(const DeviceArray<double>& phi) {
  below(0).finish();
  grids_[0].phi = phi;
  grids_[0].near->run(phi.data());
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
  below(0).finish();
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
