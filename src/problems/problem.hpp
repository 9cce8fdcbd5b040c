// A problem: initial conditions, boundary states and refinement of its own, registered by a name.
//
// Adding a problem takes one file: derive from Problem, write a function that makes it, and name
// that function in problems/factories.hpp and problems/registry.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/code_units.hpp"
#include "core/lattice.hpp"
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

// The gas at a point, in code units.
struct GasState {
  double density = 1.0;
  std::array<double, 3> velocity{0.0, 0.0, 0.0};
  double pressure = 1.0;
  // Concentrations of the passive scalars: missing are 0, surplus dropped.
  std::vector<double> scalars{};
  // Those of other scalars, by their places, HydroOptions::place("name"): missing begin as whoever
  // brings them says.
  std::vector<std::pair<int, double>> others{};
};

// Writes what the gas of one cell stores; variable n lies n * stride after the first one.
void store_state(const GasState& state, const hydro::HydroOptions& options, double* cell,
                 std::int64_t stride);

// Where and when gas enters: in a cell beyond an inflow boundary (axis 0-2, side 0 below or 1
// above) with this centre.
struct InflowPlace {
  int axis, side;
  Position centre;
  double time;
};

// The gas of the points of a lattice, at a time: gives it to `receive`, point by point.
using PointReceiver = std::function<void(std::int64_t point, const GasState&)>;
using LatticeStates = std::function<void(double time, const PointReceiver& receive)>;

// What a problem may look at when it prepares itself.
struct Setting {
  const mesh::Geometry& geometry;
  const hydro::HydroOptions& hydro;
  double G = 0.0;                                 // of self-gravity; 0: there is none
  const cosmology::Universe* universe = nullptr;  // null: nothing expands
  cosmology::InitialOptions initial{};            // section [initial]
  CodeUnits units{};                              // where nothing expands; ones: none are known
};

// What a problem may look at whenever the state of a run is measured.
struct Present {
  const mesh::Mesh& mesh;
  double time;
  const gravity::StoredPotential* potential;  // null without self-gravity
};

class Problem {
 public:
  virtual ~Problem() = default;

  // Declares the parameters `problem.*`.
  virtual void declare(ParameterSchema& schema) = 0;

  // Called once, after all parameters are read. Throws InputError where the problem and the rest of
  // the parameters do not fit.
  virtual void prepare(const Setting&) {}

  // Called once on all ranks before anything below, in a restarted run too. Returns the time at
  // which initial states hold. Collective.
  virtual double begin(const Communicator&) { return 0.0; }
  // From now on no initial state or particle is asked for.
  virtual void end_of_beginning() {}

  // The gas at the centre of a cell of the given size when the run begins, or its mean over that
  // cell. Must depend on its arguments alone.
  virtual GasState initial_state(const Position& centre, double cell_size) const = 0;

  // Gives the gas of all cells of a level's own blocks, cell (k N + j) N + i of a block; from
  // initial_state, unless the problem knows a level as a whole. Collective.
  using StateReceiver = std::function<void(int slot, int cell, const GasState&)>;
  virtual void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive);

  // The kinds of particles that move among the gas, after prepare(); and this rank's share of those
  // of a kind when the run begins, any share as long as each particle is with one rank. Collective.
  virtual std::vector<particles::Kind> particle_kinds() const { return {}; }
  virtual particles::ParticleBatch initial_particles(const std::string& /*kind*/) { return {}; }

  // The gas that enters through inflow boundaries, and whether it changes with time. Must depend on
  // the argument alone.
  virtual GasState inflow_state(const InflowPlace&) const { return {}; }
  // The same of all cells of a box: those with these centres.
  virtual LatticeStates inflow_states(int axis, int side, const Lattice& centres) const;
  virtual bool inflow_moves() const { return false; }

  // Flags cells of a level to be refined, in addition to the criteria of [refine]: see
  // mesh/flagging.hpp. `masks` has one word per slot, as in hydro/refinement.hpp.
  virtual void flag_cells(const mesh::Mesh&, int /*level*/,
                          const mesh::DeviceArray<std::uint64_t>& /*masks*/) const {}

  // What it measures of the state, beside what every run does; must depend on the state and on
  // parameters alone. Collective.
  virtual void measure(const Present& /*present*/) {}
  // Its columns of history.csv, as of the last measure(): the same ones throughout a run, and known
  // before.
  virtual void add_columns(Columns& /*columns*/) const {}
};

// Adds to the gas of a cell, from `spin` on, the angular momentum about its centre, per mass, if it
// turns as the initial states around it do: h^2 / 12 times the curl, as that of a rigid cube.
void add_spin(const Problem& problem, int spin, const Position& centre, double cell_size,
              GasState& gas);

// The problem of this name. Throws InputError that lists the names, the nearest one first.
std::unique_ptr<Problem> make_problem(const std::string& name);

std::vector<std::string> problem_names();

}  // namespace octant::problems
