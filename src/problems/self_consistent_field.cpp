#include "problems/self_consistent_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace octant::problems {

namespace {

constexpr int k_max_iterations = 1000;
constexpr double k_tolerance = 1e-10;                         // relative change in an iteration
constexpr int k_degree_of_single = 32, k_degree_of_two = 14;  // maximum degree of harmonics
constexpr int k_radii_of_single = 512, k_radii_of_two = 160;
constexpr double k_margin = 1.05;  // of the coordinates about a star of two
constexpr int k_colatitudes_of_single = 128, k_angles_of_two = 64;  // of the stored tables

// Real spherical harmonics up to a degree, even in y and z and orthonormal on the sphere, with the
// nodes of a quadrature that is exact for products of two of them: Gauss-Legendre in the cosine of
// the colatitude, equidistant in azimuth.
class Harmonics {
 public:
  Harmonics(int degree, bool axisymmetric) {
    for (int l = 0; l <= degree; ++l)
      for (int m = 0; m <= (axisymmetric ? 0 : l); ++m)
        if ((l + m) % 2 == 0) modes_.push_back({l, m});
    const int cosines = degree + 1, azimuths = axisymmetric ? 1 : degree + 1;
    for (int j = 0; j < cosines; ++j) {
      // Newton's method for the zeros of the Legendre polynomial, in descending order.
      double x = std::cos(M_PI * (j + 0.75) / (cosines + 0.5)), slope = 1.0;
      for (int n = 0; n < 20; ++n) {
        const double p = std::legendre(cosines, x);
        slope = cosines * (x * p - std::legendre(cosines - 1, x)) / (x * x - 1.0);
        x -= p / slope;
      }
      const double weight = 1.0 / ((1.0 - x * x) * slope * slope);  // on [0, 1]
      for (int k = 0; k < azimuths; ++k)
        nodes_.push_back(
            {0.5 * (1.0 + x), M_PI * (k + 0.5) / azimuths, 4.0 * M_PI * weight / azimuths});
    }
    for (const Node& node : nodes_) {
      const auto values = at(std::acos(node.cosine), node.azimuth);
      basis_.insert(basis_.end(), values.begin(), values.end());
    }
  }

  struct Node {
    double cosine, azimuth, weight;  // weights add up to 4 pi
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  int count() const { return static_cast<int>(modes_.size()); }
  int degree(int n) const { return modes_[n].l; }
  int index(int l, int m) const {
    for (int n = 0; n < count(); ++n)
      if (modes_[n].l == l && modes_[n].m == m) return n;
    return -1;
  }

  // Returns all harmonics in a direction.
  std::vector<double> at(double colatitude, double azimuth) const {
    std::vector<double> values;
    for (const auto& [l, m] : modes_)
      values.push_back(std::sph_legendre(l, m, colatitude) *
                       (m > 0 ? std::sqrt(2.0) * std::cos(m * azimuth) : 1.0));
    return values;
  }

  // Computes the integrals over the sphere of values at the nodes times the harmonics.
  void analyse(const double* values, double* coefficients) const {
    std::fill_n(coefficients, count(), 0.0);
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      for (int n = 0; n < count(); ++n)
        coefficients[n] += nodes_[node].weight * values[node] * basis_[node * count() + n];
  }
  double synthesise(const double* coefficients, std::size_t node) const {
    return sum(coefficients, basis_.data() + node * count());
  }
  double sum(const double* coefficients, const double* values) const {
    double total = 0.0;
    for (int n = 0; n < count(); ++n) total += coefficients[n] * values[n];
    return total;
  }

 private:
  struct Mode {
    int l, m;
  };
  std::vector<Mode> modes_;
  std::vector<Node> nodes_;
  std::vector<double> basis_;  // [node][harmonic]
};

// Star during the iteration.
class Iterate {
 public:
  Iterate(const Harmonics& harmonics, int radii, double reach, double centre, double index,
          double mass, double G)
      : harmonics_(harmonics),
        radii_(radii),
        reach_(reach),
        centre_(centre),
        index_(index),
        mass_(mass),
        G_(G),
        enthalpy_((radii + 1) * harmonics.nodes().size()),
        density_((radii + 1) * harmonics.count()),
        potential_(density_.size()),
        at_end_(harmonics.count()) {}

  double radius(int i) const { return reach_ * i / radii_; }
  double centre() const { return centre_; }
  void move(double along_x) { centre_ += along_x; }

  // Sets the initial guess: an oblate or spherical ellipsoid.
  void begin(double equator, double pole) {
    for_nodes([&](int i, const Harmonics::Node& node, double& h) {
      const double z = radius(i) * node.cosine, R2 = radius(i) * radius(i) - z * z;
      h = 1.0 - R2 / (equator * equator) - z * z / (pole * pole);
    });
  }

  // Computes density and self-potential from the present enthalpy, for the given mass of the star.
  void attract() {
    std::vector<double> values(harmonics_.nodes().size());
    for (int i = 0; i <= radii_; ++i) {
      for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = std::pow(std::max(enthalpy_[i * values.size() + n], 0.0), index_);
      harmonics_.analyse(values.data(), &density_[i * harmonics_.count()]);
    }
    double sum = 0.0;
    for (int i = 0; i <= radii_; ++i)
      sum += weight(i) * density_[i * harmonics_.count()] * std::sqrt(4.0 * M_PI);
    scale_ = mass_ / sum;
    for (double& value : density_) value *= scale_;
    for (int n = 0; n < harmonics_.count(); ++n) attract(n);
  }

  // Adds the potential of a companion. The companion lies outside this star's coordinates, so its
  // potential follows from the values at their outer boundary.
  void add_potential_of(const Iterate& other) {
    std::vector<double> values;
    for (const Harmonics::Node& node : harmonics_.nodes()) {
      const double sine = std::sqrt(1.0 - node.cosine * node.cosine);
      const double x = centre_ + reach_ * sine * std::cos(node.azimuth) - other.centre_;
      const double y = reach_ * sine * std::sin(node.azimuth), z = reach_ * node.cosine;
      values.push_back(other.outer_potential(x, y, z));
    }
    std::vector<double> coefficients(harmonics_.count());
    harmonics_.analyse(values.data(), coefficients.data());
    for (int i = 0; i <= radii_; ++i)
      for (int n = 0; n < harmonics_.count(); ++n)
        potential_[i * harmonics_.count() + n] +=
            coefficients[n] * std::pow(radius(i) / reach_, harmonics_.degree(n));
  }

  // Returns the potential at a radius in a direction.
  double potential(double r, double colatitude, double azimuth) const {
    const auto values = harmonics_.at(colatitude, azimuth);
    const int first = std::clamp(static_cast<int>(r / reach_ * radii_) - 1, 0, radii_ - 3);
    const double u = r / reach_ * radii_ - first;  // Lagrange polynomial through four radii
    double sum = 0.0;
    for (int a = 0; a < 4; ++a) {
      double factor = 1.0;
      for (int b = 0; b < 4; ++b)
        if (b != a) factor *= (u - b) / (a - b);
      sum += factor * harmonics_.sum(&potential_[(first + a) * harmonics_.count()], values.data());
    }
    return sum;
  }
  // Returns the derivative of the potential along x at the centre.
  double slope_at_centre() const {
    const int n = harmonics_.index(1, 1), count = harmonics_.count();
    const double along_x = harmonics_.at(M_PI / 2.0, 0.0)[n];
    return along_x * (8.0 * potential_[count + n] - potential_[2 * count + n]) / (6.0 * radius(1));
  }

  // Computes the enthalpy from the present potential. Returns its maximum.
  double balance(double constant, double squared_rotation) {
    double largest = 0.0;
    const std::size_t nodes = harmonics_.nodes().size();
    for_nodes([&](int i, const Harmonics::Node& node, double& h) {
      const std::size_t place = &h - enthalpy_.data();
      h = constant - harmonics_.synthesise(&potential_[i * harmonics_.count()], place % nodes) +
          0.5 * squared_rotation * squared_distance(i, node);
      largest = std::max(largest, h);
    });
    return largest;
  }

  void add_energies(double squared_rotation, StarModel& model) const {
    for (int i = 0; i <= radii_; ++i) {
      const double* const d = &density_[i * harmonics_.count()];
      model.potential_energy +=
          0.5 * weight(i) * harmonics_.sum(d, &potential_[i * harmonics_.count()]);
      for (std::size_t n = 0; n < harmonics_.nodes().size(); ++n) {
        const Harmonics::Node& node = harmonics_.nodes()[n];
        const double h = std::max(enthalpy_[i * harmonics_.nodes().size() + n], 0.0);
        const double mass = weight(i) * node.weight * scale_ * std::pow(h, index_);
        model.pressure_integral += mass * h / (index_ + 1.0);
        model.kinetic_energy += 0.5 * squared_rotation * mass * squared_distance(i, node);
      }
    }
  }

  PolytropeStar finished(double constant, double squared_rotation, int colatitudes,
                         int azimuths) const {
    PolytropeStar star;
    star.profile = {.radii = radii_,
                    .colatitudes = colatitudes,
                    .azimuths = azimuths,
                    .reach = reach_,
                    .index = index_,
                    .scale = scale_,
                    .centre = centre_};
    const int directions = (colatitudes + 1) * (azimuths + 1);
    star.enthalpy.resize((radii_ + 1) * directions);
    for (int n = 0; n < directions; ++n) {
      const double theta = 0.5 * M_PI * (n / (azimuths + 1)) / colatitudes;
      const double phi = azimuths > 0 ? M_PI * (n % (azimuths + 1)) / azimuths : 0.0;
      const auto values = harmonics_.at(theta, phi);
      const Harmonics::Node direction{std::cos(theta), phi, 0.0};
      for (int i = 0; i <= radii_; ++i)
        star.enthalpy[i * directions + n] =
            constant - harmonics_.sum(&potential_[i * harmonics_.count()], values.data()) +
            0.5 * squared_rotation * squared_distance(i, direction);
    }
    star.mass = mass_;
    star.volume = volume();
    star.central_density = star.profile.density(star.enthalpy[0]);
    star.polytropic_constant = std::pow(scale_, -1.0 / index_) / (index_ + 1.0);
    return star;
  }

 private:
  template <class Visit>
  void for_nodes(const Visit& visit) {
    double* h = enthalpy_.data();
    for (int i = 0; i <= radii_; ++i)
      for (const Harmonics::Node& node : harmonics_.nodes()) visit(i, node, *h++);
  }

  double weight(int i) const {  // weight of r^2 dr
    return (i == radii_ ? 0.5 : 1.0) * reach_ / radii_ * radius(i) * radius(i);
  }

  double squared_distance(int i, const Harmonics::Node& node) const {
    const double across = radius(i) * std::sqrt(1.0 - node.cosine * node.cosine);
    const double x = centre_ + across * std::cos(node.azimuth);
    const double y = across * std::sin(node.azimuth);
    return x * x + y * y;
  }

  // Computes the potential of harmonic n from the shells within and outside each radius:
  //   -4 pi G / (2 l + 1) (r^-(l+1) int_0^r rho r'^(l+2) dr' + r^l int_r rho r'^(1-l) dr').
  void attract(int n) {
    const int l = harmonics_.degree(n), count = harmonics_.count();
    const double h = reach_ / radii_;
    const auto density = [&](int i) { return density_[i * count + n]; };
    double within = 0.0, around = 0.0;
    std::vector<double> sum(radii_ + 1, 0.0);
    for (int i = 1; i <= radii_; ++i) {
      const double ratio = radius(i - 1) / radius(i), step = std::pow(ratio, l + 1);
      within = within * step +
               0.5 * h * (density(i - 1) * radius(i - 1) * step + density(i) * radius(i));
      sum[i] = within;
    }
    for (int i = radii_ - 1; i >= 0; --i) {
      const double step = std::pow(radius(i) / radius(i + 1), l);
      around = around * step +
               0.5 * h * (density(i) * radius(i) + density(i + 1) * radius(i + 1) * step);
      sum[i] += around;
    }
    for (int i = 0; i <= radii_; ++i)
      potential_[i * count + n] = -4.0 * M_PI * G_ / (2 * l + 1) * sum[i];
    at_end_[n] = potential_[radii_ * count + n];
  }

  // Potential of this star alone, outside its coordinates; the position is relative to its centre.
  double outer_potential(double x, double y, double z) const {
    const double r = std::sqrt(x * x + y * y + z * z);
    const auto values = harmonics_.at(std::acos(std::abs(z) / r), std::atan2(std::abs(y), x));
    double sum = 0.0;
    for (int n = 0; n < harmonics_.count(); ++n)
      sum += at_end_[n] * values[n] * std::pow(reach_ / r, harmonics_.degree(n) + 1);
    return sum;
  }

  double volume() const {
    double sum = 0.0;
    const std::size_t nodes = harmonics_.nodes().size();
    for (std::size_t n = 0; n < nodes; ++n) {
      const auto h = [&](int i) { return enthalpy_[i * nodes + n]; };
      int i = 0;
      while (i < radii_ && h(i + 1) > 0.0) ++i;
      const double share = i < radii_ ? h(i) / (h(i) - h(i + 1)) : 0.0;
      const double r = (i + share) * reach_ / radii_;
      sum += harmonics_.nodes()[n].weight * r * r * r / 3.0;
    }
    return sum;
  }

  const Harmonics& harmonics_;
  int radii_;
  double reach_, centre_, index_, mass_, G_;
  double scale_ = 1.0;
  std::vector<double> enthalpy_;             // [radius][node]
  std::vector<double> density_, potential_;  // [radius][harmonic]
  std::vector<double> at_end_;               // [harmonic], self-potential at `reach`
};

// Convergence test of an iteration, by quantities of order one.
class Convergence {
 public:
  bool reached(const std::vector<double>& values) {
    double change = last_.empty() ? 1.0 : 0.0;
    for (std::size_t n = 0; n < last_.size(); ++n)
      change = std::max(change, std::abs(values[n] - last_[n]));
    last_ = values;
    return change < k_tolerance;
  }

 private:
  std::vector<double> last_;
};

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

// Conditions at points of the equator and the pole of the surface:
//   C = phi(pole),  Omega^2 = 2 (phi(equator) - phi(pole)) / radius^2.
StarModel solve_star(const RotatingStar& star, double G) {
  const Harmonics harmonics(k_degree_of_single, true);
  Iterate iterate(harmonics, k_radii_of_single, star.radius, 0.0, star.index, star.mass, G);
  iterate.begin(star.radius, star.axis_ratio * star.radius);
  const double unit = G * star.mass / star.radius;
  const auto unbound = [&] {
    return InputError(
        "problem.axis_ratio = {}: a uniformly rotating star of polytropic index {} would shed mass "
        "at its equator; expected an axis ratio closer to 1",
        star.axis_ratio, star.index);
  };
  Convergence convergence;
  for (int n = 1; n <= k_max_iterations; ++n) {
    iterate.attract();
    const double at_pole = iterate.potential(star.axis_ratio * star.radius, 0.0, 0.0);
    const double at_equator = iterate.potential(star.radius, 0.5 * M_PI, 0.0);
    const double rotation2 =
        star.axis_ratio < 1.0 ? 2.0 * (at_equator - at_pole) / (star.radius * star.radius) : 0.0;
    const double largest = iterate.balance(at_pole, rotation2);
    if (!(largest > 0.0) || !(rotation2 >= 0.0)) throw unbound();
    if (!convergence.reached(
            {rotation2 * star.radius * star.radius / unit, at_pole / unit, largest / unit}))
      continue;
    const double inner = star.radius * (1.0 - 2.0 / k_radii_of_single);
    if (at_pole - iterate.potential(inner, 0.5 * M_PI, 0.0) + 0.5 * rotation2 * inner * inner <=
        0.0)
      throw unbound();
    StarModel model;
    model.angular_velocity = std::sqrt(rotation2);
    model.iterations = n;
    iterate.add_energies(rotation2, model);
    model.stars.push_back(iterate.finished(at_pole, rotation2, k_colatitudes_of_single, 0));
    return model;
  }
  throw InputError(
      "problem.polytropic_index = {}, problem.axis_ratio = {}: no equilibrium was found in {} "
      "iterations; expected an axis ratio closer to 1",
      star.index, star.axis_ratio, k_max_iterations);
}

double inner_lagrangian_point(double mass_ratio) {
  // Root of the force on corotating matter, in units of the separation and the total mass.
  const double first = 1.0 / (1.0 + mass_ratio), second = 1.0 - first;
  double lower = 0.0, upper = 1.0;
  for (int n = 0; n < 100; ++n) {
    const double x = 0.5 * (lower + upper);
    const double force = -first / (x * x) + second / ((1.0 - x) * (1.0 - x)) + (x - second);
    (force < 0.0 ? lower : upper) = x;
  }
  return 0.5 * (lower + upper);
}

namespace {

InputError no_binary(const SynchronousBinary& binary, const char* why) {
  return InputError(
      "problem.filling = [{}, {}], problem.mass_ratio = {}: no equilibrium of two stars of "
      "polytropic index {} and {} was found{}; decrease the filling factors",
      binary.filling[0], binary.filling[1], binary.mass_ratio, binary.index[0], binary.index[1],
      why);
}

void check_filling(const SynchronousBinary& binary) {
  for (int s = 0; s < 2; ++s)
    if (binary.filling[s] > 1.0)
      throw InputError(
          "problem.filling = [{}, {}]: star {} is larger than its Roche lobe; expected at most 1",
          binary.filling[0], binary.filling[1], s + 1);
}

// Iteration for two stars that orbit each other. The density maxima are fixed: zero effective
// gravity there gives Omega and the axis. Each surface passes through a point on the line between
// the centres.
class BinaryIterate {
 public:
  BinaryIterate(const SynchronousBinary& binary, const Harmonics& harmonics, double G)
      : binary_(binary), unit_(G * binary.mass / binary.separation) {
    const double shares = 1.0 + binary.mass_ratio;
    const double mass[2] = {binary.mass / shares, binary.mass * binary.mass_ratio / shares};
    const double to_point = inner_lagrangian_point(binary.mass_ratio) * binary.separation;
    const double distance[2] = {to_point, binary.separation - to_point};
    const double first_centre = -binary.separation * binary.mass_ratio / shares;
    for (int s = 0; s < 2; ++s) {
      surface_[s] = binary.filling[s] * distance[s];
      stars_.emplace_back(harmonics, k_radii_of_two, std::min(k_margin * surface_[s], distance[s]),
                          first_centre + s * binary.separation, binary.index[s], mass[s], G);
      stars_[s].begin(surface_[s], surface_[s]);
    }
  }

  // Updates the gas from the potential of the last densities. Returns the quantities that must
  // converge, in units of the binary.
  std::vector<double> next() {
    for (Iterate& star : stars_) star.attract();
    for (int s = 0; s < 2; ++s) stars_[s].add_potential_of(stars_[1 - s]);
    const double slope[2] = {stars_[0].slope_at_centre(), stars_[1].slope_at_centre()};
    rotation2_ = (slope[1] - slope[0]) / binary_.separation;
    if (!(rotation2_ > 0.0)) throw no_binary(binary_, "");
    const double shift = slope[0] / rotation2_ - stars_[0].centre();
    for (Iterate& star : stars_) star.move(shift);
    std::vector<double> values{rotation2_ * binary_.separation * binary_.separation / unit_,
                               shift / binary_.separation};
    for (int s = 0; s < 2; ++s) {
      constant_[s] = effective_potential(s, surface_[s]);
      const double largest = stars_[s].balance(constant_[s], rotation2_);
      if (!(largest > 0.0)) throw no_binary(binary_, "");
      values.push_back(constant_[s] / unit_);
      values.push_back(largest / unit_);
    }
    return values;
  }

  StarModel finished(int iterations) const {
    StarModel model;
    model.angular_velocity = std::sqrt(rotation2_);
    model.iterations = iterations;
    for (int s = 0; s < 2; ++s) {
      const double inner = surface_[s] * (1.0 - 2.0 / k_radii_of_two);
      if (constant_[s] <= effective_potential(s, inner))
        throw no_binary(binary_, ": the stars overlap");
      stars_[s].add_energies(rotation2_, model);
      model.stars.push_back(
          stars_[s].finished(constant_[s], rotation2_, k_angles_of_two, k_angles_of_two));
    }
    return model;
  }

 private:
  // Effective potential at distance r from the centre of star s towards the companion.
  double effective_potential(int s, double r) const {
    const double x = stars_[s].centre() + (s == 0 ? r : -r);
    return stars_[s].potential(r, 0.5 * M_PI, s == 0 ? 0.0 : M_PI) - 0.5 * rotation2_ * x * x;
  }

  const SynchronousBinary& binary_;
  double unit_;  // unit of potentials
  std::vector<Iterate> stars_;
  double surface_[2];  // distance of the surface towards the companion
  double constant_[2] = {}, rotation2_ = 0.0;
};

}  // namespace

StarModel solve_binary(const SynchronousBinary& binary, double G) {
  check_filling(binary);
  const Harmonics harmonics(k_degree_of_two, false);
  BinaryIterate stars(binary, harmonics, G);
  Convergence convergence;
  for (int n = 1; n <= k_max_iterations; ++n) {
    const std::vector<double> values = stars.next();
    if (!all_finite(values)) break;
    if (convergence.reached(values)) return stars.finished(n);
  }
  throw no_binary(binary, "");
}

}  // namespace octant::problems
