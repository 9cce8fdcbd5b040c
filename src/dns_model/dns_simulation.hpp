// Incompressible-flow model: parameters, state, time steps, and snapshots.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "comm/comm_options.hpp"
#include "core/parameters.hpp"
#include "dns/forcing.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/scalar.hpp"
#include "dns/statistics.hpp"
#include "io/hdf5_file.hpp"
#include "io/input_files.hpp"
#include "output/contents.hpp"
#include "output/format.hpp"
#include "output/output_options.hpp"
#include "pencil/tuning.hpp"
#include "problems/flow_problem.hpp"
#include "run/debug_options.hpp"
#include "run/run.hpp"
#include "run/run_control.hpp"
#include "run/run_request.hpp"
#include "run/timers.hpp"
#include "telemetry/telemetry_options.hpp"

namespace octant {

// Parameters of the section [time].
struct FlowTimeOptions {
  double end = 1.0;
  std::int64_t max_steps = 1'000'000'000;
  double cfl = 0.8;
  double step = 0.0;          // fixed time step; 0: maximum stable step
  double largest_step = 0.0;  // maximum time step; 0: no limit
};

// Parameters of a DNS run.
class DnsOptions {
 public:
  ModelKind model = ModelKind::dns;
  std::string problem_name;
  dns::GridOptions grid;
  dns::FlowParameters flow;
  pencil::PencilOptions pencil;
  CommOptions comm;
  FlowTimeOptions time;
  OutputOptions output;
  Formats<GridContents> formats = make_grid_formats();
  RunOptions run;
  telemetry::TelemetryOptions telemetry;
  DebugOptions debug;
  double slowness = 1.0;  // slow-down factor of this rank's kernels, from [debug]
  dns::StatisticsOptions statistics;
  dns::ScalarOptions scalar;
  std::unique_ptr<dns::BodyForce> force = std::make_unique<dns::BodyForce>();
  std::unique_ptr<problems::FlowProblem> problem;

  // Reads and checks a parameter file; `files` reads it and the files that it names. Throws
  // InputError. Local, see InputFiles::share().
  static DnsOptions from_file(const std::string& path, const ParameterSchema::Overrides& overrides,
                              InputFiles& files);

  // All parameters with their values, as TOML text.
  const std::string& resolved() const { return resolved_; }
  // Checksums of the data files of the run, see checksums_of_data_files().
  const std::string& data_files() const { return data_files_; }

  // Grid of the run, with the coordinates of the cells.
  dns::Grid make_grid() const { return {grid, make_boundaries().periodic(2)}; }
  // Boundary conditions of the run.
  dns::Boundaries make_boundaries() const { return {flow, grid.size}; }

 private:
  friend std::string dns_manual(const std::string& section);
  friend std::vector<std::string> dns_sections();
  void declare_all(ParameterSchema& schema);
  std::string resolved_, data_files_;
};

// Returns the solves of a time step, for the selection of the process grid.
pencil::TuningProblem tuning_problem(const DnsOptions& options);

// State of an incompressible-flow run: flow, statistics, timers and time integration. Functions are
// local unless they say otherwise.
class DnsSimulation {
 public:
  // Selects the process grid and allocates the flow. Collective.
  DnsSimulation(const Communicator& communicator, const DnsOptions& options);

  // Minimum memory of a run with the given options: bytes of the fields on all ranks.
  static double min_bytes(const DnsOptions& options);

  // Sets the initial conditions of the problem. Collective.
  void initialise();
  // Continues from a state that the caller has written to the cells. `step_limit` is step_limit()
  // of the last step. Collective.
  void resume(double time, std::int64_t step, double step_limit);

  // Computes totals(). Throws RunError if the state is not finite. Collective.
  void measure();
  // Advances the flow by one step of three Runge-Kutta stages. Collective.
  void step(double dt);

  double stable_dt() const;  // valid after measure()
  // Value of stable_dt() for the last step, which may have been shorter to reach an output time.
  double step_limit() const { return step_limit_; }
  // Energy, means and extrema of the flow at the last measure().
  const dns::Totals& totals() const { return totals_; }
  // Time in code units.
  double time() const { return time_; }
  // Number of steps since time 0.
  std::int64_t step_count() const { return step_; }
  // Number of cell updates on this rank.
  std::int64_t cell_updates() const { return cell_updates_; }
  // Number of cell updates on all ranks.
  std::int64_t all_cell_updates() const { return all_cell_updates_; }

  // Communicator of all ranks.
  const Communicator& communicator() const { return domain_.pencils.communicator(); }
  // Parameters of the run.
  const DnsOptions& options() const { return options_; }
  // Grid, boundary conditions and domain decomposition.
  const dns::Domain& domain() const { return domain_; }
  // Fields of this rank and their time integration.
  dns::Flow& flow() { return flow_; }
  // Fields of this rank, for reading.
  const dns::Flow& flow() const { return flow_; }
  // Averages over planes and time, as in statistics.h5.
  dns::Statistics& statistics() { return statistics_; }
  // Averages over planes and time, for reading.
  const dns::Statistics& statistics() const { return statistics_; }
  // Timings from which process grid and transpose backend were selected.
  const pencil::Tuning& tuning() const { return tuning_; }
  // Wall-clock time by part of the step, on this rank.
  Timers& timers() { return timers_; }

 private:
  static constexpr double k_no_limit = std::numeric_limits<double>::max();

  const DnsOptions& options_;
  Timers timers_;
  pencil::Tuning tuning_;
  dns::Domain domain_;
  dns::Flow flow_;
  dns::Statistics statistics_;
  dns::Totals totals_;
  double time_ = 0.0, step_limit_ = k_no_limit;
  std::int64_t step_ = 0, cell_updates_ = 0, all_cell_updates_ = 0;
};

// --- snapshots and checkpoints (dns_snapshot.cpp) ------------------------------------------------

// Snapshots and checkpoints have one file layout:
//
//   /header     attributes: time, step, grid, parameters as text, ...
//   /grid/      x, y, z: cell centres; x_face, y_face, z_face: upper faces of the cells
//   /fields/    u, v, w, p, t (if there is a scalar): datasets [k][j][i]; u, v, w on upper faces
//   /lower_faces/  u, v, w on lower outflow boundaries of the domain

// Returns the contents of a snapshot as selected by [output], valid until the simulation changes.
GridContents dns_snapshot_contents(const DnsSimulation& simulation);

// Writes "`stem`.h5" atomically. Throws RunError on every rank on failure. Collective.
void write_dns_checkpoint(const DnsSimulation& simulation, const OutputProgress& progress,
                          const std::string& stem);

// Replaces the state of the simulation by that of a checkpoint, on any process grid. Throws
// InputError on every rank if the file is not a complete checkpoint of the same problem and grid.
// Collective.
OutputProgress read_dns_checkpoint(DnsSimulation& simulation, const std::string& path);

}  // namespace octant
