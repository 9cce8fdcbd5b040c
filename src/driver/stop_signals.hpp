// The signals that ask a run to end with a checkpoint.
#pragma once

namespace octant::driver {

// While it lives, SIGTERM, SIGINT (Ctrl-C), SIGHUP (the connection dropped) and SIGUSR1 are
// remembered, unless the program was started with them ignored (nohup). A SIGTERM or SIGINT that
// comes a second or more after an earlier one of the two ends the process at once; sooner it is
// taken for the same wish, which schedulers and launchers send several times. SIGPIPE and SIGXFSZ
// are ignored: a write that meets a closed pipe or the limit of a file's length fails and says so.
// One at a time.
class StopSignals {
 public:
  // Whether this process tells on stderr that it heard the first one.
  explicit StopSignals(bool speaks);
  // Later ones no longer matter; SIGTERM and SIGINT end the process as usual.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The number of the latest; 0 if there was none.
  int received() const;
};

}  // namespace octant::driver
