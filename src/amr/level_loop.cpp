#include "amr/level_loop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant {

namespace {

// Maximum Courant number of a fine level; beyond it, its steps are halved.
constexpr double k_max_courant = 0.98;
// Maximum number of substeps per coarser step; more indicate a broken flow.
constexpr int k_max_substeps = 256;

}  // namespace

LevelLoop::LevelLoop(StepContext& context, std::span<const Task> tasks, unsigned contents,
                     const StepParts& parts, LongestStep longest)
    : context_(context), parts_(parts), longest_(std::move(longest)) {
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(tasks_),
               [&](const Task& task) { return task.is_in(contents); });
}

void LevelLoop::run(When when, const LevelStep& step) {
  for (const Task& task : tasks_)
    if (task.when == when) (parts_[static_cast<std::size_t>(task.part)]->*task.action)(step);
}

void LevelLoop::advance(const LevelStep& step) {
  const int level = step.level;
  for (const Task& task : tasks_)
    if (task.when == When::level_advances)
      (parts_[static_cast<std::size_t>(task.part)]->*task.action)(step);
  context_.cell_updates += context_.leaf_cells[level];
  context_.meter.count_update(level);
  context_.clocks[level] += step.dt;
  context_.level_dt[level] = step.dt;
  ++context_.level_steps[level];
  if (level < context_.mesh.finest_level()) advance_finer(step);
}

void LevelLoop::advance_finer(const LevelStep& coarse) {
  const int finer = coarse.level + 1;
  run(When::finer_begins, coarse);
  // Number of substeps; a power of two, so that fractions are exact.
  int substeps = context_.options.time.subcycle ? 2 : 1;
  // NOLINTNEXTLINE(bugprone-float-loop-counter): sums of powers of two are exact
  for (double done = 0.0; done < 1.0; done += 1.0 / substeps) {
    run(When::substep_begins, {finer, 0.0, done, 1.0});
    const double longest = longest_(finer, k_max_courant);
    while (coarse.dt / substeps > longest && substeps <= k_max_substeps) substeps *= 2;
    if (substeps > k_max_substeps)
      throw RunError(
          "step {}, time {}: the signal speed on level {} grew by more than a factor of {} within "
          "one step of level {}; try a smaller time.cfl, a more diffusive hydro.riemann or "
          "hydro.limiter, or, for nearly empty cells, a hydro.density_floor",
          context_.step, context_.time, finer, k_max_substeps / 2, coarse.level);
    advance({finer, coarse.dt / substeps, done, done + 1.0 / substeps});
    if (done + 1.0 / substeps < 1.0) meet(finer, context_.clocks[finer]);
  }
  run(When::finer_ends, coarse);
}

void LevelLoop::meet(int coarsest, double time) {
  for (int level = coarsest; level <= context_.mesh.finest_level(); ++level)
    context_.clocks[level] = time;
  run(When::levels_meet, {coarsest, context_.level_dt[coarsest]});
}

// --- the plan of a step -------------------------------------------------------------------------

namespace {

class Plan {
 public:
  Plan(std::span<const Task> tasks, unsigned contents, int finest, bool subcycle)
      : tasks_(tasks), contents_(contents), finest_(finest), subcycle_(subcycle) {
    add("level", "task", "needs", "overlaps with");
    const std::string all = levels_from(0);
    add(When::coarse_begins, 0, all);
    add_level(0);
    add(When::coarse_advanced, 0, all);
    add(When::levels_meet, 0, all);
    add(When::coarse_ends, 0, all);
  }
  const std::string& text() const { return text_; }

 private:
  // Lists the tasks in the order of LevelLoop::advance() and advance_finer().
  void add_level(int level) {
    add(When::level_advances, level, std::to_string(level));
    if (level == finest_) return;
    const std::string finer = std::to_string(level + 1);
    add(When::finer_begins, level, std::to_string(level));
    add(finer,
        indented(level + 1, subcycle_ ? "in each of two substeps, or 4, 8, ... where signals"
                                        " are faster than expected:"
                                      : "in one step, or 2, 4, ... substeps where signals"
                                        " are faster than expected:"),
        "", "");
    add(When::substep_begins, level + 1, finer);
    add_level(level + 1);
    if (std::any_of(tasks_.begin(), tasks_.end(), [&](const Task& task) {
          return task.when == When::levels_meet && task.is_in(contents_);
        }))
      add(finer, indented(level + 1, "after every substep except the last:"), "", "");
    add(When::levels_meet, level + 1, levels_from(level + 1));
    add(When::finer_ends, level, std::to_string(level));
  }
  void add(When when, int level, const std::string& levels) {
    for (const Task& task : tasks_)
      if (task.when == when && task.is_in(contents_))
        add(levels, indented(level, task.name), task.reads, task.overlaps);
  }
  void add(const std::string& level, const std::string& task, const std::string& reads,
           const std::string& overlaps) {
    std::string line = fmt::format("{:<7}{:<45}{:<45}{}", level, task, reads, overlaps);
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + "\n";
  }
  std::string levels_from(int level) const {
    return level == finest_ ? std::to_string(level) : fmt::format("{}-{}", level, finest_);
  }
  static std::string indented(int level, const std::string& text) {
    return std::string(2 * static_cast<std::size_t>(level), ' ') + text;
  }

  std::span<const Task> tasks_;
  unsigned contents_;
  int finest_;
  bool subcycle_;
  std::string text_;
};

}  // namespace

std::string describe_step(std::span<const Task> tasks, unsigned contents, int finest,
                          bool subcycle) {
  return Plan(tasks, contents, finest, subcycle).text();
}

}  // namespace octant
