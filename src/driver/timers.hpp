// Where the time of a run goes: seconds by name of a part.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"

namespace octant::driver {

// Parts are exclusive: while one is timed, those around it stand still.
class Timers {
 public:
  // Times a part until the end of the scope, and tells the observer of the run.
  class Scope {
   public:
    Scope(Timers& timers, const char* name, Phase phase, int level)
        : timers_(timers), outer_(timers.enter(name)), observed_(phase, name, level) {}
    ~Scope() { timers_.leave(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Cells that were worked on; see Observed::count.
    void count(std::int64_t cells) const { observed_.count(cells); }

   private:
    Timers& timers_;
    int outer_;
    Observed observed_;
  };

  Scope time(const char* name, Phase phase = Phase::other, int level = -1) {
    return Scope(*this, name, phase, level);
  }

  struct Part {
    std::string name;
    double seconds = 0.0;
  };
  const std::vector<Part>& parts() const { return parts_; }
  double seconds(const std::string& name) const;
  double total_seconds() const;    // of all parts
  double untimed_seconds() const;  // since the start, while no part was timed
  void reset();

 private:
  int enter(const char* name);
  void leave(int outer);

  std::vector<Part> parts_;
  int current_ = -1;
  double untimed_ = 0.0;
  Clock clock_;
};

// A table of the root's parts: smallest and largest seconds over the ranks, and the share of the
// whole, of which what was not timed is the last row. Collective.
std::string timing_table(const Timers& timers, const Communicator& communicator);

}  // namespace octant::driver
