#include "core/lattice_expressions.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace octant {
namespace {

class LatticeExpressionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_expressions()) GTEST_SKIP() << "built without muParser";
  }
  const Lattice lattice{{{{0.1, 0.25, -0.7}, {0.3, 1.7}, {-0.2, 0.9, 2.3, 4.1}}}};
  const std::array<double, 3> centre{0.1, -0.2, 0.3};
};

// Parts that change along fewer axes, constant ones, nested ones, and choices.
TEST_F(LatticeExpressionsTest, has_the_bits_of_one_point_after_the_other) {
  const char* const texts[] = {"1.5",
                               "x",
                               "1 + 0.3*sin(2*pi*(x - 0.3*y - t))*exp(-r^2/(2*(1 + t)))",
                               "x < (y + 20*t)/sqrt(3) ? max(y, sin(z*x)) : -(z)^2",
                               "(((y)))*atan2(t - y, z) + 2^(x*t)",
                               "min(cos(t), sin(pi/6), z)/3"};
  LatticeExpressions expressions;
  expressions.set_centre(centre);
  std::vector<int> numbers;
  expressions.add_terms(Definitions());
  for (const char* text : texts) numbers.push_back(expressions.add("test", text));
  ExpressionPoint point;
  LatticeValues values(lattice);
  for (const double time : {0.0, 0.37}) {
    expressions.evaluate(values, time);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const Expression alone("test", texts[n], point.names());
      EXPECT_EQ(expressions.moves(numbers[n]), alone.uses("t"));
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t j = 0; j < 2; ++j)
          for (std::size_t i = 0; i < 3; ++i) {
            const auto& along = lattice.along;
            point.set({along[0][i], along[1][j], along[2][k]}, centre, time);
            EXPECT_EQ(*values[numbers[n]].from({i, j, k}), alone.value())
                << texts[n] << " at " << i << ", " << j << ", " << k << ", t = " << time;
          }
    }
  }
}

TEST_F(LatticeExpressionsTest, keeps_what_does_not_change_with_time) {
  int asked = 0;
  LatticeExpressions expressions;
  expressions.add_function("test", "ripple", [&](const std::array<double, 3>& place) {
    ++asked;
    return place[0] + 10 * place[1];
  });
  expressions.add_terms(Definitions());
  const int moving = expressions.add("test", "t*(ripple^2)");
  LatticeValues values(lattice);
  expressions.evaluate(values, 1.0);
  EXPECT_EQ(asked, lattice.points());
  expressions.evaluate(values, 2.0);
  EXPECT_EQ(asked, lattice.points());
  EXPECT_EQ(*values[moving].from({2, 1, 3}), 2.0 * std::pow(-0.7 + 10 * 1.7, 2));
}

}  // namespace
}  // namespace octant
