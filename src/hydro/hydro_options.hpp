// What a run chooses about its hydrodynamics.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <Kokkos_Array.hpp>

#include "core/named.hpp"
#include "hydro/gas_variables.hpp"
#include "mesh/frame.hpp"
#include "mesh/ghost_shape.hpp"

namespace octant::hydro {

// How a step is made of sweeps.
enum class Integrator { muscl_hancock, rk2, rk3 };
constexpr auto names_of(Integrator) { return std::array{"muscl_hancock", "rk2", "rk3"}; }

// Dual energy: `on` carries the entropy density as an extra conserved variable and takes the
// pressure from it where the flow is so cold that total minus kinetic energy is noise; `overwrite`
// also resets the total energy there, which gives up its exact conservation.
enum class DualEnergy { off, on, overwrite };
constexpr auto names_of(DualEnergy) { return std::array{"off", "on", "overwrite"}; }

// Hydrostatic equilibrium that reconstruction keeps to rounding (hydro/hydrostatic.hpp): profiles
// of one temperature in each cell.
enum class WellBalanced { off, isothermal };
constexpr auto names_of(WellBalanced) { return std::array{"off", "isothermal"}; }

// The ideal gas and the limits of what its state may be: what kernels need at a point. Copied by
// value.
struct Gas {
  double gamma = 1.4;
  double density_floor = 1e-12;
  double pressure_floor = 1e-14;
  bool dual_energy = false;
  double dual_energy_threshold = 1e-3;  // of internal to total energy, below which entropy rules
};

// Which variables are fractions, whose bounds advection keeps (hydro/fractions.hpp), and which of
// them are together those of a mixture. Copied by value.
struct FractionGroups {
  static constexpr int k_most_variables = 32;
  // The end of the group that begins with a variable; 0: it is no fraction.
  Kokkos::Array<std::int8_t, k_most_variables> end{};
  // Fractions of a group whose sum differs from 1 by less are a mixture.
  double tolerance = 1e-10;
};

// Variables of a cell, in the order of storage; passive scalars (as densities) follow. With dual
// energy the first of them is the entropy density rho (p / rho^gamma).
enum Conserved { k_mass, k_momentum_x, k_momentum_y, k_momentum_z, k_energy, k_hydro_variables };
enum Primitive { k_density, k_velocity_x, k_velocity_y, k_velocity_z, k_pressure };
inline constexpr int k_entropy = k_hydro_variables;

struct HydroOptions {
  bool enabled = true;  // otherwise there is no gas
  Integrator integrator = Integrator::muscl_hancock;
  std::string reconstruction = "plm", limiter = "mc";  // of hydro/schemes.hpp
  std::string riemann = "hllc_hybrid";
  bool contact_steepening = false;  // of the parabolas of Runge-Kutta schemes
  double gamma = 1.4;
  double density_floor = 1e-12;
  double pressure_floor = 1e-14;
  // Without the entropy: the user's, spin_variables() if there are, then those of processes.
  GasVariables scalars = {};
  // How many passive scalars are the fractions of each mixture, one group after the other; empty:
  // all are those of one, where their sum is 1.
  std::vector<int> fraction_groups = {};
  DualEnergy dual_energy = DualEnergy::off;
  double dual_energy_threshold = 1e-3;
  // Along which the gas changes: 2: not along z, 1: along x alone. Then all cells along the others
  // hold the same bits, and fluxes are found for the first of them.
  int dimensions = 3;
  std::array<double, 3> acceleration{};  // uniform, in code units
  WellBalanced well_balanced = WellBalanced::off;
  mesh::Frame frame;  // in which the mesh rests

  bool is_balanced() const { return well_balanced != WellBalanced::off; }
  bool has_dual_energy() const { return dual_energy != DualEnergy::off; }
  // All variables of a cell, in the order of storage.
  GasVariables variables() const;
  int variable_count() const { return first_scalar() + static_cast<int>(scalars.size()); }
  int first_scalar() const { return k_hydro_variables + has_dual_energy(); }
  // Where among them one of this name is, such as "density", "velocity_x" or a scalar's.
  std::optional<int> place(const std::string& name) const;
  // The first of spin_variables(); -1: angular momentum within cells is not carried.
  int spin() const { return place("spin_x").value_or(-1); }
  FractionGroups fractions() const;
  // Cells around a block that a sweep reads.
  mesh::GhostShape ghosts() const;
  Gas gas() const {
    return {gamma, density_floor, pressure_floor, has_dual_energy(), dual_energy_threshold};
  }
};

}  // namespace octant::hydro
