// Multigrid for the Poisson equation on one level: V-cycles with one over-relaxed red-black sweep
// on the way down and one on the way up, on patches that are coarsened in place.
#pragma once

#include "gravity/bottom.hpp"
#include "gravity/field_pool.hpp"
#include "gravity/halo_exchange.hpp"
#include "gravity/smoothing.hpp"

namespace octant::gravity {

// How a solve went. Norms are root mean squares over the domain's cells of the level.
struct SolveReport {
  int cycles = 0;
  double first_residual = 0.0, residual = 0.0;  // before and after, relative to the reference
  double reference = 0.0;
  std::int64_t rounds = 0;  // halo exchanges on the finest grid
};

// Adds a constant to all values.
void shift(const DeviceArray<double>& field, double constant);

// Everything that a level's solves have in common between two changes of the mesh. Collective.
class LevelSolver {
 public:
  // Working fields come from the pool, which must outlive this.
  LevelSolver(const mesh::Tree& tree, int level, const CommOptions& options, FieldPool& pool);

  const LevelPatches& patches() const { return patches_; }
  const DeviceArray<const PatchTable>& tables() const { return tables_; }
  const DeviceArray<double>& diagonal() const { return diagonal_; }  // empty if nothing is masked
  // By own slot; and the own slots of masked patches.
  const DeviceArray<const std::uint8_t>& masked() const { return masked_; }
  const DeviceArray<const std::int32_t>& masked_patches() const { return masked_patches_; }
  // Of the finest grid, to a depth of 2.
  HaloExchange& halo() { return grids_.empty() ? *bottom_halo_ : *grids_[0].near; }

  // A field of the finest grid: [slot][k][j][split i].
  DeviceArray<double> make_field(const std::string& label) const {
    return make_field(label, patches_.side());
  }

  // Improves phi until the norm of the residual of  sum(neighbours) - 6 phi = f  (values outside
  // moved into f) is at most tolerance * reference, where `reference` is a norm of the sort that
  // norm() returns. f needs copies to a depth of 2; phi has all copies to that depth afterwards.
  // Throws RunError, with numbers, after `most_cycles`.
  SolveReport solve(DeviceArray<double>& phi, const DeviceArray<double>& f, double reference,
                    double tolerance, int most_cycles);

  // The square root of the sum of squares over all patches; the same bits on any number of ranks.
  double norm(const DeviceArray<double>& field) const;
  double sum(const DeviceArray<double>& field) const;

  // Halo exchanges so far on grid g (0: the finest).
  std::int64_t rounds(int g) const;
  int grids() const { return static_cast<int>(grids_.size()); }

 private:
  struct Grid {
    int side;
    DeviceArray<double> diagonal;
    std::unique_ptr<HaloExchange> near;  // to a depth of 2
    DeviceArray<double> phi, next, f;    // of coarse grids, while a solve is under way
  };
  DeviceArray<double> make_field(const std::string& label, int side) const;
  void build_grids(const std::array<bool, 3>& periodic, const CommOptions& options);
  void group_patches();
  GridView view(const Grid& grid) const;
  void descend(std::size_t g, double* norms);
  void ascend(std::size_t g);
  double descend_finest(const DeviceArray<double>& norms);
  void correct();
  double total(const DeviceArray<double>& terms) const;
  SolveReport solve_bottom(DeviceArray<double>& phi, const DeviceArray<double>& f, double reference,
                           double tolerance, int most_cycles);
  [[noreturn]] void give_up(const SolveReport& report, double tolerance) const;

  FieldPool& pool_;
  LevelPatches patches_;
  DeviceArray<const PatchTable> tables_;
  DeviceArray<double> diagonal_;
  DeviceArray<const std::uint8_t> masked_;
  DeviceArray<const std::int32_t> masked_patches_;
  // Own patches: [needs other ranks' cells][masked].
  DeviceArray<const std::int32_t> groups_[2][2];
  std::vector<Grid> grids_;
  DeviceArray<double> bottom_f_, bottom_phi_;
  std::unique_ptr<HaloExchange> deep_halo_;    // of the finest grid, to a depth of 3
  std::unique_ptr<HaloExchange> bottom_halo_;  // where the finest grid is the bottom
  std::unique_ptr<Bottom> bottom_;
};

}  // namespace octant::gravity
