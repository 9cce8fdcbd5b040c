// Wall-clock time of a run by named parts, and its estimated remaining time.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"

namespace octant {

// Wall-clock times of the parts of a run on this rank. Parts are exclusive: timing a part pauses
// the enclosing ones.
class Timers {
 public:
  // Times a part until the end of the scope, and notifies the observer of the run.
  class Scope {
   public:
    Scope(Timers& timers, const char* name, Phase phase, int level)
        : timers_(timers), outer_(timers.enter(name)), observed_(phase, name, level) {}
    ~Scope() { timers_.leave(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Number of processed cells; see Observed::count.
    void count(std::int64_t cells) const { observed_.count(cells); }

   private:
    Timers& timers_;
    int outer_;
    Observed observed_;
  };

  // Times a part until the end of the returned scope.
  Scope time(const char* name, Phase phase = Phase::other, int level = -1) {
    return Scope(*this, name, phase, level);
  }

  // Total time of a part.
  struct Part {
    std::string name;
    double seconds = 0.0;
  };
  // Times of all parts.
  const std::vector<Part>& parts() const { return parts_; }
  // Time of a part in seconds; 0 if it was not timed.
  double seconds(const std::string& name) const;
  double total_seconds() const;    // sum over all parts, in seconds
  double untimed_seconds() const;  // time since the start outside of all parts, in seconds
  // Sets all times to 0.
  void reset();

 private:
  int enter(const char* name);
  void leave(int outer);

  std::vector<Part> parts_;
  int current_ = -1;
  double untimed_ = 0.0;
  Clock clock_;
};

// Table of the root's parts: minimum and maximum seconds over the ranks, and fraction of the total;
// the last row is the untimed rest. Collective.
std::string timing_table(const Timers& timers, const Communicator& communicator);

// Estimated remaining time of a run for its status line. Uses the steps of the last minute, or the
// last ten if those took longer, with higher weights for later ones. The last step alone would vary
// too much with outputs and regridding.
class TimeLeft {
 public:
  // Adds a step that took `seconds` and advanced the run by a fraction `progress`.
  void add(double progress, double seconds);

  // Seconds for a remaining fraction; infinite without progress.
  double seconds(double share) const;

 private:
  double progress_ = 0.0, seconds_ = 0.0;  // sums with exponentially decaying weights
};

// Formats a duration with at most two units: "40 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string in_words(double seconds);

}  // namespace octant
