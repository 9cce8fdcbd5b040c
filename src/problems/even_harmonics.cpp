#include "problems/even_harmonics.hpp"

#include <algorithm>
#include <cmath>

namespace octant::problems {

EvenHarmonics::EvenHarmonics(int degree, bool axisymmetric, bool mirrored) {
  for (int l = 0; l <= degree; ++l)
    for (int m = 0; m <= (axisymmetric ? 0 : l); m += mirrored ? 2 : 1)
      if ((l + m) % 2 == 0) modes_.push_back({l, m});
  const int cosines = degree + 1;
  const int azimuths = axisymmetric ? 1 : (mirrored ? degree / 2 + 1 : degree + 1);
  const double range = mirrored ? 0.5 * M_PI : M_PI;  // range of azimuths
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
          {0.5 * (1.0 + x), range * (k + 0.5) / azimuths, 4.0 * M_PI * weight / azimuths});
  }
  for (const Node& node : nodes_) {
    const auto values = at(std::acos(node.cosine), node.azimuth);
    basis_.insert(basis_.end(), values.begin(), values.end());
  }
}

int EvenHarmonics::index(int l, int m) const {
  for (int n = 0; n < count(); ++n)
    if (modes_[n].l == l && modes_[n].m == m) return n;
  return -1;
}

std::vector<double> EvenHarmonics::at(double colatitude, double azimuth) const {
  std::vector<double> values;
  for (const auto& [l, m] : modes_)
    values.push_back(std::sph_legendre(l, m, colatitude) *
                     (m > 0 ? std::sqrt(2.0) * std::cos(m * azimuth) : 1.0));
  return values;
}

void EvenHarmonics::analyse(const double* values, double* coefficients) const {
  std::fill_n(coefficients, count(), 0.0);
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    for (int n = 0; n < count(); ++n)
      coefficients[n] += nodes_[node].weight * values[node] * basis_[node * count() + n];
}

}  // namespace octant::problems
