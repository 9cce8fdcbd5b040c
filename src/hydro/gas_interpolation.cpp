#include "hydro/gas_interpolation.hpp"

#include "core/power.hpp"
#include "core/teams.hpp"
#include "core/unroll.hpp"
#include "hydro/floors.hpp"
#include "mesh/task_teams.hpp"

namespace octant::hydro {

namespace {

using mesh::LinearValue;
using mesh::detail::CoarseStencil;

constexpr double k_share = 0.25;  // of a cell, between its centre and a child's along an axis

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V* u) {
  return u[k_energy] - V(0.5) *
                           (u[k_momentum_x] * u[k_momentum_x] + u[k_momentum_y] * u[k_momentum_y] +
                            u[k_momentum_z] * u[k_momentum_z]) /
                           u[k_mass];
}

// By axis, the share of a cell between its centre and those of the children from octant `first` on.
template <class V>
struct ChildShares {
  V axis[3];

  KOKKOS_FORCEINLINE_FUNCTION explicit ChildShares(int first) {
    for (int d = 0; d < 3; ++d)
      axis[d] = PackTraits<V>::generate(
          [&](int lane) { return (first + lane) >> d & 1 ? k_share : -k_share; });
  }
};

struct KeepsPositive {
  static constexpr int variables = k_hydro_variables;
  static constexpr double k_least_share = 0.1;

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const Cell& cell) const {
    double value[k_hydro_variables];
    for (int n = 0; n < k_hydro_variables; ++n) value[n] = cell[n].value;
    const double least_density = k_least_share * value[k_mass];
    const double least_energy = k_least_share * internal_energy(value);
    using V = Pack;
    PackTraits<V>::Mask admissible(true);
    OCTANT_UNROLL(8)
    for (int first = 0; first < 8; first += PackTraits<V>::width) {
      const ChildShares<V> share(first);
      V child[k_hydro_variables];
      for (int n = 0; n < k_hydro_variables; ++n) {
        const double* slope = cell[n].slope;
        child[n] = V(value[n]) + (share.axis[0] * V(slope[0]) + share.axis[1] * V(slope[1]) +
                                  share.axis[2] * V(slope[2]));
      }
      admissible = admissible && child[k_mass] >= V(least_density) &&
                   internal_energy(child) >= V(least_energy);
    }
    return any(!admissible) ? 0.0 : 1.0;
  }
};

// What a cold cell's motion and energy follow from.
constexpr int k_cold_variables = k_entropy + 1;
using ColdCell = mesh::CoarseCell<k_cold_variables>;

// Beside cells of other densities by this factor slopes mean nothing.
constexpr double k_steepest = 2.0;

// Whether a coarse cell lies in a smooth cold flow: densities around it are alike, and what the
// gas there has of heat is less than what velocities differ by. At shocks and at the edges of
// clumps slopes would empty cells: with a factor of 4, or with any heat around, boxes like that one
// of tests/physics/test_dual_energy.py break.
KOKKOS_FORCEINLINE_FUNCTION bool flows_cold(const CoarseStencil& stencil, double theta,
                                            const ColdCell& cell) {
  const double density = cell[k_mass].value;
  bool cold = true;
  // Like loops over children below: written out, they take more registers than a GPU's thread has.
  OCTANT_UNROLL(1)
  for (int p = 1; p < 7; ++p) {
    double u[k_hydro_variables], square = 0.0;
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = stencil.value(p, n, theta);
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double difference = u[n] / u[k_mass] - cell[n].value / density;
      square += difference * difference;
    }
    cold = cold && u[k_mass] < k_steepest * density && density < k_steepest * u[k_mass] &&
           internal_energy(u) < u[k_mass] * square;
  }
  return cold;
}

// The amount per mass of variable n, with minmod slopes of its own: those of children are then
// between the neighbours', whatever the density does. The value is the one at the middle of the
// cell, for which the children's sum stays as it was.
OCTANT_INLINE_ON_HOST LinearValue amount_per_mass(const CoarseStencil& stencil, double theta,
                                                  const LinearValue& mass, int n) {
  const auto amount = [&](int p) {
    return stencil.value(p, n, theta) / stencil.value(p, k_mass, theta);
  };
  const double mean = stencil.value(0, n, theta) / mass.value;
  LinearValue of;
  double product = 0.0;  // of slopes: 16 times what children have together beside the middle's
  for (int axis = 0; axis < 3; ++axis) {
    of.slope[axis] = mesh::minmod(mean - amount(1 + 2 * axis), amount(2 + 2 * axis) - mean);
    product += mass.slope[axis] * of.slope[axis];
  }
  of.value = mean - product / (16.0 * mass.value);
  return of;
}

// The kinetic energy of the children, in their mean.
KOKKOS_FORCEINLINE_FUNCTION double energy_of_motion(const ColdCell& cell) {
  double sum = 0.0;
  OCTANT_UNROLL(1)
  for (int octant = 0; octant < 8; ++octant) {
    double square = 0.0;
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double velocity = cell[n].in_child(octant, k_share);
      square += velocity * velocity;
    }
    sum += cell[k_mass].in_child(octant, k_share) * square;
  }
  return sum / 16.0;
}

// Children of one coarse cell in memory.
struct Children {
  double* first;
  std::int64_t stride_j, stride_k, stride_variable;

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(int octant, int n) const {
    return first[(octant & 1) + (octant >> 1 & 1) * stride_j + (octant >> 2) * stride_k +
                 n * stride_variable];
  }
};

// Writes a variable of the children.
KOKKOS_FORCEINLINE_FUNCTION void write_variable(const LinearValue& of, int n,
                                                const Children& children) {
  for (int octant = 0; octant < 8; ++octant) children(octant, n) = of.in_child(octant, k_share);
}

// Writes the children; their energies are those of their motion and their entropies.
KOKKOS_FORCEINLINE_FUNCTION void write_children(const ColdCell& cell, const Gas& gas,
                                                const Children& children) {
  using V = Pack;
  OCTANT_UNROLL(1)
  for (int first = 0; first < 8; first += PackTraits<V>::width) {
    const ChildShares<V> share(first);
    const auto value = [&](int n) OCTANT_INLINE_LAMBDA {
      V sum(cell[n].value);
      for (int d = 0; d < 3; ++d) sum = sum + share.axis[d] * V(cell[n].slope[d]);
      return sum;
    };
    State<V> u;
    u[k_mass] = value(k_mass);
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) u[n] = u[k_mass] * value(n);
    u[k_energy] = V(0.0);
    const V entropy = u[k_mass] * value(k_entropy);
    u[k_energy] = energy_at(u, entropy * power(u[k_mass], gas.gamma - 1.0), gas);
    for (int lane = 0; lane < PackTraits<V>::width; ++lane) {
      for (int n = 0; n < k_hydro_variables; ++n)
        children(first + lane, n) = PackTraits<V>::lane(u[n], lane);
      children(first + lane, k_entropy) = PackTraits<V>::lane(entropy, lane);
    }
  }
}

// As mesh::LimitedLinear, but where KeepsPositive leaves no slopes, children of cold gas get those
// of its velocity.
class FollowsMotion final : public mesh::Interpolation {
 public:
  explicit FollowsMotion(const Gas& gas) : gas_(gas) {}

  void interpolate(const mesh::DeviceArray<const mesh::InterpolationTask>& tasks,
                   const mesh::CoarseState& coarse, const mesh::FineTarget& fine,
                   int variables) const override {
    const auto count = static_cast<int>(tasks.extent(0));
    if (count == 0) return;
    const Gas gas = gas_;
    Kokkos::parallel_for(
        "interpolate", mesh::TaskTeams(count, team_threads()),
        KOKKOS_LAMBDA(const mesh::TaskTeam& team) {
          const mesh::InterpolationTask& task = tasks(team.league_rank());
          const mesh::CellBox target = fine.boxes(task.target);
          double* const to = fine.buffer[target.buffer];
          const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int index) {
            const int i = index % ni, j = index / ni % nj, k = index / (ni * nj);
            const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
            const CoarseStencil stencil(coarse, task, c);
            const Children children{to + target.offset(task.fine[0] + 2 * i, task.fine[1] + 2 * j,
                                                       task.fine[2] + 2 * k),
                                    target.stride_j, target.stride_k, target.stride_variable};
            interpolate_cell(stencil, coarse.theta, gas, variables, children);
          });
        });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void interpolate_cell(const CoarseStencil& stencil,
                                                           double theta, const Gas& gas,
                                                           int variables,
                                                           const Children& children) {
    auto cell = mesh::detail::read_cell<k_cold_variables>(stencil, theta);
    if (KeepsPositive{}(cell) > 0.0) {
      OCTANT_UNROLL(8)
      for (int n = 0; n < k_cold_variables; ++n) write_variable(cell[n], n, children);
      for (int n = k_cold_variables; n < variables; ++n)
        write_variable(mesh::detail::read_variable(stencil, n, theta), n, children);
    } else if (!follow_motion(stencil, theta, cell, gas, variables, children)) {
      for (int n = 0; n < variables; ++n)
        write_variable({stencil.value(0, n, theta), {0.0, 0.0, 0.0}}, n, children);
    }
  }

  // Writes the children of a cell that flows cold; false if it does not. The cell's variables but
  // for the first become amounts per mass.
  KOKKOS_FORCEINLINE_FUNCTION static bool follow_motion(const CoarseStencil& stencil, double theta,
                                                        ColdCell& cell, const Gas& gas,
                                                        int variables, const Children& children) {
    if (!flows_cold(stencil, theta, cell)) return false;
    const double energy = cell[k_energy].value;
    const LinearValue mass = cell[k_mass];
    OCTANT_UNROLL(8)
    for (int n = 1; n < k_cold_variables; ++n) cell[n] = amount_per_mass(stencil, theta, mass, n);
    if (energy >= energy_of_motion(cell)) return false;
    write_children(cell, gas, children);
    for (int n = k_cold_variables; n < variables; ++n) {
      const LinearValue amount = amount_per_mass(stencil, theta, mass, n);
      OCTANT_UNROLL(1)
      for (int octant = 0; octant < 8; ++octant)
        children(octant, n) = mass.in_child(octant, k_share) * amount.in_child(octant, k_share);
    }
    return true;
  }

  Gas gas_;
};

}  // namespace

std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options) {
  if (options.dual_energy == DualEnergy::overwrite)
    return std::make_unique<FollowsMotion>(options.gas());
  return std::make_unique<mesh::LimitedLinear<KeepsPositive>>();
}

}  // namespace octant::hydro
