// A pancake (Zel'dovich 1970): a plane wave of matter in an expanding universe that collapses in
// the middle of the box. What began at q is, as long as nothing has met, at
//   x = q - A sin(k q) / k,  k = 2 pi / size,  q and x from the middle,
// where A grows like linear perturbations and is 1 when the middle collapses. That is exact for
// cold matter: in a plane the force on it does not depend on how far it has moved.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/particle_lattice.hpp"

namespace octant::problems {

namespace {

class Pancake final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.collapse", collapse_,
               {.meaning = "Collapse of the pancake: a redshift such as \"z = 1\" or a scale "
                           "factor such as \"a = 0.5\""});
    schema.add("problem.axis", along_, {.meaning = "Direction of the wave"});
    schema.add("problem.temperature", temperature_,
               {.unit = "K", .meaning = "Initial gas temperature", .above = 0.0});
    schema.add(
        "problem.dark_matter", has_dark_matter_,
        {.meaning =
             "Dark matter for all matter beyond cosmology.omega_b; false: all matter is gas"});
    schema.add("problem.particles_per_cell", per_cell_,
               {.meaning = "Number of dark-matter particles along each side of a base cell",
                .min = 1,
                .max = 16});
  }

  void prepare(const Setting& setting) override {
    if (setting.universe == nullptr)
      throw InputError("problem.name = \"pancake\" requires cosmology.enabled = true");
    if (!setting.hydro.enabled && !has_dark_matter_)
      throw InputError("problem.dark_matter = false is incompatible with hydro.enabled = false");
    const auto& o = setting.universe->options();
    if (o.start.empty())
      throw InputError("cosmology.start is missing: give the start of the run, such as \"z = 50\"");
    geometry_.emplace(setting.geometry);
    axis_ = index_of(along_);
    size_ = geometry_->upper()[axis_] - geometry_->lower()[axis_];
    middle_ = geometry_->lower()[axis_] + 0.5 * size_;
    gas_share_ = !setting.hydro.enabled ? 0.0 : has_dark_matter_ ? o.omega_b / o.omega_m : 1.0;

    const double a = cosmology::scale_factor_of(o.start, "cosmology.start");
    const cosmology::Expansion& expansion = setting.universe->expansion();
    const cosmology::Growth growth = expansion.growth(a);
    amplitude_ = growth.first /
                 expansion.growth(cosmology::scale_factor_of(collapse_, "problem.collapse")).first;
    if (!(amplitude_ < 1.0))
      throw InputError("problem.collapse = \"{}\" is not after cosmology.start = \"{}\"", collapse_,
                       o.start);
    // d ln a / d tau = a^2 H / H0.
    change_ = amplitude_ * growth.first_rate * a * a * expansion.background().hubble(a);
    start_ = setting.universe->time(a);
    pressure_per_density_ =
        temperature_ / cosmology::k_molecular_weight / setting.universe->units(a).temperature();
  }

  double begin(const Communicator& communicator) override {
    communicator_.emplace(communicator);
    return start_;
  }

  // Means over the cell of mass and momentum, at one temperature.
  GasState initial_state(const Position& centre, double cell_size) const override {
    const double from = origin_of(centre[axis_] - 0.5 * cell_size - middle_);
    const double to = origin_of(centre[axis_] + 0.5 * cell_size - middle_);
    const double k = wave_number(), matter = (to - from) / cell_size;
    GasState gas;
    gas.density = gas_share_ * matter;
    gas.velocity[axis_] = change_ * (std::cos(k * to) - std::cos(k * from)) / (k * k * (to - from));
    gas.pressure = gas.density * pressure_per_density_;
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override {
    if (!has_dark_matter_) return {};
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&) override {
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry_->upper()[d] - geometry_->lower()[d];
    return lattice_particles(
        *geometry_, per_cell_, (1.0 - gas_share_) * volume, *communicator_,
        [this](const Position& point, Position& position, Position& velocity) {
          const double wave = std::sin(wave_number() * (point[axis_] - middle_)) / wave_number();
          position = point;
          position[axis_] -= amplitude_ * wave;
          velocity = {};
          velocity[axis_] = -change_ * wave;
        });
  }

 private:
  double wave_number() const { return 2.0 * M_PI / size_; }

  // What is at x began here. The map rises everywhere, so that Newton's steps, kept within the
  // bounds of the root, find it.
  double origin_of(double x) const {
    const double k = wave_number();
    double low = x - amplitude_ / k, high = x + amplitude_ / k, q = x;
    for (int n = 0; n < 100; ++n) {
      const double excess = q - amplitude_ * std::sin(k * q) / k - x;
      (excess > 0.0 ? high : low) = q;
      double next = q - excess / (1.0 - amplitude_ * std::cos(k * q));
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - q) <= 1e-16 * size_) break;
      q = next;
    }
    return q;
  }

  std::string collapse_ = "z = 1";
  Axis along_ = Axis::x;
  double temperature_ = 100.0;
  bool has_dark_matter_ = true;
  int per_cell_ = 1;

  std::optional<mesh::Geometry> geometry_;
  std::optional<Communicator> communicator_;
  int axis_ = 0;
  double size_ = 1.0, middle_ = 0.5, gas_share_ = 1.0;
  double amplitude_ = 0.0, change_ = 0.0;  // A and dA / d tau when the run begins
  double start_ = 0.0, pressure_per_density_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_pancake() { return std::make_unique<Pancake>(); }

}  // namespace octant::problems
