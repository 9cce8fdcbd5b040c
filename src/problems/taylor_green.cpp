// The vortices of Taylor & Green (1937) in a periodic box of lengths L:
//   u = U sin(a x) cos(b y) cos(c z),  v = -U a/b cos(a x) sin(b y) cos(c z),  w = 0,
// with a = 2 pi / L_x and so on. In two dimensions, without the last factor, they decay as
// exp(-nu (a^2 + b^2) t), which is an exact solution; in three they break up.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class TaylorGreen final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Amplitude of the vortices", .above = 0.0});
    schema.add("problem.dimensions", dimensions_,
               {.meaning = "Dimensions of the vortices: 2: uniform along z, with an analytic "
                           "decay; 3: vortices that break up",
                .min = 2,
                .max = 3});
  }

  void prepare(const FlowSetting& setting) override {
    for (int axis = 0; axis < dimensions_; ++axis)
      if (!setting.boundaries.periodic(axis))
        throw InputError(
            "problem.name = \"taylor_green\" requires periodic sides, but dns.boundary_{} has "
            "others",
            static_cast<char>('x' + axis));
    for (int axis = 0; axis < 3; ++axis) wave_[axis] = 2.0 * M_PI / setting.grid.size[axis];
  }

  double velocity(int component, const Place& place) const override {
    const auto& [x, y, z] = place.position;
    const double along_z = dimensions_ == 3 ? std::cos(wave_[2] * z) : 1.0;
    if (component == dns::k_u)
      return speed_ * std::sin(wave_[0] * x) * std::cos(wave_[1] * y) * along_z;
    if (component == dns::k_v)
      return -speed_ * wave_[0] / wave_[1] * std::cos(wave_[0] * x) * std::sin(wave_[1] * y) *
             along_z;
    return 0.0;
  }

 private:
  double speed_ = 1.0;
  int dimensions_ = 3;
  std::array<double, 3> wave_{};
};

}  // namespace

std::unique_ptr<FlowProblem> make_taylor_green() { return std::make_unique<TaylorGreen>(); }

}  // namespace octant::problems
