// Interpolation in a table of opacities.
#pragma once

#include <Kokkos_MathematicalFunctions.hpp>

#include "core/compiler.hpp"
#include "core/simd.hpp"

namespace octant::radiation {

// Opacity per mass, and its exponent d ln kappa / d ln T.
template <class V>
struct OpacityValue {
  V kappa, exponent;
};

// Interval of ascending nodes around x, and the weight of its upper node: 0 or 1 beyond the nodes.
struct NodeInterval {
  int below;
  double weight;

  // Finds the interval among at least two nodes.
  KOKKOS_INLINE_FUNCTION NodeInterval(const double* nodes, int count, double x) : below(0) {
    int above = count - 1;
    while (above - below > 1) {
      const int middle = (below + above) / 2;
      (nodes[middle] <= x ? below : above) = middle;
    }
    weight = min(max((x - nodes[below]) / (nodes[above] - nodes[below]), 0.0), 1.0);
  }
};

// Opacities of a table at one density, as a function of the temperature.
struct OpacityRow {
  const double* temperatures;      // ln T at the nodes
  const double *thinner, *denser;  // ln kappa at the densities on both sides
  double weight;                   // of the denser side
  int count;                       // number of temperatures

  // Opacity at a positive temperature.
  KOKKOS_INLINE_FUNCTION OpacityValue<double> at(double T) const {
    const double logarithm = Kokkos::log(T);
    const NodeInterval interval(temperatures, count, logarithm);
    const int n = interval.below;
    const double cooler = thinner[n] + weight * (denser[n] - thinner[n]);
    const double hotter = thinner[n + 1] + weight * (denser[n + 1] - thinner[n + 1]);
    const bool is_inside = logarithm > temperatures[0] && logarithm < temperatures[count - 1];
    const double slope = (hotter - cooler) / (temperatures[n + 1] - temperatures[n]);
    return {Kokkos::exp(cooler + interval.weight * (hotter - cooler)), is_inside ? slope : 0.0};
  }
};

// Table of opacities for kernels: ln kappa at nodes of ln rho and ln T, linear between them, so
// that power laws are exact. Beyond the nodes, the opacity is that of the nearest ones. Copied by
// value; the numbers belong to an OpacityTable.
struct OpacityGrid {
  enum Mean { k_planck, k_rosseland, k_means };

  // ln rho, ln T, then ln kappa [mean][density][temperature], in both memories
  const double *on_host = nullptr, *on_device = nullptr;
  int densities = 0, temperatures = 0;  // numbers of nodes; 0: no table

  KOKKOS_FORCEINLINE_FUNCTION bool exists() const { return densities > 0; }
  // Opacities of a mean at a positive density.
  KOKKOS_INLINE_FUNCTION OpacityRow at_density(int mean, double rho) const {
    const double* const axes = numbers();
    const NodeInterval interval(axes, densities, Kokkos::log(rho));
    const double* const row =
        axes + densities + temperatures + (mean * densities + interval.below) * temperatures;
    return {axes + densities, row, row + temperatures, interval.weight, temperatures};
  }
  // True if the table contains a positive density and temperature, but for rounding errors.
  KOKKOS_INLINE_FUNCTION bool contains(double rho, double T) const {
    constexpr double rounding = 1e-12;
    const double *const of_density = numbers(), *const of_temperature = of_density + densities;
    const auto is_between = [](double x, const double* nodes, int count) {
      return x >= nodes[0] - rounding && x <= nodes[count - 1] + rounding;
    };
    return is_between(Kokkos::log(rho), of_density, densities) &&
           is_between(Kokkos::log(T), of_temperature, temperatures);
  }

 private:
  // Numbers in the memory of the calling code, host or device.
  KOKKOS_FORCEINLINE_FUNCTION const double* numbers() const {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return on_device;
#else
    return on_host;
#endif
  }
};

}  // namespace octant::radiation
