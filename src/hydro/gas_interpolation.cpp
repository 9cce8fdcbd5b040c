#include "hydro/gas_interpolation.hpp"

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/hydrostatic.hpp"

namespace octant::hydro {

namespace {

using mesh::LinearValue;
using mesh::detail::Children;
using mesh::detail::CoarseStencil;

constexpr double k_child_offset = 0.25;  // offset of a child's centre along each axis, in cells

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V* u) {
  return u[k_energy] - V(0.5) *
                           (u[k_momentum_x] * u[k_momentum_x] + u[k_momentum_y] * u[k_momentum_y] +
                            u[k_momentum_z] * u[k_momentum_z]) /
                           u[k_mass];
}

// Distances along the axes from the centre of a cell to the centres of its children (octants
// `first`, first + 1, ...), in units of the cell size.
template <class V>
struct ChildOffsets {
  V axis[3];

  KOKKOS_FORCEINLINE_FUNCTION explicit ChildOffsets(int first) {
    for (int d = 0; d < 3; ++d)
      axis[d] = SimdTraits<V>::generate(
          [&](int lane) { return (first + lane) >> d & 1 ? k_child_offset : -k_child_offset; });
  }
};

struct KeepsPositive {
  static constexpr int variables = k_hydro_variables;
  static constexpr double k_min_share = 0.1;

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const Cell& cell) const {
    double value[k_hydro_variables];
    for (int n = 0; n < k_hydro_variables; ++n) value[n] = cell[n].value;
    const double min_density = k_min_share * value[k_mass];
    const double min_energy = k_min_share * internal_energy(value);
    using V = SimdDouble;
    SimdTraits<V>::Mask admissible(true);
    OCTANT_UNROLL(8)
    for (int first = 0; first < 8; first += SimdTraits<V>::width) {
      const ChildOffsets<V> share(first);
      V child[k_hydro_variables];
      for (int n = 0; n < k_hydro_variables; ++n) {
        const double* slope = cell[n].slope;
        child[n] = V(value[n]) + (share.axis[0] * V(slope[0]) + share.axis[1] * V(slope[1]) +
                                  share.axis[2] * V(slope[2]));
      }
      admissible =
          admissible && child[k_mass] >= V(min_density) && internal_energy(child) >= V(min_energy);
    }
    return any(!admissible) ? 0.0 : 1.0;
  }
};

// Number of variables that determine a cold cell's velocity and energy.
constexpr int k_cold_variables = k_entropy + 1;
using CoarseGasCell = mesh::CoarseCell<k_cold_variables>;

// Maximum density ratio of adjacent cells for which slopes are used.
constexpr double k_steepest = 2.0;

// Returns true if a coarse cell lies in a smooth cold flow: densities around it are similar, and
// the internal energy is less than the kinetic energy of velocity differences. At shocks and at the
// edges of dense clumps slopes would empty cells: with a maximum density ratio of 4, or without the
// limit of internal energy, tests/physics/test_dual_energy.py fails.
KOKKOS_FORCEINLINE_FUNCTION bool is_smooth_cold_flow(const CoarseStencil& stencil,
                                                     const CoarseGasCell& cell) {
  const double density = cell[k_mass].value;
  bool cold = true;
  // Not unrolled, like loops over children below: this saves registers of a GPU thread.
  OCTANT_UNROLL(1)
  for (int p = 1; p < 7; ++p) {
    double u[k_hydro_variables], square = 0.0;
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = stencil.value(p, n);
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double difference = u[n] / u[k_mass] - cell[n].value / density;
      square += difference * difference;
    }
    cold = cold && u[k_mass] < k_steepest * density && density < k_steepest * u[k_mass] &&
           internal_energy(u) < u[k_mass] * square;
  }
  return cold;
}

// Amount per mass of variable n, with minmod slopes of the amount per mass, so that children lie
// between the neighbours for any density profile. The value at the cell centre preserves the sum
// over the children.
OCTANT_INLINE_ON_HOST LinearValue amount_per_mass(const CoarseStencil& stencil,
                                                  const LinearValue& mass, int n) {
  const auto amount = [&](int p) { return stencil.value(p, n) / stencil.value(p, k_mass); };
  const double mean = stencil.value(0, n) / mass.value;
  LinearValue of;
  double product = 0.0;  // product of slopes, 16 times the children's excess
  for (int axis = 0; axis < 3; ++axis) {
    of.slope[axis] = mesh::minmod(mean - amount(1 + 2 * axis), amount(2 + 2 * axis) - mean);
    product += mass.slope[axis] * of.slope[axis];
  }
  of.value = mean - product / (16.0 * mass.value);
  return of;
}

// Mean kinetic energy of the children.
KOKKOS_FORCEINLINE_FUNCTION double energy_of_motion(const CoarseGasCell& cell) {
  double sum = 0.0;
  OCTANT_UNROLL(1)
  for (int octant = 0; octant < 8; ++octant) {
    double square = 0.0;
    for (int n = k_momentum_x; n < k_momentum_x + 3; ++n) {
      const double velocity = cell[n].in_child(octant, k_child_offset);
      square += velocity * velocity;
    }
    sum += cell[k_mass].in_child(octant, k_child_offset) * square;
  }
  return sum / 16.0;
}

// Amounts per mass of a coarse cell and its neighbours, as a stencil.
class StencilPerMass {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit StencilPerMass(const CoarseStencil& stencil)
      : stencil_(stencil) {
    for (int p = 0; p < 7; ++p) volume_[p] = 1.0 / stencil.value(p, k_mass);
  }

  KOKKOS_FORCEINLINE_FUNCTION double mean(int n) const { return amount(0, n); }
  KOKKOS_FORCEINLINE_FUNCTION double slope(int n, int axis) const {
    const double here = amount(0, n);
    return mesh::minmod(here - amount(1 + 2 * axis, n), amount(2 + 2 * axis, n) - here);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double amount(int p, int n) const {
    return stencil_.value(p, n) * volume_[p];
  }

  const CoarseStencil& stencil_;
  double volume_[7];
};

// Factors for the slopes of a group of fractions, by sign, which preserve the sum 1 of a mixture's
// fractions in each child.
struct SlopeFactors {
  double up[3] = {1.0, 1.0, 1.0}, down[3] = {1.0, 1.0, 1.0};

  KOKKOS_FORCEINLINE_FUNCTION SlopeFactors(const StencilPerMass& stencil, int first, int last,
                                           const FractionGroups& groups) {
    if (last - first == 1) return;
    double sum = -1.0, rise[3] = {}, fall[3] = {};
    for (int n = first; n < last; ++n) {
      sum += stencil.mean(n);
      for (int axis = 0; axis < 3; ++axis) {
        const double slope = stencil.slope(n, axis);
        rise[axis] += max(slope, 0.0);
        fall[axis] += max(-slope, 0.0);
      }
    }
    if (!(absolute(sum) < groups.tolerance)) return;
    for (int axis = 0; axis < 3; ++axis) {
      if (fall[axis] < rise[axis]) up[axis] = fall[axis] / rise[axis];
      if (rise[axis] < fall[axis]) down[axis] = rise[axis] / fall[axis];
    }
  }
};

// Writes the scalars of the children of a cell with the density `mass`; a child differs from the
// parent by a quarter of a slope per axis. Fractions are linear per mass, so that each child lies
// between the cell and its neighbours, if no child has less than a tenth of the mean density. Other
// variables from `first` on are linear as densities, if `has_slopes`.
KOKKOS_FORCEINLINE_FUNCTION void write_scalars(const CoarseStencil& stencil,
                                               const LinearValue& mass, bool has_slopes, int first,
                                               int variables, const FractionGroups& groups,
                                               const Children& children) {
  const StencilPerMass per_mass(stencil);
  while (first < variables) {
    const int end = groups.end[first];
    if (!has_slopes || end <= first) {
      children.write(first,
                     has_slopes ? mesh::detail::read_variable(stencil, first)
                                : LinearValue{stencil.value(0, first), {0.0, 0.0, 0.0}},
                     k_child_offset);
      ++first;
      continue;
    }
    const SlopeFactors factors(per_mass, first, end, groups);
    for (int n = first; n < end; ++n) {
      LinearValue of{per_mass.mean(n), {}};
      double product = 0.0;
      for (int axis = 0; axis < 3; ++axis) {
        const double slope = per_mass.slope(n, axis);
        of.slope[axis] = (slope > 0.0 ? factors.up[axis] : factors.down[axis]) * slope;
        product += mass.slope[axis] * of.slope[axis];
      }
      of.value -= product / (16.0 * mass.value);
      OCTANT_UNROLL(1)
      for (int octant = 0; octant < 8; ++octant)
        children(octant, n) =
            mass.in_child(octant, k_child_offset) * of.in_child(octant, k_child_offset);
    }
    first = end;
  }
}

// Writes the children of a cold cell; their energies follow from their velocities and entropies.
KOKKOS_FORCEINLINE_FUNCTION void write_children(const CoarseGasCell& cell, const Gas& gas,
                                                const Children& children) {
  using V = SimdDouble;
  OCTANT_UNROLL(1)
  for (int first = 0; first < 8; first += SimdTraits<V>::width) {
    const ChildOffsets<V> share(first);
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
    for (int lane = 0; lane < SimdTraits<V>::width; ++lane) {
      for (int n = 0; n < k_hydro_variables; ++n)
        children(first + lane, n) = SimdTraits<V>::lane(u[n], lane);
      children(first + lane, k_entropy) = SimdTraits<V>::lane(entropy, lane);
    }
  }
}

// Subtracts the angular momentum of the children's momenta about the centre of the parent, per
// volume, from the spin of every child, so that spin plus angular momentum of the momenta is that
// of the parent. `spin` is the index of the first spin variable, -1 without spin.
KOKKOS_FORCEINLINE_FUNCTION void conserve_angular_momentum(int spin, double coarse_cell,
                                                           const Children& children) {
  if (spin < 0) return;
  // Sum of a momentum component over the children, with opposite signs on both sides along an axis.
  const auto moment = [&](int component, int along) {
    double sum = 0.0;
    for (int octant = 0; octant < 8; ++octant) {
      const double value = children(octant, k_momentum_x + component);
      sum += octant >> along & 1 ? value : -value;
    }
    return sum;
  };
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    const double orbital = 0.125 * k_child_offset * coarse_cell * (moment(f, e) - moment(e, f));
    for (int octant = 0; octant < 8; ++octant) children(octant, spin + d) -= orbital;
  }
}

// Prolongation by mesh::LimitedLinear. Where the positivity limiter (KeepsPositive) sets all slopes
// to zero, cells in smooth cold flow are interpolated linearly in density, and in velocity, entropy
// and fractions per mass; other cells are constant.
class FollowsMotion final : public mesh::Interpolation {
 public:
  explicit FollowsMotion(const HydroOptions& options)
      : gas_(options.gas()), groups_(options.fractions()), spin_(options.spin()) {}

  void interpolate(const mesh::DeviceArray<const mesh::InterpolationTask>& tasks,
                   const mesh::CoarseState& coarse, const mesh::FineTarget& fine,
                   int variables) const override {
    const Gas gas = gas_;
    const FractionGroups groups = groups_;
    const int spin = spin_;
    const double size = coarse.cell_size;
    mesh::detail::for_coarse_cells(
        tasks, coarse, fine, KOKKOS_LAMBDA(const CoarseStencil& stencil, const Children& children) {
          interpolate_cell(stencil, gas, variables, groups, children);
          conserve_angular_momentum(spin, size, children);
        });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void interpolate_cell(const CoarseStencil& stencil,
                                                           const Gas& gas, int variables,
                                                           const FractionGroups& groups,
                                                           const Children& children) {
    auto cell = mesh::detail::read_cell<k_cold_variables>(stencil);
    if (KeepsPositive{}(cell) > 0.0) {
      OCTANT_UNROLL(8)
      for (int n = 0; n < k_cold_variables; ++n) children.write(n, cell[n], k_child_offset);
      if (variables > k_cold_variables)
        write_scalars(stencil, cell[k_mass], true, k_cold_variables, variables, groups, children);
    } else if (!follow_motion(stencil, cell, gas, variables, groups, children)) {
      for (int n = 0; n < variables; ++n)
        children.write(n, {stencil.value(0, n), {0.0, 0.0, 0.0}}, k_child_offset);
    }
  }

  // Writes the children of a cell in a smooth cold flow; returns false for other cells. Changes all
  // variables of `cell` except the density to amounts per mass.
  KOKKOS_FORCEINLINE_FUNCTION static bool follow_motion(const CoarseStencil& stencil,
                                                        CoarseGasCell& cell, const Gas& gas,
                                                        int variables, const FractionGroups& groups,
                                                        const Children& children) {
    if (!is_smooth_cold_flow(stencil, cell)) return false;
    const double energy = cell[k_energy].value;
    const LinearValue mass = cell[k_mass];
    OCTANT_UNROLL(8)
    for (int n = 1; n < k_cold_variables; ++n) cell[n] = amount_per_mass(stencil, mass, n);
    if (energy >= energy_of_motion(cell)) return false;
    write_children(cell, gas, children);
    if (variables > k_cold_variables)
      write_scalars(stencil, mass, true, k_cold_variables, variables, groups, children);
    return true;
  }

  Gas gas_;
  FractionGroups groups_;
  int spin_;
};

// Sets the slopes of density and energy of a coarse cell to those of its hydrostatic profile plus
// limited slopes of the neighbours' deviations, so that children are in equilibrium if the gas is.
KOKKOS_FORCEINLINE_FUNCTION void stratify(const CoarseStencil& stencil, const Stratification& g,
                                          const Gas& gas,
                                          mesh::CoarseCell<k_hydro_variables>& cell) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!g.acts(axis)) continue;
    double s[3], energy = 0.0;  // exponents below, at and above the cell; internal energy
    OCTANT_UNROLL(1)
    for (int p = 0; p < 3; ++p) {
      const int of = p == 1 ? 0 : p == 0 ? 1 + 2 * axis : 2 + 2 * axis;
      double volume;
      const State<double> w =
          to_primitive<double>([&](int n) { return stencil.value(of, n); }, gas, volume);
      s[p] = g.exponent(axis, w[k_density], w[k_pressure]);
      if (p == 1) energy = w[k_pressure] / (gas.gamma - 1.0);
    }
    const HydrostaticFaces<double> below(s[0]), here(s[1]), above(s[2]);
    const double rise_below = here.lower / below.upper - 1.0;
    const double rise_above = here.upper / above.lower - 1.0;
    const auto stratified = [&](int n, double mean) {
      const double value = cell[n].value;
      const double lower = stencil.value(1 + 2 * axis, n) - mean * rise_below;
      const double upper = stencil.value(2 + 2 * axis, n) - mean * rise_above;
      cell[n].slope[axis] =
          mesh::minmod(value - lower, upper - value) + 2.0 * mean * child_difference(s[1]);
    };
    stratified(k_mass, cell[k_mass].value);
    stratified(k_energy, energy);
  }
}

// Interpolation as mesh::LimitedLinear, but fractions, not their densities, are linear. With
// `Balanced` the gas keeps its hydrostatic equilibrium.
template <bool Balanced>
class KeepsFractions final : public mesh::Interpolation {
 public:
  explicit KeepsFractions(const HydroOptions& options)
      : groups_(options.fractions()),
        gas_(options.gas()),
        spin_(options.spin()),
        acceleration_(options.acceleration) {}

  void interpolate(const mesh::DeviceArray<const mesh::InterpolationTask>& tasks,
                   const mesh::CoarseState& coarse, const mesh::FineTarget& fine,
                   int variables) const override {
    const FractionGroups groups = groups_;
    const Gas gas = gas_;
    const int spin = spin_;
    const double size = coarse.cell_size;
    const Stratification g(acceleration_, size);
    mesh::detail::for_coarse_cells(
        tasks, coarse, fine, KOKKOS_LAMBDA(const CoarseStencil& stencil, const Children& children) {
          auto cell = mesh::detail::read_cell<k_hydro_variables>(stencil);
          if (Balanced) stratify(stencil, g, gas, cell);
          const bool has_slopes = KeepsPositive{}(cell) > 0.0;
          OCTANT_UNROLL(8)
          for (int n = 0; n < k_hydro_variables; ++n) {
            if (!has_slopes) cell[n].slope[0] = cell[n].slope[1] = cell[n].slope[2] = 0.0;
            children.write(n, cell[n], k_child_offset);
          }
          write_scalars(stencil, cell[k_mass], has_slopes, k_hydro_variables, variables, groups,
                        children);
          conserve_angular_momentum(spin, size, children);
        });
  }

 private:
  FractionGroups groups_;
  Gas gas_;
  int spin_;
  std::array<double, 3> acceleration_;
};

}  // namespace

std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options) {
  if (options.dual_energy == DualEnergy::overwrite) return std::make_unique<FollowsMotion>(options);
  if (options.is_balanced()) return std::make_unique<KeepsFractions<true>>(options);
  if (!options.scalars.empty()) return std::make_unique<KeepsFractions<false>>(options);
  return std::make_unique<mesh::LimitedLinear<KeepsPositive>>();
}

}  // namespace octant::hydro
