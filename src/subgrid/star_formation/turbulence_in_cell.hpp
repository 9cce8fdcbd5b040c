// How much of the gas of a cell forms stars where that depends on what moves inside it.
#pragma once

#include <array>

#include "hydro/gas_gradients.hpp"
#include "subgrid/star_formation/efficiency.hpp"

namespace octant::subgrid::star_formation {

enum class Model {
  schmidt,
  multi_freefall_km,
  multi_freefall_pn,
  padoan,
  hopkins,
  virial,
  pressure_law
};
constexpr auto names_of(Model) {
  return std::array{"schmidt", "multi_freefall_km", "multi_freefall_pn", "padoan", "hopkins",
                    "virial",  "pressure_law"};
}
constexpr bool depends_on_turbulence(Model model) {
  return model != Model::schmidt && model != Model::pressure_law;
}

// A cell's gas with what its neighbours say of the motion inside it, in code units.
struct TurbulenceInCell {
  double density, sound_speed, dx, gravity;
  double dispersion;        // in three dimensions: dx^2 times the sum of squared gradients
  double divergence, curl;  // of the velocity; the curl's length
  double density_laplacian;

  KOKKOS_INLINE_FUNCTION TurbulenceInCell(const hydro::GasGradients& around, double density,
                                          double sound_speed, double dx, double gravity)
      : density(density),
        sound_speed(sound_speed),
        dx(dx),
        gravity(gravity),
        divergence(0.0),
        density_laplacian(around.density_laplacian) {
    const auto& v = around.velocity;
    double squares = 0.0, curl_squared = 0.0;
    for (int i = 0; i < 3; ++i) {
      divergence += v[i][i];
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      curl_squared += (v[k][j] - v[j][k]) * (v[k][j] - v[j][k]);
      for (int along = 0; along < 3; ++along) squares += v[i][along] * v[i][along];
    }
    dispersion = dx * Kokkos::sqrt(squares);
    curl = Kokkos::sqrt(curl_squared);
  }

  KOKKOS_INLINE_FUNCTION TurbulentGas gas() const {
    return {virial_parameter(dispersion, density, dx, gravity), dispersion / sound_speed};
  }

  // The factor of stars.efficiency.
  KOKKOS_INLINE_FUNCTION double efficiency(Model model) const {
    switch (model) {
      case Model::multi_freefall_km: return multi_freefall_krumholz_mckee(gas());
      case Model::multi_freefall_pn: return multi_freefall_padoan_nordlund(gas());
      case Model::padoan:
        return padoan_efficiency(free_fall_time(density, gravity), dx, dispersion, sound_speed);
      case Model::hopkins: return hopkins_efficiency(divergence, curl, density, gravity);
      case Model::virial: {
        const double speed = Kokkos::sqrt(dispersion * dispersion + sound_speed * sound_speed);
        return virial_efficiency(virial_parameter(speed, density, dx, gravity), density_laplacian);
      }
      default: return 1.0;
    }
  }
};

}  // namespace octant::subgrid::star_formation
