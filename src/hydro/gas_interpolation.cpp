#include "hydro/gas_interpolation.hpp"

namespace octant::hydro {

namespace {

KOKKOS_FORCEINLINE_FUNCTION double internal_energy(const double* u) {
  return u[k_energy] - 0.5 *
                           (u[k_momentum_x] * u[k_momentum_x] + u[k_momentum_y] * u[k_momentum_y] +
                            u[k_momentum_z] * u[k_momentum_z]) /
                           u[k_mass];
}

struct KeepsPositive {
  static constexpr double k_least_share = 0.1;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double* value, const double* slope_x,
                                                const double* slope_y, const double* slope_z,
                                                int) const {
    const double least_density = k_least_share * value[k_mass];
    const double least_energy = k_least_share * internal_energy(value);
    bool admissible = true;
    for (int octant = 0; octant < 8; ++octant) {
      const double sx = octant & 1 ? 0.25 : -0.25, sy = octant & 2 ? 0.25 : -0.25,
                   sz = octant & 4 ? 0.25 : -0.25;
      double child[k_hydro_variables];
      for (int n = 0; n < k_hydro_variables; ++n)
        child[n] = value[n] + (sx * slope_x[n] + sy * slope_y[n] + sz * slope_z[n]);
      admissible =
          admissible && child[k_mass] >= least_density && internal_energy(child) >= least_energy;
    }
    return admissible ? 1.0 : 0.0;
  }
};

}  // namespace

std::unique_ptr<mesh::Interpolation> make_interpolation() {
  return std::make_unique<mesh::LimitedLinear<KeepsPositive>>();
}

}  // namespace octant::hydro
