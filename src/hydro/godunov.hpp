// Godunov schemes of second order or higher: profiles inside cells give a state on each side of
// every face, and a Riemann problem between the two (GodunovFluxes in solver_ops.hpp). Stencils are
// stars.
//
// Hancock's scheme advances the states to the middle of the step (muscl_hancock.hpp), for which it
// needs the profiles of all variables at once. A Runge-Kutta stage uses them directly, one variable
// after the other.
//
// Well-balanced schemes (hydro.well_balanced) reconstruct density and pressure minus the
// hydrostatic profile through the cell, and add the face values of the profile (hydrostatic.hpp).
#pragma once

#include "core/compiler.hpp"
#include "hydro/fractions.hpp"
#include "hydro/hydrostatic.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/scheme.hpp"
#include "hydro/shock_sensor.hpp"

namespace octant::hydro {

// --- outflow from dense into nearly empty cells --------------------------------------------------

// A density profile may fall to nearly zero at a face while the pressure falls much less. The
// outflow would then be many times hotter than the surrounding gas.

// Returns true if a density at a face is less than a tenth of the cell's.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto is_rarefied(const V& face, const V& cell) {
  constexpr double k_min_ratio = 0.1;
  return face < V(k_min_ratio) * cell;
}

// Raises the density of rarefied face states of a cell so that their temperature does not exceed
// the higher one of the two cells beside the face. The density never exceeds that of the cell. cell
// and states are those of Scheme::reconstruct. Rarely executed, therefore not inlined; arguments
// are passed by value so that the caller can keep them in registers.
template <class V, class Cell, class States>
OCTANT_OUT_OF_LINE void limit_face_temperature(bool inside, const Cell cell, const States states) {
  const V density = cell(k_density, 0, 0, 0), coldness = density / cell(k_pressure, 0, 0, 0);
  const auto cool = [&](int face, int x, int y, int z) OCTANT_INLINE_LAMBDA {
    const V beside = cell(k_density, x, y, z) / cell(k_pressure, x, y, z);
    const V cold = states(face, k_pressure) * min(coldness, beside);
    const V found = states(face, k_density);
    states(face, k_density,
           select(is_rarefied(found, density), max(found, min(cold, density)), found));
  };
  if (inside) {
    cool(lower_face(0), -1, 0, 0), cool(upper_face(0), 1, 0, 0);
    cool(lower_face(1), 0, -1, 0), cool(upper_face(1), 0, 1, 0);
  }
  cool(lower_face(2), 0, 0, -1), cool(upper_face(2), 0, 0, 1);
}

// --- schemes -------------------------------------------------------------------------------------

// Common part of all Godunov schemes, without the reconstruction and the fluxes, for a gas
// of the type G.
template <class Reconstruction, class G>
class GodunovStates {
 public:
  static constexpr int reach = Reconstruction::reach, points = k_godunov_points<G>;
  static constexpr auto shape = mesh::GhostShape::Kind::star;
  template <class Planes>
  using Surface = GodunovSurface<Planes, G>;

  KOKKOS_FUNCTION explicit GodunovStates(const KernelArguments& a)
      : gas_(a.gas_as<G>()),
        variables_(a.variables),
        senses_shocks_(a.senses_shocks),
        dt_over_dx_(a.dt_over_dx),
        fractions_(a.fractions) {
    for (int n = k_hydro_variables; n < variables_; ++n)
      has_fractions_ = has_fractions_ || fractions_.end[n] > n;
  }

 protected:
  // Number of primitive variables that are reconstructed. The pressure of isothermal gas, the last
  // one, follows from the density.
  static constexpr int reconstructed = k_is_isothermal<G> ? int{k_pressure} : k_hydro_variables;

  // Sound speeds in a cell of isothermal gas; nothing for other gas.
  template <class V, class PositionFunction>
  KOKKOS_FORCEINLINE_FUNCTION auto sound_of(const PositionFunction& position) const {
    if constexpr (k_is_isothermal<G>) return CellSound<V>(gas_, position);
    else return std::false_type();
  }
  // Stores the pressures of isothermal gas at faces, from the densities there. Fluxes do not read
  // them if the sound speed is uniform.
  template <class V, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_isothermal_pressures(bool inside, const CellSound<V>& sound,
                                                            const Put& put) const {
    if (!gas_.sound.varies()) return;
    for_faces(inside ? 0 : lower_face(2), [&](int face) OCTANT_INLINE_LAMBDA {
      put(face, k_pressure, put(face, k_density) * sound.face[face]);
    });
  }

  // Stores a face value, limited to at least `floor` for density and pressure.
  template <class V, class Put>
  KOKKOS_FORCEINLINE_FUNCTION static void put_floored(const Put& put, int face, int n,
                                                      const V& value, const V& floor) {
    put(face, n, n == k_density || n == k_pressure ? max(value, floor) : value);
  }
  KOKKOS_FORCEINLINE_FUNCTION double floor_of(int n) const {
    return n == k_density ? gas_.density_floor : gas_.lowest_pressure();
  }

  // Stores the states of all scalars; faces_of(n, all) as for put_fractions. With `Predicts`, face
  // values are advanced by half a step and may leave the range of the profile.
  template <bool Predicts, class V, class Cell, class FacesOf, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_scalars(bool inside, const Cell& cell,
                                               const FacesOf& faces_of, const Put& put) const {
    constexpr bool is_curved = Reconstruction::template Profile<V>::is_curved;
    constexpr double most = is_curved ? 2.0 : 1.0;
    const auto put_other = [&](int n) OCTANT_INLINE_LAMBDA {
      const FaceValues<V> face = faces_of(n, inside);
      for_faces(inside ? 0 : lower_face(2),
                [&](int f) OCTANT_INLINE_LAMBDA { put(f, n, face.value[f]); });
    };
    if (!has_fractions_) {
      for (int n = k_hydro_variables; n < variables_; ++n) put_other(n);
      return;
    }
    Departure<V> departure(dt_over_dx_, gas_.largest_exponent(), 1.0 + most, false);
    for (int n = k_hydro_variables; n < variables_;) {
      const int end = fractions_.end[n];
      if (end > n) {
        put_fractions<Predicts || reach != 1, V>(inside, fractions_, n, end, departure, most,
                                                 relative_to_lowest_pressure(cell), faces_of, put);
        n = end;
      } else {
        put_other(n);
        ++n;
      }
    }
  }

  // Stores the shock sensor of the cell for Riemann solvers that use it.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void sense_shocks(const Cell& cell, const Put& put) const {
    if (!senses_shocks_) return;
    find_transverse_shocks<V>(relative_to_lowest_pressure(cell), gas_.gamma,
                              [&](int axis, const V& strength)
                                  OCTANT_INLINE_LAMBDA { put(k_cell_centre, axis, strength); });
  }

  // Adiabatic bulk modulus rho c^2 of a cell.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V adiabatic_modulus(const State<V>& w) const {
    return cold_state(w[k_density], gas_).modulus_at(w[k_pressure], gas_.gamma);
  }
  // Stores the density and the expansion of the energy of a cell of real gas for Riemann solvers.
  // Returns its adiabatic bulk modulus.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION V put_energy(const Cell& cell, const Put& put) const {
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_cell_energies; ++n)
      put(k_cell_energy, n, V(cell(variables_ + n, 0, 0, 0)));
    put(k_cell_centre, k_mean_density, V(cell(k_density, 0, 0, 0)));
    return cell(variables_ + k_exponent, 0, 0, 0) * cell(k_pressure, 0, 0, 0);
  }
  // Prevents outflow that is too hot: see limit_face_temperature(). Omitted where pressures may be
  // negative.
  template <class V, class Cell, class States>
  KOKKOS_FORCEINLINE_FUNCTION void limit_temperature(bool inside, const V& min_density,
                                                     const Cell& cell, const States& states) const {
    if constexpr (k_is_isothermal<G>) return;
    else if constexpr (!std::is_same_v<G, IdealGas>)
      if (gas_.cold.lowest_pressure() < 0.0) return;
    if (any(is_rarefied(min_density, V(cell(k_density, 0, 0, 0)))))
      limit_face_temperature<V>(inside, cell, states);
  }

  G gas_;
  int variables_;
  bool senses_shocks_;

 private:
  // Accessor for the primitive variables around a cell, with pressures relative to the lowest
  // pressure of the cold curve, which may be negative. Differences are unchanged.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION decltype(auto) relative_to_lowest_pressure(const Cell& cell) const {
    if constexpr (std::is_same_v<G, IdealGas> || k_is_isothermal<G>) {
      return (cell);
    } else {
      return [&cell, lowest = gas_.cold.lowest_pressure()](int n, int x, int y, int z) {
        const auto value = cell(n, x, y, z);
        return n == k_pressure ? value - lowest : value;
      };
    }
  }

  double dt_over_dx_;
  FractionGroups fractions_;
  bool has_fractions_ = false;
};

// Hydrostatic profiles of a cell along the axes; an empty class for schemes that are not
// well-balanced.
template <bool Balanced, int Reach, class V>
struct HydrostaticLines {
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION HydrostaticLines(const Stratification& /*g*/, const Cell& /*cell*/) {}
};
// Hydrostatic profiles for well-balanced schemes.
template <int Reach, class V>
struct HydrostaticLines<true, Reach, V> {
  HydrostaticLine<Reach, V> axis[3];

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION HydrostaticLines(const Stratification& g, const Cell& cell)
      : axis{{g, 0, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, o, 0, 0); }},
             {g, 1, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, o, 0); }},
             {g, 2, [&](int n, int o) OCTANT_INLINE_LAMBDA { return cell(n, 0, 0, o); }}} {}
};

// Face states of a Runge-Kutta stage.
template <class Reconstruction, bool Balanced = false, class G = IdealGas>
class RungeKutta : public GodunovStates<Reconstruction, G> {
 public:
  KOKKOS_FUNCTION explicit RungeKutta(const KernelArguments& a)
      : GodunovStates<Reconstruction, G>(a),
        steepens_contacts_(a.steepens_contacts),
        stratification_(a.stratification) {}

  // Stores the states at the cell's faces: see the interface in scheme.hpp.
  template <class V, class Cell, class PositionFunction, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(bool inside, const Cell& cell,
                                               [[maybe_unused]] const PositionFunction& position,
                                               const Put& put) const {
    this->template sense_shocks<V>(cell, put);
    if constexpr (std::is_same_v<G, Gas>) this->template put_energy<V>(cell, put);
    const HydrostaticLines<Balanced, Reconstruction::reach, V> hydrostatic(stratification_, cell);
    V min_density = cell(k_density, 0, 0, 0);
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
      if (n == k_density) min_density = min(min_density, min(face.lower, face.upper));
      const V floor(this->floor_of(n));
      this->put_floored(put, lower_face(axis), n, face.lower, floor);
      this->put_floored(put, upper_face(axis), n, face.upper, floor);
    };
    const auto reconstruct_variable = [&](int n) OCTANT_INLINE_LAMBDA {
      if (inside) {
        put_axis(0, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, o, 0, 0); });
        put_axis(1, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, o, 0); });
      }
      put_axis(2, n, [&](int m, int o) OCTANT_INLINE_LAMBDA { return cell(m, 0, 0, o); });
    };
    OCTANT_UNROLL(8)
    for (int n = 0; n < this->reconstructed; ++n) reconstruct_variable(n);
    if constexpr (k_is_isothermal<G>)
      this->put_isothermal_pressures(inside, this->template sound_of<V>(position), put);
    this->template limit_temperature<V>(inside, min_density, cell, put);
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
    this->template put_scalars<false, V>(inside, cell, faces_of, put);
  }

 private:
  // Face values of variable n. line(m, o) is variable m of the cell at offset o along the axis.
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

}  // namespace octant::hydro
