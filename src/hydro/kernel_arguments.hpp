// Options and arguments of a sweep in the form that its kernels need, and point-wise sources.
#pragma once

#include <type_traits>

#include "hydro/eos/isothermal_gas.hpp"
#include "hydro/hydrostatic.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep.hpp"
#include "mesh/cell_range.hpp"

namespace octant::hydro {

// Accelerations as functions of velocity and position: the uniform acceleration and the inertial
// forces of a rotating frame.
class ExternalAcceleration {
 public:
  ExternalAcceleration(const HydroOptions& options, const SweepArguments& sweep)
      : any_(options.acceleration != std::array<double, 3>{}),
        frame_(options.frame),
        angle_(sweep.dt * options.frame.angular_velocity) {
    for (int n = 0; n < 3; ++n) {
      uniform_[n] = sweep.dt * options.acceleration[n];
      across_cell_[n] = sweep.dx * options.acceleration[n];
    }
  }

  // True if there is any acceleration.
  KOKKOS_FORCEINLINE_FUNCTION bool any() const { return any_; }
  // Acceleration along an axis times the cell size.
  KOKKOS_FORCEINLINE_FUNCTION double across_cell(int axis) const { return across_cell_[axis]; }

  // Velocity change in the whole step. Hancock's scheme evaluates it twice, for the state at the
  // beginning of the step (half of it is used) and for the state in the middle; Runge-Kutta schemes
  // evaluate it in every stage, for the state from which fluxes are computed.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> kick(const Vector<V>& /*velocity*/,
                                             const Vector<V>& /*position*/) const {
    return {V(uniform_[0]), V(uniform_[1]), V(uniform_[2])};
  }

  // Velocity change in the frame, for a velocity relative to the frame, including the Coriolis and
  // centrifugal forces of a rotating frame.
  template <class V, class PositionFunction>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> kick_in_frame(const Vector<V>& velocity,
                                                      const PositionFunction& position) const {
    const Vector<V> x = position();
    Vector<V> change = kick(velocity, x);
    if (!frame_.turns()) return change;
    const V angle(angle_), twice(2.0 * angle_);
    change[0] = change[0] + twice * velocity[1] + angle * frame_.velocity_y(x[0]);
    change[1] = change[1] - twice * velocity[0] - angle * frame_.velocity_x(x[1]);
    return change;
  }

 private:
  bool any_;
  mesh::Frame frame_;
  double angle_;                        // rotation angle of the frame in a step
  double uniform_[3], across_cell_[3];  // acceleration times dt, and times dx
};

// Subtracts the frame's velocity at a position from that of a primitive state.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void to_frame(const mesh::Frame& frame, const Vector<V>& position,
                                          State<V>& w) {
  w[k_velocity_x] = w[k_velocity_x] - frame.velocity_x(position[1]);
  w[k_velocity_y] = w[k_velocity_y] - frame.velocity_y(position[0]);
}

// Returns the centres of a pack of cells.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Vector<V> centres(const mesh::CellRange& cells,
                                              const mesh::Cell& cell) {
  Vector<V> x;
  for (int axis = 0; axis < 3; ++axis)
    x[axis] = SimdTraits<V>::generate([&](int lane) {
      return cells.centre({cell.block_index, cell.slot, cell.index + lane})[axis];
    });
  return x;
}

// Transforms a flux of mass, momentum and energy to a frame in which its original frame moves with
// the velocity (x, y).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> boosted(const State<V>& flux, const V& x, const V& y) {
  State<V> seen = flux;
  const V mass = flux[k_mass];
  seen[k_momentum_x] = flux[k_momentum_x] + x * mass;
  seen[k_momentum_y] = flux[k_momentum_y] + y * mass;
  seen[k_energy] = flux[k_energy] + (x * (flux[k_momentum_x] + V(0.5) * (x * mass)) +
                                     y * (flux[k_momentum_y] + V(0.5) * (y * mass)));
  return seen;
}

// Options and arguments of a sweep, copied to kernels by value.
struct KernelArguments {
  KernelArguments(const HydroOptions& options, const SweepArguments& a)
      : sweep(a),
        patch(a.tiles.patch == 8 ? 0 : 1),
        gas(options.gas()),
        ideal_gas(gas),
        cold_gas(gas),
        isothermal_gas(gas, options.eos.sound_speed_profile(), a.dx),
        is_isothermal(options.eos.is_isothermal()),
        barotrope(options.eos.barotrope()),
        variables(options.variable_count()),
        cell_values(variables + (gas.real.exists() ? int{k_cell_energies} : 0)),
        fractions(options.fractions()),
        spin(options.spin()),
        dimensions(options.dimensions),
        hancock(options.integrator == Integrator::muscl_hancock),
        senses_shocks(listed_scheme(options).senses_shocks),
        diffuses_shear(options.riemann == "hll"),
        steepens_contacts(options.contact_steepening),
        frame(options.frame),
        sources(options, a),
        balanced(options.is_balanced()),
        stratification(options.acceleration, a.dx),
        guards_entropy(options.dual_energy == DualEnergy::overwrite),
        overwrites_energy(guards_entropy && a.ends_step),
        blended(a.a0 != 0.0 || a.a1 != 1.0),
        dt_over_dx(a.dt / a.dx),
        cells_per_block(static_cast<std::int64_t>(a.tiles.block_size) * a.tiles.block_size *
                        a.tiles.block_size) {}

  // Gas in the type of a kernel: IdealGas, IsothermalGas, ColdGas or Gas.
  template <class G>
  KOKKOS_FORCEINLINE_FUNCTION const G& gas_as() const {
    if constexpr (std::is_same_v<G, IdealGas>) return ideal_gas;
    else if constexpr (std::is_same_v<G, ColdGas>) return cold_gas;
    else if constexpr (std::is_same_v<G, IsothermalGas>) return isothermal_gas;
    else return gas;
  }

  SweepArguments sweep;
  int patch;  // index of the kernels' patch size: 0 for tiles of 8^3 cells, 1 for 16^3
  Gas gas;
  IdealGas ideal_gas;            // `gas`, for kernels compiled for an ideal gas
  ColdGas cold_gas;              // `gas`, for kernels compiled for gas with a cold curve
  IsothermalGas isothermal_gas;  // `gas`, for kernels compiled for isothermal gas
  bool is_isothermal;            // densities beyond walls follow from pressures
  Barotrope barotrope;           // for BarotropicFluxes
  int variables;
  int cell_values;  // numbers of a cell that schemes read: primitive variables, followed by
                    // EnergyExpansion in real gas
  FractionGroups fractions;
  int spin;        // index of the first of spin_variables(), or -1
  int dimensions;  // number of axes along which the gas varies; unused by the device schedule
  bool hancock;
  bool senses_shocks;      // true if the Riemann solver uses the shock sensor
  bool diffuses_shear;     // true for HLL: BarotropicFluxes averages tangential velocities
  bool steepens_contacts;  // steepens parabolas of Runge-Kutta schemes
  mesh::Frame frame;
  ExternalAcceleration sources;
  bool balanced;  // hydro.well_balanced; requires `stratification`
  Stratification stratification;
  bool guards_entropy;     // true with DualEnergy::overwrite: see guard_entropy()
  bool overwrites_energy;  // resets the total energy from the guarded entropy
  bool blended;            // true unless next = current + dt L(current)
  double dt_over_dx;
  std::int64_t cells_per_block;
};

}  // namespace octant::hydro
