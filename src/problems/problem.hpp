// Base class for problems: initial conditions, inflow states and additional refinement criteria,
// registered by name.
//
// A new problem needs one file: derive from Problem, write a function that creates it, and add that
// function to problems/registry.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/lattice.hpp"
#include "core/number_file.hpp"
#include "core/units.hpp"
#include "cosmology/initial_conditions.hpp"
#include "cosmology/universe.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/mesh.hpp"
#include "particles/particles.hpp"

namespace octant {
class Columns;
class ParameterSchema;
}  // namespace octant

namespace octant::gravity {
class StoredPotential;
}

namespace octant::problems {

using Position = std::array<double, 3>;

// Gas at a point, in code units.
struct GasState {
  double density = 1.0;
  std::array<double, 3> velocity{0.0, 0.0, 0.0};
  double pressure = 1.0;
  // Concentrations of the passive scalars; missing ones are 0, surplus ones ignored.
  std::vector<double> scalars{};
  // Concentrations of other scalars by index, HydroOptions::variable_index("name"); missing ones
  // have the initial value of the process that declares them.
  std::vector<std::pair<int, double>> others{};
  // Values of separate fields by index; missing ones have their initial value.
  std::vector<std::pair<int, double>> fields{};
};

// Stores the gas of the cell with this centre; variable n is at offset n * stride.
void store_state(const GasState& state, const hydro::HydroOptions& options, const Position& centre,
                 double* cell, std::int64_t stride);

// Position and time of inflow: the centre of a cell beyond an inflow boundary (axis 0-2, side 0
// below or 1 above).
struct InflowPoint {
  int axis, side;
  Position centre;
  double time;
};

// Function that receives the gas at one point of a lattice. LatticeStates calls it for all points.
using PointReceiver = std::function<void(std::int64_t point, const GasState&)>;
using LatticeStates = std::function<void(double time, const PointReceiver& receive)>;

// Properties of the run that a problem may use in prepare().
struct ProblemSetup {
  const mesh::Geometry& geometry;
  const hydro::HydroOptions& hydro;
  double G = 0.0;                                 // 0 without self-gravity
  const cosmology::Universe* universe = nullptr;  // null without expansion
  cosmology::InitialOptions initial{};            // section [initial]
  CodeUnits units{};                              // units without expansion; ones: not set
  // Reads the text files that parameters name. The reader of a run opens them on rank 0 only.
  TextReader read_text = read_text_file;

  // Returns G. Throws InputError with the name of the problem if the run has no self-gravity.
  double require_gravity(const std::string& problem) const;
};

// State of the run that a problem may use in measure().
struct ProblemContext {
  const mesh::Mesh& mesh;
  double time;
  const gravity::StoredPotential* potential;  // null without self-gravity
};

// Base class of all problems of the AMR model: initial gas and particles, inflow and measurements.
// Quantities are in code units.
class Problem {
 public:
  virtual ~Problem() = default;

  // Declares the parameters `problem.*`.
  virtual void declare(ParameterSchema& schema) = 0;

  // Called once after all parameters are read. Throws InputError if the problem is incompatible
  // with other parameters.
  virtual void prepare(const ProblemSetup&) {}
  // Remarks about the parameters, for the log and `octant check`. Valid after prepare().
  virtual std::vector<std::string> notes() const { return {}; }
  // Forbids to write files, in rehearsals. Called before begin().
  virtual void keep_files() {}

  // Called once on all ranks before the functions below, also after a restart. Returns the time of
  // the initial state. Collective.
  virtual double begin(const Communicator&) { return 0.0; }
  // Called when no further initial states or particles are needed.
  virtual void end_of_beginning() {}

  // Initial gas at the centre of a cell of the given size, or its mean over that cell. Must depend
  // on its arguments alone.
  virtual GasState initial_state(const Position& centre, double cell_size) const = 0;

  // Function that receives the gas of a cell; cell (i, j, k) of a block has index (k N + j) N + i.
  using StateReceiver = std::function<void(int slot, int cell, const GasState&)>;
  // Sets the gas of all cells of a level's own blocks; by default from initial_state(). Collective.
  virtual void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive);

  // Particle kinds of the problem, valid after prepare().
  virtual std::vector<particles::Kind> particle_kinds() const { return {}; }
  // This rank's initial particles of a kind; any distribution with each particle on one rank is
  // allowed. Collective.
  virtual particles::ParticleBatch initial_particles(const std::string& /*kind*/,
                                                     const Communicator&) {
    return {};
  }

  // Gas that enters through inflow boundaries. Must depend on the argument alone.
  virtual GasState inflow_state(const InflowPoint&) const { return {}; }
  // Returns a function for the inflow states at the cell centres of a lattice.
  virtual LatticeStates inflow_states(int axis, int side, const Lattice& centres) const;
  // True if the inflow changes with time.
  virtual bool inflow_moves() const { return false; }

  // Flags cells of a level to be refined, in addition to the criteria of [refine]: see
  // mesh/flagging.hpp. `masks` has one word per slot, as in hydro/refinement.hpp.
  virtual void flag_cells(const mesh::Mesh&, int /*level*/,
                          const mesh::DeviceArray<std::uint64_t>& /*masks*/) const {}

  // Computes measurements, which must depend on the state and on parameters alone. Collective.
  virtual void measure(const ProblemContext& /*context*/) {}
  // Adds the problem's columns of history.csv as of the last measure(). The columns are fixed and
  // known before the first measurement.
  virtual void add_columns(Columns& /*columns*/) const {}
};

// Adds the angular momentum per mass about the centre of a cell to three variables of its gas,
// which begin at index `spin`: h^2 / 12 times the curl of the initial velocity, exact for a cube in
// rigid rotation.
void add_spin(const Problem& problem, int spin, const Position& centre, double cell_size,
              GasState& gas);

// Creates the problem of this name. For unknown names, throws InputError that lists all names, the
// most similar first.
std::unique_ptr<Problem> make_problem(const std::string& name);

// Names of all problems.
std::vector<std::string> problem_names();

// --- cells with a mixture of two gases -----------------------------------------------------------

// Mean over a cell with a volume fraction `fraction` of `first`, the rest `second`: mass, momentum
// and total energy are conserved. Scalars are left out.
inline GasState mixture(const GasState& first, const GasState& second, double fraction,
                        double gamma) {
  if (fraction >= 1.0) return first;
  if (fraction <= 0.0) return second;
  const double mass1 = fraction * first.density, mass2 = (1.0 - fraction) * second.density;
  GasState mean;
  mean.density = mass1 + mass2;
  double relative_squared = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    mean.velocity[axis] =
        (mass1 * first.velocity[axis] + mass2 * second.velocity[axis]) / mean.density;
    const double relative = first.velocity[axis] - second.velocity[axis];
    relative_squared += relative * relative;
  }
  // The kinetic energy of relative motion becomes heat.
  const double heat = 0.5 * mass1 * mass2 / mean.density * relative_squared;
  mean.pressure =
      fraction * first.pressure + (1.0 - fraction) * second.pressure + (gamma - 1.0) * heat;
  return mean;
}

}  // namespace octant::problems
