#include "gravity/multipoles.hpp"

#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int P = Multipoles::order;

// Place of the term x^a y^b z^c: by a + b + c, then a, then b.
constexpr int term(int a, int b, int c) {
  const int n = a + b + c, rest = b + c;
  return n * (n + 1) * (n + 2) / 6 + rest * (rest + 1) / 2 + c;
}

// Moments of one patch about its own lower corner's offset from the centre: sums over x for every
// power, then over y, then over z, always in the same order. There are more of them than registers
// on a GPU.
template <class Density>
KOKKOS_INLINE_FUNCTION void patch_moments(int T, const double (&corner)[3], double h,
                                          const Density& density, double* moments) {
  for (int n = 0; n < Multipoles::k_terms; ++n) moments[n] = 0.0;
  for (int k = 0; k < T; ++k) {
    double plane[(P + 1) * (P + 2) / 2] = {};  // x^a y^b, by a, then b
    for (int j = 0; j < T; ++j) {
      double row[P + 1] = {};
      for (int i = 0; i < T; ++i) {
        const double x = corner[0] + (i + 0.5) * h;
        double power = density(i, j, k);
        for (int a = 0; a <= P; ++a, power *= x) row[a] += power;
      }
      const double y = corner[1] + (j + 0.5) * h;
      for (int a = 0, n = 0; a <= P; ++a) {
        double power = row[a];
        for (int b = 0; a + b <= P; ++b, ++n, power *= y) plane[n] += power;
      }
    }
    const double z = corner[2] + (k + 0.5) * h;
    for (int a = 0, n = 0; a <= P; ++a)
      for (int b = 0; a + b <= P; ++b, ++n) {
        double power = plane[n];
        for (int c = 0; a + b + c <= P; ++c, power *= z) moments[term(a, b, c)] += power;
      }
  }
}

// Moments of every patch about the origin, [patch][term], over the volume of its cells; `lower`
// holds the patches' lower corners. (CUDA allows no kernel inside a constructor.)
Kokkos::View<double*, Kokkos::HostSpace> moments_of_patches(int T, double h,
                                                            const DeviceArray<const double>& lower,
                                                            const DeviceArray<double>& density) {
  const auto patches = static_cast<std::int64_t>(lower.extent(0)) / 3;
  constexpr int terms = Multipoles::k_terms;
  const auto sums = mesh::uninitialised<double>("moments", patches * terms);
  Kokkos::parallel_for(
      "gravity: moments", Kokkos::RangePolicy<>(0, patches), KOKKOS_LAMBDA(const int patch) {
        const double* cells = density.data() + patch * std::int64_t{T} * T * T;
        const double corner[3] = {lower(3 * patch), lower(3 * patch + 1), lower(3 * patch + 2)};
        patch_moments(
            T, corner, h, [&](int i, int j, int k) { return cells[(k * T + j) * T + split(i, T)]; },
            &sums(std::int64_t{patch} * terms));
      });
  return on_host(Cargo::numbers, sums);
}

}  // namespace

Multipoles::Multipoles(const LevelPatches& patches, const mesh::Geometry& geometry,
                       const DeviceArray<double>& density) {
  const int T = patches.side(), level = patches.level();
  const double h = geometry.cell_size(level);
  for (int d = 0; d < 3; ++d) centre_[d] = 0.5 * (geometry.lower()[d] + geometry.upper()[d]);
  std::vector<double> corners;
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates c = morton_decode(patches.key(slot));
    for (int d = 0; d < 3; ++d)
      corners.push_back(geometry.lower()[d] + static_cast<double>(c[d]) * T * h - centre_[d]);
  }
  const auto host = moments_of_patches(T, h, mesh::to_device("patch corners", corners), density);
  std::vector<ReproducibleSum> totals(k_terms);
  for (std::size_t n = 0; n < host.size(); ++n) totals[n % k_terms] += host(n);
  reproducible_sum(patches.communicator(), std::span<ReproducibleSum>(totals));
  for (int n = 0; n < k_terms; ++n)
    moments_[n] = totals[n].to_double() * geometry.cell_volume(level);
}

// The coefficients b_k = D^k (1/r) / k! obey (Duan & Krasny 2001)
//   |k| r^2 b_k = -(2 |k| - 1) sum_i x_i b_(k - e_i) - (|k| - 1) sum_i b_(k - 2 e_i),
// and 1/|x - y| = sum_k (-1)^|k| b_k(x) y^k.
double Multipoles::potential(const std::array<double, 3>& position) const {
  std::array<double, 3> x;
  double r2 = 0.0;
  for (int d = 0; d < 3; ++d) {
    x[d] = position[d] - centre_[d];
    r2 += x[d] * x[d];
  }
  std::array<double, k_terms> b;
  b[0] = 1.0 / std::sqrt(r2);
  double sum = b[0] * moments_[0];
  for (int n = 1; n <= P; ++n)
    for (int a = n; a >= 0; --a)
      for (int c = 0; c <= n - a; ++c) {
        const std::array<int, 3> k{a, n - a - c, c};
        double first = 0.0, second = 0.0;
        for (int d = 0; d < 3; ++d) {
          std::array<int, 3> lower = k;
          if (--lower[d] >= 0) first += x[d] * b[term(lower[0], lower[1], lower[2])];
          if (--lower[d] >= 0) second += b[term(lower[0], lower[1], lower[2])];
        }
        const int here = term(k[0], k[1], k[2]);
        b[here] = -((2 * n - 1) * first + (n - 1) * second) / (n * r2);
        sum += (n % 2 == 0 ? 1.0 : -1.0) * b[here] * moments_[here];
      }
  return -sum;
}

}  // namespace octant::gravity
