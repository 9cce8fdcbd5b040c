// Sequence of the tasks of a coarse step, which a run executes and `octant run --plan` prints.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "amr/level_loop.hpp"

namespace octant::test {
namespace {

// Records the points of a step in which every level takes two substeps.
class RecordedStep final : public StepSequence {
 public:
  explicit RecordedStep(int finest)
      : StepSequence({}, k_any), finest_(finest), substep_(finest + 1) {
    advance(0);
  }
  const std::vector<std::string>& points() const { return points_; }

 private:
  void run(When when, int level) override {
    static const char* const names[] = {"coarse begins", "advance",    "finer begins",
                                        "substep",       "finer ends", "coarse advanced",
                                        "meet",          "coarse ends"};
    points_.push_back(names[static_cast<int>(when)] + (" " + std::to_string(level)));
  }
  int finest_level() const override { return finest_; }
  void begin_substeps(int level) override { substep_[level] = 0; }
  bool has_substep(int level) const override { return substep_[level] < 2; }
  void limit_substep(int /*level*/) override {}
  bool is_last_substep(int level) const override { return substep_[level] == 1; }
  void end_substep(int level) override { ++substep_[level]; }

  int finest_;
  std::vector<int> substep_;
  std::vector<std::string> points_;
};

TEST(StepSequence, a_single_level_advances_once) {
  EXPECT_EQ(RecordedStep(0).points(),
            (std::vector<std::string>{"coarse begins 0", "advance 0", "coarse advanced 0", "meet 0",
                                      "coarse ends 0"}));
}

TEST(StepSequence, finer_levels_advance_twice_and_meet_their_coarser_level_at_the_last_substep) {
  EXPECT_EQ(RecordedStep(2).points(),
            (std::vector<std::string>{"coarse begins 0", "advance 0",    "finer begins 0",  //
                                      "substep 1",       "advance 1",    "finer begins 1",  //
                                      "substep 2",       "advance 2",    "meet 2",
                                      "substep 2",       "advance 2",                       //
                                      "finer ends 1",    "meet 1",                          //
                                      "substep 1",       "advance 1",    "finer begins 1",  //
                                      "substep 2",       "advance 2",    "meet 2",
                                      "substep 2",       "advance 2",  //
                                      "finer ends 1",    "finer ends 0", "coarse advanced 0",
                                      "meet 0",  //
                                      "coarse ends 0"}));
}

}  // namespace
}  // namespace octant::test
