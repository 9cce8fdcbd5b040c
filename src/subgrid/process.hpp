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
#include "core/number_file.hpp"
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

// New star particle for the log of star formation. Values without a unit are in code units.
struct StarBirth {
  std::uint64_t id = 0;
  std::int32_t level = 0;
  std::array<double, 3> position{}, velocity{};
  double mass = 0.0, metallicity = 0.0;
  double hydrogen = 0.0;          // hydrogen nuclei of the gas, in cm^-3
  double temperature = 0.0;       // T / mu of the gas, in K
  double virial_parameter, mach;  // turbulence in the cell; NaN if not computed
};

// Merger of the black hole `other` with `heaviest`, the most massive one of its group, for the log
// of mergers. Masses are in code units before the merger; `id` and `position` are the remnant's.
struct HoleMerger {
  std::uint64_t id = 0, heaviest = 0, other = 0;
  double heaviest_mass = 0.0, other_mass = 0.0;
  std::array<double, 3> position{};
};

// State of the run when the steps of all levels from `coarsest` on end at the same time. Each
// particle is stored in the finest block that contains it. A coarse step ends if `coarsest` is 0.
struct SyncPoint {
  mesh::Mesh& mesh;
  std::span<particles::Particles> kinds;
  int coarsest;
  double time, scale_factor;
  CodeUnits units;  // code units at `time`
  // returns the proper time in s for a time in code units
  std::function<double(double time)> seconds;
  std::vector<GasLevel> levels;  // gas of the levels from `coarsest` on
  std::vector<double> steps;     // their time steps, in the order of `levels`
  // Elapsed fraction of the coarser level's step, from its old (0) to its present (1) state.
  double arrived = 1.0;
  // face-centred fields of all processes; null if no process has any
  mesh::FaceFields* faces = nullptr;

  // Stars and black-hole mergers of this rank, which processes append for the logs.
  std::vector<StarBirth> births{};
  std::vector<HoleMerger> mergers{};

  // Returns the particles of a kind. Throws RunError if there is no such kind.
  particles::Particles& kind(const std::string& name) const;

  // Fills the ghost cells of levels[n] from the present state. levels[n - 1] must be filled first.
  // The ghost cells remain valid until another level is filled. Collective.
  void fill_ghosts(std::size_t n) const;
};

}  // namespace octant::subgrid

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

// Scalar advected with the gas. The first process that declares it sets its initial value.
using hydro::GasVariable;

// Metal mass fraction, common to all processes that use it.
GasVariable metals(double initial = 0.0);

// Properties of the run that a process may use in prepare().
struct ProcessSetup {
  bool has_gas, expands;    // expands: cosmological expansion
  bool has_units;           // true if code units are defined in cgs
  bool has_gravity;         // true with self-gravity
  bool has_stars;           // true if any process or problem creates stars
  bool has_black_holes;     // true with accreting black holes, black_holes.enabled
  bool limits_accretion;    // true if black holes accrete at most at the Eddington rate
  double mean_gas_density;  // mean gas density in an expanding box; else 0
  mesh::Geometry geometry;
  hydro::Gas gas;
  std::vector<std::string> scalars;  // in the order of storage
  EventSearch event_search;          // events.method
  bool is_balanced = false;          // hydro.well_balanced with hydro.acceleration alone
  bool gas_moves = true;             // hydro.moves
  // Photon transport, set if a process has photons: light_speed in cm/s, speed_ratio of the reduced
  // to the full speed of light, and first_photons, the mesh variable of the first group's density.
  double light_speed = 0.0, speed_ratio = 1.0;
  int first_photons = -1;
  // Reads the text files that parameters name. The reader of a run opens them on rank 0 only.
  TextReader read_text = read_text_file;

  // Returns the index of a scalar among the variables of a GasCell.
  int variable(const std::string& scalar) const;
  // Returns the index of the user's first passive scalar among the variables of a GasCell.
  int first_passive_scalar() const;
  // Returns the number of the user's passive scalars.
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

  // True if the process changes or uses the internal energy, so that barotropic gas is refused.
  virtual bool needs_heat() const { return true; }
  // True if the process is valid for gas with a cold pressure (hydro/eos/cold_curve.hpp), for which
  // GasCell gives the thermal part of the internal energy.
  virtual bool supports_cold_curve() const { return !needs_heat(); }

  // Scalars that the process needs.
  virtual std::vector<GasVariable> variables() const { return {}; }
  // Number of photon groups that the run transports for this process. Each has four fields: number
  // density N and flux F, |F| <= c' N for the reduced light speed c'. At most one process has
  // photons.
  virtual int photon_groups() const { return 0; }
  // True if begin_step() sets photon sources. The mesh then has an emission field for each group,
  // after the fields of all groups.
  virtual bool has_photon_sources() const { return false; }
  // Particle kinds that the process needs.
  virtual std::vector<particles::Kind> particle_kinds() const { return {}; }
  // Face-centred fields that the process needs.
  virtual std::vector<mesh::SolenoidalField> face_fields() const { return {}; }
  // True if the process limits the accretion of black holes to the Eddington rate.
  virtual bool limits_accretion() const { return false; }
  // Names of the accounts in the ledger of the process.
  virtual std::vector<std::string> accounts() const { return {}; }

  // Checks the parameters of an enabled process; called once. Throws InputError if they are
  // incompatible with the run.
  virtual void prepare(const ProcessSetup& /*setup*/) {}

  // Reads files. Called once before the functions below, also after a restart. Throws InputError,
  // on all ranks. Collective.
  virtual void begin(const Communicator& /*communicator*/) {}

  // Energy added to gas and particles since the start of the run, from the accounts of the ledger.
  // The energy budget `econs` of an expanding box includes this energy.
  virtual double added_energy(const Ledger& /*ledger*/) const { return 0.0; }

  // Pressure floor of the process, a non-thermal internal energy of the gas.
  virtual cooling::PressureFloor floor(const GasLevel& /*level*/) const { return {}; }

  // Time-step constraint of a level from the leaf cells on this rank. Collective.
  virtual double longest_step(const GasLevel& level) const;

  // Advances the leaf cells of a level by dt, between the hydro sweep and the second half kick.
  // Restriction to cells under finer blocks follows. The change of a cell must depend only on that
  // cell, the time of the level and `dt`. Collective.
  virtual void advance(const GasLevel& /*level*/, double /*dt*/, Ledger& /*ledger*/) const {}

  // Sets the emission fields of all levels for a coarse step of length `dt` that begins at `sync`.
  // The fields are zero before the call. Called if has_photon_sources(). Collective.
  virtual void begin_step(SyncPoint& /*sync*/, double /*dt*/) const {}

  // Absorbs and emits photons in the cells of a level during a substep dt of photon transport.
  // `photons` has all variables of all blocks in the layout of the level. Only its photon variables
  // are valid: the state after transport, in which N < 0 is possible. Writes gas and photons to the
  // level. `level.cells` includes cells under finer blocks. Collective.
  virtual void react(const GasLevel& /*level*/, double /*dt*/, const double* /*photons*/,
                     Ledger& /*ledger*/) const {}

  // Returns true if advance() is called for all levels at once, for half a coarse step before its
  // sweeps and half after them (Strang 1968), instead of after each level's step. The source terms
  // of all levels are then at the same time when fluxes and ghost cells are computed, and the
  // scheme is second order in time. Suitable if the gas changes little over a coarse step.
  virtual bool acts_around_coarse_steps() const { return false; }

  // Acts on gas and particles together, after the kick. Returns true, on all ranks, if the gas of
  // leaf cells has changed on any rank. Collective.
  virtual bool interact(SyncPoint& /*sync*/, Ledger& /*ledger*/) const { return false; }
};

// Creates a process. Each process defines its specialisation, as make_process<Heating>().
template <class Kind>
std::unique_ptr<Process> make_process();

// Returns all available processes in the order in which they act on a level.
std::vector<std::unique_ptr<Process>> make_processes();

}  // namespace octant::subgrid
