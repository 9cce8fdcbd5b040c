// What may end a run early or ask it for something: signals, the walltime, the job-control file.
#pragma once

#include <optional>
#include <string>

#include "core/clock.hpp"
#include "driver/run_options.hpp"
#include "driver/stop_signals.hpp"

namespace octant::driver {

// What was asked for since the last look; the same on all ranks.
struct Wishes {
  bool stop = false;   // write a checkpoint and end
  bool dump = false;   // write a snapshot now
  std::string reason;  // of the stop
};

// Signals (see StopSignals) ask for a checkpoint and a stop. The job-control file (TOML, in the
// output directory) may hold stop, dump, snapshot_interval, checkpoint_interval; it is removed when
// applied. A link, and a file that holds anything else, stays where it is and is named in a warning
// once. One at a time.
class RunControl {
 public:
  // `heeds_signals`: otherwise they are left to the program that Octant is a guest of.
  RunControl(const RunOptions& options, const std::string& directory,
             const Communicator& communicator, bool heeds_signals);

  // Looks for wishes; may change the intervals of `output`. `step_seconds` is how long a step
  // takes. Collective.
  Wishes look(OutputOptions& output, double step_seconds);

  double seconds() const { return clock_.seconds(); }  // since the run began

 private:
  // What ranks know. All of them are told the most that any knows, in one reduction.
  struct News {
    double stop = 0.0, dump = 0.0, by_walltime = 0.0;
    double signal = 0.0;  // schedulers may send it to any rank, or to all of them
    double snapshot_interval = -1.0, checkpoint_interval = -1.0;  // < 0: unchanged
  };
  void read_control_file(News& news);

  RunOptions options_;
  std::string control_path_;
  std::string refused_;  // identity of the control file that was refused
  Communicator communicator_;
  Clock clock_;
  std::optional<StopSignals> signals_;
};

}  // namespace octant::driver
