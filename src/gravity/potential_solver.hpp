// A potential solver: how the potential and the force of all mass are found on every level. What is
// stored of them, and what they do to gas and particles, is not its business.
//
// Adding one takes one file in gravity/, with a class and potential_solver_kind() of it, and its
// name in the list of potential_solvers.cpp. gravity/multigrid.cpp is one.
#pragma once

#include <functional>
#include <memory>
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

// What a mode of wave number k (2 pi / wavelength, in code length) of the potential is multiplied
// by at scale factor a: modified gravity, massive neutrinos, smoothing.
using TransferFunction = std::function<double(double k, double a)>;

// What a solver works on. All but the options, which it copies, outlives it.
struct SolverSetting {
  const GravityOptions& options;
  const CommOptions& comm_options;
  const mesh::Mesh& mesh;
  StoredPotential& stored;
  BaseGrid& base;
  PatchLevels& levels;
  mesh::FieldPool& pool;
};

// What attracts at the time of a solve.
struct Sources {
  std::function<mesh::LentField(int level)> density;  // of own blocks
  double mean = 0.0;                                  // of it, in a periodic domain
  double constant = 1.0;                              // Newton's
  double scale_factor = 1.0;
};

struct LevelRange {
  int first, last;
};

// How a solve went. Norms are root mean squares over the domain's cells of the level.
struct SolveReport {
  int cycles = 0;
  double first_residual = 0.0, residual = 0.0;  // before and after, relative to the reference
  double reference = 0.0;
  bool by_rounding = false;  // ended at the rounding of the residual, above the tolerance
  std::int64_t rounds = 0;   // halo exchanges on the finest grid
};

// All functions are collective, but solves_single_levels() and report().
class PotentialSolver {
 public:
  virtual ~PotentialSolver() = default;

  // Whether a level can be solved at each of its own steps, by itself, from what is stored of the
  // coarser one. A solver that cannot is always asked for a level together with all finer ones, and
  // finds their potential from the density of all levels, as it is.
  virtual bool solves_single_levels() const = 0;

  // Called before anything else, and whenever blocks were made, removed or moved.
  virtual void connect() = 0;

  // Called before a solve that includes the base level, and after a restart: measures what solves
  // of finer levels must know of the whole domain.
  virtual void measure(const Sources& /*sources*/) {}

  // Sets the potential and the acceleration of own blocks of these levels (StoredPotential::field),
  // and no others. They hold for StoredPotential::times; what is stored as the potential is a
  // guess. The acceleration need not be the gradient of the potential. Throws RunError where there
  // is no solution.
  virtual SolveReport solve(LevelRange levels, const Sources& sources) = 0;

  // The energy of the field in every cell of a level's own blocks that its forces do not see, where
  // they are not the gradient of the potential: what mass can do there is that much less than half
  // of itself times the potential. False if there is none. After solving for the level's time.
  virtual bool find_unfelt_energy(int /*level*/, const mesh::BlockField& /*energy*/) {
    return false;
  }

  // Guesses both potentials of new blocks of a level for the level's times, from the coarser level,
  // which was solved for. Unless a solver does better, they are 0.
  virtual void guess(int level, const mesh::CellRange& blocks);

  // Lets the potential be multiplied, mode by mode. Throws InputError where it cannot be.
  virtual void set_transfer(TransferFunction transfer);

  // A line for the log about the solves of a level so far; empty if there is nothing to say.
  virtual std::string report(int /*level*/) const { return {}; }

 protected:
  explicit PotentialSolver(const SolverSetting& setting) : stored_(setting.stored) {}
  StoredPotential& stored() const { return stored_; }

 private:
  StoredPotential& stored_;
};

// A choice of gravity.solver: its own parameters, and what makes a solver by them.
class PotentialSolverKind {
 public:
  virtual ~PotentialSolverKind() = default;
  virtual const char* name() const = 0;
  virtual void declare(ParameterSchema& schema) = 0;
  // Throws InputError where domain, options and parameters do not fit. Collective.
  virtual std::unique_ptr<PotentialSolver> make(const SolverSetting& setting) const = 0;
};

// The kind of a class that has a `name`, a struct `Parameters` with declare(), and a constructor
// from both parameters and setting.
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

// Every choice of gravity.solver.
std::vector<std::unique_ptr<PotentialSolverKind>> potential_solver_kinds();

}  // namespace octant::gravity
