// A worked example of a Riemann solver: that of Harten, Lax & van Leer with the signal speeds of
// Einfeldt (1988, SIAM J. Numer. Anal. 25, 294), which keeps densities and pressures positive.
#include "hydro/solver_ops.hpp"

namespace octant::hydro {

struct Hlle {
  static constexpr const char* name = "hlle";

  // S_L = min(u_L - c_L, u - d, 0), S_R = max(u_R + c_R, u + d, 0), where u is the mean velocity
  // with weights sqrt(rho), and d^2 that of c^2 plus sqrt(rho_L rho_R) (u_R - u_L)^2 / 2 over the
  // square of the weights' sum.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                                   const Gas& gas) {
    constexpr int normal = FaceAxes<Axis>::normal;
    const V u_l = left[normal], u_r = right[normal], jump = u_r - u_l;
    const V square_l = V(gas.gamma) * left[k_pressure] / left[k_density];
    const V square_r = V(gas.gamma) * right[k_pressure] / right[k_density];
    const V root_l = square_root(left[k_density]), root_r = square_root(right[k_density]);
    const V share_l = root_l / (root_l + root_r), share_r = V(1.0) - share_l;
    const V u = share_l * u_l + share_r * u_r;
    const V d = square_root(share_l * square_l + share_r * square_r +
                            V(0.5) * share_l * share_r * jump * jump);
    const V speed_l = min(min(u_l - square_root(square_l), u - d), V(0.0));
    const V speed_r = max(max(u_r + square_root(square_r), u + d), V(0.0));

    const PhysicalFlux<Axis, V> l(left, gas), r(right, gas);
    const V inverse = V(1.0) / (speed_r - speed_l);
    State<V> flux;
    for (int n = 0; n < k_hydro_variables; ++n)
      flux[n] =
          ((speed_r * l.flux[n] - speed_l * r.flux[n]) + speed_l * speed_r * (r.u[n] - l.u[n])) *
          inverse;
    return flux;
  }
};

template SchemeOps ops_of_solver<Hlle>();

}  // namespace octant::hydro
