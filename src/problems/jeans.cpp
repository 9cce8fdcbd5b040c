// A standing wave in a self-gravitating gas (Jeans 1902): it starts at rest with
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  s = amplitude * cos(k.x),
// and then s(t) = amplitude * cos(k.x) cos(omega t) with omega^2 = c^2 k^2 - 4 pi G d0: waves
// longer than the Jeans length, for which omega^2 < 0, grow like cosh(|omega| t). The mean density
// exerts no force, as the potential of a periodic domain has it.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class JeansWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.wave", wave_, {.meaning = "Wavelengths in the domain along x, y, z"});
    schema.add("problem.amplitude", amplitude_,
               {.meaning = "Relative amplitude of the density", .above = 0.0, .below = 1.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Mean density", .above = 0.0});
    schema.add("problem.sound_speed", sound_speed_,
               {.unit = "velocity", .meaning = "Speed of sound in the mean state", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    lower_ = setting.geometry.lower();
    gamma_ = setting.hydro.gamma;
    if (setting.G == 0.0)
      throw InputError("problem.name = \"jeans\": the wave needs gravity.enabled = true");
    if (wave_ == std::array<int, 3>{0, 0, 0})
      throw InputError("problem.wave = [0, 0, 0]: expected a direction");
    for (int axis = 0; axis < 3; ++axis) {
      if (!setting.geometry.periodic(axis))
        throw InputError("problem.name = \"jeans\": mesh.boundary_{} must be periodic",
                         static_cast<char>('x' + axis));
      wave_vector_[axis] =
          2.0 * M_PI * wave_[axis] / (setting.geometry.upper()[axis] - lower_[axis]);
    }
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    double phase = 0.0, mean_over_cell = amplitude_;
    for (int axis = 0; axis < 3; ++axis) {
      phase += wave_vector_[axis] * (centre[axis] - lower_[axis]);
      const double half = 0.5 * wave_vector_[axis] * cell_size;
      if (half != 0.0) mean_over_cell *= std::sin(half) / half;
    }
    const double signal = mean_over_cell * std::cos(phase);
    GasState gas;
    gas.density = density_ * (1.0 + signal);
    gas.pressure = density_ * sound_speed_ * sound_speed_ / gamma_ * (1.0 + gamma_ * signal);
    return gas;
  }

 private:
  std::array<int, 3> wave_{1, 0, 0};
  double amplitude_ = 1e-3, density_ = 1.0, sound_speed_ = 1.0;

  double gamma_ = 1.4;
  Position lower_{}, wave_vector_{};
};

}  // namespace

std::unique_ptr<Problem> make_jeans() { return std::make_unique<JeansWave>(); }

}  // namespace octant::problems
