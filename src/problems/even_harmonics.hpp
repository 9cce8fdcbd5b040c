// Real spherical harmonics that are even in y and z.
#pragma once

#include <cstddef>
#include <vector>

namespace octant::problems {

// Real spherical harmonics up to a degree, even in y and z and orthonormal on the sphere, with the
// nodes of a quadrature that is exact for products of two of them: Gauss-Legendre in the cosine of
// the colatitude, equidistant in azimuth.
class EvenHarmonics {
 public:
  // `mirrored`: only harmonics that are even in x, too.
  EvenHarmonics(int degree, bool axisymmetric, bool mirrored = false);

  struct Node {
    double cosine, azimuth, weight;  // weights add up to 4 pi
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  int count() const { return static_cast<int>(modes_.size()); }
  int degree(int n) const { return modes_[n].l; }
  // Returns the number of a harmonic; -1: there is none.
  int index(int l, int m) const;

  // Returns all harmonics in a direction.
  std::vector<double> at(double colatitude, double azimuth) const;
  // Computes the integrals over the sphere of values at the nodes times the harmonics.
  void analyse(const double* values, double* coefficients) const;
  // Returns the sum of all harmonics with these coefficients at a node.
  double synthesise(const double* coefficients, std::size_t node) const {
    return sum(coefficients, basis_.data() + node * count());
  }
  // Returns the sum of coefficients times values of the harmonics.
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

}  // namespace octant::problems
