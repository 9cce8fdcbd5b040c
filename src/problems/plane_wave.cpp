#include "problems/plane_wave.hpp"

#include <cmath>

#include "core/error.hpp"

namespace octant::problems {

void PlaneWave::declare(ParameterSchema& schema) {
  schema.add("problem.wave", wavelengths_,
             {.meaning = "Number of wavelengths in the domain along x, y, z"});
  schema.add(
      "problem.amplitude", amplitude_,
      {.meaning = "Relative amplitude of the density perturbation", .above = 0.0, .below = 1.0});
  schema.add("problem.density", density_,
             {.unit = "density", .meaning = "Mean density", .above = 0.0});
  schema.add("problem.sound_speed", sound_speed_,
             {.unit = "velocity", .meaning = "Sound speed of the unperturbed state", .above = 0.0});
}

void PlaneWave::prepare(const Setting& setting) {
  lower_ = setting.geometry.lower();
  gamma_ = setting.hydro.gamma;
  double squared = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    if (wavelengths_[axis] != 0 && !setting.geometry.periodic(axis))
      throw InputError(
          "problem.wave = [{}, {}, {}]: the wave needs periodic boundaries where it is not zero, "
          "but mesh.boundary_{} is not periodic",
          wavelengths_[0], wavelengths_[1], wavelengths_[2], static_cast<char>('x' + axis));
    wave_vector_[axis] =
        2.0 * M_PI * wavelengths_[axis] / (setting.geometry.upper()[axis] - lower_[axis]);
    squared += wave_vector_[axis] * wave_vector_[axis];
  }
  if (squared == 0.0) throw InputError("problem.wave = [0, 0, 0]: expected a direction");
  for (int axis = 0; axis < 3; ++axis) direction_[axis] = wave_vector_[axis] / std::sqrt(squared);
}

double PlaneWave::signal(const Position& centre, double cell_size, double lag) const {
  double phase = -lag, mean_over_cell = amplitude_;
  for (int axis = 0; axis < 3; ++axis) {
    phase += wave_vector_[axis] * (centre[axis] - lower_[axis]);
    const double half = 0.5 * wave_vector_[axis] * cell_size;
    if (half != 0.0) mean_over_cell *= std::sin(half) / half;
  }
  return mean_over_cell * std::cos(phase);
}

GasState PlaneWave::state(double signal) const {
  GasState gas;
  gas.density = density_ * (1.0 + signal);
  gas.pressure = density_ * sound_speed_ * sound_speed_ / gamma_ * (1.0 + gamma_ * signal);
  return gas;
}

}  // namespace octant::problems
