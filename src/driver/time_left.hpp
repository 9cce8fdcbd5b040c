// How long a run will still take, for its status line.
#pragma once

#include <string>

namespace octant::driver {

// Looks at the steps of the last minute, or at the last ten where those are longer, the latest
// ones most: the last step alone would make the answer jump whenever a file is written or levels
// come and go.
class TimeLeft {
 public:
  // A step took `seconds` and brought the run on by a share `progress` of its way.
  void add(double progress, double seconds);

  // Seconds for the share that is left; endless while nothing moves.
  double seconds(double share) const;

 private:
  double progress_ = 0.0, seconds_ = 0.0;  // sums that fade
};

// Two units at most: "40 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string in_words(double seconds);

}  // namespace octant::driver
