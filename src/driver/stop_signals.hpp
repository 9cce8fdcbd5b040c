// The signals that ask a run to end with a checkpoint.
#pragma once

namespace octant::driver {

// Ignores SIGPIPE and SIGXFSZ from now on: a write to a closed pipe, or beyond the limit of a
// file's length, fails and is reported like any other. Called before a simulation is set up.
void ignore_signals_of_writes();

// While it lives, SIGTERM, SIGINT (Ctrl-C), SIGHUP (the connection dropped) and SIGUSR1 are
// remembered, unless the program was started with them ignored (nohup). A SIGTERM or SIGINT that
// comes a second or more after an earlier one of the two ends the process at once; sooner it is
// taken for the same wish, which schedulers and launchers send several times. SIGPIPE and SIGXFSZ
// are ignored: a write that meets a closed pipe or the limit of a file's length fails and says so.
// What a launcher holds back (`env --block-signal=INT,TERM,HUP mpirun ...`), because it would kill
// the ranks, counts as if they had got it. One at a time.
class StopSignals {
 public:
  // The root tells on stderr that it heard the first one, and looks after what its parent holds.
  explicit StopSignals(bool is_root);
  // Later ones no longer matter; SIGTERM and SIGINT end the process as usual.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The number of the latest; 0 if there was none.
  int received() const;

 private:
  bool is_root_;
};

}  // namespace octant::driver
