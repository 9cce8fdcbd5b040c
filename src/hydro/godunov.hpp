// Godunov's scheme of second order or more: profiles inside cells, which end in a state on each
// side of every face, and a Riemann problem between the two (GodunovFluxes in flux_kernels.hpp). A
// star's stencils.
//
// Hancock's scheme takes the states on to the middle of the step, for which it needs the profiles
// of all variables at once. A stage of a Runge-Kutta scheme takes them as they are, one variable
// after the other.
//
// Balanced schemes (hydro.well_balanced) reconstruct density and pressure less the hydrostatic
// profile through the cell, and add what that is at the faces (hydrostatic.hpp).
#pragma once

#include "core/unroll.hpp"
#include "hydro/contact_steepening.hpp"
#include "hydro/fractions.hpp"
#include "hydro/half_step.hpp"
#include "hydro/hydrostatic.hpp"
#include "hydro/scheme.hpp"
#include "hydro/shock_sensor.hpp"
#include "hydro/thin_gas.hpp"

namespace octant::hydro {

// What all of Godunov's schemes have in common: all but the reconstruction and the fluxes.
template <class Reconstruction>
class GodunovStates {
 public:
  static constexpr int reach = Reconstruction::reach, points = 7;
  static constexpr auto shape = mesh::GhostShape::Kind::star;
  template <class Planes>
  using Surface = FaceAndCellCentres<Planes>;

  KOKKOS_FUNCTION explicit GodunovStates(const KernelArguments& a)
      : gas_(a.gas),
        variables_(a.variables),
        senses_shocks_(a.senses_shocks),
        dt_over_dx_(a.dt_over_dx),
        fractions_(a.fractions) {
    for (int n = k_hydro_variables; n < variables_; ++n)
      has_fractions_ = has_fractions_ || fractions_.end[n] > n;
  }

 protected:
  // A value at a face: densities and pressures are no less than `floor`.
  template <class V, class Put>
  KOKKOS_FORCEINLINE_FUNCTION static void put_floored(const Put& put, int face, int n,
                                                      const V& value, const V& floor) {
    put(face, n, n == k_density || n == k_pressure ? max(value, floor) : value);
  }
  KOKKOS_FORCEINLINE_FUNCTION double floor_of(int n) const {
    return n == k_density ? gas_.density_floor : gas_.pressure_floor;
  }

  // Puts the states of all scalars: faces_of(n, all) as for put_fractions. With `Predicts` values
  // at faces are not those of a profile of the cell.
  template <bool Inside, bool Predicts, class V, class Cell, class FacesOf, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_scalars(const Cell& cell, const FacesOf& faces_of,
                                               const Put& put) const {
    constexpr bool is_curved = Reconstruction::template Profile<V>::is_curved;
    constexpr double most = is_curved ? 2.0 : 1.0;
    const auto put_other = [&](int n) OCTANT_INLINE_LAMBDA {
      const FaceValues<V> face = faces_of(n, Inside);
      for (int f = Inside ? 0 : lower_face(2); f < 6; ++f) put(f, n, face.value[f]);
    };
    if (!has_fractions_) {
      for (int n = k_hydro_variables; n < variables_; ++n) put_other(n);
      return;
    }
    Departure<V> departure(dt_over_dx_, gas_, 1.0 + most, false);
    for (int n = k_hydro_variables; n < variables_;) {
      const int end = fractions_.end[n];
      if (end > n) {
        put_fractions<Inside, Predicts || reach != 1, V>(fractions_, n, end, departure, most, cell,
                                                         faces_of, put);
        n = end;
      } else {
        put_other(n);
        ++n;
      }
    }
  }

  // What Riemann solvers with a shock sensor need to know of the cell.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void sense_shocks(const Cell& cell, const Put& put) const {
    if (!senses_shocks_) return;
    find_transverse_shocks<V>(cell, gas_.gamma,
                              [&](int axis, const V& strength)
                                  OCTANT_INLINE_LAMBDA { put(k_cell_centre, axis, strength); });
  }

  Gas gas_;
  int variables_;
  bool senses_shocks_;

 private:
  double dt_over_dx_;
  FractionGroups fractions_;
  bool has_fractions_ = false;
};

// The hydrostatic profiles of a cell along the axes; nothing in schemes that are not balanced.
template <bool Balanced, int Reach, class V>
struct HydrostaticLines {
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION HydrostaticLines(const Stratification& /*g*/, const Cell& /*cell*/) {}
};
template <int Reach, class V>
struct HydrostaticLines<true, Reach, V> {
  HydrostaticLine<Reach, V> axis[3];

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION HydrostaticLines(const Stratification& g, const Cell& cell)
      : axis{{g, 0, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, o, 0, 0); }},
             {g, 1, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, o, 0); }},
             {g, 2, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, 0, o); }}} {}
};

// The states of a stage of a Runge-Kutta scheme.
template <class Reconstruction, bool Balanced = false>
class RungeKutta : public GodunovStates<Reconstruction> {
 public:
  KOKKOS_FUNCTION explicit RungeKutta(const KernelArguments& a)
      : GodunovStates<Reconstruction>(a),
        steepens_contacts_(a.steepens_contacts),
        stratification_(a.stratification) {}

  template <bool Inside, class V, class Cell, class Place, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(const Cell& cell, const Place&,
                                               const Put& put) const {
    this->template sense_shocks<V>(cell, put);
    const HydrostaticLines<Balanced, Reconstruction::reach, V> hydrostatic(stratification_, cell);
    V thinnest = cell(k_density, 0, 0, 0);
    const auto put_axis = [&](int axis, int n, const auto& line) OCTANT_INLINE_LAMBDA {
      Faces<V> face;
      if constexpr (Balanced) {
        const auto& profile = hydrostatic.axis[axis];
        face = faces<V>(
            n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return profile.deviation(line, m, o); });
        if (profile.stratifies(n)) {
          const V mean = line(n, 0);
          face.lower = face.lower + mean * profile.below;
          face.upper = face.upper + mean * profile.above;
        }
      } else {
        face = faces<V>(n, line);
      }
      if (n == k_density) thinnest = min(thinnest, min(face.lower, face.upper));
      const V floor(this->floor_of(n));
      this->put_floored(put, lower_face(axis), n, face.lower, floor);
      this->put_floored(put, upper_face(axis), n, face.upper, floor);
    };
    const auto reconstruct_variable = [&](int n) OCTANT_INLINE_LAMBDA {
      if constexpr (Inside) {
        put_axis(0, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, o, 0, 0); });
        put_axis(1, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, o, 0); });
      }
      put_axis(2, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, 0, o); });
    };
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) reconstruct_variable(n);
    if (any(is_thin(thinnest, V(cell(k_density, 0, 0, 0))))) cool_thin_faces<Inside, V>(cell, put);
    if (this->variables_ == k_hydro_variables) return;
    const auto faces_of = [&](int n, bool all) OCTANT_INLINE_LAMBDA {
      const V mean = cell(n, 0, 0, 0);
      Faces<V> x{mean, mean}, y{mean, mean};
      if (all) {
        x = faces<V>(n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, o, 0, 0); });
        y = faces<V>(n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, o, 0); });
      }
      const Faces<V> z =
          faces<V>(n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, 0, o); });
      return FaceValues<V>{{x.lower, x.upper, y.lower, y.upper, z.lower, z.upper}};
    };
    this->template put_scalars<Inside, false, V>(cell, faces_of, put);
  }

 private:
  // line(m, o): variable m of the cell that is o cells away.
  template <class V, class Line>
  KOKKOS_FORCEINLINE_FUNCTION Faces<V> faces(int n, const Line& line) const {
    const Faces<V> face =
        Reconstruction::template faces<V>([&](int o) OCTANT_INLINE_LAMBDA { return line(n, o); });
    if constexpr (Reconstruction::template Profile<V>::is_curved) {
      if (n == k_density && steepens_contacts_) {
        const V centre = line(n, 0);
        const Faces<V> smooth{V(face.lower - centre), V(face.upper - centre)};
        const Faces<V> steep = steepened<V>(smooth, line, this->gas_.gamma);
        return {V(centre + steep.lower), V(centre + steep.upper)};
      }
    }
    return face;
  }

  bool steepens_contacts_;
  Stratification stratification_;
};

// The states of Hancock's scheme, in the middle of the step.
template <class Reconstruction, bool Balanced = false>
class MusclHancock : public GodunovStates<Reconstruction> {
  using Base = GodunovStates<Reconstruction>;
  using Base::gas_, Base::variables_;
  static constexpr double k_span = Reconstruction::template Profile<double>::span;

 public:
  KOKKOS_FUNCTION explicit MusclHancock(const KernelArguments& a)
      : Base(a),
        h_(0.5 * a.dt_over_dx / k_span),
        sources_(a.sources),
        stratification_(a.stratification) {}

  // Profiles along the axes around the state half a step on.
  template <bool Inside, class V, class Cell, class Place, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(const Cell& cell, const Place& place,
                                               const Put& put) const {
    using Profile = typename Reconstruction::template Profile<V>;
    this->template sense_shocks<V>(cell, put);
    const HydrostaticLines<Balanced, Reconstruction::reach, V> hydrostatic(stratification_, cell);
    const auto along = [&](int axis, int n, const auto& line) OCTANT_INLINE_LAMBDA {
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
    V thinnest = cell(k_density, 0, 0, 0);
    const auto put_faces = [&](int n, const V& mid, const Profile& x, const Profile& y,
                               const Profile& z, const V& floor) OCTANT_INLINE_LAMBDA {
      const auto put_face = [&](int face, V value) OCTANT_INLINE_LAMBDA {
        if constexpr (Balanced) {
          const auto& of = hydrostatic.axis[face / 2];
          if (of.stratifies(n))
            value = value + cell(n, 0, 0, 0) * (face % 2 == 0 ? of.below : of.above);
        }
        if (n == k_density) thinnest = min(thinnest, value);
        this->put_floored(put, face, n, value, floor);
      };
      if constexpr (Inside) {
        put_face(lower_face(0), x.lower(mid)), put_face(upper_face(0), x.upper(mid));
        put_face(lower_face(1), y.lower(mid)), put_face(upper_face(1), y.upper(mid));
      }
      put_face(lower_face(2), z.lower(mid)), put_face(upper_face(2), z.upper(mid));
    };

    State<V> w;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) w[n] = cell(n, 0, 0, 0);
    Profile x[k_hydro_variables], y[k_hydro_variables], z[k_hydro_variables];
    State<V> dx, dy, dz;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) {
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
    const State<V> mid = middle(w, half_step, dx, dy, dz, place);
    if constexpr (Profile::is_curved) {
      if constexpr (Inside) {
        tilt<0>(w, half_step.vx, h_, gas_, x);
        tilt<1>(w, half_step.vy, h_, gas_, y);
      }
      tilt<2>(w, half_step.vz, h_, gas_, z);
    }
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n)
      put_faces(n, mid[n], x[n], y[n], z[n], V(this->floor_of(n)));
    if (any(is_thin(thinnest, w[k_density]))) cool_thin_faces<Inside, V>(cell, put);

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
    this->template put_scalars<Inside, true, V>(cell, faces_of, put);
  }

 private:
  template <class V, class Place>
  KOKKOS_FORCEINLINE_FUNCTION State<V> middle(const State<V>& w, const HalfStep<V>& half_step,
                                              const State<V>& dx, const State<V>& dy,
                                              const State<V>& dz, const Place& place) const {
    State<V> mid = half_step(w, dx, dy, dz, h_, gas_);
    const Vector<V> kick =
        sources_.kick_in_frame(Vector<V>{w[k_velocity_x], w[k_velocity_y], w[k_velocity_z]}, place);
    OCTANT_UNROLL(8)
    for (int n = 0; n < 3; ++n) mid[k_velocity_x + n] = mid[k_velocity_x + n] + V(0.5) * kick[n];
    return mid;
  }

  double h_;  // dt / (2 span dx), with the span of profiles
  PointSources sources_;
  Stratification stratification_;
};

}  // namespace octant::hydro
