// A worked example of a hydrodynamics scheme: Godunov's first one, in which a cell's state is that
// on all of its faces, with Rusanov's flux (1961) between two of them.
#include "hydro/riemann.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

class DonorCell {
 public:
  static constexpr const char* name = "donor_cell";
  static constexpr int reach = 0, points = 6;
  static constexpr bool predicts = true;
  static constexpr auto shape = mesh::GhostShape::Kind::star;
  template <class Planes>
  using Surface = FaceCentres<Planes>;

  KOKKOS_FUNCTION explicit DonorCell(const KernelArguments& arguments)
      : gas_(arguments.gas), variables_(arguments.variables) {}

  template <class V, class Cell, class PositionFunction, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(bool inside, const Cell& cell,
                                               const PositionFunction&, const Put& put) const {
    for (int point = inside ? 0 : lower_face(2); point < points; ++point)
      for (int n = 0; n < variables_; ++n) put(point, n, V(cell(n, 0, 0, 0)));
  }

  // F = (F_L + F_R) / 2 - s (U_R - U_L) / 2,  s = max(|u_L| + c_L, |u_R| + c_R).
  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void flux(const Left& left, const Right& right,
                                        const Put& put) const {
    const auto of_left = [&](int n) { return V(left(upper_face(Axis), n)); };
    const auto of_right = [&](int n) { return V(right(lower_face(Axis), n)); };
    State<V> w_l, w_r, flux;
    for (int n = 0; n < k_hydro_variables; ++n) w_l[n] = of_left(n), w_r[n] = of_right(n);
    const PhysicalFlux<Axis, V> l(w_l, gas_), r(w_r, gas_);
    const V s = max(fastest<Axis>(w_l), fastest<Axis>(w_r));
    for (int n = 0; n < k_hydro_variables; ++n) {
      flux[n] = V(0.5) * ((l.flux[n] + r.flux[n]) - s * (r.u[n] - l.u[n]));
      put(n, flux[n]);
    }
    for (int n = k_hydro_variables; n < variables_; ++n)
      put(n, scalar_flux(flux[k_mass], of_left(n), of_right(n)));
  }

 private:
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION V fastest(const State<V>& w) const {
    return absolute(w[k_velocity_x + Axis]) +
           square_root(V(gas_.gamma) * w[k_pressure] / w[k_density]);
  }

  Gas gas_;
  int variables_;
};

template SchemeOps ops_of_scheme<DonorCell>();

}  // namespace octant::hydro
