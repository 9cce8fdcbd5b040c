// Ends a run that makes no progress.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/observer.hpp"

namespace octant {

// Observes the activities of this rank, and ends the process with exit code 1 and a message on
// standard error if none begins or ends for a number of seconds. A rank that waits for others, in
// an MPI call or for shared memory, may do so for three times as long, because the others may
// execute several tasks meanwhile; the rank that they wait for therefore reports first. If none
// reports, because its process or node is stopped, the waiting ranks report and end one after the
// other. A thread of each process decides without communication. Time during which the process
// itself is stopped does not count.
class Watchdog final : public Observer {
 public:
  // Becomes the observer of the process, and begins watching. `rank`: number of this rank.
  Watchdog(double seconds, int rank);
  ~Watchdog() override;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Forwards all further reports to `next`; null: to nobody.
  void forward_to(Observer* next);
  // Sets the step number of the message.
  void set_step(std::int64_t step) { step_ = step; }

  // Suspends watching while code outside of the run executes, such as a script between two steps.
  void pause() { is_paused_ = true; }
  // Becomes the observer of the process again, and continues watching; the time without activity
  // begins at 0.
  void resume();

  // --- Observer ---
  void enter(Phase phase, std::string_view name, int level) override;
  void leave() override;
  void lap(Phase phase, std::string_view name) override;
  void count(std::int64_t cells, std::int64_t bytes) override;
  void copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes) override;
  void messages(std::string_view component, int level,
                std::span<const MessageReport> done) override;

 private:
  // A scope of the observer; its name is shortened to the size of the array, so that no memory is
  // allocated.
  struct Activity {
    Phase phase = Phase::other;
    int level = -1;
    std::array<char, 48> name{};
  };

  void watch();
  void check(double idle_seconds) const;
  std::string describe_activity() const;
  bool waits() const;

  double limit_;  // seconds
  int rank_;
  Observer* next_ = nullptr;
  std::atomic<std::int64_t> step_{-1};
  std::atomic<std::uint64_t> changes_{0};  // number of begun and ended activities
  std::atomic<bool> is_paused_{false};
  mutable std::mutex mutex_;          // guards activities_ and is_ended_
  std::vector<Activity> activities_;  // from the outermost to the innermost
  bool is_ended_ = false;
  std::condition_variable end_;
  std::thread thread_;
};

}  // namespace octant
