// AMR simulation: gas, gravity, particles and processes on an adaptive mesh, advanced in time. The
// task list in amr_simulation.cpp defines the order of a step; outputs and run control are in
// commands/run_amr.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "amr/energy_budget.hpp"
#include "amr/gas_solver.hpp"
#include "amr/gravity_step.hpp"
#include "amr/level_loop.hpp"
#include "amr/load_balance.hpp"
#include "amr/matter.hpp"
#include "amr/measurement.hpp"
#include "amr/particle_step.hpp"
#include "amr/process_step.hpp"
#include "amr/radiation_step.hpp"
#include "amr/step_context.hpp"

namespace octant {

// State of a run that checkpoints store in addition to fields and particles.
struct RunState {
  double time = 0.0;
  std::int64_t step = 0;
  InitialScales scales;
  Floored floored;
  double exchanged_energy = 0.0;  // heat that barotropic gas exchanges with its surroundings
  Outflow outflow;
  EnergyBudget energy;
  std::vector<subgrid::Ledger> ledgers;  // in the order of the processes
};

// State of an AMR run and its coarse step: mesh, gas, gravity, particles and processes. The run
// loop (run/run.hpp) calls adapt(), measure() and step() in this order. Functions that change the
// state are collective; the others are local.
class AmrSimulation {
 public:
  // `options` must outlive this object. Floors without a given value are set in `options` as soon
  // as the initial state is known.
  AmrSimulation(const Communicator& communicator, AmrOptions& options);

  // Sets the problem's initial state, refining until the mesh no longer changes.
  void initialise();

  // Regrids and rebalances if due. Must be called before a step.
  void adapt();
  // Measures the state unless it is known from the last step: see Measurement::measure().
  void measure() { measurement_.measure(); }
  // Must be called after changes of gas or particles from outside. Positions must not be changed.
  void invalidate_measurement() { measurement_.invalidate(); }
  double stable_dt() const { return measurement_.stable_dt(); }  // valid after measure()
  // Advances all levels by one coarse step of length dt.
  void step(double dt);

  // Totals over the domain at the last measure().
  const Totals& totals() const { return measurement_.totals(); }
  // Mass, energy and angular momentum that floors of density and pressure have added since the
  // start of the run.
  const Floored& floored() const { return gas_.floored(); }
  // Energy that barotropic gas has exchanged with its surroundings since the start of the run.
  double exchanged_energy() const { return gas_.exchanged_energy(); }
  // Mass, momentum and energy that have left through the boundaries since the start of the run.
  const Outflow& outflow() const { return measurement_.outflow(); }
  // Cosmic energy budget, from which `econs` in history.csv follows.
  const EnergyBudget& energy() const { return gravity_.energy(); }
  // Budgets of the subgrid processes, in their order.
  const std::vector<subgrid::Ledger>& ledgers() const { return processes_.ledgers(); }
  // Time in code units; supercomoving with expansion.
  double time() const { return context_.time; }
  double scale_factor() const { return context_.scale_factor(); }  // 1 without expansion
  // Number of coarse steps since time 0.
  std::int64_t step_count() const { return context_.step; }
  // number of cell updates on this rank since the start: leaf cells times their steps
  std::int64_t cell_updates() const { return context_.cell_updates; }
  // Number of cell updates on all ranks since the start.
  std::int64_t all_cell_updates() const { return context_.all_cell_updates; }
  // Number of leaf cells in blocks of this rank.
  std::int64_t own_leaf_cells() const;
  std::int64_t bytes_per_block() const {  // bytes of fields that migrate with a block
    return mesh().layout().stride_slot * static_cast<std::int64_t>(sizeof(double));
  }
  // Fields and particles of this rank; see MemoryCost.
  double data_bytes() const { return balance_.memory().stored_bytes(); }
  // Mesh with the conserved variables of the gas. The caller must call invalidate_measurement()
  // after changing cells.
  mesh::Mesh& mesh() { return context_.mesh; }
  // Mesh, for reading.
  const mesh::Mesh& mesh() const { return context_.mesh; }
  // Options of the run, with the floors that the initial state has determined.
  const AmrOptions& options() const { return context_.options; }
  // Wall-clock time by part of the step, on this rank.
  Timers& timers() { return context_.timers; }
  // Measured cost of each block, for load balancing.
  const BlockMeter& meter() const { return context_.meter; }
  // True if the last adapt() changed the mesh.
  bool regridded() const { return regridded_; }
  // True if the last adapt() moved blocks between ranks.
  bool rebalanced() const { return rebalanced_; }
  // Reports of the load-balancing policies in the last adapt().
  const std::vector<LoadBalance::Placement>& placements() const { return balance_.placements(); }
  gravity::Gravity* gravity() { return gravity_.solver(); }  // gravity; null without self-gravity
  // Gravity, for reading; null without self-gravity.
  const gravity::Gravity* gravity() const { return gravity_.solver(); }
  // face-centred fields; null if there are none
  const mesh::FaceFields* faces() const { return context_.faces.get(); }
  // Particles by kind, and the density of all gravitating matter.
  Matter& matter() { return matter_; }
  // Particles and gravitating density, for reading.
  const Matter& matter() const { return matter_; }
  // Subgrid processes of the run.
  ProcessStep& processes() { return processes_; }

  // Returns the state for a checkpoint, with counters summed over the ranks. Collective.
  RunState state();
  // Restores clocks, counters and budgets of a checkpoint. The caller must have set the mesh, its
  // fields, the particles and gravity's fields. Collective.
  void resume(const RunState& state);
  // Sets time and step number at the start from another code's output. The caller must have set the
  // mesh, its gas and the particles.
  void begin_from(double time, std::int64_t step);

 private:
  void follow_mesh(bool regridded);
  double longest_step(int level, double courant);

  StepContext context_;
  Matter matter_;
  GravityStep gravity_;
  GasSolver gas_;
  RadiationStep radiation_;
  ParticleStep particles_;
  ProcessStep processes_;
  Measurement measurement_;
  LoadBalance balance_;
  LevelLoop loop_;
  bool regridded_ = false, rebalanced_ = false;
};

// Returns the tasks of a coarse step in order, as text, for a run with these options.
std::string describe_step(const AmrOptions& options);

}  // namespace octant
