#include "core/parameters.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

TEST(ParameterDifferences, are_of_values_and_not_of_how_they_are_written) {
  const auto found = parameter_differences(
      "end = 1.0\n[gas]\ngamma = 1.4 # then\nsides = [\"wall\",  \"wall\"]\nname = 'sod'\n", "file",
      "end = 1.0\n[gas]\ngamma = 1.5\nsides = [\"wall\", \"open\"]\nname = \"sod\"\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "gas.gamma");
  EXPECT_EQ(found[0].first, "1.4");
  EXPECT_EQ(found[0].second, "1.5");
  EXPECT_EQ(found[1].name, "gas.sides");
}

TEST(ParameterDifferences, leave_out_what_one_program_did_not_know) {
  EXPECT_TRUE(parameter_differences("a = 1\nb = 2\n", "file", "b = 2\nc = 3\n").empty());
}

TEST(ParameterDifferences, name_a_text_that_is_broken) {
  EXPECT_THROW(parameter_differences("a = = 1", "checkpoint.h5", "a = 1"), InputError);
}

}  // namespace
}  // namespace octant
