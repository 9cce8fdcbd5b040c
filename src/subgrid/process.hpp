// A process: physics that acts on the gas, such as heating and cooling, or on gas and particles
// together, such as star formation.
//
// Adding one takes one file in subgrid/, from the class to make_process(), and its name in the list
// of processes.cpp. subgrid/heating.cpp is short enough to start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "particles/kind.hpp"
#include "subgrid/events/touches.hpp"
#include "subgrid/leaf_cells.hpp"
#include "subgrid/ledger.hpp"
#include "subgrid/scene.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

// A scalar that moves with the gas. Processes may bring the same one; the first says what it begins
// with.
using hydro::GasVariable;

// The mass share of metals, for every process that knows of them.
GasVariable metals(double initial = 0.0);

// What a process may look at when it prepares itself.
struct Setting {
  bool has_gas, expands;    // whether there is gas, and whether in an expanding box
  bool has_units;           // whether the code's numbers are known in cgs
  bool has_gravity;         // of what is in the box
  bool has_stars;           // whether any process or problem brings them
  double mean_gas_density;  // in an expanding box; 0 elsewhere
  mesh::Geometry geometry;
  hydro::Gas gas;
  std::vector<std::string> scalars;  // of the run, in the order of storage
  EventSearch event_search;          // events.method
  bool is_balanced = false;          // hydro.well_balanced, under hydro.acceleration alone

  // The place of a scalar among a GasCell's variables.
  int variable(const std::string& scalar) const;
  // The user's passive scalars among them: the first, and how many there are.
  int first_passive_scalar() const;
  int passive_scalars() const;
};

// A process is the same throughout a run: what it carries on from step to step is in the gas, in
// particles and in its ledger, and a checkpoint holds them all.
class Process {
 public:
  virtual ~Process() = default;

  // A word: the section of its parameters, the beginning of its columns in history.csv, its line in
  // the table of times.
  virtual const char* name() const = 0;

  // Declares its parameters; once they are read, whether they ask for the process to act.
  virtual void declare(ParameterSchema& schema) = 0;
  virtual bool is_wanted() const = 0;

  // The scalars and the kinds of particles that it brings, and the accounts of its ledger.
  virtual std::vector<GasVariable> variables() const { return {}; }
  virtual std::vector<particles::Kind> particle_kinds() const { return {}; }
  virtual std::vector<std::string> accounts() const { return {}; }

  // Called once, if it is wanted. Throws InputError where the process and the rest of the
  // parameters do not fit.
  virtual void prepare(const Setting& /*setting*/) {}

  // Called once before anything below, in a restarted run too: reads its files. Throws InputError,
  // on all ranks. Collective.
  virtual void begin(const Communicator& /*communicator*/) {}

  // The energy that it has added to gas and particles since the run began, by its accounts: in an
  // expanding box `econs` is the error of the energy equation with it.
  virtual double added_energy(const Ledger& /*ledger*/) const { return 0.0; }

  // What it adds to the internal energy that is not heat.
  virtual cooling::PressureFloor floor(const GasLevel& /*level*/) const { return {}; }

  // How long a step of this level may be, for the leaf cells on this rank. Collective.
  virtual double longest_step(const GasLevel& level) const;

  // Advances the leaf cells of a level by dt, between the sweep and the second half of the kick.
  // Cells under finer blocks follow afterwards. What it does to a cell must depend on that cell, on
  // the level's moment and on `dt` alone. Collective.
  virtual void advance(const GasLevel& /*level*/, double /*dt*/, Ledger& /*ledger*/) const {}

  // Whether advance() is called for all levels at once, for half a coarse step before its sweeps
  // and half after them (Strang 1968), instead of after each level's step. Fluxes and ghost cells
  // of all levels then belong to states that have felt it alike, and it is of second order in
  // time. For what changes the gas little in a coarse step.
  virtual bool acts_around_coarse_steps() const { return false; }

  // Acts on gas and particles together, after the kick. True, on all ranks, if it changed the gas
  // of leaf cells on any. Collective.
  virtual bool interact(Scene& /*scene*/, Ledger& /*ledger*/) const { return false; }
};

// Each process defines its own: template <> std::unique_ptr<Process> make_process<Heating>().
template <class Kind>
std::unique_ptr<Process> make_process();

// Every process that a run can choose, in the order in which they act on a level.
std::vector<std::unique_ptr<Process>> make_processes();

}  // namespace octant::subgrid
