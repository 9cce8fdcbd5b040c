// Chooses the fastest backend of a component from the times of its calls (cuRAMSES paper, section 3.2.2).
#pragma once

#include <array>

#include "comm/options.hpp"

namespace octant {

// Seconds per call, by Backend; infinite where unknown.
using BackendTimes = std::array<double, k_backends>;

// Phases: trial of each backend in turn, then production with the fastest, interrupted every
// `probe_interval` calls by a probe of one of the other backends, in turn. A probe that is faster than
// the running mean of production by more than 20 % switches. Production keeps an exponential moving
// average with weight 0.05 (eq. 8).
//
// Knows no communication. Windows end after a fixed number of calls, so on every rank alike; the caller
// then hands the largest times over all ranks to decide(), and every rank takes the same choice.
class AutoTuner {
 public:
  enum class Phase { trial, production, probe };

  explicit AutoTuner(const CommOptions& options);

  Phase phase() const { return phase_; }
  // The backend for the next call.
  Backend backend() const { return backend_; }
  // Books the time of a call made with backend().
  void record(double seconds);

  // True at the end of the trial and of a probe: decide() must come before the next call.
  bool must_decide() const { return must_decide_; }
  // This rank's mean times: all backends after the trial; the one in production and the one probed
  // after a probe.
  const BackendTimes& times() const { return times_; }
  void decide(const BackendTimes& largest_over_ranks);

 private:
  void begin_window(Phase phase, Backend backend);
  void record_window_call(double seconds, int window_length);
  void end_window();

  int trial_calls_, probe_interval_, probe_calls_;
  Phase phase_ = Phase::trial;
  Backend backend_ = Backend::p2p;
  Backend production_ = Backend::p2p;
  Backend last_probed_ = Backend::p2p;
  bool must_decide_ = false;
  int calls_ = 0;           // in this window or since the last probe
  double window_sum_ = 0.0;
  BackendTimes times_;
};

}  // namespace octant
