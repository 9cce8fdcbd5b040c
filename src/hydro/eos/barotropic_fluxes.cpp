// Fluxes of a barotropic gas: the two acoustic waves of Harten, Lax & van Leer (1983), and the
// contact between them, across which only velocities along the face and scalars change.
//
// The pressures are those of the densities at the face; reconstructed pressures are not used. The
// sound speed of isothermal gas is the same on both sides of a face, also if it varies. With
// hydro.riemann = "hllc", velocities along the face are taken from the upwind side, as scalars are,
// so that shear layers at rest stay sharp; with "hll" these velocities are averaged over the fan,
// and with "hllc_hybrid" the shock sensor (shock_sensor.hpp) blends both values.
#include "hydro/eos/barotropic.hpp"
#include "hydro/riemann.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

namespace {

// State on one side of a face that determines the acoustic waves.
template <class V>
struct AcousticSide {
  V density, velocity, pressure;
  V squared_sound_speed;

  // Internal energy, and kinetic energy of the motion along the normal.
  KOKKOS_FORCEINLINE_FUNCTION V energy(double per_pressure) const {
    return V(per_pressure) * pressure + V(0.5) * density * (velocity * velocity);
  }
};

// Pressure as a piecewise polytropic function of the density.
class PiecewisePolytropes {
 public:
  KOKKOS_FUNCTION explicit PiecewisePolytropes(const KernelArguments& a) : eos_(a.barotrope) {}

  // State of gas with a density and a velocity. `stored` is the pressure stored at the face.
  template <class V, class Stored>
  KOKKOS_FORCEINLINE_FUNCTION AcousticSide<V> side(const V& rho, const V& u,
                                                   const Stored& /*stored*/) const {
    const BarotropicState<V> state = eos_.at(rho);
    return {rho, u, state.pressure, state.squared_sound_speed(rho)};
  }
  // Larger sound speed of both sides. One root.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V sound_speed(const AcousticSide<V>& left,
                                            const AcousticSide<V>& right) const {
    return square_root(max(left.squared_sound_speed, right.squared_sound_speed));
  }

 private:
  Barotrope eos_;
};

// Isothermal gas: with the same sound speed everywhere, or with pressures at the faces, which
// contain it.
class Isothermal {
 public:
  KOKKOS_FUNCTION explicit Isothermal(const KernelArguments& a)
      : square_(a.isothermal_gas.sound.square),
        speed_(Kokkos::sqrt(square_)),
        varies_(a.isothermal_gas.sound.varies()) {}

  // State of gas with a density and a velocity; stored() is the pressure stored at the face.
  template <class V, class Stored>
  KOKKOS_FORCEINLINE_FUNCTION AcousticSide<V> side(const V& rho, const V& u,
                                                   const Stored& stored) const {
    if (!varies_) return {rho, u, V(square_) * rho, V(square_)};
    const V pressure = stored();
    return {rho, u, pressure, V(pressure / rho)};
  }
  // Larger sound speed of both sides, which differ by rounding. One root if it varies.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V sound_speed(const AcousticSide<V>& left,
                                            const AcousticSide<V>& right) const {
    if (!varies_) return V(speed_);
    return square_root(max(left.squared_sound_speed, right.squared_sound_speed));
  }

 private:
  double square_, speed_;
  bool varies_;
};

// Mean flux over the fan between the signal speeds
//   S_L = min(u_L, u_R) - c,  S_R = max(u_L, u_R) + c,  c = max(c_L, c_R),
// clipped so that the fan always contains the face. One division.
template <class V>
class Fan {
 public:
  // `sound` is c.
  KOKKOS_FORCEINLINE_FUNCTION Fan(const AcousticSide<V>& left, const AcousticSide<V>& right,
                                  const V& sound) {
    left_ = min(min(left.velocity, right.velocity) - sound, V(0.0));
    right_ = max(max(left.velocity, right.velocity) + sound, V(0.0));
    inverse_ = V(1.0) / (right_ - left_);
  }
  // Flux of a variable with these fluxes and values on both sides.
  KOKKOS_FORCEINLINE_FUNCTION V flux(const V& flux_left, const V& flux_right, const V& left,
                                     const V& right) const {
    return ((right_ * flux_left - left_ * flux_right) + left_ * right_ * (right - left)) * inverse_;
  }

 private:
  V left_, right_, inverse_;
};

// Fluxes of a barotropic gas; see the interface in scheme.hpp. `Relation` is PiecewisePolytropes or
// Isothermal.
template <class Relation>
class BarotropicFluxes {
 public:
  static constexpr int points = 7;
  template <class Planes>
  using Surface = FaceAndCellCentres<Planes>;

  KOKKOS_FUNCTION explicit BarotropicFluxes(const KernelArguments& a)
      : relation_(a),
        per_pressure_(1.0 / (a.gas.gamma - 1.0)),
        variables_(a.variables),
        senses_shocks_(a.senses_shocks),
        diffuses_shear_(a.diffuses_shear) {}

  // Stores the flux through a face with normal `Axis`.
  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void flux(const Left& left, const Right& right,
                                        const Put& put) const {
    using Axes = FaceAxes<Axis>;
    const auto below = [&](int n) OCTANT_INLINE_LAMBDA { return V(left(upper_face(Axis), n)); };
    const auto above = [&](int n) OCTANT_INLINE_LAMBDA { return V(right(lower_face(Axis), n)); };
    const AcousticSide<V> l =
        relation_.side(below(k_density), below(Axes::normal),
                       [&]() OCTANT_INLINE_LAMBDA { return below(k_pressure); });
    const AcousticSide<V> r =
        relation_.side(above(k_density), above(Axes::normal),
                       [&]() OCTANT_INLINE_LAMBDA { return above(k_pressure); });
    const Fan<V> fan(l, r, relation_.sound_speed(l, r));
    const V mass_l = l.density * l.velocity, mass_r = r.density * r.velocity;
    const V mass = fan.flux(mass_l, mass_r, l.density, r.density);
    const V normal = fan.flux(mass_l * l.velocity + l.pressure, mass_r * r.velocity + r.pressure,
                              mass_l, mass_r);
    const V energy_l = l.energy(per_pressure_), energy_r = r.energy(per_pressure_);
    V energy = fan.flux((energy_l + l.pressure) * l.velocity, (energy_r + r.pressure) * r.velocity,
                        energy_l, energy_r);
    V diffusion(diffuses_shear_ ? 1.0 : 0.0);
    if (senses_shocks_)
      diffusion = max(V(left(k_cell_centre, Axis)), V(right(k_cell_centre, Axis)));
    const bool diffuses = any(diffusion > V(0.0));
    V along[2];
    OCTANT_UNROLL(2)
    for (int t = 0; t < 2; ++t) {
      const int n = t == 0 ? Axes::tangent_1 : Axes::tangent_2;
      const V v_l = below(n), v_r = above(n), upwind = select(mass > V(0.0), v_l, v_r);
      along[t] = mass * upwind;
      energy = energy + V(0.5) * along[t] * upwind;
      if (!diffuses) continue;
      const V mean = fan.flux(mass_l * v_l, mass_r * v_r, l.density * v_l, r.density * v_r);
      along[t] = select(diffusion > V(0.0), along[t] + diffusion * (mean - along[t]), along[t]);
    }
    put_scalars<Axis>(mass, left, right, put);
    put(k_mass, mass);
    put(Axes::normal, normal);
    put(Axes::tangent_1, along[0]);
    put(Axes::tangent_2, along[1]);
    put(k_energy, energy);
  }

 private:
  // Stores the fluxes of the scalars, which move with the mass.
  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_scalars(const V& mass, const Left& left, const Right& right,
                                               const Put& put) const {
    for (int n = k_hydro_variables; n < variables_; ++n)
      put(n, scalar_flux(mass, V(left(upper_face(Axis), n)), V(right(lower_face(Axis), n))));
  }

  Relation relation_;
  double per_pressure_;
  int variables_;
  bool senses_shocks_, diffuses_shear_;
};

}  // namespace

void set_barotropic_fluxes(const HydroOptions& options, SchemeOps& ops) {
  if (options.eos.is_isothermal()) set_fluxes<BarotropicFluxes<Isothermal>>(ops);
  else set_fluxes<BarotropicFluxes<PiecewisePolytropes>>(ops);
}

}  // namespace octant::hydro
