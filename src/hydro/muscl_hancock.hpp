// MUSCL-Hancock: Godunov's scheme with Hancock's half step in time, for the primitive equations.
//
// The half step uses the difference across a cell as its slope everywhere. A parabola has other
// slopes at the faces, due to its curvature; tilt() applies the half step with these. Without
// tilt() the error of a strong rarefaction, where the slope varies strongly within a cell, is twice
// that of linear profiles.
#pragma once

#include "core/compiler.hpp"
#include "hydro/euler.hpp"
#include "hydro/godunov.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

// Advances a state by half a step with the primitive equations (Hancock's predictor). With the
// differences d across the part `span` of the cell (reconstruction.hpp) and h = dt / (2 span dx),
// the changes are
//   rho: -h (v . d rho + rho div v),  v: -h (v . d v + d p / rho),  p: -h (v . d p + K div v)
// K = rho c^2 is the adiabatic bulk modulus, gamma p in an ideal gas.
// Scalars are advected with `advance`. One division.
template <class V>
struct HalfStep {
  V vx, vy, vz;  // h v

  KOKKOS_FORCEINLINE_FUNCTION HalfStep(const State<V>& w, double h)
      : vx(V(h) * w[k_velocity_x]), vy(V(h) * w[k_velocity_y]), vz(V(h) * w[k_velocity_z]) {}

  // Returns an advected quantity after half a step, given its differences along the axes.
  KOKKOS_FORCEINLINE_FUNCTION V advance(const V& q, const V& dx, const V& dy, const V& dz) const {
    return q - (vx * dx + vy * dy + vz * dz);
  }

  KOKKOS_FORCEINLINE_FUNCTION State<V> operator()(const State<V>& w, const State<V>& dx,
                                                  const State<V>& dy, const State<V>& dz, double h,
                                                  const V& modulus) const {
    const V divergence = V(h) * (dx[k_velocity_x] + dy[k_velocity_y] + dz[k_velocity_z]);
    State<V> half;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) half[n] = advance(w[n], dx[n], dy[n], dz[n]);
    const V h_over_density = V(h) / w[k_density];
    half[k_density] = half[k_density] - w[k_density] * divergence;
    half[k_velocity_x] = half[k_velocity_x] - h_over_density * dx[k_pressure];
    half[k_velocity_y] = half[k_velocity_y] - h_over_density * dy[k_pressure];
    half[k_velocity_z] = half[k_velocity_z] - h_over_density * dz[k_pressure];
    half[k_pressure] = half[k_pressure] - modulus * divergence;
    return half;
  }
};

// Tilts the profile of an advected quantity: `v` is h = dt / (2 dx) times the velocity along the
// axis, because the span of curved profiles is 1. Gas inside the cell moves to only one of the
// faces.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void tilt_scalar(const V& v, ParabolicProfile<V>& profile) {
  const V curvature = profile.curvature();
  profile.tilt(min(v, V(0.0)) * curvature, max(v, V(0.0)) * curvature);
}

// Tilts profiles of the primitive variables along an axis in a cell with the state `w`, whose
// pressure is counted from the minimum of the cold curve (0 without one). `v` is h = dt / (2 dx)
// times the velocity along the axis. All variables are left unchanged if density or pressure would
// change by more than a tenth, which indicates a discontinuity instead of a curved profile.
template <int Axis, class V>
KOKKOS_FORCEINLINE_FUNCTION void tilt(const State<V>& w, const V& v, double h, const V& modulus,
                                      ParabolicProfile<V> (&profile)[k_hydro_variables]) {
  constexpr int k_along = k_velocity_x + Axis;
  const V stretch = V(h) * profile[k_along].curvature();
  State<V> sound;  // acoustic part
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) sound[n] = V(0.0);
  sound[k_density] = w[k_density] * stretch;
  sound[k_along] = V(h) / w[k_density] * profile[k_pressure].curvature();
  sound[k_pressure] = modulus * stretch;
  const auto is_small = [&](int n) OCTANT_INLINE_LAMBDA {
    return absolute(sound[n]) + absolute(v * profile[n].curvature()) < V(0.1) * w[n];
  };
  const auto small = is_small(k_density) && is_small(k_pressure);
  const V forwards = select(small, max(v, V(0.0)), V(0.0));
  const V backwards = select(small, min(v, V(0.0)), V(0.0));
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) {
    const V curvature = profile[n].curvature(), acoustic = select(small, sound[n], V(0.0));
    profile[n].tilt(backwards * curvature + acoustic, forwards * curvature + acoustic);
  }
}

// States of Hancock's scheme, in the middle of the step.
template <class Reconstruction, bool Balanced = false, class G = IdealGas>
class MusclHancock : public GodunovStates<Reconstruction, G> {
  using Base = GodunovStates<Reconstruction, G>;
  using Base::variables_;
  static constexpr double k_span = Reconstruction::template Profile<double>::span;

 public:
  KOKKOS_FUNCTION explicit MusclHancock(const KernelArguments& a)
      : Base(a),
        h_(0.5 * a.dt_over_dx / k_span),
        sources_(a.sources),
        stratification_(a.stratification) {}

  // Stores profiles along the axes around the state advanced by half a step.
  template <class V, class Cell, class PositionFunction, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(bool inside, const Cell& cell,
                                               const PositionFunction& position,
                                               const Put& put) const {
    using Profile = typename Reconstruction::template Profile<V>;
    this->template sense_shocks<V>(cell, put);
    const HydrostaticLines<Balanced, Reconstruction::reach, V> hydrostatic(stratification_, cell);
    const auto along = [&]([[maybe_unused]] int axis, int n,
                           const auto& line) OCTANT_INLINE_LAMBDA {
      return Reconstruction::template profile<V>([&](int o) OCTANT_INLINE_LAMBDA {
        if constexpr (Balanced) return hydrostatic.axis[axis].deviation(line, n, o);
        else return line(n, o);
      });
    };
    const auto profile = [&](int n, Profile& x, Profile& y, Profile& z) OCTANT_INLINE_LAMBDA {
      x = along(0, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, o, 0, 0); });
      y = along(1, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, o, 0); });
      z = along(2, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, 0, o); });
    };
    V min_density = cell(k_density, 0, 0, 0);
    const auto put_faces = [&](int n, const V& mid, const Profile& x, const Profile& y,
                               const Profile& z, const V& floor) OCTANT_INLINE_LAMBDA {
      const auto put_face = [&](int face, V value) OCTANT_INLINE_LAMBDA {
        if constexpr (Balanced) {
          const auto& of = hydrostatic.axis[face / 2];
          if (of.stratifies(n))
            value = value + cell(n, 0, 0, 0) * (face % 2 == 0 ? of.below : of.above);
        }
        if (n == k_density) min_density = min(min_density, value);
        this->put_floored(put, face, n, value, floor);
      };
      if (inside) {
        put_face(lower_face(0), x.lower(mid)), put_face(upper_face(0), x.upper(mid));
        put_face(lower_face(1), y.lower(mid)), put_face(upper_face(1), y.upper(mid));
      }
      put_face(lower_face(2), z.lower(mid)), put_face(upper_face(2), z.upper(mid));
    };

    State<V> w;
    OCTANT_UNROLL(8)
    for (int n = 0; n < Base::reconstructed; ++n) w[n] = cell(n, 0, 0, 0);
    Profile x[k_hydro_variables], y[k_hydro_variables], z[k_hydro_variables];
    State<V> dx, dy, dz;
    OCTANT_UNROLL(8)
    for (int n = 0; n < Base::reconstructed; ++n) {
      profile(n, x[n], y[n], z[n]);
      dx[n] = x[n].difference(), dy[n] = y[n].difference(), dz[n] = z[n].difference();
      if constexpr (Balanced) {
        if (!HydrostaticLine<Reconstruction::reach, V>::stratifies(n)) continue;
        const V across = V(k_span) * w[n];
        dx[n] = dx[n] + across * hydrostatic.axis[0].difference;
        dy[n] = dy[n] + across * hydrostatic.axis[1].difference;
        dz[n] = dz[n] + across * hydrostatic.axis[2].difference;
      }
    }
    const HalfStep<V> half_step(w, h_);
    const auto sound = this->template sound_of<V>(position);
    const V modulus = find_modulus(sound, put, w, x, y, z, dx, dy, dz);
    State<V> mid = half_step(w, dx, dy, dz, h_, modulus);
    const Vector<V> kick = sources_.kick_in_frame(
        Vector<V>{w[k_velocity_x], w[k_velocity_y], w[k_velocity_z]}, position);
    OCTANT_UNROLL(8)
    for (int n = 0; n < 3; ++n) mid[k_velocity_x + n] = mid[k_velocity_x + n] + V(0.5) * kick[n];
    if constexpr (Profile::is_curved) {
      State<V> relative_to_lowest_pressure = w;
      if constexpr (!std::is_same_v<G, IdealGas>)
        relative_to_lowest_pressure[k_pressure] =
            w[k_pressure] - V(this->gas_.cold.lowest_pressure());
      if (inside) {
        tilt<0>(relative_to_lowest_pressure, half_step.vx, h_, modulus, x);
        tilt<1>(relative_to_lowest_pressure, half_step.vy, h_, modulus, y);
      }
      tilt<2>(relative_to_lowest_pressure, half_step.vz, h_, modulus, z);
    }
    OCTANT_UNROLL(8)
    for (int n = 0; n < Base::reconstructed; ++n)
      put_faces(n, mid[n], x[n], y[n], z[n], V(this->floor_of(n)));
    if constexpr (k_is_isothermal<G>) this->put_isothermal_pressures(inside, sound, put);
    this->template limit_temperature<V>(inside, min_density, cell, put);

    put_advected_scalars<V>(inside, cell, half_step, profile, put);
  }

 private:
  // Returns the adiabatic bulk modulus of the cell. Sets the pressure of isothermal gas, its
  // profiles and differences, which follow from the density and the sound speed. Stores the energy
  // of real gas for its fluxes.
  template <class V, class Sound, class Put, class Profile>
  KOKKOS_FORCEINLINE_FUNCTION V
  find_modulus([[maybe_unused]] const Sound& sound, [[maybe_unused]] const Put& put, State<V>& w,
               [[maybe_unused]] Profile& x, [[maybe_unused]] Profile& y,
               [[maybe_unused]] Profile& z, [[maybe_unused]] State<V>& dx,
               [[maybe_unused]] State<V>& dy, [[maybe_unused]] State<V>& dz) const {
    if constexpr (k_is_isothermal<G>) {
      const auto follow_density = [&](int axis, Profile& p, State<V>& d) OCTANT_INLINE_LAMBDA {
        p[k_pressure] = p[k_density].times(sound.centre);
        d[k_pressure] = p[k_pressure].difference() +
                        V(k_span) * w[k_density] * sound.difference(this->gas_, axis);
      };
      w[k_pressure] = sound.centre * w[k_density];
      follow_density(0, x, dx), follow_density(1, y, dy), follow_density(2, z, dz);
      return w[k_pressure];
    } else if constexpr (std::is_same_v<G, Gas>) {
      return this->put_energy(w, put);
    } else {
      return this->adiabatic_modulus(w);
    }
  }
  // Stores the states of scalars, which are advected: profile(n, x, y, z) computes the profiles of
  // variable n along the axes.
  template <class V, class Cell, class FindProfile, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_advected_scalars(bool inside, const Cell& cell,
                                                        const HalfStep<V>& half_step,
                                                        const FindProfile& profile,
                                                        const Put& put) const {
    using Profile = typename Reconstruction::template Profile<V>;
    if (variables_ == k_hydro_variables) return;
    const auto faces_of = [&](int n, bool /*all*/) OCTANT_INLINE_LAMBDA {
      Profile along_x, along_y, along_z;
      profile(n, along_x, along_y, along_z);
      const V q = half_step.advance(cell(n, 0, 0, 0), along_x.difference(), along_y.difference(),
                                    along_z.difference());
      if constexpr (Profile::is_curved) {
        tilt_scalar(half_step.vx, along_x);
        tilt_scalar(half_step.vy, along_y);
        tilt_scalar(half_step.vz, along_z);
      }
      return FaceValues<V>{{along_x.lower(q), along_x.upper(q), along_y.lower(q), along_y.upper(q),
                            along_z.lower(q), along_z.upper(q)}};
    };
    this->template put_scalars<true, V>(inside, cell, faces_of, put);
  }

  double h_;  // dt / (2 span dx), with the span of profiles
  ExternalAcceleration sources_;
  Stratification stratification_;
};

}  // namespace octant::hydro
