// The bodies of the projection's kernels, cell by cell of a row.
#pragma once

#include "dns/options.hpp"
#include "dns/rows.hpp"

namespace octant::dns {

// div u times a factor, by which x, y and z (reciprocal spacings) are multiplied.
struct Divergence {
  double x, y, z;
  const double *u, *v, *v_south, *w, *w_bottom;
  double* result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    result[i] = x * (u[i] - u[i - 1]) + y * (v[i] - v_south[i]) + z * (w[i] - w_bottom[i]);
  }
};

// velocity - factor (next - phi) + push; `result` may be where the velocity is.
struct VelocityCorrection {
  const double *velocity, *phi, *next;
  double factor, push;
  double* result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    result[i] = velocity[i] - factor * (next[i] - phi[i]) + push;
  }
};

// Rows of the correction around one of the pressure, and the factors of its second differences.
struct PressureRows {
  const double *phi, *above, *below, *north, *south;
  double* p;
  double up, down, xx, yy;
};

// The pressure's update, with the Laplacian of the correction where diffusion is implicit.
template <Diffusion diffusion>
struct PressureUpdate {
  PressureRows r;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    const double* phi = r.phi;
    const double c = phi[i];
    double change = c;
    if constexpr (diffusion != Diffusion::explicit_all)
      change += r.up * (r.above[i] - c) - r.down * (c - r.below[i]);
    if constexpr (diffusion == Diffusion::implicit_all)
      change +=
          r.xx * (phi[i + 1] + phi[i - 1] - 2.0 * c) + r.yy * (r.north[i] + r.south[i] - 2.0 * c);
    r.p[i] += change;
  }
};

}  // namespace octant::dns
