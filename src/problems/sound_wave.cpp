// A sound wave of small amplitude that travels through a periodic domain in any direction that
// fits:
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  velocity = u0 + c s k/|k|,
//   s = amplitude * sin(k.(x - u0 t) - |k| c t),  k = 2 pi (n_x / L_x, n_y / L_y, n_z / L_z).
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class SoundWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.wave", wave_, {.meaning = "Wavelengths in the domain along x, y, z"});
    schema.add("problem.amplitude", amplitude_,
               {.meaning = "Relative amplitude of the density", .above = 0.0, .below = 1.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Mean density", .above = 0.0});
    schema.add("problem.sound_speed", sound_speed_,
               {.unit = "velocity", .meaning = "Speed of sound in the mean state", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Mean motion of the gas along x, y, z"});
  }

  void prepare(const Setting& setting) override {
    lower_ = setting.geometry.lower();
    gamma_ = setting.hydro.gamma;
    double squared = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      if (wave_[axis] != 0 && !setting.geometry.periodic(axis))
        throw InputError(
            "problem.wave = [{}, {}, {}]: the wave needs periodic boundaries where it is "
            "not zero, but mesh.boundary_{} is not periodic",
            wave_[0], wave_[1], wave_[2], static_cast<char>('x' + axis));
      wave_vector_[axis] =
          2.0 * M_PI * wave_[axis] / (setting.geometry.upper()[axis] - lower_[axis]);
      squared += wave_vector_[axis] * wave_vector_[axis];
    }
    if (squared == 0.0) throw InputError("problem.wave = [0, 0, 0]: expected a direction");
    for (int axis = 0; axis < 3; ++axis) direction_[axis] = wave_vector_[axis] / std::sqrt(squared);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    double phase = 0.0, mean_over_cell = amplitude_;
    for (int axis = 0; axis < 3; ++axis) {
      phase += wave_vector_[axis] * (centre[axis] - lower_[axis]);
      const double half = 0.5 * wave_vector_[axis] * cell_size;
      if (half != 0.0) mean_over_cell *= std::sin(half) / half;
    }
    const double signal = mean_over_cell * std::sin(phase);
    GasState gas;
    gas.density = density_ * (1.0 + signal);
    gas.pressure = density_ * sound_speed_ * sound_speed_ / gamma_ * (1.0 + gamma_ * signal);
    for (int axis = 0; axis < 3; ++axis)
      gas.velocity[axis] = velocity_[axis] + sound_speed_ * signal * direction_[axis];
    return gas;
  }

 private:
  std::array<int, 3> wave_{1, 1, 1};
  double amplitude_ = 1e-6, density_ = 1.0, sound_speed_ = 1.0;
  std::array<double, 3> velocity_{};

  double gamma_ = 1.4;
  Position lower_{}, wave_vector_{}, direction_{};
};

}  // namespace

std::unique_ptr<Problem> make_sound_wave() { return std::make_unique<SoundWave>(); }

}  // namespace octant::problems
