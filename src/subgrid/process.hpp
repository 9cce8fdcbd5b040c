// Base class of processes: physics that acts on the gas, such as heating and cooling, or on gas and
// particles together, such as star formation.
//
// A new process needs one file in subgrid/, from the class to make_process(), and its name in the
// list of processes.cpp. subgrid/heating.cpp is a short example.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "mesh/mesh.hpp"
#include "particles/kind.hpp"
#include "particles/particles.hpp"
#include "subgrid/events/affected_blocks.hpp"
#include "subgrid/leaf_cells.hpp"
#include "subgrid/ledger.hpp"

namespace octant::mesh {
class FaceFields;
}

namespace octant::subgrid {

// Newly formed star for the log of births; in code units, except for the state of the gas.
struct StarBirth {
  std::uint64_t id = 0;
  std::int32_t level = 0;
  std::array<double, 3> position{}, velocity{};
  double mass = 0.0, metallicity = 0.0;
  double hydrogen = 0.0;          // hydrogen nuclei in cm^-3
  double temperature = 0.0;       // over the mean molecular weight, in K
  double virial_parameter, mach;  // turbulence in the cell; NaN if not computed
};

// Merger of a black hole with the heaviest of its group, for the log of mergers: masses before the
// merger in code units; `id` and `position` of the remnant.
struct HoleMerger {
  std::uint64_t id = 0, heaviest = 0, other = 0;
  double heaviest_mass = 0.0, other_mass = 0.0;
  std::array<double, 3> position{};
};

// All levels whose steps end at the same time, from `coarsest` on, and the particles, each stored
// in the finest block that contains it. A coarse step ends if `coarsest` is 0.
struct SyncPoint {
  mesh::Mesh& mesh;
  std::span<particles::Particles> kinds;
  int coarsest;
  double time, scale_factor;
  CodeUnits units;  // code units at that time
  // function that returns the proper time in s of a code time
  std::function<double(double time)> seconds;
  std::vector<GasLevel> levels;  // gas of the levels from `coarsest` on
  std::vector<double> steps;     // their time steps, in the order of `levels`
  // Position of that time between the coarser level's old (0) and present (1) states.
  double arrived = 1.0;
  // face-centred fields of all processes; null if there are none
  mesh::FaceFields* faces = nullptr;

  // Logs of this rank, to which processes append.
  std::vector<StarBirth> births{};
  std::vector<HoleMerger> mergers{};

  // Returns the particles of a kind. Throws RunError if there is no such kind.
  particles::Particles& kind(const std::string& name) const;

  // Fills the ghost cells of levels[n] from the present state. They remain valid until another
  // level is filled. levels[n - 1] must be filled first. Collective.
  void fill_ghosts(std::size_t n) const;
};

}  // namespace octant::subgrid

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

// Scalar advected with the gas. Several processes may declare the same one; the first sets its
// initial value.
using hydro::GasVariable;

// Metal mass fraction, common to all processes that use it.
GasVariable metals(double initial = 0.0);

// Properties of the run that a process may use in prepare().
struct ProcessSetup {
  bool has_gas, expands;    // has_gas: the run has gas; expands: comoving box
  bool has_units;           // true if code units are defined in cgs
  bool has_gravity;         // true with self-gravity
  bool has_stars;           // true if any process or problem creates stars
  bool has_black_holes;     // true with accreting black holes, black_holes.enabled
  double mean_gas_density;  // mean gas density in an expanding box; else 0
  mesh::Geometry geometry;
  hydro::Gas gas;
  std::vector<std::string> scalars;  // in the order of storage
  EventSearch event_search;          // events.method
  bool is_balanced = false;          // hydro.well_balanced with hydro.acceleration alone
  bool gas_moves = true;             // hydro.moves
  // Speed of light in cm/s, the ratio of its reduced value to it, and the index of the density of
  // the first group of photons among the variables of the mesh; set if a process has photons.
  double light_speed = 0.0, speed_ratio = 1.0;
  int first_photons = -1;

  // Returns the index of a scalar among the variables of a GasCell.
  int variable(const std::string& scalar) const;
  // First of the user's passive scalars among the variables.
  int first_passive_scalar() const;
  // Number of the user's passive scalars.
  int passive_scalars() const;
};

// A process has no mutable state of its own during a run: its state between steps is in the gas,
// the particles, face-centred fields and its ledger, which checkpoints save.
class Process {
 public:
  virtual ~Process() = default;

  // Name of the process: its parameter section, the prefix of its columns in history.csv, and its
  // line in the timing table.
  virtual const char* name() const = 0;

  // Declares the parameters. is_wanted() is valid once they are read.
  virtual void declare(ParameterSchema& schema) = 0;
  // True if the parameters enable the process.
  virtual bool is_wanted() const = 0;

  // True if the process changes the internal energy of the gas, or depends on it. Such processes
  // are refused for barotropic gas.
  virtual bool needs_heat() const { return true; }
  // True if the process is valid for gas with a cold pressure (hydro/eos/cold_curve.hpp), whose
  // internal energy in a GasCell is the thermal part.
  virtual bool supports_cold_curve() const { return !needs_heat(); }

  // Scalars that the process needs.
  virtual std::vector<GasVariable> variables() const { return {}; }
  // Number of groups of photons that the run transports for this process: four fields each, number
  // density N and flux F with |F| <= c' N, where c' is the reduced speed of light. At most one
  // process may have photons.
  virtual int photon_groups() const { return 0; }
  // True if the process has sources of photons that begin_step() sets: a field of emission for each
  // group, after the fields of all groups.
  virtual bool has_photon_sources() const { return false; }
  // Particle kinds that the process needs.
  virtual std::vector<particles::Kind> particle_kinds() const { return {}; }
  // Face-centred fields that the process needs.
  virtual std::vector<mesh::SolenoidalField> face_fields() const { return {}; }
  // Accounts of its ledger.
  virtual std::vector<std::string> accounts() const { return {}; }

  // Called once if the process is wanted. Throws InputError if it is incompatible with other
  // parameters.
  virtual void prepare(const ProcessSetup& /*setup*/) {}

  // Called once before the functions below, also after a restart, to read files. Throws InputError,
  // on all ranks. Collective.
  virtual void begin(const Communicator& /*communicator*/) {}

  // Energy added to gas and particles since the start of the run, from its accounts; `econs` in an
  // expanding box accounts for it.
  virtual double added_energy(const Ledger& /*ledger*/) const { return 0.0; }

  // Non-thermal internal energy that the process adds as a pressure floor.
  virtual cooling::PressureFloor floor(const GasLevel& /*level*/) const { return {}; }

  // Time-step constraint of this level from the leaf cells on this rank. Collective.
  virtual double longest_step(const GasLevel& level) const;

  // Advances the leaf cells of a level by dt, between the hydro sweep and the second half kick.
  // Cells under finer blocks are restricted afterwards. The change of a cell must depend only on
  // that cell, the time of the level and `dt`. Collective.
  virtual void advance(const GasLevel& /*level*/, double /*dt*/, Ledger& /*ledger*/) const {}

  // Sets the fields of emission for a coarse step of length `dt` that begins at `sync`, with all
  // levels. They are zero in all cells before. Called if has_photon_sources(). Collective.
  virtual void begin_step(SyncPoint& /*sync*/, double /*dt*/) const {}

  // Absorbs and emits photons in the cells of a level, for the time dt of a substep of their
  // transport. `photons` are all variables of all blocks in the layout of the level, of which those
  // of the photons are valid: their state after the transport, where N < 0 is possible. Writes gas
  // and photons to the level. `level.cells` contains cells under finer blocks, too. Collective.
  virtual void react(const GasLevel& /*level*/, double /*dt*/, const double* /*photons*/,
                     Ledger& /*ledger*/) const {}

  // Returns true if advance() is called for all levels at once, for half a coarse step before its
  // sweeps and half after them (Strang 1968), instead of after each level's step. Fluxes and ghost
  // cells of all levels then use equally advanced states, and the scheme is second order in time.
  // Suitable for slow changes of the gas over a coarse step.
  virtual bool acts_around_coarse_steps() const { return false; }

  // Acts on gas and particles together, after the kick. Returns true, on all ranks, if it changed
  // the gas of leaf cells on any. Collective.
  virtual bool interact(SyncPoint& /*sync*/, Ledger& /*ledger*/) const { return false; }
};

// Defined by each process: template <> std::unique_ptr<Process> make_process<Heating>().
template <class Kind>
std::unique_ptr<Process> make_process();

// Returns all available processes in the order in which they act on a level.
std::vector<std::unique_ptr<Process>> make_processes();

}  // namespace octant::subgrid
