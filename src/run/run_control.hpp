// Run control by signals, wall-clock time limit and control file.
#pragma once

#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/parameters.hpp"
#include "output/output_options.hpp"

namespace octant {

// Ignores SIGPIPE and SIGXFSZ from now on, so that a write to a closed pipe, or beyond the file
// size limit, fails and is reported as any other error. Must be called before a simulation is set
// up.
void ignore_signals_of_writes();

// Signals that request a run to end with a checkpoint.
//
// Records SIGTERM, SIGINT (Ctrl-C), SIGHUP (lost connection) and SIGUSR1 during its lifetime,
// unless they were ignored at program start (nohup). A SIGTERM or SIGINT a second or more after an
// earlier one of the two ends the process at once; sooner ones count as the same request, because
// schedulers and launchers send several. SIGPIPE and SIGXFSZ are ignored, so that writes fail with
// an error. Signals blocked in the launcher (`env --block-signal=INT,TERM,HUP mpirun ...`), where
// they would kill the ranks, count as received. At most one object may exist.
class StopSignals {
 public:
  // The root reports the first signal on stderr, and checks for signals blocked in its parent.
  explicit StopSignals(bool is_root);
  // Later signals are ignored, except that SIGTERM and SIGINT end the process as usual.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Number of the latest signal; 0 if there was none.
  int received() const;

 private:
  bool is_root_;
};

// Parameters of the section [run].
struct RunOptions {
  double walltime = 0.0;
  double walltime_margin = 60.0;
  double watchdog = 0.0;
  std::string control_file = "control.toml";
};

// Declares the section [run]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, RunOptions& options);

// Requests since the last call of poll(); the same on all ranks.
struct UserRequests {
  bool stop = false;   // write a checkpoint and end
  bool dump = false;   // write a snapshot now
  std::string reason;  // for the stop
};

// Run control. Signals (see StopSignals) request a checkpoint and a stop. The control file (TOML,
// in the output directory) may contain stop, dump, snapshot_interval, checkpoint_interval; it is
// removed when applied. A link, or a file with other content, stays in place and is reported in a
// single warning. At most one object may exist.
class RunControl {
 public:
  // `handles_signals`: false leaves signals to the program that embeds Octant.
  RunControl(const RunOptions& options, const std::string& directory,
             const Communicator& communicator, bool handles_signals);

  // Checks for requests; may change the intervals of `output`. `step_seconds` is the duration of a
  // step. Collective.
  UserRequests poll(OutputOptions& output, double step_seconds);

  double seconds() const { return clock_.seconds(); }  // since the start of the run

 private:
  // Requests seen by this rank, combined by their maximum over ranks in one reduction.
  struct ControlUpdate {
    double stop = 0.0, dump = 0.0, by_walltime = 0.0;
    double signal = 0.0;  // schedulers may send it to any or all ranks
    double snapshot_interval = -1.0, checkpoint_interval = -1.0;  // < 0: unchanged
  };
  void read_control_file(ControlUpdate& update);

  RunOptions options_;
  std::string control_path_;
  std::string refused_;  // identity of the rejected control file
  Communicator communicator_;
  Clock clock_;
  std::optional<StopSignals> signals_;
};

}  // namespace octant
