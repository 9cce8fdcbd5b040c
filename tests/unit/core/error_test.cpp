#include "core/error.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "core/log.hpp"
#include "core/names.hpp"

namespace octant {
namespace {

TEST(Require, failure_tells_what_where_and_which_condition) {
  const int blocks = -3;
  try {
    OCTANT_REQUIRE(blocks >= 0, "found {} blocks", blocks);
    FAIL() << "nothing was thrown";
  } catch (const RunError& failure) {
    const std::string message = failure.what();
    EXPECT_EQ(message.find("found -3 blocks ["), 0u) << message;
    EXPECT_NE(message.find("error_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("requires blocks >= 0"), std::string::npos) << message;
  }
}

TEST(Require, arguments_are_evaluated_only_on_failure) {
  int evaluations = 0;
  OCTANT_REQUIRE(true, "{}", ++evaluations);
  EXPECT_EQ(evaluations, 0);
}

TEST(EditDistance, counts_insertions_deletions_replacements_and_swaps) {
  EXPECT_EQ(edit_distance("gamma", "gamma"), 0);
  EXPECT_EQ(edit_distance("gamma", "gama"), 1);
  EXPECT_EQ(edit_distance("gamma", "gmama"), 1);
  EXPECT_EQ(edit_distance("gamma", "Gammas"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(CloseName, is_a_misspelling_or_the_same_key_in_another_section) {
  const std::vector<std::string> names = {"time.cfl",      "hydro.gamma",   "time.end",
                                          "hydro.enabled", "hydro.riemann", "model",
                                          "dns.viscosity"};
  EXPECT_EQ(close_name("time.gamma", names), "hydro.gamma");
  EXPECT_EQ(close_name("time.ends", names), "time.end");
  EXPECT_EQ(close_name("hydro.reimann", names), "hydro.riemann");
  EXPECT_EQ(close_name("hydro.riemann_solver", names), "hydro.riemann");
  EXPECT_EQ(close_name("anything", {}), "");
}

TEST(CloseName, is_none_where_nothing_is_close) {
  const std::vector<std::string> names = {"model", "hydro.enabled", "dns.viscosity", "time.end"};
  EXPECT_EQ(close_name("hydro.magnetic", names), "");
  EXPECT_EQ(close_name("dns.les", names), "");
  EXPECT_EQ(close_name("hydro.zzz", names), "");
}

TEST(MissingFeature, is_named_with_the_page_of_limitations) {
  EXPECT_EQ(missing_feature("hydro.magnetic"),
            "Octant has no magnetic fields; see Limitations (docs/limitations.md)");
  for (const char* name : {"mhd", "hydro.MHD", "output.b_field", "hlld", "orszag_tang"})
    EXPECT_EQ(missing_feature(name), missing_feature("hydro.magnetic")) << name;
  for (const char* name : {"dns.les", "dns.smagorinsky", "chemistry.network", "relativistic",
                           "dust", "cosmic_rays.enabled"})
    EXPECT_NE(missing_feature(name), "") << name;
  for (const char* name : {"hydro.gamma", "problem.radius", "refine.dusty", "time.lest"})
    EXPECT_EQ(missing_feature(name), "") << name;
}

TEST(Suggestion, prefers_what_there_is) {
  EXPECT_EQ(suggestion("hydro.gama", {"hydro.gamma"}, "nearest: "), "nearest: hydro.gamma");
  EXPECT_EQ(suggestion("cosmology.radiation", {"cosmology.omega_radiation"}, "did you mean "),
            "did you mean cosmology.omega_radiation");
  EXPECT_EQ(suggestion("hlld", {"hllc"}, "nearest: "), missing_feature("mhd"));
  EXPECT_EQ(suggestion("hydro.zzz", {"hydro.gamma"}, "nearest: "), "");
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Log, a_file_gets_plain_lines_of_rank_0_from_the_chosen_level_on) {
  const std::string path = testing::TempDir() + "octant_log_test.txt";
  std::remove(path.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  log::start(0, path, log::Level::info);
  log::debug("hidden {}", 1);
  log::info("step {}", 2);
  log::warn("careful");
  log::start(1, path, log::Level::info);
  log::error("another rank");
  log::start(0, "", log::Level::warn);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "step 2\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "careful\n");
  const auto text = contents(path);
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_NE(text.find("info     step 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("warning  careful\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("another rank"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  std::remove(path.c_str());
}

TEST(Log, a_file_that_cannot_be_written_is_an_input_error) {
  EXPECT_THROW(log::start(0, "/proc/no/such/place/log.txt"), InputError);
  log::start(0, "", log::Level::warn);
}

}  // namespace
}  // namespace octant
