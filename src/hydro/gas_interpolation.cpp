#include "hydro/gas_interpolation.hpp"

#include <cstdint>

namespace octant::hydro {

namespace {

// Variable n of a state is at u[n * stride].
KOKKOS_FORCEINLINE_FUNCTION double kinetic_energy(const double* u, std::int64_t stride = 1) {
  const double x = u[k_momentum_x * stride], y = u[k_momentum_y * stride],
               z = u[k_momentum_z * stride];
  return 0.5 * (x * x + y * y + z * z) / u[k_mass * stride];
}

KOKKOS_FORCEINLINE_FUNCTION double internal_energy(const double* u) {
  return u[k_energy] - kinetic_energy(u);
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

// The internal energy of a coarse cell and its slopes along the axes.
struct InternalEnergy {
  double value, slope[3];

  KOKKOS_FORCEINLINE_FUNCTION InternalEnergy(const mesh::detail::CoarseStencil& stencil,
                                             double theta) {
    const auto at = [&](int p) {
      double u[k_hydro_variables];
      for (int n = 0; n < k_hydro_variables; ++n) u[n] = stencil.value(p, n, theta);
      return internal_energy(u);
    };
    value = at(0);
    for (int axis = 0; axis < 3; ++axis)
      slope[axis] = mesh::minmod(value - at(1 + 2 * axis), at(2 + 2 * axis) - value);
  }

  // In a child; a quarter of the coarse cell's is left at least.
  KOKKOS_FORCEINLINE_FUNCTION double in(int octant) const {
    return value +
           0.25 * ((octant & 1 ? slope[0] : -slope[0]) + (octant & 2 ? slope[1] : -slope[1]) +
                   (octant & 4 ? slope[2] : -slope[2]));
  }
};

// Interpolates all but the energy as it is stored. Total energies are those of interpolated
// internal ones.
class ByInternalEnergy final : public mesh::Interpolation {
 public:
  void interpolate(const mesh::DeviceArray<const mesh::InterpolationTask>& tasks,
                   const mesh::CoarseState& coarse, const mesh::FineTarget& fine,
                   int variables) const override {
    stored_.interpolate(tasks, coarse, fine, variables);
    using Policy = Kokkos::TeamPolicy<>;
    const auto count = static_cast<int>(tasks.extent(0));
    if (count == 0) return;
    Kokkos::parallel_for(
        "interpolate energy", Policy(count, Kokkos::AUTO),
        KOKKOS_LAMBDA(const Policy::member_type& team) {
          const mesh::InterpolationTask& task = tasks(team.league_rank());
          const mesh::CellBox target = fine.boxes(task.target);
          double* const to = fine.buffer[target.buffer];
          const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int cell) {
            const int i = cell % ni, j = cell / ni % nj, k = cell / (ni * nj);
            const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
            const InternalEnergy internal(mesh::detail::CoarseStencil(coarse, task, c),
                                          coarse.theta);
            for (int o = 0; o < 8; ++o) {
              double* const child = to + target.offset(task.fine[0] + 2 * i + (o & 1),
                                                       task.fine[1] + 2 * j + (o >> 1 & 1),
                                                       task.fine[2] + 2 * k + (o >> 2));
              child[k_energy * target.stride_variable] =
                  internal.in(o) + kinetic_energy(child, target.stride_variable);
            }
          });
        });
  }

 private:
  mesh::LimitedLinear<mesh::NoLimit> stored_;
};

}  // namespace

std::unique_ptr<mesh::Interpolation> make_interpolation(DualEnergy dual_energy) {
  if (dual_energy == DualEnergy::overwrite) return std::make_unique<ByInternalEnergy>();
  return std::make_unique<mesh::LimitedLinear<KeepsPositive>>();
}

}  // namespace octant::hydro
