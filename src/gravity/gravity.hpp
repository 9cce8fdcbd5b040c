// The face of gravity/: the potential of all mass on every level of a mesh, and what it does to the
// gas. How the potential is found is a solver's business (gravity.solver, potential_solver.hpp).
//
//   laplacian(phi) = 4 pi G (rho - mean)   in a periodic domain
//   laplacian(phi) = 4 pi G rho            in one without periodic boundaries, phi = 0 at infinity
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gravity/gas_work.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_levels.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/potential_work.hpp"
#include "gravity/stored_potential.hpp"

namespace octant::gravity {

class Gravity {
 public:
  // Throws InputError where domain, options and solver do not fit. The mesh must outlive this.
  // Collective.
  Gravity(const GravityOptions& options, mesh::Mesh& mesh, const CommOptions& comm_options,
          FourierSchedule schedule = FourierSchedule::host);

  // What attracts, on own blocks of a level, asked for whenever a level is solved; the density of
  // the gas until it is set.
  using Attracting = std::function<mesh::LentField(int level)>;
  void set_attracting(Attracting density) { sources_.density = std::move(density); }
  // Newton's constant, and the scale factor, from now on, where they change with time.
  void set_constant(double constant) { sources_.constant = constant; }
  void set_scale_factor(double a) { sources_.scale_factor = a; }
  // Lets the potential be multiplied, mode by mode, by a function of wave number and scale factor.
  // Throws InputError unless the solver can do it.
  void set_transfer(TransferFunction transfer) { solver_->set_transfer(std::move(transfer)); }

  // To be called whenever blocks were made, removed or moved: takes the potentials along, and lets
  // the solver guess those of new blocks. Returns the coarsest level with new blocks, whose forces,
  // and those of finer levels, must be solved for; or one past the finest level. Collective.
  int adapt_to_mesh();

  // The levels that must be solved together with this one, which is the coarsest of them.
  LevelRange solved_with(int level) const;
  // Whether every level is solved by itself, from its own density.
  bool solves_single_levels() const { return solver_->solves_single_levels(); }

  // Potential and acceleration of such levels from their present density. Coarser levels must have
  // been solved before. Throws RunError if there is no solution. Collective.
  SolveReport solve(LevelRange levels, double time);
  SolveReport solve(int level, double time) { return solve({level, level}, time); }

  // The power spectrum, without shot noise, of a density in the base level's own blocks, of which
  // particles are part as clouds of the size of a base cell; `means` is the part that was not
  // deposited as clouds; all ranks pass one or none does. Collective. The domain must be periodic.
  PowerSpectrum power_spectrum(const BlockField& density,
                               const std::optional<BlockField>& means = std::nullopt);
  bool is_periodic() const { return periodic_; }

  // What the force does to the gas of a level: see GasWork. Collective.
  void kick(int level, double dt, Half half);
  // Changes the velocity of a level's gas, which keeps its heat.
  void push(int level, const VectorField& change) { gas_.push(level, change); }
  double* mass_flow(int level) { return gas_.mass_flow(level); }
  mesh::FaceFlow face_flow(int level) { return gas_.face_flow(level); }
  double* energy_taken(int level) { return gas_.energy_taken(level); }
  void set_work_on_flow(WorkOnFlow work) { gas_.set_work_on_flow(work); }
  // Over all ranks; see GasWork. Collective.
  double take_spared_work() { return gas_.take_spared_work(); }
  void set_frame(const mesh::Frame& frame) { gas_.set_frame(frame); }

  // Largest |gx| + |gy| + |gz| of a level, over all ranks.
  double strongest(int level) const { return strongest_[level]; }

  // Half the sum over leaf cells of potential times the mass of this density; in a periodic domain
  // times that beyond the mean of all that attracts. BlockField{} is no mass. Collective.
  double potential_energy(const Attracting& density) const;

  // To be added to that of all matter: the energy of the field in leaf cells that the solver's
  // forces do not see. With it, potential energy is what forces can do. Collective.
  double unfelt_energy();

  // What is stored of the cells, in checkpoints too.
  StoredPotential& stored() { return *stored_; }
  const StoredPotential& stored() const { return *stored_; }
  // After a restart, once stored fields and times are set: measures anew what solving measures.
  // Collective.
  void resume();

  // A line about the solves of a level so far, or nothing.
  std::string report(int level) const { return solver_->report(level); }

 private:
  void begin_blocks(int level, const CellRange& blocks);
  void measure_sources();
  void measure_strongest(int level);
  double over_ranks(ReproducibleSum sum) const;

  mesh::Mesh& mesh_;
  bool periodic_;
  Sources sources_;
  GasWork gas_;
  std::unique_ptr<StoredPotential> stored_;
  FieldPool& pool_;
  std::unique_ptr<BaseGrid> base_;
  std::unique_ptr<PatchLevels> levels_;
  std::unique_ptr<PotentialWork> potential_work_;
  std::unique_ptr<PotentialSolver> solver_;
  std::vector<double> strongest_;  // by level
};

}  // namespace octant::gravity
