// The threads of a rank, which sweep over planes together.
//
// In every plane each thread takes a part of the rows, or of the lines; barriers separate what it
// makes from what others need of it. What a row's bits are does not depend on who takes it.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/clock.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// As one of its threads sees it. A team of its own, as constructed: the calling thread alone.
class Team {
 public:
  Team() = default;
  Team(int size, int rank) : size_(size), rank_(rank) {}
  virtual ~Team() = default;

  int size() const { return size_; }
  int rank() const { return rank_; }
  // Who tells time, and does what takes no more than a row's work.
  bool is_first() const { return rank_ == 0; }
  bool is_last() const { return rank_ == size_ - 1; }

  // This thread's part of n rows, or of those of a range.
  Range share(int n) const { return part(n, size_, rank_); }
  Range share(Range rows) const {
    const Range own = share(rows.count());
    return {rows.begin + own.begin, rows.begin + own.end};
  }

  // Nobody goes on before all have come. All threads call it.
  virtual void barrier() const {}

  // Adds the time since the last lap, of the first thread alone.
  void lap(Clock& clock, double& seconds) const {
    if (is_first()) seconds += clock.restart();
  }

 private:
  int size_ = 1, rank_ = 0;
};

// The threads that in_team calls on: those of Kokkos' host execution space.
int team_size();

// How many planes of something a team has made, one by one, each thread its part: what is kept
// needs to be made once.
class PlanesMade {
 public:
  PlanesMade() : counts_(team_size()) {}

  void reset(int planes = 0) { std::fill(counts_.begin(), counts_.end(), Count{planes}); }
  // Whether plane n comes next, and is taken up herewith by this thread. All give the same answer.
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

// Calls sweep(team) on all threads at once, and returns when all have returned. It must neither
// throw nor talk to other ranks.
void in_team(const char* name, const std::function<void(const Team&)>& sweep);

}  // namespace octant::pencil
