// Arithmetic of a time step for the cells of a row, the same for all schedules.
//
// Advection is in the symmetry-preserving form (Verstappen & Veldman, J. Comput. Phys. 187, 2003):
// the flux through a face uses the neighbour's value only, because the contributions of the cell's
// own value cancel for div u = 0. Including diffusion, each face then costs one coefficient and one
// multiply-add, and the cell's own value has a constant coefficient.
#pragma once

#include <cstddef>

#include <Kokkos_MathematicalFunctions.hpp>

#include "dns/kernel_launch.hpp"

namespace octant::dns {

// Coefficients of a stage of Wray's three-stage Runge-Kutta scheme (eq. 3): dt times alpha, beta
// and gamma = alpha + beta. `implicit` is the weight of the new value in implicit diffusion (1/2:
// Crank-Nicolson, 1: backward Euler); the present value has the weight 1 - implicit.
struct Stage {
  double alpha, beta, gamma;
  double implicit = 0.5;
};

// Returns the factor of the present value in implicit diffusion.
KOKKOS_FORCEINLINE_FUNCTION double present(const Stage& stage) {
  return (1.0 - stage.implicit) * stage.gamma;
}

inline constexpr int k_stages = 3;

// Returns the coefficients of stage n = 0, 1, 2 of a step of length dt, with Crank-Nicolson.
inline Stage runge_kutta_stage(int n, double dt) {
  constexpr double alpha[k_stages] = {8.0 / 15.0, 5.0 / 12.0, 3.0 / 4.0};
  constexpr double beta[k_stages] = {0.0, -17.0 / 60.0, -5.0 / 12.0};
  return {dt * alpha[n], dt * beta[n], dt * (alpha[n] + beta[n])};
}

// --- The momentum equation (eq. 3, 7): right-hand side and Runge-Kutta update ---

// Returns a b + c, with a fused multiply-add if the processor has one, so that the rounding does
// not depend on the compiler.
KOKKOS_FORCEINLINE_FUNCTION double multiply_add(double a, double b, double c) {
#if defined(__FMA__)
  return Kokkos::fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Coefficients of one velocity component in one plane.
struct PlaneOperator {
  double transport_x, transport_y, transport_z;  // 1/4 of the reciprocal spacings
  double weight_minus = 1, weight_plus = 1;      // weights of the two terms of advecting velocities
  double diffusion_x, diffusion_y;               // viscosity / spacing^2
  double diffusion_below, diffusion_above;  // coefficients of viscosity d2/dz2 for k - 1, k + 1
  double gradient;                          // reciprocal spacing of the pressure gradient
  double force;                             // force per unit mass
};

// Rows of velocities that advect the component through the faces of its control volumes, two terms
// per face. West faces are the east faces of the preceding cell.
struct AdvectingVelocities {
  const double *east[2], *north[2], *south[2], *top[2], *bottom[2];
};

// Rows of velocities on the upper faces of the cells of a row, and on lower faces along y and z.
struct VelocityRows {
  const double *u, *v, *w, *v_south, *w_bottom, *w_bottom_north;
};

// Returns the velocities that advect component 0, 1 or 2; `row` and `plane` are strides.
KOKKOS_FORCEINLINE_FUNCTION AdvectingVelocities advecting_velocities(int component,
                                                                     const VelocityRows& r,
                                                                     std::ptrdiff_t row,
                                                                     std::ptrdiff_t plane) {
  if (component == 0)
    return {{r.u, r.u + 1},
            {r.v, r.v + 1},
            {r.v_south, r.v_south + 1},
            {r.w, r.w + 1},
            {r.w_bottom, r.w_bottom + 1}};
  if (component == 1)
    return {{r.u, r.u + row},
            {r.v, r.v + row},
            {r.v, r.v_south},
            {r.w, r.w + row},
            {r.w_bottom, r.w_bottom_north}};
  return {{r.u, r.u + plane},
          {r.v, r.v + plane},
          {r.v_south, r.v_south + plane},
          {r.w, r.w + plane},
          {r.w, r.w_bottom}};
}

// Rows that the update of one row of one component reads and writes, each at cell 0.
struct MomentumRows {
  const double* velocity;                  // advanced component; neighbours are found by strides
  const double *pressure, *pressure_next;  // pressure on either side of the component's face
  double* rhs;                             // advection and explicit diffusion, kept between stages
  double* result;                          // predicted component; may be the row below (k - 1)
};

// Update of a cell of a row: eq. 3 with explicit diffusion; otherwise u** of eq. 7 without the part
// of the implicit diffusion that eq. 8 or 11 subtracts. If `read_rhs`, the right-hand side of the
// previous stage is used; if `keep_rhs`, that of this stage is stored.
template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
class MomentumCell {
 public:
  KOKKOS_FORCEINLINE_FUNCTION MomentumCell(std::ptrdiff_t row, std::ptrdiff_t plane,
                                           const PlaneOperator& o, const AdvectingVelocities& t,
                                           const Stage& stage, const MomentumRows& rows)
      : advecting_(t),
        rows_(rows),
        row_(row),
        plane_(plane),
        dx_(implicit_xy ? 0.0 : o.diffusion_x),
        dy_(implicit_xy ? 0.0 : o.diffusion_y),
        above_(implicit_z ? 0.0 : o.diffusion_above),
        below_(implicit_z ? 0.0 : o.diffusion_below),
        centre_(-2.0 * (dx_ + dy_) - (above_ + below_)),
        xm_(o.transport_x * o.weight_minus),
        xp_(o.transport_x * o.weight_plus),
        ym_(o.transport_y * o.weight_minus),
        yp_(o.transport_y * o.weight_plus),
        z_(o.transport_z),
        present_x_(present(stage) * o.diffusion_x),
        present_y_(present(stage) * o.diffusion_y),
        present_above_(present(stage) * o.diffusion_above),
        present_below_(present(stage) * o.diffusion_below),
        present_centre_(implicit_xy
                            ? -2.0 * (present_x_ + present_y_) - (present_above_ + present_below_)
                            : -(present_above_ + present_below_)),
        gradient_(stage.gamma * o.gradient),
        force_(stage.gamma * o.force),
        alpha_(stage.alpha),
        beta_(stage.beta) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    const auto& [e, n, s, t, b] = advecting_;
    const double *q = rows_.velocity + i, c = *q;
    double r = centre_ * c;
    r = multiply_add(face(-xm_, e[0][i], -xp_, e[1][i], dx_), q[1], r);
    r = multiply_add(face(xm_, e[0][i - 1], xp_, e[1][i - 1], dx_), q[-1], r);
    r = multiply_add(face(-ym_, n[0][i], -yp_, n[1][i], dy_), q[row_], r);
    r = multiply_add(face(ym_, s[0][i], yp_, s[1][i], dy_), q[-row_], r);
    r = multiply_add(face(-z_, t[0][i], -z_, t[1][i], above_), q[plane_], r);
    r = multiply_add(face(z_, b[0][i], z_, b[1][i], below_), q[-plane_], r);
    double v = multiply_add(-gradient_, rows_.pressure_next[i] - rows_.pressure[i], c + force_);
    if constexpr (implicit_z) {
      v = multiply_add(present_centre_, c, v);
      v = multiply_add(present_above_, q[plane_], v);
      v = multiply_add(present_below_, q[-plane_], v);
    }
    if constexpr (implicit_xy) {
      v = multiply_add(present_x_, q[1] + q[-1], v);
      v = multiply_add(present_y_, q[row_] + q[-row_], v);
    }
    v = multiply_add(alpha_, r, v);
    if constexpr (read_rhs) v = multiply_add(beta_, rows_.rhs[i], v);
    if constexpr (keep_rhs) rows_.rhs[i] = r;
    rows_.result[i] = v;
  }

 private:
  static constexpr bool implicit_z = diffusion != Diffusion::explicit_all;
  static constexpr bool implicit_xy = diffusion == Diffusion::implicit_all;

  // Returns the coefficient of a neighbour's value: advection through the common face, with two
  // terms, and diffusion.
  KOKKOS_FORCEINLINE_FUNCTION static double face(double minus, double first, double plus,
                                                 double second, double diffusion_through) {
    return multiply_add(minus, first, multiply_add(plus, second, diffusion_through));
  }

  AdvectingVelocities advecting_;
  MomentumRows rows_;
  std::ptrdiff_t row_, plane_;
  double dx_, dy_, above_, below_, centre_;
  double xm_, xp_, ym_, yp_, z_;
  double present_x_, present_y_, present_above_, present_below_, present_centre_;
  double gradient_, force_, alpha_, beta_;
};

// Updates the cells [0, n) of a row.
template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
void momentum_row(int n, std::ptrdiff_t row, std::ptrdiff_t plane, const PlaneOperator& o,
                  const AdvectingVelocities& t, const Stage& stage, const MomentumRows& rows) {
  for_each_cell(n, MomentumCell<diffusion, read_rhs, keep_rhs>(row, plane, o, t, stage, rows));
}

// Operations per cell of a prediction, for a profile: 6 for each of six faces, 7 for the rest of a
// stage, and 6 for implicit diffusion along z, 12 along all axes.
constexpr double operations_of_prediction(Diffusion diffusion, bool reads_rhs) {
  return 43.0 + (reads_rhs ? 2.0 : 0.0) + 6.0 * static_cast<int>(diffusion);
}

// --- The projection (eq. 4-6, 9, 10) ---

// Operations per cell of Divergence, for a profile.
inline constexpr double k_operations_of_divergence = 8.0;

// Computes div u times a factor; x, y and z are reciprocal spacings times the factor.
struct Divergence {
  double x, y, z;
  const double *u, *v, *v_south, *w, *w_bottom;
  double* result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    result[i] = x * (u[i] - u[i - 1]) + y * (v[i] - v_south[i]) + z * (w[i] - w_bottom[i]);
  }
};

// Computes velocity - factor (next - phi) + forcing; `result` may alias the velocity.
struct VelocityCorrection {
  const double *velocity, *phi, *next;
  double factor, forcing;
  double* result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    result[i] = velocity[i] - factor * (next[i] - phi[i]) + forcing;
  }
};

// Rows of the correction phi around a row of the pressure, and factors of second differences.
struct PressureRows {
  const double *phi, *above, *below, *north, *south;
  double* p;
  double up, down, xx, yy;
};

// Pressure update, with the second derivatives of the correction along axes of implicit diffusion.
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

// Operations per cell of a correction, for a profile: 4 for each velocity component, and the rest
// for the pressure.
constexpr double operations_of_correction(Diffusion diffusion) {
  constexpr double laplacian[] = {0.0, 6.0, 16.0};
  return 13.0 + laplacian[static_cast<int>(diffusion)];
}

// --- The scalar ---

// Rows that the update of one row of the scalar reads, each at cell 0.
struct ScalarRows {
  const double *t, *north, *south, *top, *bottom;  // scalar in the row and in neighbouring rows
  const double *u, *v, *v_south, *w, *w_bottom;    // velocities on the faces
  double *rhs, *result;
};

// Coefficients of a plane: reciprocal spacings divided by 2, and diffusivity / spacing^2.
struct ScalarOperator {
  double x, y, z, diffusion_x, diffusion_y, below, above;
};

// Explicit part of a scalar stage: advection, explicit diffusion, and the part of the implicit
// diffusion that depends on the present value.
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
    r.result[i] = c + s.alpha * rhs + s.beta * before + present(s) * implicit;
  }
};

// Adds buoyancy on the faces of w, for the mean of the old and new scalar.
struct Buoyancy {
  const double *t, *old, *t_above, *old_above;
  double here, above, none;
  double* w;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    w[i] += here * (t[i] + old[i]) + above * (t_above[i] + old_above[i]) - none;
  }
};

// --- Sources ---

// Adds a constant to a row.
struct AddConstant {
  double* values;
  double amount;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { values[i] += amount; }
};

// Returns AddConstant for each row of a field.
struct AddConstantToRows {
  FieldView field;
  double amount;
  KOKKOS_FUNCTION AddConstant operator()(int k, int j) const { return {field.row(k, j), amount}; }
};

// Adds a multiple of another row to a row.
struct AddScaled {
  double* values;
  const double* addend;
  double factor;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { values[i] += factor * addend[i]; }
};

// Returns AddScaled for each row of a field.
struct AddScaledToRows {
  FieldView field, addend;
  double factor;
  KOKKOS_FUNCTION AddScaled operator()(int k, int j) const {
    return {field.row(k, j), addend.row(k, j), factor};
  }
};

// Returns the cells of a view with indices in `range` along an axis.
inline FieldView layers(const FieldView& field, int axis, Range range) {
  Range cells[] = {{0, field.nx}, {0, field.ny}, {0, field.nz}};
  cells[axis] = range;
  return part_of(field, cells[0], cells[1], cells[2]);
}

// Adds an amount to all cells of a field. Does not wait.
template <class Space = DeviceSpace>
void add_to_cells(const FieldView& field, double amount) {
  if (amount == 0.0) return;
  launch_cells<Space>("dns: sources", {field.nx, field.ny, field.nz},
                      AddConstantToRows{field, amount});
}
// Adds an amount to the cells adjacent to one side. Does not wait.
template <class Space = DeviceSpace>
void add_beside(const FieldView& field, int axis, int end, double amount) {
  const int cells[] = {field.nx, field.ny, field.nz};
  const int at = end == 0 ? 0 : cells[axis] - 1;
  add_to_cells<Space>(layers(field, axis, {at, at + 1}), amount);
}

// Adds `factor` times the cells of `addend` to `field`, a view of the same shape. Does not wait.
inline void add_cells(const FieldView& field, const FieldView& addend, double factor = 1.0) {
  launch_cells("dns: sources", {field.nx, field.ny, field.nz},
               AddScaledToRows{field, addend, factor});
}

}  // namespace octant::dns
