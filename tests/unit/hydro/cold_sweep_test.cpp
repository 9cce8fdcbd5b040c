// Sweeps of gas with a cold curve.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

constexpr double k_stiffness = 3.0;

struct Scheme {
  Integrator integrator;
  const char *reconstruction, *riemann;
};
constexpr Scheme k_schemes[] = {{Integrator::muscl_hancock, "plm", "hllc"},
                                {Integrator::muscl_hancock, "ppm", "hllc_hybrid"},
                                {Integrator::rk2, "plm", "hll"},
                                {Integrator::rk3, "ppm", "hllc_low_mach"},
                                {Integrator::rk2, "plm", "llf"}};

HydroOptions options_of(const Scheme& scheme, EquationOfState kind) {
  HydroOptions options;
  options.integrator = scheme.integrator;
  options.reconstruction = scheme.reconstruction;
  options.riemann = scheme.riemann;
  options.limiter = "huynh";
  options.gamma = 5.0 / 3.0;
  options.eos.kind = kind;
  if (kind == EquationOfState::stiffened) options.eos.stiffening_pressure = k_stiffness;
  options.eos.degeneracy_pressure = options.eos.degeneracy_density = 1.0;
  return options;
}

// Sets the box to a state with this total pressure.
void set_gas(UniformBlocks& box, const HydroOptions& options, const BoxShape& shape,
             const PrimitiveAt& initial) {
  box.set(initial);
  const ColdCurve curve = options.eos.cold_curve();
  box.for_cells([&](int x, int y, int z) {
    const auto w = initial((x + 0.5) * shape.dx, (y + 0.5) * shape.dx, (z + 0.5) * shape.dx);
    const auto cold = curve.at(w[0]);
    box.at(k_energy, x, y, z) += cold.energy - cold.pressure / (options.gamma - 1.0);
  });
}

// Blast with a density contrast of 4 and a pressure contrast of 8. With larger ones, density at
// faces falls to less than a tenth, where only the states of ideal gas are limited.
std::array<double, 5> blast(double x, double y, double z) {
  const bool inside = std::hypot(x - 0.4, y - 0.5, z - 0.6) < 0.25;
  return {inside ? 1.0 : 0.25, 0.3, -0.2, 0.1, inside ? 8.0 : 1.0};
}

TEST(ColdSweep, of_stiffened_gas_is_that_of_an_ideal_gas_with_the_shifted_pressure) {
  const BoxShape shape{{32, 32, 32}, 8, 8};
  for (const Scheme& scheme : k_schemes) {
    const HydroOptions stiffened = options_of(scheme, EquationOfState::stiffened);
    const HydroOptions ideal = options_of(scheme, EquationOfState::ideal);
    UniformBlocks a(stiffened, shape), b(ideal, shape);
    set_gas(a, stiffened, shape, blast);
    set_gas(b, ideal, shape, [](double x, double y, double z) {
      auto w = blast(x, y, z);
      w[4] += k_stiffness;
      return w;
    });
    for (int n = 0; n < 6; ++n) {
      a.step(2e-3);
      b.step(2e-3);
    }
    EXPECT_NEAR(a.stable_dt(1.0) / b.stable_dt(1.0), 1.0, 1e-12) << scheme.riemann;
    const auto first = a.values(k_hydro_variables), second = b.values(k_hydro_variables);
    const std::size_t cells = first.size() / k_hydro_variables;
    for (std::size_t n = 0; n < first.size(); ++n) {
      const double shift = n / cells == k_energy ? k_stiffness : 0.0;
      ASSERT_NEAR(first[n] - shift, second[n], 1e-11) << scheme.riemann << ' ' << n;
    }
  }
}

// Largest error of density and velocity in a sound wave through white-dwarf matter, in units of the
// amplitude.
double error_of_wave(const Scheme& scheme, int cells) {
  constexpr double amplitude = 1e-6, pressure = 2.0, end = 0.1;
  const HydroOptions options = options_of(scheme, EquationOfState::white_dwarf);
  const auto cold = options.eos.cold_curve().at(1.0);
  const double speed = std::sqrt(options.gamma * (pressure - cold.pressure) + cold.bulk_modulus);
  const auto wave = [](double x) { return amplitude * std::sin(2.0 * std::numbers::pi * x); };
  const BoxShape shape{{cells, 8, 8}, 8, 8};
  UniformBlocks box(options, shape);
  set_gas(box, options, shape, [&](double x, double, double) {
    return std::array{1.0 + wave(x), speed * wave(x), 0.0, 0.0, pressure + speed * speed * wave(x)};
  });
  box.run_until(end, 0.8);
  double largest = 0.0;
  for (int x = 0; x < cells; ++x) {
    const double exact = wave((x + 0.5) / cells - speed * end);
    const double density = box.at(k_mass, x, 0, 0);
    const double velocity = box.at(k_momentum_x, x, 0, 0) / density;
    largest = std::max({largest, std::abs(density - 1.0 - exact) / amplitude,
                        std::abs(velocity / speed - exact) / amplitude});
  }
  return largest;
}

TEST(ColdSweep, of_sound_waves_in_degenerate_matter_converges_at_second_order) {
  for (const Scheme& scheme : k_schemes) {
    const double coarse = error_of_wave(scheme, 32), fine = error_of_wave(scheme, 64);
    EXPECT_GE(std::log2(coarse / fine), 1.85)
        << scheme.reconstruction << ' ' << scheme.riemann << ' ' << coarse << ' ' << fine;
  }
}

TEST(ColdSweep, keeps_contacts_at_rest) {
  const BoxShape shape{{32, 8, 8}, 8, 8};
  for (const EquationOfState kind : {EquationOfState::white_dwarf, EquationOfState::stiffened}) {
    const HydroOptions options = options_of(k_schemes[0], kind);
    UniformBlocks box(options, shape);
    set_gas(box, options, shape, [](double x, double, double) {
      return std::array{std::abs(x - 0.5) < 0.2 ? 1.5 : 0.1, 0.0, 0.0, 0.0, 3.0};
    });
    const auto before = box.values(k_hydro_variables);
    for (int n = 0; n < 20; ++n) box.step(2e-3);
    const auto after = box.values(k_hydro_variables);
    for (std::size_t n = 0; n < before.size(); ++n) ASSERT_NEAR(after[n], before[n], 1e-12);
  }
}

TEST(ColdSweep, of_white_dwarf_matter_conserves_mass_momentum_and_energy) {
  const BoxShape shape{{32, 32, 32}, 8, 8};
  for (const Scheme& scheme : k_schemes) {
    const HydroOptions options = options_of(scheme, EquationOfState::white_dwarf);
    UniformBlocks box(options, shape);
    set_gas(box, options, shape, blast);
    const auto sum = [&](int n) {
      long double total = 0;
      box.for_cells([&](int x, int y, int z) { total += box.at(n, x, y, z); });
      return static_cast<double>(total);
    };
    std::array<double, k_hydro_variables> before;
    for (int n = 0; n < k_hydro_variables; ++n) before[n] = sum(n);
    for (int n = 0; n < 6; ++n) box.step(2e-3);
    for (int n = 0; n < k_hydro_variables; ++n)
      EXPECT_NEAR(sum(n), before[n], 1e-13 * before[k_energy]) << scheme.riemann << ' ' << n;
  }
}

}  // namespace
}  // namespace octant::hydro::test
