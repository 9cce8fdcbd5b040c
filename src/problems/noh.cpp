// The implosion of Noh (1987): cold gas falls onto a point from all sides, and a shock moves
// outward at a third of its speed (for gamma = 5/3), with 64 times the density behind it.
//
// Let the domain be an octant with reflecting lower walls, or a box around the centre, with outflow
// elsewhere. Gas enters there at the density of the outermost cells instead of (1 + t/r)^2, so what
// is within the time t of the boundary is wrong, but nothing further in: information moves with the
// gas. The shock at r = t/3 is sound until t = 3/4 of the distance from the centre to the boundary.
#include <cmath>

#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class Noh final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Initial gas density", .above = 0.0});
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Infall speed towards the centre", .above = 0.0});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure",
                .meaning = "Initial pressure, zero in the analytic solution",
                .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the implosion"});
  }

  GasState initial_state(const Position& centre, double) const override {
    const Position offset{centre[0] - centre_[0], centre[1] - centre_[1], centre[2] - centre_[2]};
    const double radius =
        std::sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
    GasState gas;
    gas.density = density_;
    gas.pressure = pressure_;
    if (radius > 0.0)
      for (int axis = 0; axis < 3; ++axis) gas.velocity[axis] = -speed_ * offset[axis] / radius;
    return gas;
  }

 private:
  double density_ = 1.0, speed_ = 1.0, pressure_ = 1e-6;
  Position centre_{0.0, 0.0, 0.0};
};

}  // namespace

std::unique_ptr<Problem> make_noh() { return std::make_unique<Noh>(); }

}  // namespace octant::problems
