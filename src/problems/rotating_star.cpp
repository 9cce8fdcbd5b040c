// A polytrope that rotates uniformly, or that is round and at rest (Lane & Emden's): found by the
// self-consistent field method. It should stay as it is, also while it moves.
#include <fmt/format.h>

#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/stars_in_gas.hpp"

namespace octant::problems {

namespace {

class RotatingStarProblem final : public StarsInGas {
 public:
  RotatingStarProblem() : StarsInGas("rotating_star") {}

  void declare(ParameterSchema& schema) override {
    schema.add("problem.polytropic_index", star_.index,
               {.meaning = "Polytropic index n, p = K rho^(1 + 1/n)", .min = 0.5, .max = 4.0});
    schema.add("problem.mass", star_.mass,
               {.unit = "mass", .meaning = "Mass of the star", .above = 0.0});
    schema.add("problem.radius", star_.radius,
               {.unit = "length", .meaning = "Equatorial radius of the star", .above = 0.0});
    schema.add("problem.axis_ratio", star_.axis_ratio,
               {.meaning = "Ratio of polar to equatorial radius; 1: non-rotating star",
                .max = 1.0,
                .above = 0.0});
    StarsInGas::declare(schema);
  }

 private:
  std::string description() const override {
    return fmt::format("polytropic index {:.17g}, mass {:.17g}, radius {:.17g}, axis ratio {:.17g}",
                       star_.index, star_.mass, star_.radius, star_.axis_ratio);
  }
  StarModel solve(double G) const override { return solve_star(star_, G); }

  RotatingStar star_{.index = 1.5, .mass = 1.0, .radius = 1.0, .axis_ratio = 0.75};
};

}  // namespace

std::unique_ptr<Problem> make_rotating_star() { return std::make_unique<RotatingStarProblem>(); }

}  // namespace octant::problems
