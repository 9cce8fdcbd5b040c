// The face of gravity/: the potential of all mass on every level of a mesh, and what it does to the
// gas.
//
// A level is solved by itself: its right-hand side is its own density (the mean of finer cells
// where there are any), and the values beyond its end are interpolated from the coarser level. So a
// level can be solved at every one of its own time steps, with the coarser potential extrapolated
// to that time.
//
//   laplacian(phi) = 4 pi G (rho - mean)   in a periodic domain
//   laplacian(phi) = 4 pi G rho            in one without periodic boundaries, phi = 0 at infinity
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gravity/block_kernels.hpp"
#include "gravity/carry_over.hpp"
#include "gravity/fourier_solver.hpp"
#include "gravity/interpolated.hpp"
#include "gravity/isolated_green.hpp"
#include "gravity/options.hpp"
#include "gravity/piece_transfer.hpp"
#include "gravity/power_spectrum.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// What gravity stores of a cell.
enum class Field { potential, previous_potential, acceleration_x, acceleration_y, acceleration_z };
inline constexpr int k_fields = 5;
inline constexpr const char* k_field_names[k_fields] = {
    "potential", "previous_potential", "acceleration_x", "acceleration_y", "acceleration_z"};

// Times at which a level's potentials hold: the present and the previous one.
struct PotentialTimes {
  double now = 0.0, previous = 0.0;
  bool solved = false;  // at least once
};

// The two halves of a step's kick.
enum class Half { first, second };

// Solves so far on one level.
struct LevelStatistics {
  std::int64_t solves = 0, cycles = 0, most_cycles = 0, rounds = 0;
  bool by_fourier = false;  // then without cycles
};

class Gravity {
 public:
  // Throws InputError where domain and gravity do not fit. The mesh must outlive this.
  Gravity(const GravityOptions& options, mesh::Mesh& mesh, const CommOptions& comm_options);

  // What attracts, on own blocks of a level, asked for whenever a level is solved; the density of
  // the gas until it is set.
  using Attracting = std::function<BlockField(int level)>;
  void set_attracting(Attracting density) { attracting_ = std::move(density); }
  // Newton's constant from now on, where it changes with time.
  void set_constant(double constant) { options_.constant = constant; }

  // To be called whenever blocks were made, removed or moved: takes the potentials along, and
  // interpolates those of new blocks. Returns the coarsest level with new blocks, whose forces,
  // and those of finer levels, must be solved for; or one past the finest level. Collective.
  int adapt_to_mesh();

  // Potential and acceleration of a level from its present density. Coarser levels must have been
  // solved before. Throws RunError if the tolerance is not reached. Collective.
  SolveReport solve(int level, double time);

  // Lets the potential of the base level be multiplied, mode by mode, by a function of wave number
  // and scale factor. Throws InputError unless Fourier transforms solve it.
  void set_transfer(TransferFunction transfer);
  void set_scale_factor(double a) { scale_factor_ = a; }

  // Of the matter that gravity sees, on the base level, without shot noise; `means` gives what of
  // it was not deposited as clouds, if there is some. Collective. The domain must be periodic.
  PowerSpectrum power_spectrum(const Attracting& means = {});
  bool is_periodic() const { return !isolated_; }

  // The gas of a level's own blocks takes half of a step's kick at its beginning, dt being half of
  // the step, and half at its end, with the force of its new density: momentum += dt rho g. In
  // between, sweeps add the mass that flows through every cell to mass_flow (SweepArguments), and
  // solve() is called once. Over the step, total energy grows by flow . (g before + g after) / 2:
  // work on the mass that moved, as the potential sees it move, also in a shock.
  void kick(int level, double dt, Half half);
  double* mass_flow(int level) { return levels_[level].flow.data(); }
  // Whether that is so (the default), or energy changes by what the kicks change of the kinetic
  // energy: better for gas that falls cold, whose flow and momentum differ by more than its heat.
  void set_work_on_flow(bool on) { work_on_flow_ = on; }

  // Largest |gx| + |gy| + |gz| of a level, over all ranks.
  double strongest(int level) const { return levels_[level].strongest; }

  // Half the sum over leaf cells of potential times the mass of this density; in a periodic domain
  // times that beyond the mean of all that attracts. BlockField{} is no mass. Collective.
  double potential_energy(const Attracting& density) const;

  // Stored fields of own blocks, in the order of Field, by slot of the mesh.
  const mesh::BlockLayout& layout() const { return layout_; }
  double* fields(int level) const { return levels_[level].blocks.values.data(); }
  PotentialTimes times(int level) const { return levels_[level].times; }
  void set_times(int level, const PotentialTimes& times) { levels_[level].times = times; }
  // After a restart, once stored fields and times are set: measures anew what solving measures.
  // Collective.
  void resume();

  const LevelStatistics& statistics(int level) const { return levels_[level].statistics; }

 private:
  struct Level {
    StoredBlocks blocks;  // [slot][field][k][j][i]
    PotentialTimes times;
    double strongest = 0.0;
    LevelStatistics statistics;
    DeviceArray<double> flow, owed;  // [slot][axis][k][j][i] and [slot][k][j][i], between kicks
    bool kicking = false;
    std::unique_ptr<LevelSolver> solver;
    std::unique_ptr<PieceTransfer> transfer;
    std::unique_ptr<CoarseBoxes> boxes;
  };
  void connect(int level);
  DeviceArray<double> base_density(const Attracting& of);
  void measure_sources();
  void measure_strongest(int level);
  bool carry_blocks(int level);
  void interpolate_new_blocks(int level, const std::vector<std::uint8_t>& is_new);
  void fill_boxes(int level, const Combination& coarse_potential);
  Combination potential_at(int level, double time) const;
  double base_cells() const;
  DeviceArray<double> right_hand_side(int level, double& reference);
  BaseFourier& fourier();
  ModeFactor base_green();
  SolveReport solve_base_by_fourier(DeviceArray<double>& phi, const DeviceArray<double>& f);
  void remove_mean(int level, const DeviceArray<double>& phi) const;
  void store_forces(int level, const DeviceArray<double>& phi);
  BlockField stored(int level, Field field) const;
  VectorField stored_acceleration(int level) const;
  BlockField gas(int level, int variable) const;
  GasFields gas(int level) const;
  WorkFields work(int level) const;
  int variable(const std::string& name) const;

  GravityOptions options_;
  mesh::Mesh& mesh_;
  Attracting attracting_;
  CommOptions comm_options_;
  mesh::BlockLayout layout_;
  int density_, momentum_, energy_;  // indices of the gas's variables
  bool isolated_, by_fourier_, work_on_flow_ = true;
  double scale_factor_ = 1.0;
  TransferFunction transfer_;
  std::unique_ptr<BaseFourier> fourier_;           // made when first asked for
  std::unique_ptr<IsolatedGreen> isolated_green_;  // likewise
  double mean_density_ = 0.0;
  Multipoles far_;
  std::unique_ptr<FieldPool> pool_ = std::make_unique<FieldPool>();
  std::vector<Level> levels_;
  Exchanger migration_;
};

}  // namespace octant::gravity
