// Execution of a run for any model: its directory, outputs, run control and the loop over steps.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "core/number_file.hpp"
#include "output/output_options.hpp"
#include "run/debug_options.hpp"
#include "run/run_control.hpp"
#include "run/run_request.hpp"
#include "run/timers.hpp"
#include "telemetry/recorder.hpp"
#include "telemetry/telemetry_options.hpp"

namespace octant {

// Parameters of a run that do not depend on the model. Times may be negative.
struct RunSettings {
  ModelKind model;
  int block_size;  // 0: no blocks
  double end;
  std::int64_t max_steps;
  OutputOptions output;
  RunOptions run;
  telemetry::TelemetryOptions telemetry;
  DebugOptions debug;
  std::string resolved;  // all parameters as TOML
};

// Interface of a simulation for its run. All functions are collective.
class Model {
 public:
  virtual ~Model() = default;

  // Ranks of the run.
  virtual const Communicator& communicator() const = 0;
  // Parameters of the run that do not depend on the model.
  virtual RunSettings settings() const = 0;
  // Wall-clock time by part of the step, on this rank.
  virtual Timers& timers() = 0;

  // Logs a description of the run at its start.
  virtual void log_start() const = 0;
  // Logs a summary of the run at its end.
  virtual void log_end() const {}

  // Sets the state to that at time 0. Throws InputError.
  virtual void initialise() = 0;
  // Sets the state to that of a checkpoint. Throws InputError.
  virtual OutputProgress read_checkpoint(const std::string& path) = 0;

  // Time of the state in code units.
  virtual double time() const = 0;
  // Describes the current time for log lines.
  virtual std::string when() const { return fmt::format("time {:.6g}", time()); }
  // Number of (coarse) steps since time 0.
  virtual std::int64_t step_count() const = 0;

  // Prepares the next step and measures the state: required before stable_dt and history. Throws
  // RunError if the state is unphysical.
  virtual void prepare_step() = 0;
  // Measures the state when no further step follows.
  virtual void measure() = 0;
  // Maximum stable time step in code units, of the state that prepare_step() has measured.
  virtual double stable_dt() const = 0;
  // Advances the state by one (coarse) step of length dt. Throws RunError.
  virtual void step(double dt) = 0;

  // Row of history.csv: the measured state, and the next time step. The columns are fixed and known
  // before the first measurement.
  virtual Columns history(double dt) const = 0;

  // Number of cell updates on this rank since the start of the run.
  virtual std::int64_t cell_updates() const = 0;
  // Number of cell updates on all ranks since the start of the run.
  virtual std::int64_t all_cell_updates() const = 0;
  // Number of leaf cells on all ranks at the last measurement.
  virtual std::int64_t leaf_cells() const = 0;
  // Passes the blocks of the last step to `recorder` and sets the local and global counts in
  // `attributes`; the caller sets the other members. Local.
  virtual void report_step(telemetry::Recorder& recorder,
                           telemetry::StepFacts& attributes) const = 0;
  // Short text about the state for the status line.
  virtual std::string status() const = 0;

  // Paths of written files. The following functions write files whose names begin with `stem`
  // ("DIR/snap_00012") atomically, and throw RunError on every rank on failure.
  using Paths = std::vector<std::string>;
  // Writes a snapshot.
  virtual Paths write_snapshot(const std::string& stem) = 0;
  // Writes the slices and the coarse cut-out requested by [output]: "DIR/slice_z0.5_00012.h5", ...
  virtual Paths write_cutouts(const std::string& directory, std::int64_t number) = 0;
  // Writes the complete state and `progress`, from which a run continues with identical bits.
  virtual void write_checkpoint(const OutputProgress& progress, const std::string& stem) = 0;
};

// Runs a model to its end and returns the exit code. Throws InputError if parameters or input files
// are invalid, RunError if the run fails. Collective.
int run(Model& model, const RunRequest& request);

// --- runs stepped by the caller ------------------------------------------------------------------

class AmrSimulation;
class DnsSimulation;

// Model with access to its simulation, for callers that read its fields between steps.
struct OpenModel {
  std::unique_ptr<Model> model;
  AmrSimulation* amr = nullptr;
  DnsSimulation* dns = nullptr;
};

// Receiver of stop signals: the run, or the program that embeds it.
enum class Signals { of_the_run, of_the_program };

// A run that the caller advances step by step. All functions are collective.
class Run {
 public:
  // Sets the state to that at time 0, or to that of a checkpoint. Throws InputError or RunError.
  // The model must outlive the run.
  Run(Model& model, const RunRequest& request, Signals signals = Signals::of_the_run);
  ~Run();

  // Takes a step that does not pass the time `latest`, and writes due outputs; before the first
  // step, those of the initial state. Returns false, without a step, at the end of the run or after
  // a stop request. Throws RunError.
  bool step(double latest = std::numeric_limits<double>::infinity());

  // Writes a file of the run's series in addition to those that are due.
  void snapshot();
  // Writes a checkpoint in addition to those that are due.
  void checkpoint();

  // Writes the final state and the summary of the run; returns the exit code. Only the destructor
  // may be called afterwards.
  int finish();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace octant
