// The list of what gas stores.
#include <gtest/gtest.h>

#include "hydro/hydro_options.hpp"

namespace octant::hydro {
namespace {

HydroOptions with_everything() {
  HydroOptions options;
  options.dual_energy = DualEnergy::on;
  options.scalars = passive_scalars(2);
  options.scalars.push_back({.name = "metals", .initial = 0.02});
  return options;
}

TEST(GasVariables, are_in_the_order_of_storage) {
  const HydroOptions options = with_everything();
  EXPECT_EQ(shown_names(options.variables()),
            (std::vector<std::string>{"density", "velocity_x", "velocity_y", "velocity_z",
                                      "pressure", "entropy", "scalar_0", "scalar_1", "metals"}));
  EXPECT_EQ(options.variable_count(), 9);
  EXPECT_EQ(options.variable_index("density"), int{k_density});
  EXPECT_EQ(options.variable_index("pressure"), int{k_pressure});
  EXPECT_EQ(options.variable_index("entropy"), k_entropy);
  EXPECT_EQ(options.variable_index("scalar_0"), options.first_scalar());
  EXPECT_EQ(options.variable_index("metals"), 8);
  EXPECT_EQ(options.variable_index("metal"), std::nullopt);
  EXPECT_EQ(HydroOptions{}.variable_index("entropy"), std::nullopt);
}

TEST(GasVariables, say_what_is_stored_of_each_and_who_brought_it) {
  const GasVariables all = with_everything().variables();
  EXPECT_EQ(all[k_momentum_y].stored_field().name, "momentum_y");
  EXPECT_EQ(all[k_momentum_y].vector_axis, 1);
  EXPECT_EQ(all[k_energy].stored_field().name, "total_energy");
  EXPECT_EQ(all[k_entropy].role, GasRole::tracer);
  EXPECT_EQ(all[6].role, GasRole::passive);
  EXPECT_EQ(all[8].role, GasRole::species);
  EXPECT_EQ(all[8].shown_field().unit, "1");
  EXPECT_EQ(all[8].stored_field().name, "metals");
  EXPECT_EQ(all[8].stored_field().unit, "mass / length^3");
}

}  // namespace
}  // namespace octant::hydro
