#include "amr/level_loop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant {

namespace {

// Maximum Courant number of a fine level; steps with larger ones are halved.
constexpr double k_max_courant = 0.98;
// Maximum number of substeps per coarser step; more indicate an unphysical state.
constexpr int k_max_substeps = 256;

}  // namespace

// --- the sequence --------------------------------------------------------------------------------

StepSequence::StepSequence(std::span<const Task> tasks, unsigned contents) {
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(tasks_),
               [&](const Task& task) { return task.is_in(contents); });
}

void StepSequence::advance(int level) {
  const bool is_coarse_step = level == 0;
  if (is_coarse_step) run(When::coarse_begins, level);
  run(When::level_advances, level);
  if (level < finest_level()) {
    const int finer = level + 1;
    run(When::finer_begins, level);
    for (begin_substeps(finer); has_substep(finer); end_substep(finer)) {
      run(When::substep_begins, finer);
      limit_substep(finer);
      advance(finer);
    }
    run(When::finer_ends, level);
  }
  if (is_coarse_step) run(When::coarse_advanced, level);
  // After its last substep, a level is synchronised together with the coarser level.
  if (is_coarse_step || !is_last_substep(level)) run(When::levels_meet, level);
  if (is_coarse_step) run(When::coarse_ends, level);
}

// --- execution -----------------------------------------------------------------------------------

LevelLoop::LevelLoop(StepContext& context, std::span<const Task> tasks, unsigned contents,
                     const StepParts& parts, LongestStep longest)
    : StepSequence(tasks, contents),
      context_(context),
      parts_(parts),
      longest_(std::move(longest)),
      steps_(context.levels()) {}

void LevelLoop::run(When when, int level) {
  for (const Task& task : tasks_)
    if (task.when == when)
      (parts_[static_cast<std::size_t>(task.part)]->*task.action)(steps_[level]);
}

// The number of substeps is a power of two, so that fractions of the coarser step are exact.
void LevelLoop::begin_substeps(int level) {
  const int substeps = context_.options.time.subcycle ? 2 : 1;
  steps_[level] = {
      .level = level, .dt = steps_[level - 1].dt / substeps, .begin = 0.0, .end = 1.0 / substeps};
}

// Halves the substep until its Courant number is at most k_max_courant. Throws RunError if this
// requires more than k_max_substeps.
void LevelLoop::limit_substep(int level) {
  LevelStep& step = steps_[level];
  const double longest = longest_(level, k_max_courant);
  while (step.dt > longest) {
    step.dt *= 0.5;
    step.end = step.begin + 0.5 * (step.end - step.begin);
    if (step.end - step.begin < 1.0 / k_max_substeps)
      throw RunError(
          "step {}, time {}: the signal speed on level {} grew by more than a factor of {} within "
          "one step of level {}; try a smaller time.cfl, a more diffusive hydro.riemann or "
          "hydro.limiter, or, for nearly empty cells, a hydro.density_floor",
          context_.step, context_.time, level, k_max_substeps / 2, level - 1);
  }
}

void LevelLoop::end_substep(int level) {
  LevelStep& step = steps_[level];
  step = {.level = level, .dt = step.dt, .begin = step.end, .end = 2.0 * step.end - step.begin};
}

// --- the plan of a step --------------------------------------------------------------------------

namespace {

// Prints the tasks. One substep of a level represents all substeps.
class StepPlan final : public StepSequence {
 public:
  StepPlan(std::span<const Task> tasks, unsigned contents, int finest, bool subcycle)
      : StepSequence(tasks, contents), finest_(finest), subcycle_(subcycle) {
    add_line("level", "task", "needs", "overlaps with");
    advance(0);
  }
  const std::string& text() const { return text_; }

 private:
  void run(When when, int level) override {
    if (when == When::levels_meet && level > 0)
      add_line(std::to_string(level), indented(level, "after every substep except the last:"));
    const bool acts_on_finer_levels = when != When::level_advances && when != When::finer_begins &&
                                      when != When::substep_begins && when != When::finer_ends;
    const std::string levels = acts_on_finer_levels && level < finest_
                                   ? fmt::format("{}-{}", level, finest_)
                                   : std::to_string(level);
    for (const Task& task : tasks_)
      if (task.when == when)
        add_line(levels, indented(level, task.name), task.reads, task.overlaps);
  }
  int finest_level() const override { return finest_; }
  void begin_substeps(int level) override {
    in_substep_ = true;
    add_line(std::to_string(level),
             indented(level, subcycle_ ? "in each of two substeps, or 4, 8, ... where signals are "
                                         "faster than expected:"
                                       : "in one step, or 2, 4, ... substeps where signals are "
                                         "faster than expected:"));
  }
  bool has_substep(int /*level*/) const override { return in_substep_; }
  void limit_substep(int /*level*/) override {}
  bool is_last_substep(int /*level*/) const override { return false; }
  void end_substep(int /*level*/) override { in_substep_ = false; }

  void add_line(const std::string& levels, const std::string& task, const std::string& reads = "",
                const std::string& overlaps = "") {
    std::string line = fmt::format("{:<7}{:<45}{:<45}{}", levels, task, reads, overlaps);
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + "\n";
  }
  static std::string indented(int level, const std::string& text) {
    return std::string(2 * static_cast<std::size_t>(level), ' ') + text;
  }

  int finest_;
  bool subcycle_;
  bool in_substep_ = false;  // true during a substep of the level whose substeps began last
  std::string text_;
};

}  // namespace

std::string describe_step(std::span<const Task> tasks, unsigned contents, int finest,
                          bool subcycle) {
  return StepPlan(tasks, contents, finest, subcycle).text();
}

}  // namespace octant
