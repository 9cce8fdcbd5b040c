// Fourier transforms of the base level: solutions, spectra, and the same bits on any rank.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/random.hpp"
#include "gravity/base_fourier.hpp"
#include "gravity/green_function.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

// A periodic gas whose blocks lie scattered over the ranks.
Gas scattered(std::array<int, 3> cells, int block_size, const Function& density) {
  Gas gas(box(cells, block_size));
  scatter_blocks(gas, 5);
  gas.set_density(density);
  return gas;
}

double lumps(const Point& x) {
  return 1.0 + 0.5 * std::sin(2 * M_PI * x[0]) * std::cos(4 * M_PI * x[1]) +
         0.3 * std::sin(2 * M_PI * (x[2] + x[0])) + (x[0] < 0.3 && x[1] < 0.2 ? 0.4 : 0.0);
}

Gravity solved(Gas& gas, const GravityOptions& options) {
  Gravity gravity(options, gas.mesh, {});
  gravity.adapt_to_mesh();
  gravity.solve(0, 0.0);
  return gravity;
}

std::vector<double> potential(const Gas& gas, const Gravity& gravity) {
  return read(gas, gravity, 0, static_cast<int>(Field::potential));
}

double largest(const Gas& gas, const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return gas.mesh.communicator().max(most);
}

TEST(BaseLevel, fourier_and_multigrid_potentials_agree_to_the_tolerance) {
  Gas gas = scattered({32, 16, 64}, 4, lumps);
  const auto fourier = potential(gas, solved(gas, {.base = BaseSolver::fft}));
  for (const double tolerance : {1e-4, 1e-9}) {
    auto difference =
        potential(gas, solved(gas, {.base = BaseSolver::multigrid, .tolerance = tolerance}));
    for (std::size_t n = 0; n < difference.size(); ++n) difference[n] -= fourier[n];
    EXPECT_LT(largest(gas, difference), tolerance * largest(gas, fourier));
    EXPECT_GT(largest(gas, difference), 0.0);
  }
}

TEST(BaseLevel, is_solved_by_fourier_transforms_unless_multigrid_is_asked_for) {
  Gas periodic(box({16, 16, 16}, 8)), isolated(box({16, 16, 16}, 8, 0, "outflow"));
  const auto by_fourier = [](Gas& gas, const GravityOptions& options) {
    return Gravity(options, gas.mesh, {}).report(0).find("FFT") != std::string::npos;
  };
  EXPECT_TRUE(by_fourier(periodic, {}));
  EXPECT_FALSE(by_fourier(periodic, {.base = BaseSolver::multigrid}));
  EXPECT_TRUE(by_fourier(isolated, {}));
  EXPECT_FALSE(by_fourier(isolated, {.base = BaseSolver::multigrid}));
  EXPECT_THROW(Gravity({.laplacian = Laplacian::spectral}, isolated.mesh, {}), InputError);
  EXPECT_THROW(Gravity({}, isolated.mesh, {}).set_transfer([](double, double) { return 1.0; }),
               InputError);
}

TEST(BaseLevel, spectral_potential_of_a_wave_is_exact) {
  Gas gas = scattered({16, 16, 16}, 4, [](const Point& x) {
    return 1.0 + 0.5 * std::cos(2 * M_PI * (2 * x[0] - 3 * x[1] + x[2]));
  });
  const Gravity gravity = solved(gas, {.base = BaseSolver::fft, .laplacian = Laplacian::spectral});
  const auto found = potential(gas, gravity);
  std::size_t n = 0;
  gas.for_cells(0, [&](const Point& x, std::int64_t) {
    const double wave = 0.5 * std::cos(2 * M_PI * (2 * x[0] - 3 * x[1] + x[2]));
    EXPECT_NEAR(found[n++], -4 * M_PI * wave / (4 * M_PI * M_PI * 14), 1e-14);
  });
}

TEST(BaseLevel, transfer_function_multiplies_the_modes_of_the_potential) {
  Gas gas = scattered({16, 16, 16}, 4, [](const Point& x) {
    return 1.0 + 0.5 * std::cos(2 * M_PI * x[0]) + 0.25 * std::cos(4 * M_PI * x[1]);
  });
  Gravity gravity({.base = BaseSolver::fft, .laplacian = Laplacian::spectral}, gas.mesh, {});
  gravity.adapt_to_mesh();
  gravity.set_scale_factor(0.5);
  gravity.set_transfer([](double k, double a) { return a * k * k; });
  gravity.solve(0, 0.0);
  const auto found = potential(gas, gravity);
  std::size_t n = 0;
  gas.for_cells(0, [&](const Point& x, std::int64_t) {
    const double waves = 0.5 * std::cos(2 * M_PI * x[0]) + 0.25 * std::cos(4 * M_PI * x[1]);
    EXPECT_NEAR(found[n++], -0.5 * 4 * M_PI * waves, 1e-13);
  });
}

// Each rank by itself is a run on one rank.
Communicator alone() { return Communicator::world().split(Communicator::world().rank()); }

TEST(BaseLevel, potentials_have_the_same_bits_on_any_number_of_ranks) {
  const auto bits = [](const Communicator& communicator) {
    Gas gas(box({64, 32, 64}, 8), communicator);  // as large as four ranks are worth
    scatter_blocks(gas, 1);
    gas.set_density(lumps);
    return fingerprint(gas, solved(gas, {.base = BaseSolver::fft}));
  };
  EXPECT_EQ(bits(Communicator::world()), bits(alone()));
}

// The base level's patches, scattered over the ranks, a field on them, and its potential.
struct Base {
  Base(std::array<int, 3> cells, const std::string& boundary, const Communicator& communicator)
      : gas(box(cells, 8, 0, boundary), communicator) {
    scatter_blocks(gas, 1);
    gas.set_density(lumps);
    level.emplace(gas.mesh.tree(), 0, CommOptions{}, pool);
    field = level->make_field("density", {.x = {gas.mesh.fields(0).blocks(mesh::LevelFields::k_now),
                                                gas.mesh.layout().stride_slot}});
  }

  DeviceArray<double> solve(FourierSchedule schedule) {
    const bool periodic = gas.mesh.geometry().periodic(0);
    BaseFourierSolver fourier(gas.mesh.geometry(), gas.mesh.communicator(), staged(), schedule);
    fourier.connect(level->patches());
    ModeFactors green;
    if (periodic) green.of = GreenFunction(fourier.cells(), 1.0, Laplacian::discrete);
    else green.of = std::ref(isolated.emplace(fourier.cells()));
    const DeviceArray<double> phi("potential", field.size());
    for (int time = 0; time < 2; ++time)  // nothing may be left over from a solve before
      fourier.solve(green, field, phi);
    return phi;
  }
  // Solves twice, with a transfer function that has changed. Returns the sum of the bits of the
  // potential over all ranks, and the bytes that the second solve copied to the device.
  std::pair<std::uint64_t, std::int64_t> transferred(FourierSchedule schedule) {
    BaseFourierSolver fourier(gas.mesh.geometry(), gas.mesh.communicator(), staged(), schedule);
    fourier.connect(level->patches());
    const GreenFunction function(fourier.cells(), 1.0, Laplacian::discrete);
    ModeFactors green{function};
    WaveNumbers waves{[&](const pencil::Mode& mode) { return function.wave_number(mode); }};
    const DeviceArray<double> phi("potential", field.size());
    std::int64_t copied = 0;
    for (const double a : {0.5, 0.75}) {
      const CopiedBytes now(TransferKind::numbers);
      fourier.solve(
          green, waves, [a](double k) { return 1.0 / (a + std::log(k)); }, field, phi);
      copied = now.total;
    }
    return {gas.mesh.communicator().sum(bits_of(phi)), copied};
  }
  std::uint64_t bits_of(const DeviceArray<double>& phi) const {
    std::uint64_t bits = 0;
    for (std::int64_t n = 0; n < level->patches().own() * cells_of(level->patches().side()); ++n)
      bits += std::bit_cast<std::uint64_t>(phi(n));
    return bits;
  }

  // The sum of all bits as integers, and the largest value.
  std::pair<std::uint64_t, double> potential(FourierSchedule schedule) {
    const DeviceArray<double> phi = solve(schedule);
    double most = 0.0;
    for (std::int64_t n = 0; n < level->patches().own() * cells_of(level->patches().side()); ++n)
      most = std::max(most, std::abs(phi(n)));
    const Communicator& all = gas.mesh.communicator();
    return {all.sum(bits_of(phi)), all.max(most)};
  }

  Gas gas;
  FieldPool pool;
  std::optional<PatchLevel> level;
  DeviceArray<double> field;
  std::optional<IsolatedGreen> isolated;
};

// Of as many cells as four ranks are worth, along two axes no power of two.
TEST(BaseLevel, has_the_same_bits_by_both_schedules_on_any_number_of_ranks) {
  for (const char* boundary : {"periodic", "outflow"}) {
    const std::array<int, 3> cells{64, 48, 48};
    Base all(cells, boundary, Communicator::world()), one(cells, boundary, alone());
    const auto expected = one.potential(FourierSchedule::host);
    EXPECT_GT(expected.second, 0.0);
    EXPECT_EQ(one.potential(FourierSchedule::device), expected) << boundary;
    EXPECT_EQ(all.potential(FourierSchedule::host), expected) << boundary;
    EXPECT_EQ(all.potential(FourierSchedule::device), expected) << boundary;
  }
}

TEST(BaseLevel, has_the_same_bits_by_both_schedules_where_a_transfer_function_changes) {
  const std::array<int, 3> cells{64, 48, 48};
  Base all(cells, "periodic", Communicator::world()), one(cells, "periodic", alone());
  const std::uint64_t expected = one.transferred(FourierSchedule::host).first;
  EXPECT_EQ(one.transferred(FourierSchedule::device).first, expected);
  const auto [bits, copied] = all.transferred(FourierSchedule::device);
  EXPECT_EQ(bits, expected);
  const std::int64_t modes = 33 * 48 * 48 / Communicator::world().size();
  EXPECT_LT(copied, 8 * modes / 2);  // of numbers: there are fewer wavenumbers than modes
}

TEST(BaseLevel, no_field_travels_when_it_is_solved_in_batches) {
  for (const char* boundary : {"periodic", "outflow"}) {
    Base base({64, 48, 48}, boundary, Communicator::world());
    const CopiedBytes copied(TransferKind::fields);
    base.solve(FourierSchedule::device);
    EXPECT_EQ(copied.total, 0) << boundary;
  }
}

// --- power spectrum ----------------------------------------------------------------------------

BlockField gas_density(const Gas& gas) {
  return {gas.mesh.fields(0).blocks(mesh::LevelFields::k_now), gas.mesh.layout().stride_slot};
}

PowerSpectrum spectrum_of(Gas& gas) {
  Gravity gravity({}, gas.mesh, {});
  gravity.adapt_to_mesh();
  return gravity.power_spectrum(gas_density(gas));
}

TEST(PowerSpectrum, of_a_plane_wave_is_in_its_bin) {
  const double amplitude = 0.02;
  Gas gas = scattered({32, 32, 32}, 8, [&](const Point& x) {
    return 3.0 * (1.0 + amplitude * std::cos(2 * M_PI * (3 * x[0] + 4 * x[2]) + 0.3));
  });
  const PowerSpectrum spectrum = spectrum_of(gas);
  ASSERT_EQ(spectrum.bins.size(), 16u);
  for (int n = 1; n <= 16; ++n) {
    const SpectrumBin& bin = spectrum.bins[n - 1];
    // |delta_k|^2 = amplitude^2 / 4 in two modes of a box of volume 1.
    const double expected =
        n == 5 ? 2 * 0.25 * amplitude * amplitude / static_cast<double>(bin.modes) : 0.0;
    EXPECT_NEAR(bin.power, expected, 1e-15) << n;
    EXPECT_NEAR(bin.k / (2 * M_PI), n, 0.3) << n;
  }
  // The window of a cloud along x and z, for this mode.
  const double window = std::pow(std::sin(M_PI * 3 / 32) / (M_PI * 3 / 32), 4) *
                        std::pow(std::sin(M_PI * 4 / 32) / (M_PI * 4 / 32), 4);
  EXPECT_NEAR(spectrum.bins[4].corrected, spectrum.bins[4].power / window, 1e-12);
}

TEST(PowerSpectrum, what_is_no_cloud_needs_no_correction) {
  Gas gas = scattered({16, 16, 16}, 4, lumps);
  Gravity gravity({}, gas.mesh, {});
  gravity.adapt_to_mesh();
  const PowerSpectrum spectrum = gravity.power_spectrum(gas_density(gas), gas_density(gas));
  for (const SpectrumBin& bin : spectrum.bins)
    EXPECT_NEAR(bin.corrected, bin.power, 1e-14 * bin.power);
}

TEST(PowerSpectrum, counts_every_mode_once) {
  Gas gas = scattered({16, 16, 16}, 4, lumps);
  const PowerSpectrum spectrum = spectrum_of(gas);
  for (int n = 1; n <= 8; ++n) {
    std::int64_t modes = 0;
    double sum = 0.0;
    for (int z = -7; z <= 8; ++z)
      for (int y = -7; y <= 8; ++y)
        for (int x = -7; x <= 8; ++x) {
          const double k = std::sqrt(static_cast<double>(x * x + y * y + z * z));
          if (std::lround(k) != n) continue;
          ++modes;
          sum += 2 * M_PI * k;
        }
    EXPECT_EQ(spectrum.bins[n - 1].modes, modes);
    EXPECT_NEAR(spectrum.bins[n - 1].k, sum / static_cast<double>(modes), 1e-10);
  }
}

// Independent cells of variance s^2 have P = s^2 h^3 at all k.
TEST(PowerSpectrum, of_white_noise_is_flat) {
  const int cells = 64;
  const double deviation = 0.1;
  Gas gas = scattered({cells, cells, cells}, 8, [&](const Point& x) {
    const auto cell = [&](int d) { return static_cast<std::uint64_t>(x[d] * cells); };
    const RandomStream stream(3, cell(0) + cells * (cell(1) + cells * cell(2)), 0);
    return 1.0 + deviation * std::sqrt(12.0) * (stream.uniform(0) - 0.5);
  });
  const double expected = deviation * deviation / std::pow(cells, 3);
  for (const SpectrumBin& bin : spectrum_of(gas).bins) {
    // Half of the modes are independent; four standard deviations.
    const double scatter = 4.0 / std::sqrt(0.5 * static_cast<double>(bin.modes));
    EXPECT_NEAR(bin.power / expected, 1.0, scatter + 1e-3) << bin.k;
  }
}

TEST(PowerSpectrum, has_the_same_bits_on_any_number_of_ranks) {
  const auto values = [](const Communicator& communicator) {
    Gas gas(box({64, 32, 64}, 8), communicator);
    scatter_blocks(gas, 1);
    gas.set_density(lumps);
    std::vector<double> all;
    for (const SpectrumBin& bin : spectrum_of(gas).bins)
      all.insert(all.end(), {bin.k, bin.power, bin.corrected});
    return all;
  };
  EXPECT_EQ(values(Communicator::world()), values(alone()));
}

TEST(PowerSpectrum, shot_noise_is_that_of_equal_masses) {
  // 100 masses in a volume of 8, half of all mass.
  EXPECT_DOUBLE_EQ(shot_noise(8.0, 100, 0.5), 0.25 * 8.0 / 100);
  EXPECT_EQ(shot_noise(8.0, 0, 0.0), 0.0);
}

}  // namespace
}  // namespace octant::gravity::test
