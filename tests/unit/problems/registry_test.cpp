#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/problems/problem_fixture.hpp"

namespace octant::problems {
namespace {

TEST(Registry, makes_every_problem_that_it_lists) {
  ASSERT_FALSE(problem_names().empty());
  for (const std::string& name : problem_names()) {
    // A spheroid's potential is that of an isolated one.
    const auto ends = name == "maclaurin" ? mesh::Boundary::outflow : mesh::Boundary::periodic;
    auto domain = test::box(16, 0, ends, ends);
    domain.lower.fill(-2.0);
    domain.upper.fill(2.0);
    hydro::HydroOptions gas;
    gas.scalars = hydro::passive_scalars(2);  // that a binary marks its stars with
    const test::ReadyProblem ready(name, domain, "", gas);
    ready.for_each_cell(0, [&](const GasState& gas, const Position&) {
      EXPECT_GT(gas.density, 0.0) << name;
      EXPECT_GT(gas.pressure, 0.0) << name;
    });
  }
}

TEST(Registry, names_the_nearest_problem_first) {
  try {
    make_problem("sedof");
    FAIL() << "an unknown problem was made";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("\"sedof\""), std::string::npos) << message;
    EXPECT_NE(message.find("expected one of sedov, "), std::string::npos) << message;
    for (const std::string& name : problem_names())
      EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

// Quantities such as "10 kpc" are converted to the unit of a parameter. Ratios to something of the
// problem itself and lists of several kinds have none.
TEST(Registry, units_of_parameters_can_be_converted) {
  const std::set<std::string> ratios{"domain",
                                     "radius",
                                     "mass / radius^3",
                                     "G mass / radius",
                                     "problem.density",
                                     "density, velocity, pressure",
                                     "cells of the finest level",
                                     "central density of the (first) star",
                                     "cold pressure",
                                     "distance to the inner Lagrangian point"};
  for (const std::string& name : problem_names()) {
    ParameterSchema schema;
    const auto problem = make_problem(name);
    problem->declare(schema);
    for (const Parameter& parameter : schema.parameters())
      EXPECT_NE(is_convertible(parameter.info.unit), ratios.contains(parameter.info.unit))
          << name << ": " << parameter.name << " [" << parameter.info.unit << "]";
  }
}

TEST(Registry, every_parameter_of_a_problem_is_documented) {
  for (const std::string& name : problem_names()) {
    ParameterSchema schema;
    const auto problem = make_problem(name);
    problem->declare(schema);
    EXPECT_FALSE(schema.parameters().empty()) << name;
    for (const Parameter& parameter : schema.parameters()) {
      EXPECT_EQ(parameter.name.rfind("problem.", 0), 0u) << parameter.name;
      EXPECT_FALSE(parameter.info.meaning.empty()) << parameter.name;
    }
  }
}

}  // namespace
}  // namespace octant::problems
