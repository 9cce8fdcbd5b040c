// Options of hydrodynamics, and the variables that every gas cell stores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <Kokkos_Array.hpp>

#include "core/named.hpp"
#include "hydro/eos/equation_of_state.hpp"
#include "mesh/field_info.hpp"
#include "mesh/frame.hpp"
#include "mesh/tiles.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::hydro {

// Time integration scheme.
enum class Integrator { muscl_hancock, rk2, rk3 };
// Names of the values in hydro.scheme.
constexpr auto names_of(Integrator) { return std::array{"muscl_hancock", "rk2", "rk3"}; }

// Dual energy: `on` evolves the entropy density as an extra variable which determines the pressure
// where the flow is so cold that errors dominate the difference of total and kinetic energy.
// `overwrite` also resets the total energy there, which is then not exactly conserved.
enum class DualEnergy { off, on, overwrite };
// Names of the values in hydro.dual_energy.
constexpr auto names_of(DualEnergy) { return std::array{"off", "on", "overwrite"}; }

// Hydrostatic equilibrium that reconstruction preserves to rounding (hydro/hydrostatic.hpp):
// isothermal profiles within each cell.
enum class WellBalanced { off, isothermal };
// Names of the values in hydro.well_balanced.
constexpr auto names_of(WellBalanced) { return std::array{"off", "isothermal"}; }

// Pressure floor of a barotropic gas: below every pressure.
inline constexpr double k_no_pressure_floor = -1e300;

// Parameters of the equation of state and floors of the state, for kernels. Copied by value.
struct Gas {
  double gamma = 1.4;
  double density_floor = 1e-12;
  double pressure_floor = 1e-14;  // floor of the thermal pressure
  bool dual_energy = false;
  // ratio of thermal to total energy below which the entropy determines the pressure
  double dual_energy_threshold = 1e-3;
  ColdCurve cold = {};
  RealGas real = {};

  // True if the gas is ideal.
  KOKKOS_FORCEINLINE_FUNCTION bool is_ideal() const { return !cold.exists() && !real.exists(); }
  // Lowest total pressure of any state.
  KOKKOS_FORCEINLINE_FUNCTION double lowest_pressure() const {
    return real.smallest_ratio * pressure_floor + cold.lowest_pressure();
  }
  // Upper bound of rho c^2 / (p - cold.lowest_pressure()).
  KOKKOS_FORCEINLINE_FUNCTION double largest_exponent() const {
    if (real.exists()) return real.largest_exponent;
    return cold.largest_exponent() > gamma ? cold.largest_exponent() : gamma;
  }
};

// Kernels are compiled for three types G of their gas: IdealGas, ColdGas with a cold curve, and Gas
// for any equation of state; see with_type_of().

// Ideal gas.
struct IdealGas : Gas {
  KOKKOS_FORCEINLINE_FUNCTION explicit IdealGas(const Gas& gas) : Gas(gas) {}
  KOKKOS_FORCEINLINE_FUNCTION double lowest_pressure() const { return pressure_floor; }
  KOKKOS_FORCEINLINE_FUNCTION double largest_exponent() const { return gamma; }
};

// Gas that is ideal or has a cold curve.
struct ColdGas : Gas {
  KOKKOS_FORCEINLINE_FUNCTION explicit ColdGas(const Gas& gas) : Gas(gas) {}
};

// Real gas on one side of a face. Kernels evaluate the equation of state once per cell, and expand
// e / p around the cell for the energies of the states on its faces. Where density or pressure
// differ from those of the cell by a fraction above k_near, the energy changes continuously to that
// of the equation of state, which is used above k_far.
template <class V>
struct FaceGas {
  static constexpr double k_near = 0.05, k_far = 0.1;

  V exponent;  // rho c^2 / p of the cell, also for the states on its faces (Colella & Glaz 1985, J.
               // Comput. Phys. 59, 264)
  V ratio, by_density, by_pressure;  // as in EnergyExpansion
  V cell_density, cell_pressure;     // of the cell
  V density;                         // at the face
  const RealGas* real = nullptr;

  // Internal energy per volume at the face with this pressure; per_pressure = 1 / (gamma - 1).
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V& pressure, const V& per_pressure) const {
    const V thicker = density - cell_density, stronger = pressure - cell_pressure;
    const V expanded = pressure * (ratio + (by_density * thicker + by_pressure * stronger));
    const auto is_beyond = absolute(thicker) > V(k_near) * cell_density ||
                           absolute(stronger) > V(k_near) * cell_pressure;
    if (!any(is_beyond)) return expanded;
    const V change = max(absolute(thicker) / cell_density, absolute(stronger) / cell_pressure);
    const V share = max(min((change - V(k_near)) * V(1.0 / (k_far - k_near)), V(1.0)), V(0.0));
    return share * real_energy<V>(density, pressure, per_pressure, *real) +
           (V(1.0) - share) * expanded;
  }
};

// Real gas on both sides of a face, for Riemann solvers. Holds a reference to the gas.
template <class V>
struct GasAtFace {
  const Gas& gas;
  double gamma, pressure_floor;
  FaceGas<V> left, right;

  KOKKOS_FORCEINLINE_FUNCTION double lowest_pressure() const { return gas.lowest_pressure(); }
};

// Calls function<G>() with the most specialised type for this gas.
template <class Function>
decltype(auto) with_type_of(const Gas& gas, const Function& function) {
  if (gas.real.exists()) return function.template operator()<Gas>();
  if (gas.cold.exists()) return function.template operator()<ColdGas>();
  return function.template operator()<IdealGas>();
}

// Cold part of gas with this density.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION NoColdState<V> cold_state(const V& /*density*/,
                                                      const IdealGas& /*gas*/) {
  return {};
}
// Cold part of gas with this density; zero if the gas is ideal.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION ColdState<V> cold_state(const V& density, const ColdGas& gas) {
  return gas.cold.at(density);
}
// Thermodynamics of gas with this density; the result refers to `gas`.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION AnyState<V> cold_state(const V& density, const Gas& gas) {
  return {density, gas.cold, gas.real};
}

// Sets `cold` to cold_state(density, gas), without copies of large structures.
template <class Cold, class V, class G>
KOKKOS_FORCEINLINE_FUNCTION void set_cold_state(Cold& cold, const V& density, const G& gas) {
  if constexpr (std::is_same_v<G, Gas>) cold.set(density, gas.cold, gas.real);
  else cold = cold_state(density, gas);
}

// Variables that are fractions, whose bounds advection keeps (hydro/fractions.hpp), and their
// groups of mixtures. Copied by value.
struct FractionGroups {
  static constexpr int k_max_variables = 32;
  // Index after the last variable of the group that begins with a variable; 0 if the variable is
  // not a fraction.
  Kokkos::Array<std::int16_t, k_max_variables> end{};
  // Maximum deviation from 1 of the sum of fractions in a mixture.
  double tolerance = 1e-10;
};

// Indices of the conserved variables of a cell, in the order of storage; scalars (as densities)
// follow. With dual energy the first scalar is the entropy density rho (p / rho^gamma). k_mass is
// the mass density.
enum Conserved { k_mass, k_momentum_x, k_momentum_y, k_momentum_z, k_energy, k_hydro_variables };
// Indices of the primitive variables of a cell; vectors and scalars have the same indices as in
// Conserved.
enum Primitive { k_density, k_velocity_x, k_velocity_y, k_velocity_z, k_pressure };
inline constexpr int k_entropy = k_hydro_variables;

// --- variables -----------------------------------------------------------------------------------
// List of variables with their names in files and parameters. Each module declares its own
// variables: hydro those of the Euler equations, the dual-energy formalism the entropy, parameters
// the user's passive scalars, processes their species.

// Purpose of a variable, which determines how it is named, initialised and advected.
enum class GasRole {
  conserved,  // conserved variables of the Euler equations
  tracer,     // auxiliary variable: entropy of dual energy, spin
  passive,    // user-defined scalar, advected with the gas
  species,    // scalar that a process adds and changes
  separate    // field of other physics, which sweeps of the gas do not change
};
// Names of the roles in output files.
constexpr auto names_of(GasRole) {
  return std::array{"conserved", "tracer", "passive", "species", "separate"};
}

// Description of one variable of the gas.
struct GasVariable {
  std::string name;      // name in snapshots, which show the concentration of scalars
  double initial = 0.0;  // initial value unless the problem sets it
  std::string unit = "1", description = "concentration of a passive scalar";
  GasRole role = GasRole::species;
  int vector_axis = -1;         // axis of a vector component: 0, 1, 2
  mesh::FieldInfo stored = {};  // field in checkpoints; empty for scalars

  // Description of the field in snapshots.
  mesh::FieldInfo shown_field() const {
    return {.name = name, .unit = unit, .description = description, .vector_axis = vector_axis};
  }
  // Description of the field in checkpoints, whose name is that of the variable unless `stored` has
  // one.
  mesh::FieldInfo stored_field() const;
};

using GasVariables = std::vector<GasVariable>;

// Returns the name of a user-defined scalar: scalar_0, scalar_1, ... (hydro.scalars in number).
std::string passive_scalar_name(int number);
// Returns the variables of `count` user-defined scalars.
GasVariables passive_scalars(int count);

// Returns the variables spin_x, spin_y, spin_z: angular momentum per mass of the gas in a cell
// about the cell centre.
GasVariables spin_variables();

// Returns the names of the fields in snapshots, in order.
std::vector<std::string> shown_names(const GasVariables& variables);

// --- options -------------------------------------------------------------------------------------

// Parameters hydro.* and derived options.
struct HydroOptions {
  bool enabled = true;  // false: a run without gas
  bool moves = true;    // false: sweeps do not change the gas
  Integrator integrator = Integrator::muscl_hancock;
  std::string reconstruction = "plm", limiter = "mc";  // names from hydro/schemes.hpp
  std::string riemann = "hllc_hybrid";
  bool contact_steepening = false;  // steepens parabolas of Runge-Kutta schemes
  double gamma = 1.4;
  EosOptions eos;
  double density_floor = 1e-12;
  double pressure_floor = 1e-14;
  // Values of hydro.density_floor and hydro.pressure_floor; 0: from the initial conditions.
  double given_density_floor = 0.0, given_pressure_floor = 0.0;
  int passive_scalar_count = 0;   // hydro.scalars
  bool angular_momentum = false;  // adds spin_variables()
  // Scalars without the entropy: the user's, spin_variables() if any, then those of processes.
  GasVariables scalars = {};
  GasVariables separate = {};  // fields of other physics, stored after all variables of the gas
  // Integer numbers of consecutive passive scalars in each mixture; an empty list means one mixture
  // of all passive scalars in cells where their sum is 1.
  std::vector<double> fraction_groups = {};
  DualEnergy dual_energy = DualEnergy::off;
  double dual_energy_threshold = 1e-3;
  // Number of axes along which the gas varies: 3, 2 (uniform along z) or 1 (varies along x alone).
  // Cells along the other axes have bitwise-identical states, and fluxes are computed for the first
  // of them only.
  int dimensions = 3;
  std::array<double, 3> acceleration{};  // uniform acceleration, in code units
  WellBalanced well_balanced = WellBalanced::off;
  mesh::Frame frame;  // frame in which the mesh rests

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Sets derived options once the parameters are read: floors and scalars. Throws InputError if
  // parameters are incompatible.
  void finish();

  // True with hydro.well_balanced.
  bool is_balanced() const { return well_balanced != WellBalanced::off; }
  // True if the gas is ideal.
  bool is_ideal() const { return eos.kind == EquationOfState::ideal; }
  // True if the pressure is a function of the density alone.
  bool is_barotropic() const { return eos.is_barotropic(); }
  // True if the gas has a cold pressure besides its thermal pressure.
  bool has_cold_curve() const { return eos.has_cold_curve(); }
  // True if the equation of state is that of a real gas: gas with radiation, or a table.
  bool is_real() const { return eos.is_real(); }
  // True if the entropy density is stored.
  bool has_dual_energy() const { return dual_energy != DualEnergy::off; }
  // All variables of a cell, in the order of storage: those of the gas and the separate ones.
  GasVariables variables() const;
  // Number of variables of the gas per cell, which sweeps advance.
  int variable_count() const { return first_scalar() + static_cast<int>(scalars.size()); }
  // Index of the first scalar after the Euler variables and the entropy.
  int first_scalar() const { return k_hydro_variables + has_dual_energy(); }
  // Index of a variable by name, such as "density", "velocity_x" or that of a scalar; no value for
  // other names.
  std::optional<int> variable_index(const std::string& name) const;
  // Index of the first of spin_variables(); -1 if cells store no angular momentum.
  int spin() const { return variable_index("spin_x").value_or(-1); }
  // Variables that are fractions, and their mixtures.
  FractionGroups fractions() const;
  // Ghost cells of a block that a sweep reads.
  mesh::GhostShape ghosts() const;
  // Gas parameters for kernels.
  Gas gas() const {
    return {gamma,
            density_floor,
            is_barotropic() ? k_no_pressure_floor : pressure_floor,
            has_dual_energy(),
            dual_energy_threshold,
            eos.cold_curve(),
            eos.real_gas(gamma)};
  }

 private:
  void add_scalars();
  void check_balance() const;
};

}  // namespace octant::hydro
