// A standing wave in a self-gravitating gas (Jeans 1902): it starts at rest with
//   density = d0 (1 + s),  pressure = p0 (1 + gamma s),  s = amplitude * cos(k.x),
// and then s(t) = amplitude * cos(k.x) cos(omega t) with omega^2 = c^2 k^2 - 4 pi G d0: waves
// longer than the Jeans length, for which omega^2 < 0, grow like cosh(|omega| t). The mean density
// exerts no force, as the potential of a periodic domain has it.
#include "core/error.hpp"
#include "problems/factories.hpp"
#include "problems/plane_wave.hpp"

namespace octant::problems {

namespace {

class JeansWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override { wave_.declare(schema); }

  void prepare(const Setting& setting) override {
    if (setting.G == 0.0)
      throw InputError("problem.name = \"jeans\" requires gravity.enabled = true");
    wave_.prepare(setting);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    return wave_.state(wave_.signal(centre, cell_size, 0.0));
  }

 private:
  PlaneWave wave_{{1, 0, 0}, 1e-3};
};

}  // namespace

std::unique_ptr<Problem> make_jeans() { return std::make_unique<JeansWave>(); }

}  // namespace octant::problems
