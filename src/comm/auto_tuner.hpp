// Selection of the fastest backend of a component from measured times (cuRAMSES paper, 3.2.2).
#pragma once

#include <array>
#include <vector>

#include "comm/comm_options.hpp"

namespace octant {

// Seconds per call, by Backend.
using BackendTimes = std::array<double, k_backends>;

// Returns the candidate backends for a number of ranks. All-to-all, which has arguments for every
// rank, is excluded above a few hundred ranks.
std::vector<Backend> backends_for(int ranks);

// Selection of a backend in phases: trial of each backend in turn; then production with the
// fastest, interrupted every `probe_interval` calls by a probe of one of the others, in turn.
// Production keeps an exponential moving average of the time with weight 0.05 (eq. 8). A probed
// backend that takes less than 0.8 of this average is selected.
//
// Does not communicate. Windows end after a fixed number of calls, hence on every rank at the same
// time; the caller then passes the maximum times over all ranks to decide(), so that all ranks
// select the same backend.
class AutoTuner {
 public:
  // Phase of the selection.
  enum class Phase { trial, production, probe };

  AutoTuner(const CommOptions& options, std::vector<Backend> backends);

  // Current phase.
  Phase phase() const { return phase_; }
  // Backend for the next call.
  Backend backend() const { return backend_; }
  // Records the time of a call with the present backend. Not allowed while a decision is due.
  void record(double seconds);

  // Returns true at the end of the trial and of each probe: decide() must precede the next call.
  bool decision_due() const { return decision_due_; }
  // This rank's times so far: means of trials and probes, moving average of production.
  const BackendTimes& times() const { return times_; }
  // Ends the window with the maximum times over all ranks.
  void decide(const BackendTimes& largest_over_ranks);

 private:
  void record_production(double seconds);
  void record_window(double seconds, int length);
  void end_window();
  void begin(Phase phase, Backend backend);
  Backend after(Backend backend) const;
  Backend fastest(const BackendTimes& times) const;

  std::vector<Backend> backends_;
  int trial_calls_, probe_interval_, probe_calls_;
  Phase phase_ = Phase::trial;
  Backend backend_ = Backend::p2p;
  Backend production_ = Backend::p2p;
  Backend last_probed_ = Backend::p2p;
  bool decision_due_ = false;
  int calls_ = 0;  // calls since the start of the phase or window
  double window_seconds_ = 0.0;
  BackendTimes times_{};
};

}  // namespace octant
