// Recursive time step over levels: a level advances, then the next finer one in two or more
// substeps. A list of tasks defines the work.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "amr/step_context.hpp"

namespace octant {

// Point of the step at which a task runs.
enum class When {
  coarse_begins,    // once, before any level advances
  level_advances,   // in each step of each level
  finer_begins,     // before the substeps of the next finer level
  substep_begins,   // before each of them, for the finer level
  finer_ends,       // after them
  coarse_advanced,  // once, after all levels have advanced
  levels_meet,      // at the common end of the steps of a level and all finer ones
  coarse_ends       // once, at the new time
};

// Physics of a run. A task lists what it requires.
enum Contents : unsigned { k_any = 0, k_gas = 1, k_gravity = 2, k_particles = 4, k_processes = 8 };

// Part of the time step whose member functions are tasks. Each class has its own number `k_part`.
class StepPart {};
enum class PartNumber { gas, gravity, particles, processes, measurement, count };
using StepParts = std::array<StepPart*, static_cast<std::size_t>(PartNumber::count)>;

// Entry of the task list. Tasks of the same `When` run in list order on all ranks.
struct Task {
  template <class Part>
  Task(When when, const char* name, unsigned requires_contents,
       void (Part::*action)(const LevelStep&), const char* reads, const char* overlaps = "")
      : when(when),
        name(name),
        requires_contents(requires_contents),
        part(Part::k_part),
        action(static_cast<void (StepPart::*)(const LevelStep&)>(action)),
        reads(reads),
        overlaps(overlaps) {}

  bool is_in(unsigned contents) const { return (requires_contents & ~contents) == 0; }

  When when;
  const char* name;
  unsigned requires_contents;
  PartNumber part;
  void (StepPart::*action)(const LevelStep&);  // member of the part; level: the coarsest
  const char* reads;
  const char* overlaps;  // overlapping communication; "": none
};

// All functions are collective.
class LevelLoop {
 public:
  // Returns the longest step of a level in which no signal crosses more than `courant` cells.
  using LongestStep = std::function<double(int level, double courant)>;

  LevelLoop(StepContext& context, std::span<const Task> tasks, unsigned contents,
            const StepParts& parts, LongestStep longest);

  // Runs the tasks of one `When`.
  void run(When when, const LevelStep& step);
  // Advances a level from `begin` to `end` of the coarser level's step, including all finer levels.
  // meet() runs the tasks at synchronisation with coarser levels.
  void advance(const LevelStep& step);
  // Runs the tasks after all levels from `coarsest` on have reached a time within a coarser step.
  void meet(int coarsest, double time);

 private:
  void advance_finer(const LevelStep& coarse);

  StepContext& context_;
  std::vector<Task> tasks_;
  StepParts parts_;
  LongestStep longest_;
};

// Returns a table of the tasks of a coarse step with levels from 0 to `finest`: level, task, data
// read, and overlapping communication.
std::string describe_step(std::span<const Task> tasks, unsigned contents, int finest,
                          bool subcycle);

}  // namespace octant
