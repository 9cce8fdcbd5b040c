// Compiles the flux kernels of a Riemann solver, for every schedule. Included by the files of
// solvers, which end with
//   template SchemeOps ops_of_solver<Hllc>();
// A solver is a struct with `name`, as in parameter files, and flux<Axis>(left, right, gas); see
// riemann.hpp for solvers that also take the strength of shocks. Kernels of states are compiled
// elsewhere, so that a changed solver takes only a few seconds.
#pragma once

#include "core/compiler.hpp"
#include "hydro/riemann.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

// Fluxes of Godunov schemes, independent of the reconstruction of the states, for a gas of
// the type G.
template <class RiemannSolver, class G = IdealGas>
class GodunovFluxes {
 public:
  static constexpr int points = k_godunov_points<G>;
  template <class Planes>
  using Surface = GodunovSurface<Planes, G>;

  KOKKOS_FUNCTION explicit GodunovFluxes(const KernelArguments& a)
      : gas_(a.gas_as<G>()), variables_(a.variables) {}

  // Stores the flux through a face with normal `Axis`: see the interface in scheme.hpp.
  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void flux(const Left& left, const Right& right,
                                        const Put& put) const {
    State<V> l, r;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) {
      l[n] = left(upper_face(Axis), n);
      r[n] = right(lower_face(Axis), n);
    }
    const auto solve = [&](const auto& gas) OCTANT_INLINE_LAMBDA {
      if constexpr (k_senses_shocks<RiemannSolver>) {
        const V shock = max(left(k_cell_centre, Axis), right(k_cell_centre, Axis));
        return RiemannSolver::template flux<Axis>(l, r, shock, gas);
      } else {
        return RiemannSolver::template flux<Axis>(l, r, gas);
      }
    };
    State<V> out;
    if constexpr (std::is_same_v<G, Gas>) {
      const GasAtFace<V> gas{gas_, gas_.gamma, gas_.pressure_floor, face_gas<V>(left, l[k_density]),
                             face_gas<V>(right, r[k_density])};
      out = solve(gas);
    } else {
      out = solve(gas_);
    }
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) put(n, out[n]);
    for (int n = k_hydro_variables; n < variables_; ++n)
      put(n, scalar_flux(out[k_mass], left(upper_face(Axis), n), right(lower_face(Axis), n)));
  }

 private:
  // Real gas of a cell at a face with this density.
  template <class V, class Side>
  KOKKOS_FORCEINLINE_FUNCTION FaceGas<V> face_gas(const Side& side, const V& density) const {
    return {side(k_cell_energy, k_exponent),
            side(k_cell_energy, k_ratio),
            side(k_cell_energy, k_ratio_by_density),
            side(k_cell_energy, k_ratio_by_pressure),
            side(k_cell_centre, k_mean_density),
            side(k_cell_energy, k_mean_pressure),
            density,
            &gas_.real};
  }

  G gas_;
  int variables_;
};

// Returns the operations of a Riemann solver; fluxes only.
template <class Solver>
SchemeOps ops_of_solver() {
  SchemeOps ops{Solver::name, true, k_senses_shocks<Solver>};
  set_fluxes<GodunovFluxes<Solver>>(ops);
  return ops;
}

}  // namespace octant::hydro
