// The bodies of the scalar's kernels, cell by cell of a row.
#pragma once

#include "dns/momentum.hpp"
#include "dns/rows.hpp"

namespace octant::dns {

struct ScalarRows {
  const double *t, *north, *south, *top, *bottom;  // the scalar
  const double *u, *v, *v_south, *w, *w_bottom;    // velocities on the faces
  double *rhs, *result;
};

// Coefficients of a plane: halves of the reciprocal spacings, and diffusivity / spacing^2.
struct ScalarOperator {
  double x, y, z, diffusion_x, diffusion_y, below, above;
};

// Explicit part of a stage: all of advection, of diffusion what is explicit, and of what is
// implicit the half that Crank and Nicolson take from the present.
template <Diffusion diffusion>
struct ScalarCell {
  ScalarOperator o;
  Stage s;
  ScalarRows r;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    constexpr bool along_z = diffusion != Diffusion::explicit_all;
    constexpr bool along_all = diffusion == Diffusion::implicit_all;
    const double c = r.t[i];
    const double xy = o.diffusion_x * (r.t[i + 1] + r.t[i - 1] - 2.0 * c) +
                      o.diffusion_y * (r.north[i] + r.south[i] - 2.0 * c);
    const double z = o.above * (r.top[i] - c) - o.below * (c - r.bottom[i]);
    double rhs = o.x * (r.u[i - 1] * r.t[i - 1] - r.u[i] * r.t[i + 1]) +
                 o.y * (r.v_south[i] * r.south[i] - r.v[i] * r.north[i]) +
                 o.z * (r.w_bottom[i] * r.bottom[i] - r.w[i] * r.top[i]);
    double implicit = 0.0;
    if constexpr (along_all) implicit += xy;
    else rhs += xy;
    if constexpr (along_z) implicit += z;
    else rhs += z;
    const double before = r.rhs[i];
    r.rhs[i] = rhs;
    r.result[i] = c + s.alpha * rhs + s.beta * before + 0.5 * s.gamma * implicit;
  }
};

// Buoyancy of the mean of the scalar's old and new values, on the faces of w.
struct Buoyancy {
  const double *t, *old, *t_above, *old_above;
  double here, above, none;
  double* w;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    w[i] += here * (t[i] + old[i]) + above * (t_above[i] + old_above[i]) - none;
  }
};

}  // namespace octant::dns
