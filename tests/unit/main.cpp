// The main program of every unit test. On several ranks, rank 0 reports as usual, and the others
// speak only of failures; a failure on any rank fails the whole program.
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "comm/runtime.hpp"
#include "core/log.hpp"

namespace {

class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

  // Remembered, because GoogleTest cannot return it while it reports a failure.
  void OnTestStart(const testing::TestInfo& test) override { test_ = test.name(); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    // Not to the log, which a test may have set to be silent on this rank.
    fmt::print(stderr, "rank {}: {}:{}: {}: {}\n", rank_,
               result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
               test_, result.message());
  }

 private:
  int rank_;
  std::string test_ = "set-up";
};

void report_failures_only(int rank) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOnly(rank));
}

}  // namespace

int main(int argc, char** argv) {
  octant::Runtime runtime(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  octant::log::start(0, "", octant::log::Level::warn);
  const int rank = octant::Communicator::world().rank();
  if (rank != 0) report_failures_only(rank);
  return RUN_ALL_TESTS();
}
