// Team of the threads of a rank, which sweep over planes together.
//
// In every plane each thread processes part of the rows or lines; barriers separate writes from
// reads by other threads. Results do not depend on the thread that computes a row.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/clock.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Team, seen from one of its threads. The default is the calling thread alone.
class Team {
 public:
  Team() = default;
  Team(int size, int rank) : size_(size), rank_(rank) {}
  virtual ~Team() = default;

  // Number of threads.
  int size() const { return size_; }
  // Number of this thread.
  int rank() const { return rank_; }
  // True on the thread that measures time and does minor serial work.
  bool is_first() const { return rank_ == 0; }
  // True on the thread with the highest number.
  bool is_last() const { return rank_ == size_ - 1; }

  // Returns this thread's part of n rows.
  Range share(int n) const { return part(n, size_, rank_); }
  // Returns this thread's part of a range of rows.
  Range share(Range rows) const {
    const Range own = share(rows.count());
    return {rows.begin + own.begin, rows.begin + own.end};
  }

  // Waits until all threads of the team have called barrier().
  virtual void barrier() const {}

  // Adds the time since the last call to `seconds` and restarts the clock, on the first thread
  // only.
  void lap(Clock& clock, double& seconds) const {
    if (is_first()) seconds += clock.restart();
  }

 private:
  int size_ = 1, rank_ = 0;
};

// Number of threads of in_team: those of Kokkos' host execution space.
int team_size();

// Counter of the planes that a team has computed in order, so that stored planes are computed only
// once. Each thread computes part of a plane.
class PlanesMade {
 public:
  PlanesMade() : counts_(team_size()) {}

  // Sets the number of computed planes.
  void reset(int planes = 0) { std::fill(counts_.begin(), counts_.end(), Count{planes}); }
  // Returns true if plane n is the next to be computed, and counts it for this thread. The result
  // is the same on all threads.
  bool takes_up(const Team& team, int n) {
    if (counts_[team.rank()].planes != n) return false;
    if (team.size() == 1) reset(n + 1);
    else counts_[team.rank()].planes = n + 1;
    return true;
  }

 private:
  struct alignas(64) Count {
    int planes = 0;
  };
  std::vector<Count> counts_;  // by thread
};

// Calls sweep(team) on all threads concurrently and returns when all threads have finished. `sweep`
// must neither throw nor communicate with other ranks.
void in_team(const char* name, const std::function<void(const Team&)>& sweep);

}  // namespace octant::pencil
