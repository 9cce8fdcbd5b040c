// Interface of gravity/: the potential of all mass on every level of a mesh, and the action of
// gravity on the gas. gravity.solver selects the solver for the potential (potential_solver.hpp).
//
//   laplacian(phi) = 4 pi G (rho - mean)   in a periodic domain
// laplacian(phi) = 4 pi G rho in an isolated system, phi = 0 at infinity
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "gravity/base_grid.hpp"
#include "gravity/gas_work.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/stored_potential.hpp"

namespace octant::gravity {

// Self-gravity of a run: potential and acceleration on all levels, and the kicks of the gas.
class Gravity {
 public:
  // Constructor. Throws InputError if domain, options and solver are incompatible. The mesh must
  // outlive this object. Collective.
  Gravity(const GravityOptions& options, mesh::Mesh& mesh, const CommOptions& comm_options,
          FourierSchedule schedule = FourierSchedule::host);

  // Density of all gravitating matter on own blocks of a level, evaluated at every solve.
  using Attracting = std::function<mesh::OptionallyOwnedField(int level)>;
  // Sets the gravitating density; the default is the gas density.
  void set_attracting(Attracting density) { sources_.density = std::move(density); }
  // Sets Newton's constant in code units for all later solves.
  void set_constant(double constant) { sources_.constant = constant; }
  // Sets the scale factor for transfer functions; 1 without expansion.
  void set_scale_factor(double a) { sources_.scale_factor = a; }
  // Multiplies the potential, mode by mode, by a function of wavenumber and scale factor. Throws
  // InputError if the solver does not support this.
  void set_transfer(TransferFunction transfer) { solver_->set_transfer(std::move(transfer)); }

  // Adapts to a changed mesh. Must be called whenever blocks were created, removed or moved. Moves
  // the stored potentials with their blocks and initialises those of new blocks. Returns the
  // coarsest level that must be solved again, the coarsest one with new blocks, or finest level + 1
  // if there are none. Collective.
  int adapt_to_mesh();

  // Returns the levels that must be solved together, of which `level` is the coarsest.
  LevelRange solved_with(int level) const;
  // Returns true if every level is solved separately, from its own density.
  bool solves_single_levels() const { return solver_->solves_single_levels(); }

  // Computes potential and acceleration of `levels` at `time` from the current density. Coarser
  // levels must have been solved before. Throws RunError without convergence. Collective.
  SolveReport solve(LevelRange levels, double time);
  // Computes potential and acceleration of one level at `time`. Collective.
  SolveReport solve(int level, double time) { return solve({level, level}, time); }

  // Returns the power spectrum of a density in own blocks of the base level, in which particles are
  // clouds of the size of a base cell. shot_noise is not set. `means` is the part of the density
  // that was not deposited as clouds; either all ranks pass it or none. The domain must be
  // periodic. Collective.
  PowerSpectrum power_spectrum(const BlockField& density,
                               const std::optional<BlockField>& means = std::nullopt);
  // Returns true in a periodic domain, false for an isolated system.
  bool is_periodic() const { return periodic_; }

  // Applies a half kick to the gas of a level; see GasWork. Collective.
  void kick(int level, double dt, Half half);
  // Changes the velocity of a level's gas at constant internal energy.
  void add_velocity(int level, const VectorField& change) { gas_.add_velocity(level, change); }
  // Mass flow through the cells of own blocks in this step, to which sweeps add; null if
  // gravity.work = "potential". Device memory.
  double* mass_flow(int level) { return gas_.mass_flow(level); }
  // Mass flow through the faces of own blocks in this step, to which sweeps add; empty unless
  // gravity.work = "potential".
  mesh::FaceFlow face_flow(int level) { return gas_.face_flow(level); }
  // Array to which sweeps add the energy that they remove from the cells of a level; null if that
  // energy is not accumulated. Device memory.
  double* energy_taken(int level) { return gas_.energy_taken(level); }
  // Sets the update of the energy of the gas for all later steps; see gas_work.hpp.
  void set_energy_update(const EnergyUpdate& update) { gas_.set_energy_update(update); }
  // Returns the work withheld on this rank since the last call; see GasWork. Local.
  ReproducibleSum take_withheld_work() { return gas_.take_withheld_work(); }
  // Sets the frame in which the mesh is at rest; see GasWork.
  void set_frame(const mesh::Frame& frame) { gas_.set_frame(frame); }

  // Maximum |gx| + |gy| + |gz| on each level. A solution sets the values of this rank's cells;
  // set_strongest() replaces them by the maxima over all ranks, which the caller reduces together
  // with others.
  const std::vector<double>& strongest() const { return strongest_; }
  // Sets the maxima over all ranks.
  void set_strongest(std::span<const double> maxima) {
    strongest_.assign(maxima.begin(), maxima.end());
    strongest_is_local_ = false;
  }
  // True if strongest() is that of this rank's cells. Equal on all ranks.
  bool strongest_is_local() const { return strongest_is_local_; }

  // Returns half the sum over this rank's leaf cells of potential times mass, where the mass is
  // that of `density`, minus the mean density of all matter in a periodic domain. BlockField{} is
  // 0. Local.
  ReproducibleSum potential_energy(const Attracting& density) const;

  // Returns the field energy in this rank's leaf cells that the forces of the solver do not
  // represent. Forces can convert this energy plus the potential energy of all matter. Collective.
  ReproducibleSum unresolved_energy();

  // Fields stored for every cell, also in checkpoints.
  StoredPotential& stored() { return *stored_; }
  // Fields stored for every cell, for reading.
  const StoredPotential& stored() const { return *stored_; }
  // Restores derived data after a restart. Stored fields and times must be set. Collective.
  void resume();

  // Adds the processor cycles since the last call to own blocks, by slot; see PotentialSolver.
  void take_block_cycles(int level, std::span<std::uint64_t> by_slot) {
    solver_->take_block_cycles(level, by_slot);
  }

  // Returns a log line about the solves of a level so far, or an empty string.
  std::string report(int level) const { return solver_->report(level); }

 private:
  void begin_blocks(int level, const CellRange& blocks);
  void measure_sources();
  void measure_strongest(LevelRange levels);

  mesh::Mesh& mesh_;
  bool periodic_;
  Sources sources_;
  GasWork gas_;
  std::unique_ptr<StoredPotential> stored_;
  FieldPool& pool_;
  std::unique_ptr<PatchLevels> levels_;
  std::unique_ptr<BaseGrid> base_;
  std::unique_ptr<PotentialWork> potential_work_;
  std::unique_ptr<PotentialSolver> solver_;
  std::vector<double> strongest_;  // largest acceleration by level
  bool strongest_is_local_ = false;
};

}  // namespace octant::gravity
