// Gas with radiation and tabulated equations of state.
#include "hydro/eos/real_gas.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hydro/eos/eos_table.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro::test {
namespace {

constexpr double k_gamma = 1.6, k_constant = 2.0;

RealGas gas_with_radiation() {
  RealGas gas;
  gas.kind = RealGas::radiation;
  gas.with_radiation = {k_constant, k_gamma};
  return gas;
}

// Table of an ideal gas with a radiation constant, 0 for none.
EosTable table_of(double constant) {
  EosTable table;
  table.path = "table.h5";
  for (int n = -60; n <= 60; ++n) table.density.push_back(std::pow(10.0, n / 20.0));
  for (int n = -100; n <= 60; ++n) table.temperature.push_back(std::pow(10.0, n / 20.0));
  for (const double rho : table.density)
    for (const double T : table.temperature) {
      const double radiation = constant * std::pow(T, 4), gas = rho * T;
      table.pressure.push_back(gas + radiation / 3);
      table.energy.push_back((gas / (k_gamma - 1) + radiation) / rho);
      const double push = gas + 4.0 / 3.0 * radiation;
      const double modulus = gas + push * push / (gas / (k_gamma - 1) + 4 * radiation);
      table.sound_speed.push_back(std::sqrt(modulus / rho));
    }
  return table;
}

RealGas gas_of(const TabulatedGas& table) {
  RealGas gas;
  gas.kind = RealGas::table;
  gas.grid = table.grid();
  return gas;
}

// Calls function(rho, thermal pressure) for many states.
template <class Function>
void for_states(double coldest, double hottest, const Function& function) {
  for (double rho = 1.1e-3; rho < 900.0; rho *= 1.37)
    for (double heat = coldest; heat < hottest; heat *= 1.53) function(rho, rho * heat);
}

TEST(GasRadiation, has_the_sum_of_both_pressures) {
  const RealGas gas = gas_with_radiation();
  for (double rho = 1e-12; rho < 1e12; rho *= 7.3)
    for (double T = 1e-9; T < 1e9; T *= 4.7) {
      const double radiation = k_constant * std::pow(T, 4);
      const double thermal = rho * T + (k_gamma - 1) * radiation;
      const double pressure = rho * T + radiation / 3;
      EXPECT_NEAR(real_pressure(rho, thermal, 0.0, gas) / pressure, 1.0, 2e-15) << rho << ' ' << T;
      EXPECT_NEAR(real_thermal_pressure(rho, pressure, gas) / thermal, 1.0, 2e-15);
    }
}

TEST(GasRadiation, has_the_sound_speed_of_its_isentrope) {
  const RealGas gas = gas_with_radiation();
  const auto pressure = [&](double rho, double energy) {
    return real_pressure(rho, (k_gamma - 1) * energy, 0.0, gas);
  };
  for_states(1e-3, 1e3, [&](double rho, double thermal) {
    // Along an isentrope d e = (e + p) d ln rho.
    constexpr double step = 1e-5;
    const double e = thermal / (k_gamma - 1), gain = e + pressure(rho, e);
    const double rise =
        pressure(rho * (1 + step), e + step * gain) - pressure(rho * (1 - step), e - step * gain);
    const double modulus = modulus_of_thermal(rho, thermal, {}, gas);
    EXPECT_NEAR(rise / (2 * step) / modulus, 1.0, 1e-4);
    EXPECT_NEAR(modulus_of_pressure(rho, pressure(rho, e), gas) / modulus, 1.0, 1e-4);
  });
}

TEST(EosTable, of_an_ideal_gas_is_exact) {
  const TabulatedGas table(table_of(0.0), {}, k_gamma);
  const RealGas gas = gas_of(table);
  for_states(1e-4, 500.0, [&](double rho, double pressure) {
    const AnyState<double> state(rho, {}, gas);
    const double thermal = state.thermal_pressure(pressure);
    EXPECT_NEAR((thermal + (k_gamma - 1) * state.energy) / pressure, 1.0, 1e-13);
    EXPECT_NEAR(state.total_pressure(thermal) / pressure, 1.0, 1e-13);
    EXPECT_NEAR(state.adiabatic_modulus(thermal, k_gamma) / (k_gamma * pressure), 1.0, 1e-13);
  });
}

TEST(EosTable, inverts_its_functions_and_is_close_to_the_equation_of_state) {
  const TabulatedGas table(table_of(k_constant), {}, k_gamma);
  const RealGas gas = gas_of(table), expected = gas_with_radiation();
  double largest = 0.0, largest_of_modulus = 0.0;
  for_states(1e-3, 1e3, [&](double rho, double internal) {
    const AnyState<double> state(rho, {}, gas);
    const double thermal = internal - (k_gamma - 1) * state.energy;
    const double pressure = state.total_pressure(thermal);
    EXPECT_NEAR(state.thermal_pressure(pressure) / thermal, 1.0, 1e-10) << rho << ' ' << internal;
    const double energy = state.internal_energy(pressure, 1.0 / (k_gamma - 1));
    EXPECT_NEAR((k_gamma - 1) * energy / internal, 1.0, 1e-10) << rho << ' ' << internal;
    const double exact = real_pressure(rho, internal, 0.0, expected);
    largest = std::max(largest, std::abs(pressure / exact - 1));
    const double modulus = modulus_of_thermal(rho, internal, {}, expected);
    for (const double found :
         {state.adiabatic_modulus(thermal, k_gamma), state.modulus_at(pressure, k_gamma)})
      largest_of_modulus = std::max(largest_of_modulus, std::abs(found / modulus - 1));
  });
  EXPECT_LE(largest, 5e-6);
  EXPECT_LE(largest_of_modulus, 5e-4);
}

TEST(RealGas, expands_its_energy_to_second_order) {
  const TabulatedGas table(table_of(k_constant), {}, k_gamma);
  const double per_pressure = 1.0 / (k_gamma - 1);
  for (const RealGas& gas : {gas_with_radiation(), gas_of(table)})
    for_states(1e-2, 1e2, [&](double rho, double thermal) {
      const AnyState<double> state(rho, {}, gas);
      EnergyExpansion<double> at;
      state.expand(thermal, per_pressure, at);
      const double pressure = at[k_mean_pressure];
      EXPECT_NEAR(pressure / state.total_pressure(thermal), 1.0, 1e-14);
      EXPECT_NEAR(at[k_ratio] * pressure / real_energy(rho, pressure, per_pressure, gas), 1.0,
                  1e-13);
      EXPECT_NEAR(at[k_exponent] * pressure / state.modulus_at(pressure, k_gamma), 1.0, 1e-4);
      for (const double change : {-0.04, 0.04})
        for (const auto& [d_rho, d_p] : {std::pair{change * rho, 0.0}, {0.0, change * pressure}}) {
          const double expanded = (pressure + d_p) * (at[k_ratio] + at[k_ratio_by_density] * d_rho +
                                                      at[k_ratio_by_pressure] * d_p);
          const double exact = real_energy(rho + d_rho, pressure + d_p, per_pressure, gas);
          EXPECT_NEAR(expanded / exact, 1.0, 0.5 * change * change) << rho << ' ' << thermal;
        }
    });
}

TEST(RealGas, has_continuous_energies_at_faces) {
  const TabulatedGas table(table_of(k_constant), {}, k_gamma);
  const double rho = 1.3, thermal = 0.9, per_pressure = 1.0 / (k_gamma - 1);
  for (const RealGas& gas : {gas_with_radiation(), gas_of(table)}) {
    EnergyExpansion<double> at;
    AnyState<double>(rho, {}, gas).expand(thermal, per_pressure, at);
    const double mean = at[k_mean_pressure];
    const auto energy = [&](double density, double pressure) {
      const FaceGas<double> face{
          at[k_exponent], at[k_ratio], at[k_ratio_by_density], at[k_ratio_by_pressure], rho, mean,
          density,        &gas};
      return face.internal_energy(pressure, per_pressure);
    };
    for (const double change : {-0.1, -0.05, 0.05, 0.1}) {
      const double below = 1 + change * (1 - 1e-9), above = 1 + change * (1 + 1e-9);
      EXPECT_NEAR(energy(rho * above, mean) / energy(rho * below, mean), 1.0, 1e-8);
      EXPECT_NEAR(energy(rho, mean * above) / energy(rho, mean * below), 1.0, 1e-8);
    }
    EXPECT_EQ(energy(2 * rho, mean), real_energy(2 * rho, mean, per_pressure, gas));
    EXPECT_EQ(energy(rho, 2 * mean), real_energy(rho, 2 * mean, per_pressure, gas));
  }
}

TEST(EosTable, knows_its_range) {
  const TabulatedGas table(table_of(0.0), {}, k_gamma);
  const RealGas gas = gas_of(table);
  EXPECT_EQ(outside_table(1.0, 1.0, gas), 0.0);
  EXPECT_EQ(outside_table(0.99e-3, 1e-3, gas), 1.0);
  EXPECT_EQ(outside_table(1.01e3, 1e3, gas), 1.0);
  EXPECT_EQ(outside_table(1.0, 0.99e3, gas), 0.0);
  EXPECT_EQ(outside_table(1.0, 1.01e3, gas), 1.0);
  EXPECT_EQ(outside_table(std::nan(""), 1.0, gas), 1.0);
}

#if !defined(OCTANT_GPU_COMPILER)
TEST(RealGas, has_the_same_bits_in_packs) {
  using P = SimdTraits<SimdDouble>;
  const TabulatedGas table(table_of(k_constant), {}, k_gamma);
  for (const RealGas& gas : {gas_with_radiation(), gas_of(table)}) {
    const auto density = [](int lane) { return 0.3 * std::pow(1.7, lane); };
    const auto pressure = [](int lane) { return lane == 3 ? -1.0 : 4.0 / (1 + lane); };
    const SimdDouble rho = P::generate(density), p = P::generate(pressure);
    for (int lane = 0; lane < P::width; ++lane) {
      const double r = density(lane), q = pressure(lane);
      const auto same = [&](SimdDouble pack, double single) {
        EXPECT_EQ(P::lane(pack, lane), single) << gas.kind << ' ' << lane;
      };
      same(real_pressure<SimdDouble>(rho, p, 0.01, gas), real_pressure(r, q, 0.01, gas));
      same(real_thermal_pressure<SimdDouble>(rho, p, gas), real_thermal_pressure(r, q, gas));
      same(real_energy<SimdDouble>(rho, p, 2.5, gas), real_energy(r, q, 2.5, gas));
      same(modulus_of_pressure<SimdDouble>(rho, p, gas), modulus_of_pressure(r, q, gas));
      const AnyState<SimdDouble> packs(rho, {}, gas);
      const AnyState<double> alone(r, {}, gas);
      EnergyExpansion<SimdDouble> energies;
      EnergyExpansion<double> energy;
      packs.expand(p, 2.5, energies), alone.expand(q, 2.5, energy);
      for (int n = 0; n < k_cell_energies; ++n) same(energies[n], energy[n]);
      same(packs.adiabatic_modulus(p, k_gamma), alone.adiabatic_modulus(q, k_gamma));
    }
  }
}
#endif

}  // namespace
}  // namespace octant::hydro::test
