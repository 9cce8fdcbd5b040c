// The implosion of Liska & Wendroff (2003, section 4.7): thin gas behind a diagonal membrane in the
// corner of a box with reflecting walls. Uniform along z. A jet along the diagonal x = y shows how
// well a scheme keeps the symmetry.
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/mixture.hpp"

namespace octant::problems {

namespace {

class Implosion final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.inner_density", inner_.density,
               {.unit = "density",
                .meaning = "Density in the lower corner, below the diagonal",
                .above = 0.0});
    schema.add("problem.inner_pressure", inner_.pressure,
               {.unit = "pressure",
                .meaning = "Pressure in the lower corner, below the diagonal",
                .above = 0.0});
    schema.add("problem.outer_density", outer_.density,
               {.unit = "density", .meaning = "Density above the diagonal", .above = 0.0});
    schema.add("problem.outer_pressure", outer_.pressure,
               {.unit = "pressure", .meaning = "Pressure above the diagonal", .above = 0.0});
    schema.add(
        "problem.diagonal", diagonal_,
        {.unit = "length",
         .meaning =
             "Position of the diagonal discontinuity: x + y from the lower corner of the domain",
         .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    lower_ = setting.geometry.lower();
    gamma_ = setting.hydro.gamma;
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double x = centre[0] - lower_[0], y = centre[1] - lower_[1];
    return mixture(inner_, outer_, fraction_below((diagonal_ - (x + y)) / cell_size), gamma_);
  }

 private:
  // The part of a square of side 1 below a 45 degree line, `s` above its centre along x or y.
  static double fraction_below(double s) {
    if (s <= -1.0) return 0.0;
    if (s >= 1.0) return 1.0;
    return s < 0.0 ? 0.5 * (1.0 + s) * (1.0 + s) : 1.0 - 0.5 * (1.0 - s) * (1.0 - s);
  }

  GasState inner_{.density = 0.125, .pressure = 0.14};
  GasState outer_{.density = 1.0, .pressure = 1.0};
  double diagonal_ = 0.15;

  Position lower_{};
  double gamma_ = 1.4;
};

}  // namespace

std::unique_ptr<Problem> make_implosion() { return std::make_unique<Implosion>(); }

}  // namespace octant::problems
