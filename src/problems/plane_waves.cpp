// Small-amplitude plane waves in gas: sound waves, and Jeans waves with self-gravity.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Adiabatic plane waves about a mean state, with a wave vector that fits the domain.
class PlaneWave {
 public:
  PlaneWave(std::array<int, 3> wavelengths, double amplitude)
      : wavelengths_(wavelengths), amplitude_(amplitude) {}

  // Declares problem.wave, amplitude, density and sound_speed.
  void declare(ParameterSchema& schema);

  // Throws InputError if the wave has no direction, or the domain is not periodic along it.
  void prepare(const ProblemSetup& setup);

  double sound_speed() const { return sound_speed_; }
  // Unit vector along the wave vector.
  const Position& direction() const { return direction_; }

  // Cell average of amplitude * cos(k.(x - lower corner) - lag).
  double signal(const Position& centre, double cell_size, double lag) const;

  // Gas at rest with density d0 (1 + signal) and pressure d0 c^2 / gamma (1 + gamma signal).
  GasState state(double signal) const;

 private:
  std::array<int, 3> wavelengths_;
  double amplitude_, density_ = 1.0, sound_speed_ = 1.0;

  double gamma_ = 1.4;
  Position lower_{}, wave_vector_{}, direction_{};
};

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

void PlaneWave::prepare(const ProblemSetup& setup) {
  lower_ = setup.geometry.lower();
  gamma_ = setup.hydro.gamma;
  double squared = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    if (wavelengths_[axis] != 0 && !setup.geometry.periodic(axis))
      throw InputError(
          "problem.wave = [{}, {}, {}]: the wave requires periodic boundaries along all axes with "
          "non-zero components, but mesh.boundary_{} is not periodic",
          wavelengths_[0], wavelengths_[1], wavelengths_[2], static_cast<char>('x' + axis));
    wave_vector_[axis] =
        2.0 * M_PI * wavelengths_[axis] / (setup.geometry.upper()[axis] - lower_[axis]);
    squared += wave_vector_[axis] * wave_vector_[axis];
  }
  if (squared == 0.0)
    throw InputError("problem.wave = [0, 0, 0]: expected at least one non-zero component");
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

// Sound wave of small amplitude that travels through a periodic domain in any direction that fits:
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  velocity = u0 + c s k/|k|,
//   s = amplitude * sin(k.(x - u0 t) - |k| c t),  k = 2 pi (n_x / L_x, n_y / L_y, n_z / L_z).
class SoundWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    wave_.declare(schema);
    schema.add("problem.velocity", velocity_, {.unit = "velocity", .meaning = "Mean gas velocity"});
  }

  void prepare(const ProblemSetup& setup) override { wave_.prepare(setup); }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double signal = wave_.signal(centre, cell_size, M_PI / 2);
    GasState gas = wave_.state(signal);
    for (int axis = 0; axis < 3; ++axis)
      gas.velocity[axis] = velocity_[axis] + wave_.sound_speed() * signal * wave_.direction()[axis];
    return gas;
  }

 private:
  PlaneWave wave_{{1, 1, 1}, 1e-6};
  std::array<double, 3> velocity_{};
};

// Standing Jeans wave in self-gravitating gas (Jeans 1902), which starts at rest with
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  s = amplitude * cos(k.x).
// Then s(t) = amplitude * cos(k.x) cos(omega t) with omega^2 = c^2 k^2 - 4 pi G d0; waves longer
// than the Jeans length, omega^2 < 0, grow as cosh(|omega| t). The mean density exerts no force, as
// in the potential of a periodic domain.
class JeansWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override { wave_.declare(schema); }

  void prepare(const ProblemSetup& setup) override {
    setup.require_gravity("jeans");
    wave_.prepare(setup);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    return wave_.state(wave_.signal(centre, cell_size, 0.0));
  }

 private:
  PlaneWave wave_{{1, 0, 0}, 1e-3};
};

}  // namespace

std::unique_ptr<Problem> make_sound_wave() { return std::make_unique<SoundWave>(); }

std::unique_ptr<Problem> make_jeans() { return std::make_unique<JeansWave>(); }

}  // namespace octant::problems
