// Statistics of velocities that are known: means and moments, spectra, profiles, and their way
// through a checkpoint.
#include "dns/statistics.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "../io/scratch.hpp"
#include "core/error.hpp"
#include "flow_fixture.hpp"

namespace octant::dns {

namespace {

using Place = TestFlow::Point;

constexpr StatisticsOptions k_every_step{.interval = 1, .start = 0.0, .spectra = true};

FlowSetup sampled_channel() {
  FlowSetup setup;
  setup.grid.cells = {12, 8, 9};
  setup.grid.size = {2.0, 1.5, 1.2};
  setup.grid.stretching = Stretching::tanh;
  setup.flow.viscosity = 0.05;
  setup.scalar.enabled = true;
  return setup;
}

// The columns of a file of comma-separated values.
std::map<std::string, std::vector<double>> read_columns(const std::string& path) {
  std::ifstream file(path);
  std::string line, cell;
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> columns;
  std::getline(file, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');) names.push_back(cell);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    for (const std::string& name : names) {
      std::getline(row, cell, ',');
      columns[name].push_back(std::stod(cell));
    }
  }
  return columns;
}

class FlowStatistics : public testing::Test {
 protected:
  using Columns = std::map<std::string, std::vector<double>>;

  // Samples the velocity function(component, place, sample) and the scalar, function(-1, ...), and
  // hands the files to test(test flow, file, profiles) on all process grids.
  template <class Function, class Test>
  void sample(const FlowSetup& setup, int samples, const Function& function, const Test& test) {
    for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
      SCOPED_TRACE(to_string(processes));
      TestFlow flow(setup, processes);
      Statistics statistics(flow.domain(), k_every_step, setup.flow.viscosity);
      for (int n = 0; n < samples; ++n) {
        set(flow, setup, n, function);
        statistics.sample(flow.state(), setup.scalar.enabled ? &flow.flow().scalar() : nullptr,
                          1.0 + n);
      }
      EXPECT_EQ(statistics.samples(), samples);
      statistics.write(scratch_.path(""));
      const Hdf5Reader file(world_, scratch_.path("statistics.h5"));
      EXPECT_EQ(file.attribute<std::int64_t>("/header", "samples"), samples);
      EXPECT_EQ(file.attribute<double>("/header", "first_time"), 1.0);
      EXPECT_EQ(file.attribute<double>("/header", "last_time"), 1.0 * samples);
      test(flow, file, read_columns(scratch_.path("profiles.csv")));
      world_.barrier();
    }
  }

  template <class Function>
  static void set(TestFlow& flow, const FlowSetup& setup, int n, const Function& function) {
    if (setup.scalar.enabled)
      flow.set(flow.flow().scalar(), -1, [&](const Place& x) { return function(-1, x, n); });
    flow.set_velocity([&](int c, const Place& x) { return function(c, x, n); });
  }

  static std::vector<double> rows(const Hdf5Reader& file, const std::string& name) {
    return file.read<double>(name, {0, file.shape(name)[0]});
  }

  Communicator world_ = Communicator::world();
  Scratch scratch_{world_};
};

// u = z + a sin(k x), v = b cos(l y), t = z + c sin(k x): moments of sines are known.
TEST_F(FlowStatistics, of_waves_are_their_moments_and_lines_in_spectra) {
  const FlowSetup setup = sampled_channel();
  const double k = 2.0 * 2.0 * M_PI / setup.grid.size[0], l = 2.0 * M_PI / setup.grid.size[1];
  const auto waves = [&](int c, const Place& x, int n) {
    const double phase = 0.4 * n;  // samples differ, their moments do not
    if (c == k_u) return x[2] + 0.3 * std::sin(k * x[0] + phase);
    if (c == k_v) return 0.2 * std::cos(l * x[1] + phase);
    return c == k_w ? 0.0 : x[2] + 0.1 * std::sin(k * x[0] + phase);
  };
  sample(setup, 2, waves, [&](TestFlow& flow, const Hdf5Reader& file, const Columns& profiles) {
    const Grid& grid = flow.domain().grid;
    for (int n = 0; n < grid.cells[2]; ++n) {
      const double z = grid.centre[n];
      const auto expect = [&](const char* name, double value) {
        EXPECT_NEAR(profiles.at(name)[n], value, 1e-11) << name << " in plane " << n;
      };
      expect("z", z);
      expect("u", z);
      expect("v", 0.0);
      expect("w", 0.0);
      expect("t", z);
      expect("u_rms", 0.3 / std::sqrt(2.0));
      expect("v_rms", 0.2 / std::sqrt(2.0));
      expect("w_rms", 0.0);
      expect("t_rms", 0.1 / std::sqrt(2.0));
      expect("uv", 0.0);
      expect("u_skewness", 0.0);
      expect("u_flatness", 1.5);
      expect("v_flatness", 1.5);
      expect("w_flatness", 0.0);  // nothing fluctuates
      expect("energy", 0.25 * (0.3 * 0.3 + 0.2 * 0.2));
      expect("wt", 0.0);
    }
    EXPECT_EQ(rows(file, "/grid/z").size(), 9u);
    EXPECT_EQ(rows(file, "/grid/z_face").front(), 0.0);
    EXPECT_EQ(file.shape("/faces/uw"), std::vector<std::int64_t>{10});
    // All of the wave's energy is in its wavenumber, and its correlation is a cosine.
    const auto expect_line = [&](const char* axis, char quantity, int wave, int cells,
                                 double energy) {
      const std::string name = std::string(1, quantity) + "_" + axis;
      const auto spectrum = rows(file, "/spectra/spectrum_" + name),
                 correlation = rows(file, "/spectra/correlation_" + name);
      const int waves_of_line = cells / 2 + 1;
      ASSERT_EQ(std::ssize(spectrum), 9 * waves_of_line);
      for (int n = 0; n < 9; ++n)
        for (int m = 0; m < waves_of_line; ++m) {
          const int at = n * waves_of_line + m;
          EXPECT_NEAR(spectrum[at], m == wave ? energy : 0.0, 1e-13) << name << " " << m;
          EXPECT_NEAR(correlation[at], energy * std::cos(2.0 * M_PI * wave * m / cells), 1e-13)
              << name << " " << m;
        }
    };
    expect_line("x", 'u', 2, 12, 0.045);
    expect_line("y", 'v', 1, 8, 0.02);
    expect_line("y", 'u', 0, 8, 0.045);  // the same in all of a line along y
    expect_line("x", 'w', 0, 12, 0.0);
  });
}

// Steady flow between walls: friction carries all of the momentum, and nothing is turbulent.
TEST_F(FlowStatistics, of_a_laminar_channel_have_no_turbulence_and_a_linear_stress) {
  FlowSetup setup = sampled_channel();
  setup.grid.stretching = Stretching::uniform;
  setup.scalar.enabled = false;
  const double height = setup.grid.size[2], dz = height / setup.grid.cells[2];
  const auto parabola = [&](int c, const Place& x, int) {
    return c == k_u ? 2.0 * (x[2] * (height - x[2]) + 0.25 * dz * dz) : 0.0;
  };
  sample(setup, 1, parabola, [&](TestFlow& flow, const Hdf5Reader& file, const Columns& profiles) {
    for (int n = 0; n < setup.grid.cells[2]; ++n) {
      const double z = flow.domain().grid.centre[n];
      EXPECT_NEAR(profiles.at("total_stress")[n], 0.05 * 4.0 * (0.5 * height - z), 1e-14);
      for (const char* name : {"energy", "production", "dissipation", "turbulent_transport",
                               "pressure_transport", "viscous_diffusion", "uw", "vw", "t"})
        EXPECT_NEAR(profiles.at(name)[n], 0.0, 1e-13) << name;
      for (const char* name : {"vorticity_x_rms", "vorticity_y_rms", "vorticity_z_rms"})
        EXPECT_NEAR(profiles.at(name)[n], 0.0, 1e-7) << name;  // the root of a rounding error
    }
    // du/dz on all faces; at the wall it is that of the discrete parabola.
    const auto vorticity = rows(file, "/faces/vorticity_y");
    for (int n = 0; n <= setup.grid.cells[2]; ++n)
      EXPECT_NEAR(vorticity[n], 4.0 * (0.5 * height - n * dz), 1e-12);
  });
}

// Two samples with opposite fluctuations u' and w', the same in all of a plane.
TEST_F(FlowStatistics, have_the_production_and_transport_of_correlated_fluctuations) {
  FlowSetup setup = sampled_channel();
  setup.scalar.enabled = false;
  setup.grid.stretching = Stretching::uniform;
  for (auto& sides : setup.flow.boundary) sides = {Side::periodic, Side::periodic};
  const double k = 2.0 * M_PI / setup.grid.size[2];
  const auto fluctuating = [&](int c, const Place& x, int n) {
    const double sign = n == 0 ? 1.0 : -1.0;
    if (c == k_u) return std::sin(k * x[2]) + 0.5 * sign;
    return c == k_w ? -0.25 * sign : 0.0;
  };
  sample(setup, 2, fluctuating, [&](TestFlow& flow, const Hdf5Reader&, const Columns& profiles) {
    const Grid& grid = flow.domain().grid;
    const double dz = grid.dz_cell[0];
    for (int n = 0; n < grid.cells[2]; ++n) {
      const double z = grid.centre[n];
      EXPECT_NEAR(profiles.at("uw")[n], -0.125, 1e-14);
      EXPECT_NEAR(profiles.at("energy")[n], 0.5 * (0.25 + 0.0625), 1e-14);
      // -<u'w'> d<u>/dz, the mean of both faces.
      const double slope = (std::sin(k * (z + dz)) - std::sin(k * (z - dz))) / (2.0 * dz);
      EXPECT_NEAR(profiles.at("production")[n], 0.125 * slope, 1e-13);
      // Fluctuations that are the same everywhere dissipate and transport nothing.
      EXPECT_NEAR(profiles.at("dissipation")[n], 0.0, 1e-13);
      EXPECT_NEAR(profiles.at("turbulent_transport")[n], 0.0, 1e-12);
      EXPECT_NEAR(profiles.at("viscous_diffusion")[n], 0.0, 1e-12);
    }
  });
}

// Fluctuations u' of both signs: viscous diffusion less dissipation is the work nu <u' u''> of the
// viscous force, also in the cells beside walls and free-slip sides.
TEST_F(FlowStatistics, have_the_work_of_viscous_forces_in_their_energy_budget) {
  FlowSetup setup = sampled_channel();
  setup.scalar.enabled = false;
  setup.grid.stretching = Stretching::uniform;
  const auto fluctuation = [](double z) { return 0.5 + 3.0 * z - z * z; };
  const auto fluctuating = [&](int c, const Place& x, int n) {
    return c == k_u ? (n == 0 ? 1.0 : -1.0) * fluctuation(x[2]) : 0.0;
  };
  for (const Side upper : {Side::wall, Side::free_slip}) {
    setup.flow.boundary[2] = {Side::wall, upper};
    sample(setup, 2, fluctuating, [&](TestFlow& flow, const Hdf5Reader&, const Columns& profiles) {
      const Grid& grid = flow.domain().grid;
      const int cells = grid.cells[2];
      const double dz = grid.dz_cell[0];
      const auto at = [&](int n) {
        if (n < 0) return -fluctuation(grid.centre[0]);
        if (n < cells) return fluctuation(grid.centre[n]);
        return (upper == Side::wall ? -1.0 : 1.0) * fluctuation(grid.centre[cells - 1]);
      };
      for (int n = 0; n < cells; ++n) {
        const double work = 0.05 * at(n) * (at(n + 1) - 2.0 * at(n) + at(n - 1)) / (dz * dz);
        EXPECT_NEAR(profiles.at("viscous_diffusion")[n] - profiles.at("dissipation")[n], work,
                    1e-12 * std::abs(work) + 1e-12)
            << n;
      }
    });
  }
}

TEST_F(FlowStatistics, go_on_from_a_checkpoint_with_the_same_bits_on_any_process_grid) {
  const FlowSetup setup = sampled_channel();
  const auto noise = [](int c, const Place& x, int n) {
    return std::sin(1.0 + c + 3.0 * n + 40.0 * x[0] * x[1] + 7.0 * x[2]);
  };
  const std::string path = scratch_.path("checkpoint.h5");
  std::vector<double> means, spectrum;
  for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
    TestFlow flow(setup, processes);
    Statistics whole(flow.domain(), k_every_step, 1.0), second(flow.domain(), k_every_step, 1.0);
    set(flow, setup, 0, noise);
    whole.sample(flow.state(), &flow.flow().scalar(), 0.5);
    if (means.empty()) {  // of the first process grid, for all
      Hdf5Writer file(world_, path);
      whole.store(file);
      file.commit();
    }
    second.restore(Hdf5Reader(world_, path));
    EXPECT_EQ(second.samples(), 1);
    set(flow, setup, 1, noise);
    for (Statistics* statistics : {&whole, &second}) {
      statistics->sample(flow.state(), &flow.flow().scalar(), 0.75);
      statistics->write(scratch_.path(""));
      const Hdf5Reader file(world_, scratch_.path("statistics.h5"));
      EXPECT_EQ(file.attribute<double>("/header", "first_time"), 0.5);
      const auto found = rows(file, "/faces/wwww");
      const auto found_spectrum = rows(file, "/spectra/spectrum_w_y");
      if (means.empty()) {
        means = found;
        spectrum = found_spectrum;
      }
      EXPECT_EQ(found, means);
      EXPECT_EQ(found_spectrum, spectrum);
    }
  }
}

TEST_F(FlowStatistics, are_due_at_multiples_of_the_interval_from_the_start_on) {
  const FlowSetup setup = sampled_channel();
  TestFlow flow(setup, {world_.size(), 1});
  const Statistics rare(flow.domain(), {.interval = 3, .start = 2.0, .spectra = false}, 1.0);
  EXPECT_TRUE(rare.is_on());
  EXPECT_TRUE(rare.is_due(6, 2.0));
  EXPECT_FALSE(rare.is_due(6, 1.9));
  EXPECT_FALSE(rare.is_due(7, 2.5));
  const Statistics off(flow.domain(), {}, 1.0);
  EXPECT_FALSE(off.is_on());
  EXPECT_FALSE(off.is_due(0, 10.0));
  rare.write(scratch_.path(""));  // no sample yet
  EXPECT_EQ(scratch_.files(), 0u);
}

TEST(StatisticsMeans, of_a_quantity_that_is_not_sampled_are_refused) {
  const Means means(std::vector<double>(200, 1.0));
  EXPECT_EQ(means("u", 0), 1.0);
  EXPECT_EQ(error_of<RunError>([&] { means("uuw", 0); }),
            "the statistics do not contain the quantity uuw");
}

}  // namespace

}  // namespace octant::dns
