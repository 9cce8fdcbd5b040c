// Interface of potential solvers, which compute the potential and the acceleration due to all mass
// on every level. Storage of these fields and their action on gas and particles are separate.
//
// A new solver is one file in gravity/ that contains a class and its potential_solver_kind(); its
// name must be added to the list of potential_solvers.cpp. gravity/multigrid.cpp is an example.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mesh/field_pool.hpp"

namespace octant {
class ParameterSchema;
struct CommOptions;
}  // namespace octant

namespace octant::mesh {
class Mesh;
}

namespace octant::gravity {

class BaseGrid;
class PatchLevels;
class StoredPotential;
struct GravityOptions;

// Factor of the potential of a mode of wavenumber k (2 pi / wavelength, in code length) at scale
// factor a, for modified gravity, massive neutrinos or smoothing.
using TransferFunction = std::function<double(double k, double a)>;

// Data that a solver uses. All members but the two options outlive the solver.
struct SolverSetting {
  const GravityOptions& options;
  const CommOptions& comm_options;
  const mesh::Mesh& mesh;
  StoredPotential& stored;
  BaseGrid& base;
  PatchLevels& levels;
  mesh::FieldPool& pool;
};

// Gravitating matter at the time of a solve.
struct Sources {
  std::function<mesh::OptionallyOwnedField(int level)> density;  // density of own blocks
  double mean = 0.0;      // mean of the density, in a periodic domain
  double constant = 1.0;  // Newton's constant in code units
  double scale_factor = 1.0;
};

// Levels from `first` to `last`, inclusive.
struct LevelRange {
  int first, last;
};

// Result of a solve.
struct SolveReport {
  int cycles = 0;
  // norms of the residual before and after the solve, relative to `reference`
  double first_residual = 0.0, residual = 0.0;
  double reference = 0.0;    // norm of the right-hand side, or variation if larger
  bool by_rounding = false;  // true if the residual is round-off above the tolerance
  std::int64_t rounds = 0;   // number of halo exchanges on the finest grid
  int far_cycles = 0;        // number of first V-cycles with residuals far above the tolerance
  // CPU time, without MPI, of Fourier transforms, whose work is divided evenly among ranks.
  std::int64_t shared_ns = 0;
};

// Solver for the potential and the acceleration on all levels. All functions but
// solves_single_levels() and report() are collective.
class PotentialSolver {
 public:
  virtual ~PotentialSolver() = default;

  // Returns true if a level can be solved separately at each of its steps, from the stored
  // potential of the coarser level. Other solvers always solve a level together with all finer
  // levels, from the present density of all levels.
  virtual bool solves_single_levels() const = 0;

  // Updates tables for the mesh. Called before the functions below, and whenever blocks were
  // created, removed or moved.
  virtual void connect() = 0;

  // Measures domain-wide data for solves of finer levels. Called before a solve that includes the
  // base level, and after a restart.
  virtual void measure(const Sources& /*sources*/) {}

  // Computes potential and acceleration in own blocks of `levels` only (StoredPotential::field), at
  // the times StoredPotential::times. The stored potential is the initial guess. The acceleration
  // need not be the gradient of the potential. Throws RunError if the solver does not converge.
  virtual SolveReport solve(LevelRange levels, const Sources& sources) = 0;

  // Computes, in every cell of a level's own blocks, the field energy per volume that forces do not
  // represent if they are not the gradient of the potential: the excess of half of mass times
  // potential over the possible work. Returns false if there is none. Called after a solve.
  virtual bool find_unresolved_energy(int /*level*/, const mesh::BlockField& /*energy*/) {
    return false;
  }

  // Sets the current and previous potential of new blocks of a level from the solution of the
  // coarser level. The default is 0.
  virtual void guess(int level, const mesh::CellRange& blocks);

  // Adds the processor cycles since the last call to own blocks of a level, by slot. Default: none.
  virtual void take_block_cycles(int /*level*/, std::span<std::uint64_t> /*by_slot*/) {}

  // Sets a factor by which every mode of the potential is multiplied. Throws InputError if the
  // solver does not support this.
  virtual void set_transfer(TransferFunction transfer);

  // Returns a log line about the solves of a level so far; empty if there is nothing to report.
  virtual std::string report(int /*level*/) const { return {}; }

 protected:
  explicit PotentialSolver(const SolverSetting& setting) : stored_(setting.stored) {}
  StoredPotential& stored() const { return stored_; }

 private:
  StoredPotential& stored_;
};

// Kind of solver in gravity.solver, with the parameters of the solver and a factory function.
class PotentialSolverKind {
 public:
  virtual ~PotentialSolverKind() = default;
  // Name in gravity.solver.
  virtual const char* name() const = 0;
  // Declares the parameters of the solver. This object must outlive all reads of the schema.
  virtual void declare(ParameterSchema& schema) = 0;
  // Creates the solver. Throws InputError if domain, options and parameters are incompatible.
  // Collective.
  virtual std::unique_ptr<PotentialSolver> make(const SolverSetting& setting) const = 0;
};

// Kind for a solver class with a `name`, a struct `Parameters` with declare(), and a constructor
// from parameters and setting.
template <class Solver>
class SolverKind final : public PotentialSolverKind {
 public:
  // Name in gravity.solver.
  const char* name() const override { return Solver::name; }
  // Declares the parameters of the solver.
  void declare(ParameterSchema& schema) override { parameters_.declare(schema); }
  // Creates the solver.
  std::unique_ptr<PotentialSolver> make(const SolverSetting& setting) const override {
    return std::make_unique<Solver>(parameters_, setting);
  }

 private:
  typename Solver::Parameters parameters_;
};

// Returns the kind of a solver. The file of each solver defines a specialisation: template <> ...
// potential_solver_kind<Multigrid>().
template <class Solver>
std::unique_ptr<PotentialSolverKind> potential_solver_kind();

// Returns all kinds of solvers.
std::vector<std::unique_ptr<PotentialSolverKind>> potential_solver_kinds();

}  // namespace octant::gravity
