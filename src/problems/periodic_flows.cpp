// Flows in periodic boxes: Taylor-Green vortices and isotropic turbulence.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_problem.hpp"

namespace octant::problems {

namespace {

// Taylor-Green vortices (Taylor & Green 1937) in a periodic box of lengths L:
//   u = U sin(a x) cos(b y) cos(c z),  v = -U a/b cos(a x) sin(b y) cos(c z),  w = 0,
// with a = 2 pi / L_x and so on. In two dimensions, without the factor cos(c z), the vortices decay
// as exp(-nu (a^2 + b^2) t), which is an exact solution; in three dimensions they break up.
class TaylorGreen final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Velocity amplitude of the vortices", .above = 0.0});
    schema.add("problem.dimensions", dimensions_,
               {.meaning = "Number of dimensions of the vortices; 2: uniform along z, with "
                           "analytic decay; 3: transition to turbulence",
                .min = 2,
                .max = 3});
  }

  void prepare(const FlowSetting& setup) override {
    for (int axis = 0; axis < dimensions_; ++axis)
      if (!setup.boundaries.periodic(axis))
        throw InputError(
            "problem.name = \"taylor_green\" requires periodic boundaries, but dns.boundary_{} is "
            "not periodic",
            static_cast<char>('x' + axis));
    for (int axis = 0; axis < 3; ++axis) wave_[axis] = 2.0 * M_PI / setup.grid.size[axis];
  }

  double velocity(int component, const FlowPoint& point) const override {
    const auto& [x, y, z] = point.position;
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

// Isotropic turbulence without mean flow in a periodic box: solenoidal waves of random direction
// and phase with the energy spectrum  E(k) ~ k^4 exp(-2 (k / k_peak)^2).
class Isotropic final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.speed", speed_,
               {.unit = "velocity",
                .meaning = "Root-mean-square value of each velocity component",
                .above = 0.0});
    schema.add(
        "problem.peak_wave", peak_,
        {.meaning =
             "Wavenumber of the peak of the energy spectrum, as the number of wavelengths per box",
         .above = 0.0});
    schema.add("problem.modes", modes_,
               {.meaning = "Number of random Fourier modes", .min = 1, .max = 10000});
    schema.add("problem.seed", seed_, {.meaning = "Random seed for the Fourier modes", .min = 0});
  }

  void prepare(const FlowSetting& setup) override {
    for (int axis = 0; axis < 3; ++axis)
      if (!setup.boundaries.periodic(axis))
        throw InputError(
            "problem.name = \"isotropic\" requires periodic boundaries, but dns.boundary_{} is not "
            "periodic",
            static_cast<char>('x' + axis));
    const auto& size = setup.grid.size;
    double energy = 0.0;
    for (int n = 0; n < modes_; ++n) {
      waves_.push_back(wave(n, size));
      for (const double a : waves_.back().amplitude) energy += 0.25 * a * a;
    }
    const double wanted = 1.5 * speed_ * speed_, factor = std::sqrt(wanted / energy);
    for (Wave& w : waves_)
      for (double& a : w.amplitude) a *= factor;
  }

  double velocity(int component, const FlowPoint& point) const override {
    double sum = 0.0;
    for (const Wave& w : waves_)
      sum += w.amplitude[component] *
             std::cos(w.vector[0] * point.position[0] + w.vector[1] * point.position[1] +
                      w.vector[2] * point.position[2] + w.phase);
    return sum;
  }

 private:
  using Triple = std::array<double, 3>;
  struct Wave {
    Triple vector, amplitude;
    double phase;
  };

  // Draws a wave vector that fits the box: a random direction and wavenumber, rounded to whole
  // wavelengths.
  Wave wave(int n, const Triple& size) const {
    const RandomStream random(seed_, static_cast<std::uint64_t>(n), 0);
    const double wave_number = 0.3 * peak_ + 2.2 * peak_ * random.uniform(0);
    Wave w{};
    Triple direction{}, other{};
    for (std::uint32_t c = 0; c < 3; ++c) {
      direction[c] = random.normal_pair(4 + c).first;
      other[c] = random.normal_pair(8 + c).first;
    }
    const double norm = std::sqrt(dot(direction, direction));
    Triple whole{};
    for (int c = 0; c < 3; ++c) whole[c] = std::round(wave_number * direction[c] / norm);
    if (dot(whole, whole) == 0.0) whole[n % 3] = 1.0;
    for (int c = 0; c < 3; ++c) w.vector[c] = 2.0 * M_PI * whole[c] / size[c];
    const double k = std::sqrt(dot(whole, whole)), x = k / peak_;
    const double along = dot(other, w.vector) / dot(w.vector, w.vector);
    for (int c = 0; c < 3; ++c) other[c] -= along * w.vector[c];
    // Wave numbers have a uniform distribution, so that each wave represents E(k) dk.
    const double strength = x * x * std::exp(-x * x) / std::sqrt(dot(other, other));
    for (int c = 0; c < 3; ++c) w.amplitude[c] = strength * other[c];
    w.phase = 2.0 * M_PI * random.uniform(1);
    return w;
  }

  static double dot(const Triple& a, const Triple& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }

  double speed_ = 1.0, peak_ = 3.0;
  int modes_ = 200;
  std::int64_t seed_ = 1;
  std::vector<Wave> waves_;
};

}  // namespace

std::unique_ptr<FlowProblem> make_taylor_green() { return std::make_unique<TaylorGreen>(); }

std::unique_ptr<FlowProblem> make_isotropic() { return std::make_unique<Isotropic>(); }

}  // namespace octant::problems
