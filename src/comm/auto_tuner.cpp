#include "comm/auto_tuner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.hpp"

namespace octant {

namespace {

constexpr double k_smoothing = 0.05;  // smoothing factor alpha of eq. 8
// minimum relative gain for a change of backend (section 3.2.2)
constexpr double k_gain_to_switch = 0.20;
constexpr int k_max_all_to_all_ranks = 256;

double& of(BackendTimes& times, Backend backend) { return times[static_cast<int>(backend)]; }
double of(const BackendTimes& times, Backend backend) { return times[static_cast<int>(backend)]; }

}  // namespace

std::vector<Backend> backends_for(int ranks) {
  std::vector<Backend> backends(k_all_backends.begin(), k_all_backends.end());
  if (ranks > k_max_all_to_all_ranks) std::erase(backends, Backend::alltoall);
  return backends;
}

AutoTuner::AutoTuner(const CommOptions& options, std::vector<Backend> backends)
    : backends_(std::move(backends)),
      trial_calls_(options.trial_calls),
      probe_interval_(options.probe_interval),
      probe_calls_(options.probe_calls) {
  OCTANT_REQUIRE(trial_calls_ >= 2 && probe_calls_ >= 2 && probe_interval_ >= 1,
                 "trials of {} or probes of {} calls leave no call to be timed", trial_calls_,
                 probe_calls_);
}

void AutoTuner::record(double seconds) {
  OCTANT_REQUIRE(!decision_due_, "a call was timed before the pending decision");
  switch (phase_) {
    case Phase::trial: return record_window(seconds, trial_calls_);
    case Phase::production: return record_production(seconds);
    case Phase::probe: return record_window(seconds, probe_calls_);
  }
}

void AutoTuner::record_production(double seconds) {
  double& mean = of(times_, production_);
  mean = k_smoothing * seconds + (1.0 - k_smoothing) * mean;
  if (++calls_ < probe_interval_) return;
  last_probed_ = after(last_probed_);
  if (last_probed_ == production_) last_probed_ = after(last_probed_);
  begin(Phase::probe, last_probed_);
}

// The first call of a window includes the setup of buffers and connections and does not count.
void AutoTuner::record_window(double seconds, int length) {
  if (calls_ > 0) window_seconds_ += seconds;
  if (++calls_ < length) return;
  of(times_, backend_) = window_seconds_ / (length - 1);
  end_window();
}

void AutoTuner::end_window() {
  if (phase_ == Phase::trial && backend_ != backends_.back()) begin(Phase::trial, after(backend_));
  else decision_due_ = true;
}

void AutoTuner::decide(const BackendTimes& largest_over_ranks) {
  OCTANT_REQUIRE(decision_due_, "no decision is due");
  if (phase_ == Phase::trial) {
    production_ = fastest(largest_over_ranks);
  } else if (of(largest_over_ranks, backend_) <
             (1.0 - k_gain_to_switch) * of(largest_over_ranks, production_)) {
    production_ = backend_;
  }
  decision_due_ = false;
  begin(Phase::production, production_);
}

Backend AutoTuner::after(Backend backend) const {
  const auto next = std::next(std::find(backends_.begin(), backends_.end(), backend));
  return next == backends_.end() ? backends_.front() : *next;
}

Backend AutoTuner::fastest(const BackendTimes& times) const {
  return *std::min_element(backends_.begin(), backends_.end(),
                           [&](Backend a, Backend b) { return of(times, a) < of(times, b); });
}

void AutoTuner::begin(Phase phase, Backend backend) {
  phase_ = phase;
  backend_ = backend;
  calls_ = 0;
  window_seconds_ = 0.0;
}

}  // namespace octant
