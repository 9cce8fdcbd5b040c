// The course of a run, whatever is simulated: its directory, outputs, run control and the loop over
// steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "core/columns.hpp"
#include "driver/run_options.hpp"
#include "driver/run_request.hpp"
#include "driver/timers.hpp"
#include "telemetry/recorder.hpp"

namespace octant::driver {

// What the outputs of a run have come to; part of a checkpoint.
struct OutputProgress {
  std::int64_t next_snapshot = 0, next_checkpoint = 0;  // numbers of the next files
  double last_snapshot_time = 0.0;
  std::int64_t next_cutout = 0;
  double last_cutout_time = 0.0;
};

// What a run needs to know of its parameters. Times may be negative.
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

// A simulation as its run sees it. All functions are collective.
class Model {
 public:
  virtual ~Model() = default;

  virtual const Communicator& communicator() const = 0;
  virtual RunSettings settings() const = 0;
  virtual Timers& timers() = 0;

  // Writes to the log what is going to run.
  virtual void log_beginning() const = 0;
  // Writes to the log what the model has to say about the whole run, at its end.
  virtual void log_end() const {}

  // The state at time 0, or that of a checkpoint. Throw InputError.
  virtual void initialise() = 0;
  virtual OutputProgress read_checkpoint(const std::string& path) = 0;

  virtual double time() const = 0;
  // The present in few words: the time, or what tells more.
  virtual std::string when() const { return fmt::format("time {:.6g}", time()); }
  virtual std::int64_t step_count() const = 0;

  // Prepares the next step and measures the state: needed before stable_dt and history. Throws
  // RunError if the state is broken.
  virtual void prepare_step() = 0;
  // Measures the state, when no further step follows.
  virtual void measure() = 0;
  virtual double stable_dt() const = 0;
  virtual void step(double dt) = 0;

  // A row of history.csv: the state as it was measured, and the step that follows from it. Its
  // columns are the same throughout the run, and known before anything is measured.
  virtual Columns history(double dt) const = 0;

  // Cells that this rank has advanced by a step since the run began.
  virtual std::int64_t cell_updates() const = 0;
  // Leaf cells of all ranks, as they were measured last.
  virtual std::int64_t leaf_cells() const = 0;
  // Tells the recorder about the step that was just taken: its blocks, and in `facts` what this
  // rank and the run hold; the caller knows the rest. Local.
  virtual void report_step(telemetry::Recorder& recorder, telemetry::StepFacts& facts) const = 0;
  // Few words about the state for the status line.
  virtual std::string status() const = 0;

  // Write files whose names begin with `stem` ("DIR/snap_00012"), each whole or not at all, and
  // return their paths. Throw RunError on every rank if that fails.
  using Paths = std::vector<std::string>;
  virtual Paths write_snapshot(const std::string& stem) = 0;
  // The slices and the coarse cut-out that [output] asks for: "DIR/slice_z0.5_00012.h5", ...
  virtual Paths write_cutouts(const std::string& directory, std::int64_t number) = 0;
  virtual void write_checkpoint(const OutputProgress& progress, const std::string& stem) = 0;
};

// Runs a model to its end and returns the exit code. Throws InputError before the first step,
// RunError after it. Collective.
int run(Model& model, const RunRequest& request);

}  // namespace octant::driver
