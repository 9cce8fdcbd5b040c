#include "gravity/level_solver.hpp"

#include <cmath>

#include <fmt/format.h>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// By own patch, the sum over its cells of the values or of their squares. Cell c adds to part
// c % 8, whatever the width of a pack: a team has as many lanes as there are packs of parts.
DeviceArray<double> patch_sums(const LevelPatches& patches, const DeviceArray<double>& field,
                               bool squared) {
  const auto sums = mesh::uninitialised<double>("patch sums", patches.own());
  const std::int64_t cells = cells_of(patches.side());
  if (patches.own() == 0) return sums;
  constexpr int parts = 8, packs = parts / PackOf::width;
  TeamPolicy policy(patches.own(), 1, packs);
  policy.set_scratch_size(0, Kokkos::PerTeam(parts * sizeof(double)));
  Kokkos::parallel_for(
      "gravity: patch sums", policy, KOKKOS_LAMBDA(const Team& team) {
        const double* values = field.data() + team.league_rank() * cells;
        auto* part = static_cast<double*>(team.team_scratch(0).get_shmem(parts * sizeof(double)));
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, packs), [&](int n) {
          Pack sum(0.0);
          for (std::int64_t c = n * PackOf::width; c < cells; c += parts) {
            const Pack v = PackOf::load(values + c);
            sum = sum + (squared ? v * v : v);
          }
          PackOf::store(part + n * PackOf::width, sum);
        });
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          sums(team.league_rank()) = ((part[0] + part[1]) + (part[2] + part[3])) +
                                     ((part[4] + part[5]) + (part[6] + part[7]));
        });
      });
  return sums;
}

}  // namespace

void shift(const DeviceArray<double>& field, double constant) {
  Kokkos::parallel_for(
      "gravity: shift", Kokkos::RangePolicy<>(0, field.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t n) { field(n) += constant; });
}

LevelSolver::LevelSolver(const mesh::Tree& tree, int level, const CommOptions& options,
                         FieldPool& pool)
    : pool_(pool),
      patches_(tree, level),
      tables_(mesh::to_device("patch tables", patches_.tables())) {
  group_patches();
  const mesh::Geometry& geometry = tree.geometry();
  build_grids({geometry.periodic(0), geometry.periodic(1), geometry.periodic(2)}, options);
}

void LevelSolver::group_patches() {
  std::vector<std::int32_t> groups[2][2], masked;
  for (int slot = 0; slot < patches_.own(); ++slot) {
    bool border = false;
    for (const int next : patches_.tables()[slot]) border = border || next >= patches_.own();
    groups[border][patches_.masked()[slot]].push_back(slot);
    if (patches_.masked()[slot]) masked.push_back(slot);
  }
  masked_ = mesh::to_device("masked", patches_.masked());
  masked_patches_ = mesh::to_device("masked patches", masked);
  for (int border = 0; border < 2; ++border)
    for (int masked = 0; masked < 2; ++masked)
      groups_[border][masked] = mesh::to_device("patches", groups[border][masked]);
}

void LevelSolver::build_grids(const std::array<bool, 3>& periodic, const CommOptions& options) {
  const auto halo = [&](int side, int depth) {
    return std::make_unique<HaloExchange>(
        patches_, side, depth, fmt::format("gravity: {}^3 cells to a depth of {}", side, depth),
        options);
  };
  DeviceArray<double> cover = covered_cells(patches_);
  int side = patches_.side();
  for (; side > 2; side /= 2) {
    Grid grid{side, {}, halo(side, 2), {}, {}, {}};
    if (patches_.any_masked()) {
      grid.near->run(cover.data());
      grid.diagonal = diagonals(patches_, tables_, side, grids_.empty(), cover);
      grid.near->run(grid.diagonal.data());
    }
    cover = coarsened_cover(patches_, side, cover);
    grids_.push_back(std::move(grid));
  }
  if (grids_.empty()) {
    bottom_halo_ = halo(side, 2);
    if (patches_.any_masked()) {
      bottom_halo_->run(cover.data());
      diagonal_ = cover;  // 0 where masked, as a diagonal is
    }
  } else {
    deep_halo_ = halo(patches_.side(), 3);
    diagonal_ = grids_[0].diagonal;
  }
  bottom_ = std::make_unique<Bottom>(patches_, periodic, grids_.empty(), cover, options);
}

DeviceArray<double> LevelSolver::make_field(const std::string& label, int side) const {
  return pool_.allocate(label, patches_.slots() * cells_of(side));
}

// --- norms -------------------------------------------------------------------------------------

double LevelSolver::total(const DeviceArray<double>& terms) const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, terms);
  return reproducible_sum(patches_.communicator(),
                          std::span<const double>(host.data(), host.size()));
}

double LevelSolver::norm(const DeviceArray<double>& field) const {
  return std::sqrt(total(patch_sums(patches_, field, true)));
}

double LevelSolver::sum(const DeviceArray<double>& field) const {
  return total(patch_sums(patches_, field, false));
}

// --- V-cycle -----------------------------------------------------------------------------------

GridView LevelSolver::view(const Grid& grid) const {
  return {.side = grid.side,
          .tables = tables_.data(),
          .phi = grid.phi.data(),
          .next = grid.next.data(),
          .f = grid.f.data(),
          .diagonal = grid.diagonal.data()};
}

// Sweeps and restricts; the copies of the new phi are on their way afterwards.
void LevelSolver::descend(std::size_t g, double* norms) {
  Grid& grid = grids_[g];
  const bool finest = g == 0;
  double* coarse_f = g + 1 < grids_.size() ? grids_[g + 1].f.data() : bottom_f_.data();
  HaloExchange& halo = finest ? *deep_halo_ : *grid.near;
  halo.start(finest ? grid.phi.data() : grid.f.data());
  for (const bool masked : {false, true})
    gravity::descend(view(grid), masked, groups_[0][masked], !finest, coarse_f, norms);
  halo.finish();
  for (const bool masked : {false, true})
    gravity::descend(view(grid), masked, groups_[1][masked], !finest, coarse_f, norms);
  Kokkos::fence();
  std::swap(grid.phi, grid.next);
  grid.near->start(grid.phi.data());
}

double LevelSolver::descend_finest(const DeviceArray<double>& norms) {
  descend(0, norms.data());
  return std::sqrt(total(norms));
}

void LevelSolver::ascend(std::size_t g) {
  Grid& grid = grids_[g];
  const bool last = g + 1 == grids_.size();
  grid.near->finish();
  if (!last) grids_[g + 1].near->start(grids_[g + 1].phi.data());
  if (!last) grids_[g + 1].near->finish();
  const double* coarse_phi = last ? bottom_phi_.data() : grids_[g + 1].phi.data();
  for (const bool border : {false, true})
    for (const bool masked : {false, true})
      gravity::ascend(view(grid), masked, groups_[border][masked], coarse_phi);
  Kokkos::fence();
  std::swap(grid.phi, grid.next);
}

// Everything between the finest grid's two passes, and its second pass.
void LevelSolver::correct() {
  for (std::size_t g = 1; g < grids_.size(); ++g) descend(g, nullptr);
  bottom_->solve(bottom_f_, bottom_phi_);
  for (std::size_t g = grids_.size(); g-- > 0;) ascend(g);
}

SolveReport LevelSolver::solve(DeviceArray<double>& phi, const DeviceArray<double>& f,
                               double reference, double tolerance, int most_cycles) {
  bottom_f_ = make_field("bottom f", 2);
  bottom_phi_ = make_field("bottom phi", 2);
  if (grids_.empty()) return solve_bottom(phi, f, reference, tolerance, most_cycles);

  for (Grid& grid : grids_) {
    const bool finest = &grid == &grids_[0];
    grid.phi = finest ? phi : make_field("phi", grid.side);
    grid.next = make_field("next phi", grid.side);
    grid.f = finest ? f : make_field("f", grid.side);
  }
  const auto norms = mesh::uninitialised<double>("residuals", patches_.own());
  SolveReport report{.reference = reference};
  const std::int64_t rounds_before = finest_rounds();
  for (;; ++report.cycles) {
    report.residual = descend_finest(norms) / reference;
    if (report.cycles == 0) report.first_residual = report.residual;
    if (report.residual <= tolerance) break;
    if (report.cycles == most_cycles || !std::isfinite(report.residual)) break;
    correct();
  }
  grids_[0].near->finish();
  if (!(report.residual <= tolerance)) give_up(report, tolerance);
  report.rounds = finest_rounds() - rounds_before;
  phi = grids_[0].phi;
  for (Grid& grid : grids_) grid.phi = grid.next = grid.f = {};
  bottom_f_ = bottom_phi_ = {};
  return report;
}

SolveReport LevelSolver::solve_bottom(DeviceArray<double>& phi, const DeviceArray<double>& f,
                                      double reference, double tolerance, int most_cycles) {
  const auto [cycles, residual] = bottom_->solve(f, phi, tolerance * reference, most_cycles);
  const SolveReport report{.cycles = cycles,
                           .first_residual = norm(f) / reference,
                           .residual = residual / reference,
                           .reference = reference};
  if (!(report.residual <= tolerance)) give_up(report, tolerance);
  return report;
}

void LevelSolver::give_up(const SolveReport& report, double tolerance) const {
  throw RunError(
      "gravity: level {} did not converge: after {} V-cycles the residual is {:.3g} of the "
      "right-hand side, at first it was {:.3g}, and {:.3g} was asked for; raise gravity.tolerance "
      "or look for a density that is not finite",
      patches_.level(), report.cycles, report.residual, report.first_residual, tolerance);
}

}  // namespace octant::gravity
