#include "problems/star_iterate.hpp"

#include <algorithm>
#include <cmath>

namespace octant::problems {

StarIterate::StarIterate(const EvenHarmonics& harmonics, int radii, double reach, double centre,
                         const StarMatter& matter, double mass, double G)
    : harmonics_(harmonics),
      radii_(radii),
      reach_(reach),
      centre_(centre),
      matter_(matter),
      mass_(mass),
      G_(G),
      enthalpy_((radii + 1) * harmonics.nodes().size()),
      density_((radii + 1) * harmonics.count()),
      potential_(density_.size()),
      at_end_(harmonics.count()) {}

template <class Visit>
void StarIterate::for_nodes(const Visit& visit) {
  double* h = enthalpy_.data();
  for (int i = 0; i <= radii_; ++i)
    for (const EvenHarmonics::Node& node : harmonics_.nodes()) visit(i, node, *h++);
}

void StarIterate::begin(double equator, double pole, double central) {
  for_nodes([&](int i, const EvenHarmonics::Node& node, double& h) {
    const double z = radius(i) * node.cosine, across2 = radius(i) * radius(i) - z * z;
    h = central * (1.0 - across2 / (equator * equator) - z * z / (pole * pole));
  });
}

void StarIterate::begin(const std::function<double(double x, double y, double z)>& enthalpy) {
  for_nodes([&](int i, const EvenHarmonics::Node& node, double& h) {
    const double across = radius(i) * std::sqrt(1.0 - node.cosine * node.cosine);
    h = enthalpy(across * std::cos(node.azimuth), across * std::sin(node.azimuth),
                 radius(i) * node.cosine);
  });
}

void StarIterate::stretch(double reach) {
  for (double& h : enthalpy_) h *= reach_ / reach;
  reach_ = reach;
}

void StarIterate::attract() {
  std::vector<double> values(harmonics_.nodes().size());
  for (int i = 0; i <= radii_; ++i) {
    for (std::size_t n = 0; n < values.size(); ++n)
      values[n] = matter_.unscaled_density(enthalpy_[i * values.size() + n]);
    harmonics_.analyse(values.data(), &density_[i * harmonics_.count()]);
  }
  double sum = 0.0;
  for (int i = 0; i <= radii_; ++i)
    sum += weight(i) * density_[i * harmonics_.count()] * std::sqrt(4.0 * M_PI);
  matter_.scale = mass_ / sum;
  for (double& value : density_) value *= matter_.scale;
  for (int n = 0; n < harmonics_.count(); ++n) attract(n);
}

void StarIterate::add_potential_of(const StarIterate& other) {
  std::vector<double> values;
  for (const EvenHarmonics::Node& node : harmonics_.nodes()) {
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

double StarIterate::potential(double r, double colatitude, double azimuth) const {
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

double StarIterate::slope_at_centre() const {
  const int n = harmonics_.index(1, 1), count = harmonics_.count();
  const double along_x = harmonics_.at(M_PI / 2.0, 0.0)[n];
  return along_x * (8.0 * potential_[count + n] - potential_[2 * count + n]) / (6.0 * radius(1));
}

double StarIterate::balance(double constant, double squared_rotation) {
  double largest = 0.0;
  const std::size_t nodes = harmonics_.nodes().size();
  for_nodes([&](int i, const EvenHarmonics::Node& node, double& h) {
    const std::size_t place = &h - enthalpy_.data();
    h = constant - harmonics_.synthesise(&potential_[i * harmonics_.count()], place % nodes) +
        0.5 * squared_rotation * squared_distance(i, node);
    largest = std::max(largest, h);
  });
  return largest;
}

void StarIterate::cut(double radius_of_cut) {
  for_nodes([&](int i, const EvenHarmonics::Node&, double& h) {
    if (radius(i) > radius_of_cut) h = std::min(h, 0.0);
  });
}

double StarIterate::enclosed_volume() const {
  double sum = 0.0;
  const std::size_t nodes = harmonics_.nodes().size();
  for (std::size_t n = 0; n < nodes; ++n)
    for (int i = 0; i < radii_; ++i) {
      // The part of an interval with positive enthalpy, which is linear in it.
      const double lower = enthalpy_[i * nodes + n], upper = enthalpy_[(i + 1) * nodes + n];
      const double largest = std::max(lower, upper), smallest = std::min(lower, upper);
      if (!(largest > 0.0)) continue;
      const double share = smallest >= 0.0 ? 1.0 : largest / (largest - smallest);
      const double a = radius(i), b = radius(i + 1);
      sum += share * harmonics_.nodes()[n].weight * (b * b * b - a * a * a) / 3.0;
    }
  return sum;
}

void StarIterate::add_energies(double squared_rotation, StarModel& model) const {
  for (int i = 0; i <= radii_; ++i) {
    const double* const d = &density_[i * harmonics_.count()];
    model.potential_energy +=
        0.5 * weight(i) * harmonics_.sum(d, &potential_[i * harmonics_.count()]);
    for (std::size_t n = 0; n < harmonics_.nodes().size(); ++n) {
      const EvenHarmonics::Node& node = harmonics_.nodes()[n];
      const double h = std::max(enthalpy_[i * harmonics_.nodes().size() + n], 0.0);
      const double mass = weight(i) * node.weight * matter_.scale * matter_.unscaled_density(h);
      model.pressure_integral += matter_.times_specific_pressure(mass, h);
      model.kinetic_energy += 0.5 * squared_rotation * mass * squared_distance(i, node);
    }
  }
}

ModelStar StarIterate::finished(double constant, double squared_rotation, int colatitudes,
                                int azimuths) const {
  ModelStar star;
  star.profile = {.radii = radii_,
                  .colatitudes = colatitudes,
                  .azimuths = azimuths,
                  .reach = reach_,
                  .matter = matter_,
                  .origin = centre_,
                  .centre = centre_,
                  .size = reach_};
  const int directions = (colatitudes + 1) * (azimuths + 1);
  star.enthalpy.resize((radii_ + 1) * directions);
  for (int n = 0; n < directions; ++n) {
    const int j = n / (azimuths + 1), k = n % (azimuths + 1);
    const double theta = 0.5 * M_PI * j / colatitudes;
    const double phi = azimuths > 0 ? M_PI * k / azimuths : 0.0;
    const auto values = harmonics_.at(theta, phi);
    const EvenHarmonics::Node direction{std::cos(theta), phi, 0.0};
    for (int i = 0; i <= radii_; ++i)
      star.enthalpy[i * directions + n] =
          constant - harmonics_.sum(&potential_[i * harmonics_.count()], values.data()) +
          0.5 * squared_rotation * squared_distance(i, direction);
  }
  // Given matter has the factor 1 to the accuracy of the search for the radius.
  if (matter_.is_given()) star.profile.matter.scale = 1.0;
  star.mass = mass_;
  star.volume = volume();
  star.central_enthalpy = star.enthalpy[0];
  star.central_density = star.profile.matter.density(star.central_enthalpy);
  if (!matter_.is_given())
    star.polytropic_constant =
        std::pow(matter_.scale, -1.0 / matter_.index) / (matter_.index + 1.0);
  return star;
}

double StarIterate::weight(int i) const {
  return (i == radii_ ? 0.5 : 1.0) * reach_ / radii_ * radius(i) * radius(i);
}

double StarIterate::squared_distance(int i, const EvenHarmonics::Node& node) const {
  const double across = radius(i) * std::sqrt(1.0 - node.cosine * node.cosine);
  const double x = centre_ + across * std::cos(node.azimuth);
  const double y = across * std::sin(node.azimuth);
  return x * x + y * y;
}

// Computes the potential of harmonic n from the shells within and outside each radius:
//   -4 pi G / (2 l + 1) (r^-(l+1) int_0^r rho r'^(l+2) dr' + r^l int_r rho r'^(1-l) dr').
void StarIterate::attract(int n) {
  const int l = harmonics_.degree(n), count = harmonics_.count();
  const double h = reach_ / radii_;
  const auto density = [&](int i) { return density_[i * count + n]; };
  double within = 0.0, around = 0.0;
  std::vector<double> sum(radii_ + 1, 0.0);
  for (int i = 1; i <= radii_; ++i) {
    const double ratio = radius(i - 1) / radius(i), step = std::pow(ratio, l + 1);
    within =
        within * step + 0.5 * h * (density(i - 1) * radius(i - 1) * step + density(i) * radius(i));
    sum[i] = within;
  }
  for (int i = radii_ - 1; i >= 0; --i) {
    const double step = std::pow(radius(i) / radius(i + 1), l);
    around =
        around * step + 0.5 * h * (density(i) * radius(i) + density(i + 1) * radius(i + 1) * step);
    sum[i] += around;
  }
  for (int i = 0; i <= radii_; ++i)
    potential_[i * count + n] = -4.0 * M_PI * G_ / (2 * l + 1) * sum[i];
  at_end_[n] = potential_[radii_ * count + n];
}

// Potential of this star alone, outside its coordinates; the position is relative to its centre.
double StarIterate::outer_potential(double x, double y, double z) const {
  const double r = std::sqrt(x * x + y * y + z * z);
  const auto values = harmonics_.at(std::acos(std::abs(z) / r), std::atan2(std::abs(y), x));
  double sum = 0.0;
  for (int n = 0; n < harmonics_.count(); ++n)
    sum += at_end_[n] * values[n] * std::pow(reach_ / r, harmonics_.degree(n) + 1);
  return sum;
}

double StarIterate::volume() const {
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

}  // namespace octant::problems
