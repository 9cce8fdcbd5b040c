// Interface of potential solvers, which compute the potential and the force of all mass on every
// level. Their storage and their action on gas and particles are separate.
//
// A new solver is one file in gravity/, with a class and potential_solver_kind() of it, and its
// name in the list of potential_solvers.cpp. gravity/multigrid.cpp is one.
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
// factor a: modified gravity, massive neutrinos, smoothing.
using TransferFunction = std::function<double(double k, double a)>;

// Data that a solver uses. All but the options, which it copies, outlive it.
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
  std::function<mesh::LentField(int level)> density;  // density of own blocks
  double mean = 0.0;                                  // its mean, in a periodic domain
  double constant = 1.0;                              // Newton's constant
  double scale_factor = 1.0;
};

struct LevelRange {
  int first, last;
};

// Result of a solve. Norms are root mean squares over the domain's cells of the level.
struct SolveReport {
  int cycles = 0;
  double first_residual = 0.0, residual = 0.0;  // before and after, relative to the reference
  double reference = 0.0;
  bool by_rounding = false;  // ended at the rounding of the residual, above the tolerance
  std::int64_t rounds = 0;   // halo exchanges on the finest grid
  // CPU time without MPI of work that all ranks share evenly, whoever owns the blocks: transforms.
  std::int64_t shared_ns = 0;
};

// All functions but solves_single_levels() and report() are collective.
class PotentialSolver {
 public:
  virtual ~PotentialSolver() = default;

  // Returns true if a level can be solved at each of its own steps, separately, from the stored
  // potential of the coarser one. Other solvers always solve a level together with all finer ones,
  // from the present density of all levels.
  virtual bool solves_single_levels() const = 0;

  // Called before anything else, and whenever blocks were created, removed or moved.
  virtual void connect() = 0;

  // Called before a solve that includes the base level, and after a restart: measures domain-wide
  // data for solves of finer levels.
  virtual void measure(const Sources& /*sources*/) {}

  // Sets the potential and the acceleration of own blocks of these levels (StoredPotential::field),
  // and no others, at the times StoredPotential::times. The stored potential is the initial guess.
  // The acceleration need not be the gradient of the potential. Throws RunError if there is no
  // solution.
  virtual SolveReport solve(LevelRange levels, const Sources& sources) = 0;

  // Sets the energy of the field in every cell of a level's own blocks that forces do not represent
  // if they are not the gradient of the potential: half of mass times potential exceeds the
  // possible work by this. Returns false if there is none. Called after a solve for the level's
  // time.
  virtual bool find_unfelt_energy(int /*level*/, const mesh::BlockField& /*energy*/) {
    return false;
  }

  // Guesses both potentials of new blocks of a level for the level's times, from the coarser level,
  // which was solved for. The default is 0.
  virtual void guess(int level, const mesh::CellRange& blocks);

  // Adds the processor cycles counted since the last call to own blocks of a level, by slot. The
  // default counts none.
  virtual void take_block_cycles(int /*level*/, std::span<std::uint64_t> /*by_slot*/) {}

  // Multiplies the potential, mode by mode. Throws InputError if the solver does not support this.
  virtual void set_transfer(TransferFunction transfer);

  // Returns a log line about the solves of a level so far; empty if there is nothing to report.
  virtual std::string report(int /*level*/) const { return {}; }

 protected:
  explicit PotentialSolver(const SolverSetting& setting) : stored_(setting.stored) {}
  StoredPotential& stored() const { return stored_; }

 private:
  StoredPotential& stored_;
};

// Choice of gravity.solver: its parameters, and a factory for the solver.
class PotentialSolverKind {
 public:
  virtual ~PotentialSolverKind() = default;
  virtual const char* name() const = 0;
  virtual void declare(ParameterSchema& schema) = 0;
  // Throws InputError if domain, options and parameters are incompatible. Collective.
  virtual std::unique_ptr<PotentialSolver> make(const SolverSetting& setting) const = 0;
};

// Kind of a class that has a `name`, a struct `Parameters` with declare(), and a constructor from
// both parameters and setting.
template <class Solver>
class SolverKind final : public PotentialSolverKind {
 public:
  const char* name() const override { return Solver::name; }
  void declare(ParameterSchema& schema) override { parameters_.declare(schema); }
  std::unique_ptr<PotentialSolver> make(const SolverSetting& setting) const override {
    return std::make_unique<Solver>(parameters_, setting);
  }

 private:
  typename Solver::Parameters parameters_;
};

// Each solver defines its own: template <> ... potential_solver_kind<Multigrid>().
template <class Solver>
std::unique_ptr<PotentialSolverKind> potential_solver_kind();

// Returns all choices of gravity.solver.
std::vector<std::unique_ptr<PotentialSolverKind>> potential_solver_kinds();

}  // namespace octant::gravity
