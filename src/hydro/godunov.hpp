// Godunov's scheme of second order or more: profiles inside cells, which end in a state on each
// side of every face, and a Riemann problem between the two. A star's stencils.
#pragma once

#include "hydro/half_step.hpp"
#include "hydro/riemann.hpp"
#include "hydro/scheme.hpp"

namespace octant::hydro {

template <class Reconstruction, class RiemannSolver>
class Godunov {
 public:
  static constexpr int reach = Reconstruction::reach, points = 6;
  static constexpr auto shape = mesh::GhostShape::Kind::star;
  template <class Planes>
  using Surface = FaceCentres<Planes>;

  Godunov(const HydroOptions&, const KernelArguments& a)
      : gas_(a.gas),
        variables_(a.variables),
        hancock_(a.hancock),
        h_(0.5 * a.dt_over_dx),
        sources_(a.sources) {}

  template <class V, class Load, class Store>
  KOKKOS_FORCEINLINE_FUNCTION void primitives(const Load& load, const Store& store) const {
    V volume;
    const State<V> w = to_primitive(load, gas_, volume);
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) store(n, w[n]);
    for (int n = k_hydro_variables; n < variables_; ++n) store(n, load(n) * volume);
  }

  // Profiles along the axes around the state in the middle of the step: half a step on for
  // Hancock's predictor, and as it is in a stage of a Runge-Kutta scheme.
  template <bool Inside, class V, class Cell, class Place, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(const Cell& cell, const Place& place,
                                               const Put& put) const {
    using Profile = typename Reconstruction::template Profile<V>;
    const auto profile = [&](int n, Profile& x, Profile& y, Profile& z) OCTANT_INLINE_LAMBDA {
      x = Reconstruction::template profile<V>(
          [&](int o) OCTANT_INLINE_LAMBDA { return cell(n, o, 0, 0); });
      y = Reconstruction::template profile<V>(
          [&](int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, o, 0); });
      z = Reconstruction::template profile<V>(
          [&](int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, 0, o); });
    };
    const auto put_faces = [&](int n, const V& mid, const Profile& x, const Profile& y,
                               const Profile& z, const V& floor) OCTANT_INLINE_LAMBDA {
      const auto put_face = [&](int face, const V& value) OCTANT_INLINE_LAMBDA {
        const bool floored = n == k_density || n == k_pressure;
        put(face, n, floored ? max(value, floor) : value);
      };
      if constexpr (Inside) {
        put_face(lower_face(0), x.lower(mid)), put_face(upper_face(0), x.upper(mid));
        put_face(lower_face(1), y.lower(mid)), put_face(upper_face(1), y.upper(mid));
      }
      put_face(lower_face(2), z.lower(mid)), put_face(upper_face(2), z.upper(mid));
    };

    State<V> w;
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) w[n] = cell(n, 0, 0, 0);
    Profile x[k_hydro_variables], y[k_hydro_variables], z[k_hydro_variables];
    State<V> dx, dy, dz;
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) {
      profile(n, x[n], y[n], z[n]);
      dx[n] = x[n].difference(), dy[n] = y[n].difference(), dz[n] = z[n].difference();
    }
    const HalfStep<V> half_step(w, h_);
    const State<V> mid = hancock_ ? middle(w, half_step, dx, dy, dz, place) : w;
    if constexpr (Profile::is_curved) {
      if (hancock_) {
        if constexpr (Inside) {
          tilt<0>(w, half_step.vx, h_, gas_, x);
          tilt<1>(w, half_step.vy, h_, gas_, y);
        }
        tilt<2>(w, half_step.vz, h_, gas_, z);
      }
    }
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n)
      put_faces(n, mid[n], x[n], y[n], z[n],
                V(n == k_density ? gas_.density_floor : gas_.pressure_floor));

    for (int n = k_hydro_variables; n < variables_; ++n) {
      profile(n, x[0], y[0], z[0]);
      V q = cell(n, 0, 0, 0);
      if (hancock_) {
        q = half_step.advance(q, x[0].difference(), y[0].difference(), z[0].difference());
        if constexpr (Profile::is_curved) {
          tilt_scalar(half_step.vx, x[0]);
          tilt_scalar(half_step.vy, y[0]);
          tilt_scalar(half_step.vz, z[0]);
        }
      }
      put_faces(n, q, x[0], y[0], z[0], V(0.0));
    }
  }

  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION State<V> flux(const Left& left, const Right& right,
                                            const Put& put) const {
    State<V> l, r;
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) {
      l[n] = left(upper_face(Axis), n);
      r[n] = right(lower_face(Axis), n);
    }
    const State<V> out = RiemannSolver::template flux<Axis>(l, r, gas_);
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) put(n, out[n]);
    for (int n = k_hydro_variables; n < variables_; ++n)
      put(n, scalar_flux(out[k_mass], left(upper_face(Axis), n), right(lower_face(Axis), n)));
    return out;
  }

 private:
  template <class V, class Place>
  KOKKOS_FORCEINLINE_FUNCTION State<V> middle(const State<V>& w, const HalfStep<V>& half_step,
                                              const State<V>& dx, const State<V>& dy,
                                              const State<V>& dz, const Place& place) const {
    State<V> mid = half_step(w, dx, dy, dz, h_, gas_);
    const Vector<V> kick =
        sources_.kick<V>({w[k_velocity_x], w[k_velocity_y], w[k_velocity_z]}, place());
#pragma GCC unroll 8
    for (int n = 0; n < 3; ++n) mid[k_velocity_x + n] = mid[k_velocity_x + n] + V(0.5) * kick[n];
    return mid;
  }

  Gas gas_;
  int variables_;
  bool hancock_;
  double h_;  // dt / (2 dx)
  PointSources sources_;
};

}  // namespace octant::hydro
