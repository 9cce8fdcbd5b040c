#include "bench/report.hpp"

#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

namespace octant::bench {
namespace {

TEST(JsonObject, QuotesTextAndKeepsNumbers) {
  JsonObject inner;
  inner.add("x", 0.1);
  JsonObject object;
  object.add("name", "a \"b\" \\").add("count", 3).add("inner", inner);
  EXPECT_EQ(object.text(), R"({"name": "a \"b\" \\", "count": 3, "inner": {"x": 0.1}})");
}

TEST(JsonObject, HasNullForWhatJsonCannotHold) {
  JsonObject object;
  object.add("x", std::numeric_limits<double>::infinity());
  EXPECT_EQ(object.text(), R"({"x": null})");
}

TEST(Report, WritesAnArrayOfItsObjects) {
  const std::string path = testing::TempDir() + "octant_bench_report.json";
  Report report(Communicator::world(), path);
  report.add(JsonObject().add("n", 1));
  report.add(JsonObject().add("n", 2));
  report.finish();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "[\n{\"n\": 1},\n{\"n\": 2}\n]\n");
}

TEST(Median, IsTheLowerOfTwoMiddleValues) {
  EXPECT_EQ(median_index({3.0, 1.0, 2.0}), 2u);
  EXPECT_EQ(median_index({4.0, 1.0, 2.0, 3.0}), 2u);
  EXPECT_EQ(median_index({5.0}), 0u);
}

}  // namespace
}  // namespace octant::bench
