#include "hydro/gas_interpolation.hpp"

#include "hydro/floors.hpp"

namespace octant::hydro {

namespace {

using mesh::CoarseCell;
using mesh::detail::CoarseStencil;

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

// Beside cells of other densities by this factor slopes mean nothing.
constexpr double k_steepest = 2.0;

// Whether a coarse cell lies in a smooth cold flow: densities around it are alike, and what the
// gas there has of heat is less than what velocities differ by. At shocks and at the edges of
// clumps slopes would empty cells: with a factor of 4, or with any heat around, boxes like that one
// of tests/physics/test_dual_energy.py break.
KOKKOS_FORCEINLINE_FUNCTION bool flows_cold(const CoarseStencil& stencil, double theta,
                                            const double* value) {
  const double density = value[k_mass];
  bool cold = true;
  for (int p = 1; p < 7; ++p) {
    double u[k_hydro_variables], square = 0.0;
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = stencil.value(p, n, theta);
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double difference = u[n] / u[k_mass] - value[n] / density;
      square += difference * difference;
    }
    cold = cold && u[k_mass] < k_steepest * density && density < k_steepest * u[k_mass] &&
           internal_energy(u) < u[k_mass] * square;
  }
  return cold;
}

// Makes densities of all but the mass amounts per mass, with minmod slopes of their own: those of
// children are then between the neighbours', whatever the density does. The value is the one at the
// middle of the cell, for which the children's sum stays as it was.
KOKKOS_FORCEINLINE_FUNCTION void to_amounts_per_mass(const CoarseStencil& stencil, double theta,
                                                     int variables, CoarseCell& cell) {
  for (int n = 1; n < variables; ++n) {
    const auto amount = [&](int p) {
      return stencil.value(p, n, theta) / stencil.value(p, k_mass, theta);
    };
    const double mean = cell.value[n] / cell.value[k_mass];
    double product = 0.0;  // of slopes: 16 times what children have together beside the middle's
    for (int axis = 0; axis < 3; ++axis) {
      cell.slope[axis][n] = mesh::minmod(mean - amount(1 + 2 * axis), amount(2 + 2 * axis) - mean);
      product += cell.slope[axis][k_mass] * cell.slope[axis][n];
    }
    cell.value[n] = mean - product / (16.0 * cell.value[k_mass]);
  }
}

// A variable of such a cell, in a child.
KOKKOS_FORCEINLINE_FUNCTION double in_child(const CoarseCell& cell, int n, int octant) {
  const double x = 0.25 * cell.slope[0][n], y = 0.25 * cell.slope[1][n],
               z = 0.25 * cell.slope[2][n];
  return ((cell.value[n] + (octant & 1 ? x : -x)) + (octant & 2 ? y : -y)) + (octant & 4 ? z : -z);
}

// The kinetic energy of the children, in their mean.
KOKKOS_FORCEINLINE_FUNCTION double energy_of_motion(const CoarseCell& cell) {
  double sum = 0.0;
  for (int octant = 0; octant < 8; ++octant) {
    double square = 0.0;
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double velocity = in_child(cell, n, octant);
      square += velocity * velocity;
    }
    sum += in_child(cell, k_mass, octant) * square;
  }
  return sum / 16.0;
}

// Writes one child; its energy is that of its motion and its entropy.
KOKKOS_FORCEINLINE_FUNCTION void write_child(const CoarseCell& cell, int octant, int variables,
                                             const Gas& gas, double* child, std::int64_t stride) {
  State<double> u;
  u[k_mass] = in_child(cell, k_mass, octant);
  for (int n = k_momentum_x; n < k_momentum_x + 3; ++n)
    u[n] = u[k_mass] * in_child(cell, n, octant);
  u[k_energy] = 0.0;
  const double entropy = u[k_mass] * in_child(cell, k_entropy, octant);
  u[k_energy] = energy_at(u, entropy * power(u[k_mass], gas.gamma - 1.0), gas);
  for (int n = 0; n < k_hydro_variables; ++n) child[n * stride] = u[n];
  for (int n = k_entropy; n < variables; ++n)
    child[n * stride] = u[k_mass] * in_child(cell, n, octant);
}

// Gives the children of cold gas the slopes of its velocity, where KeepsPositive has made them all
// alike.
class FollowsMotion final : public mesh::Interpolation {
 public:
  explicit FollowsMotion(const Gas& gas) : gas_(gas) {}

  void interpolate(const mesh::DeviceArray<const mesh::InterpolationTask>& tasks,
                   const mesh::CoarseState& coarse, const mesh::FineTarget& fine,
                   int variables) const override {
    conserving_.interpolate(tasks, coarse, fine, variables);
    using Policy = Kokkos::TeamPolicy<>;
    const auto count = static_cast<int>(tasks.extent(0));
    if (count == 0) return;
    const Gas gas = gas_;
    Kokkos::parallel_for(
        "interpolate motion", Policy(count, Kokkos::AUTO),
        KOKKOS_LAMBDA(const Policy::member_type& team) {
          const mesh::InterpolationTask& task = tasks(team.league_rank());
          const mesh::CellBox target = fine.boxes(task.target);
          double* const to = fine.buffer[target.buffer];
          const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int index) {
            const int i = index % ni, j = index / ni % nj, k = index / (ni * nj);
            const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
            const CoarseStencil stencil(coarse, task, c);
            CoarseCell cell;
            mesh::detail::read_cell(stencil, coarse.theta, variables, cell);
            const double energy = cell.value[k_energy];
            if (KeepsPositive{}(cell.value, cell.slope[0], cell.slope[1], cell.slope[2],
                                variables) > 0.0 ||
                !flows_cold(stencil, coarse.theta, cell.value))
              return;
            to_amounts_per_mass(stencil, coarse.theta, variables, cell);
            if (energy >= energy_of_motion(cell)) return;
            for (int octant = 0; octant < 8; ++octant)
              write_child(cell, octant, variables, gas,
                          to + target.offset(task.fine[0] + 2 * i + (octant & 1),
                                             task.fine[1] + 2 * j + (octant >> 1 & 1),
                                             task.fine[2] + 2 * k + (octant >> 2)),
                          target.stride_variable);
          });
        });
  }

 private:
  mesh::LimitedLinear<KeepsPositive> conserving_;
  Gas gas_;
};

}  // namespace

std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options) {
  if (options.dual_energy == DualEnergy::overwrite)
    return std::make_unique<FollowsMotion>(options.gas());
  return std::make_unique<mesh::LimitedLinear<KeepsPositive>>();
}

}  // namespace octant::hydro
