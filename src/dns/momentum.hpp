// The right-hand side of the momentum equation and its Runge-Kutta update, one row at a time.
//
// Advection is in the symmetry-preserving form (Verstappen & Veldman, J. Comput. Phys. 187, 2003):
// every face takes the neighbour's value alone, since what the cell itself contributes cancels
// where div u = 0. With diffusion, a face then costs one coefficient and one multiply-add, and the
// cell itself a constant.
#pragma once

#include <cmath>
#include <cstddef>

#include "dns/options.hpp"

namespace octant::dns {

// a b + c, rounded once where the machine has such an instruction, and so in the same way wherever
// this is used.
inline double multiply_add(double a, double b, double c) {
#if defined(__FMA__)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

// One stage of Wray's Runge-Kutta scheme: dt times alpha, beta, gamma of eq. 3.
struct Stage {
  double alpha, beta, gamma;
};

// What one velocity component needs in one plane.
struct PlaneOperator {
  double transport_x, transport_y, transport_z;  // 1/4 of the reciprocal spacings
  double weight_minus = 1, weight_plus = 1;      // of the two addends of a transporting velocity
  double diffusion_x, diffusion_y;               // viscosity / spacing^2
  double diffusion_below, diffusion_above;       // viscosity d2/dz2 towards the planes k - 1, k + 1
  double gradient;                               // reciprocal spacing of the pressure's difference
  double force;                                  // per mass
};

// Rows of velocities that carry the component through the faces of its cells, two addends each. The
// east faces' addends serve the west ones as well, one cell on.
struct Transport {
  const double *east[2], *north[2], *south[2], *top[2], *bottom[2];
};

// The rows that the update of one row of one component reads and writes, each at cell 0.
struct MomentumRows {
  const double* velocity;                  // the component; its neighbours are strides away
  const double *pressure, *pressure_next;  // on either side of the component's face
  double* rhs;                             // advection and explicit diffusion, kept between stages
  double* result;                          // may be the row below (k - 1)
};

// Cells [0, n) of a row: eq. 3 with explicit diffusion; else u** of eq. 7 less the half of the
// implicit diffusion that eq. 8 or 11 takes off. `read_rhs`: use the right-hand side of the stage
// before; `keep_rhs`: leave this one's.
template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
void momentum_row(int n, std::ptrdiff_t row, std::ptrdiff_t plane, const PlaneOperator& o,
                  const Transport& t, const Stage& stage, const MomentumRows& rows) {
  constexpr bool implicit_z = diffusion != Diffusion::explicit_all;
  constexpr bool implicit_xy = diffusion == Diffusion::implicit_all;
  const double *q = rows.velocity, *q_north = q + row, *q_south = q - row, *q_top = q + plane,
               *q_bottom = q - plane;
  const double *e0 = t.east[0], *e1 = t.east[1], *n0 = t.north[0], *n1 = t.north[1],
               *s0 = t.south[0], *s1 = t.south[1], *t0 = t.top[0], *t1 = t.top[1],
               *b0 = t.bottom[0], *b1 = t.bottom[1];
  const double *p0 = rows.pressure, *p1 = rows.pressure_next;
  double *rhs = rows.rhs, *result = rows.result;

  const double dx = implicit_xy ? 0.0 : o.diffusion_x, dy = implicit_xy ? 0.0 : o.diffusion_y;
  const double above = implicit_z ? 0.0 : o.diffusion_above;
  const double below = implicit_z ? 0.0 : o.diffusion_below;
  const double centre = -2.0 * (dx + dy) - (above + below);
  const double xm = o.transport_x * o.weight_minus, xp = o.transport_x * o.weight_plus;
  const double ym = o.transport_y * o.weight_minus, yp = o.transport_y * o.weight_plus;
  const double z = o.transport_z;
  const double half = 0.5 * stage.gamma;
  const double half_x = half * o.diffusion_x, half_y = half * o.diffusion_y;
  const double half_above = half * o.diffusion_above, half_below = half * o.diffusion_below;
  const double half_centre = implicit_xy ? -2.0 * (half_x + half_y) - (half_above + half_below)
                                         : -(half_above + half_below);
  const double gradient = stage.gamma * o.gradient, push = stage.gamma * o.force;
  const double alpha = stage.alpha, beta = stage.beta;

#pragma GCC ivdep
  for (int i = 0; i < n; ++i) {
    const double c = q[i];
    double r = centre * c;
    r = multiply_add(multiply_add(-xm, e0[i], multiply_add(-xp, e1[i], dx)), q[i + 1], r);
    r = multiply_add(multiply_add(xm, e0[i - 1], multiply_add(xp, e1[i - 1], dx)), q[i - 1], r);
    r = multiply_add(multiply_add(-ym, n0[i], multiply_add(-yp, n1[i], dy)), q_north[i], r);
    r = multiply_add(multiply_add(ym, s0[i], multiply_add(yp, s1[i], dy)), q_south[i], r);
    r = multiply_add(multiply_add(-z, t0[i], multiply_add(-z, t1[i], above)), q_top[i], r);
    r = multiply_add(multiply_add(z, b0[i], multiply_add(z, b1[i], below)), q_bottom[i], r);
    double v = multiply_add(-gradient, p1[i] - p0[i], c + push);
    if constexpr (implicit_z) {
      v = multiply_add(half_centre, c, v);
      v = multiply_add(half_above, q_top[i], v);
      v = multiply_add(half_below, q_bottom[i], v);
    }
    if constexpr (implicit_xy) {
      v = multiply_add(half_x, q[i + 1] + q[i - 1], v);
      v = multiply_add(half_y, q_north[i] + q_south[i], v);
    }
    v = multiply_add(alpha, r, v);
    if constexpr (read_rhs) v = multiply_add(beta, rhs[i], v);
    if constexpr (keep_rhs) rhs[i] = r;
    result[i] = v;
  }
}

}  // namespace octant::dns
