// A sound wave of small amplitude that travels through a periodic domain in any direction that
// fits:
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  velocity = u0 + c s k/|k|,
//   s = amplitude * sin(k.(x - u0 t) - |k| c t),  k = 2 pi (n_x / L_x, n_y / L_y, n_z / L_z).
#include <cmath>

#include "problems/factories.hpp"
#include "problems/plane_wave.hpp"

namespace octant::problems {

namespace {

class SoundWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    wave_.declare(schema);
    schema.add("problem.velocity", velocity_, {.unit = "velocity", .meaning = "Mean gas velocity"});
  }

  void prepare(const Setting& setting) override { wave_.prepare(setting); }

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

}  // namespace

std::unique_ptr<Problem> make_sound_wave() { return std::make_unique<SoundWave>(); }

}  // namespace octant::problems
