// Recursive time step over levels: a level advances, then the next finer one in 2, 4, 8, ...
// substeps, or without subcycling also in one. One table of tasks defines the work; one class
// defines the sequence in which a run executes the tasks and `octant run --plan` prints them.
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
  finer_begins,     // before all substeps of the next finer level
  substep_begins,   // before each substep, for the finer level
  finer_ends,       // after all substeps of the next finer level
  coarse_advanced,  // once, after all levels have advanced
  levels_meet,      // at the common end of the steps of a level and all finer ones
  coarse_ends       // once, at the new time
};

// Physics of a run, as flags. A task lists the physics that it requires.
enum Contents : unsigned {
  k_any = 0,
  k_gas = 1,
  k_gravity = 2,
  k_particles = 4,
  k_processes = 8,
  k_barotropic = 16,
  k_radiation = 32
};

using StepParts = std::array<StepPart*, static_cast<std::size_t>(PartNumber::count)>;

// Entry of the task list. Tasks of the same `When` run in list order on all ranks.
struct Task {
  template <class Part>
  Task(When when, const char* name, unsigned required_contents,
       void (Part::*action)(const LevelStep&), const char* reads, const char* overlaps = "")
      : when(when),
        name(name),
        required_contents(required_contents),
        part(Part::k_part),
        action(static_cast<void (StepPart::*)(const LevelStep&)>(action)),
        reads(reads),
        overlaps(overlaps) {}

  // True if a run with these contents executes the task.
  bool is_in(unsigned contents) const { return (required_contents & ~contents) == 0; }

  When when;
  const char* name;
  unsigned required_contents;
  PartNumber part;
  // member function of the part; its argument is the step of a level
  void (StepPart::*action)(const LevelStep&);
  const char* reads;
  const char* overlaps;  // overlapping communication; empty if none
};

// Sequence of a coarse step. LevelLoop executes its tasks, describe_step() prints them.
class StepSequence {
 public:
  virtual ~StepSequence() = default;

  // Processes all tasks of one step of a level and the substeps of all finer levels. A step of
  // level 0 is a coarse step.
  void advance(int level);

 protected:
  StepSequence(std::span<const Task> tasks, unsigned contents);

  // Executes or prints the tasks of one point of the step.
  virtual void run(When when, int level) = 0;
  virtual int finest_level() const = 0;
  // Loop over the substeps of a level within one step of the coarser level.
  virtual void begin_substeps(int level) = 0;
  virtual bool has_substep(int level) const = 0;
  // shortens the next substep if necessary
  virtual void limit_substep(int level) = 0;
  virtual bool is_last_substep(int level) const = 0;
  virtual void end_substep(int level) = 0;

  std::vector<Task> tasks_;  // tasks that the physics of the run requires
};

// Execution of the tasks. All functions are collective.
class LevelLoop : public StepSequence {
 public:
  // Returns the longest step of a level in which no signal crosses more than `courant` cells.
  using LongestStep = std::function<double(int level, double courant)>;

  LevelLoop(StepContext& context, std::span<const Task> tasks, unsigned contents,
            const StepParts& parts, LongestStep longest);

  // Sets the length of the coarse step, which advance(0) takes.
  void set_coarse_step(double dt) { steps_[0].dt = dt; }

 private:
  void run(When when, int level) override;
  int finest_level() const override { return context_.mesh.finest_level(); }
  void begin_substeps(int level) override;
  bool has_substep(int level) const override { return steps_[level].begin < 1.0; }
  void limit_substep(int level) override;
  bool is_last_substep(int level) const override { return steps_[level].end == 1.0; }
  void end_substep(int level) override;

  StepContext& context_;
  StepParts parts_;
  LongestStep longest_;
  std::vector<LevelStep> steps_;  // current step of each level
};

// Returns a table of the tasks of a coarse step with levels from 0 to `finest`: level, task, data
// read, and overlapping communication.
std::string describe_step(std::span<const Task> tasks, unsigned contents, int finest,
                          bool subcycle);

}  // namespace octant
