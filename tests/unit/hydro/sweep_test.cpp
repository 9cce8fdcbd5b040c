// What must hold for every sweep: bits, conservation, ghost and flux bookkeeping.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/unit/hydro/uniform_blocks.hpp"
#include "tests/unit/kernel_watch.hpp"

namespace octant::hydro::test {
namespace {

int differing(const std::vector<double>& a, const std::vector<double>& b) {
  int count = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::memcmp(&a[i], &b[i], sizeof(double)) != 0;
  return count;
}

std::vector<double> after_steps(const HydroOptions& options, const BoxShape& shape, int steps,
                                const PrimitiveAt& initial) {
  UniformBlocks box(options, shape);
  box.set(initial);
  box.step(1e-6);
  for (int n = 1; n < steps; ++n) box.step(box.stable_dt(0.8));
  return box.values(options.variable_count());
}

HydroOptions with(Integrator integrator, const std::string& reconstruction,
                  const std::string& riemann = "hllc", const std::string& limiter = "mc") {
  HydroOptions options;
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.riemann = riemann;
  options.limiter = limiter;
  return options;
}

void expect_same_bits_for_all_blocks(const HydroOptions& options, int steps = 8) {
  const std::array<int, 3> cells{32, 32, 32};
  const auto reference = after_steps(options, {cells, 8, 8}, steps, blast);
  for (const auto& [block, patch] :
       {std::pair{2, 8}, {2, 16}, {4, 8}, {4, 16}, {8, 16}, {16, 8}, {16, 16}, {32, 8}, {32, 16}}) {
    if (block < options.ghosts().reach) continue;
    EXPECT_EQ(differing(reference, after_steps(options, {cells, block, patch}, steps, blast)), 0)
        << "blocks of " << block << ", patches of " << patch;
  }
}

TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_plm) {
  expect_same_bits_for_all_blocks(with(Integrator::muscl_hancock, "plm"));
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_the_shock_sensor) {
  expect_same_bits_for_all_blocks(with(Integrator::muscl_hancock, "plm", "hllc_hybrid"), 4);
  expect_same_bits_for_all_blocks(with(Integrator::rk2, "ppm", "hllc_low_mach"), 3);
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_scalars_and_dual_energy) {
  HydroOptions options = with(Integrator::rk2, "plm");
  options.scalars = passive_scalars(2);
  options.dual_energy = DualEnergy::on;
  options.dual_energy_threshold = 0.7;  // so high that entropy rules in many cells
  options.acceleration = {0.1, -0.2, 0.3};
  expect_same_bits_for_all_blocks(options, 4);
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_where_energy_follows_entropy) {
  HydroOptions options = with(Integrator::rk2, "plm");
  options.dual_energy = DualEnergy::overwrite;
  expect_same_bits_for_all_blocks(options, 4);
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_ppm) {
  expect_same_bits_for_all_blocks(with(Integrator::rk3, "ppm"), 4);
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_ppm26) {
  HydroOptions options = with(Integrator::rk3, "ppm26");
  options.scalars = passive_scalars(1);
  options.dual_energy = DualEnergy::on;
  options.dual_energy_threshold = 0.7;
  expect_same_bits_for_all_blocks(options, 2);
}
TEST(Sweep, bits_do_not_depend_on_blocks_or_patches_with_the_exact_solver) {
  expect_same_bits_for_all_blocks(with(Integrator::muscl_hancock, "ppm", "exact"), 3);
}

// Both schedules, with buffers for one tile, for some, and for all of them at a time.
void expect_same_bits_in_batches(const HydroOptions& options, int steps = 3) {
  for (const auto& [block, patch] : {std::pair{8, 8}, {16, 16}, {4, 16}}) {
    if (block < options.ghosts().reach) continue;
    const BoxShape shape{{32, 16, 16}, block, patch};
    const auto reference = after_steps(options, shape, steps, blast);
    for (const std::int64_t bytes :
         {std::int64_t{1}, std::int64_t{5} << 20, std::int64_t{1} << 28}) {
      BatchBuffer batches(bytes);
      UniformBlocks box(options, shape);
      box.use(&batches);
      box.set(blast);
      box.step(1e-6);
      for (int n = 1; n < steps; ++n) box.step(box.stable_dt(0.8));
      EXPECT_EQ(differing(reference, box.values(options.variable_count())), 0)
          << options.reconstruction << " " << options.limiter << " " << options.riemann << ", "
          << name_of(options.integrator) << ", blocks of " << block << ", patches of " << patch
          << ", " << bytes << " bytes";
    }
  }
}

TEST(Sweep, batches_give_the_same_bits_with_every_combination) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (const std::string reconstruction : {"plm", "ppm"})
      for (const std::string limiter : {"minmod", "mc", "van_leer", "huynh"}) {
        if (reconstruction == "ppm" && limiter != "mc") continue;
        if (integrator == Integrator::rk3 && limiter == "minmod") continue;
        expect_same_bits_in_batches(with(integrator, reconstruction, "hllc", limiter), 2);
      }
  for (const std::string riemann : {"llf", "hll", "hllc_low_mach", "exact"})
    expect_same_bits_in_batches(with(Integrator::muscl_hancock, "plm", riemann), 2);
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2})
    for (const std::string reconstruction : {"plm", "ppm"})
      expect_same_bits_in_batches(with(integrator, reconstruction, "hllc_hybrid"), 3);
}
TEST(Sweep, batches_give_the_same_bits_with_26_points) {
  for (const std::string reconstruction : {"ppm26", "ppm26_published"})
    expect_same_bits_in_batches(with(Integrator::rk3, reconstruction), 2);
}
TEST(Sweep, batches_give_the_same_bits_with_scalars_and_dual_energy) {
  for (const DualEnergy dual_energy : {DualEnergy::on, DualEnergy::overwrite})
    for (const Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2}) {
      HydroOptions options = with(integrator, "plm");
      options.scalars = passive_scalars(9);
      options.dual_energy = dual_energy;
      options.dual_energy_threshold = 0.7;
      options.acceleration = {0.1, -0.2, 0.3};
      expect_same_bits_in_batches(options);
    }
}

// Flows that do not change along z, or along y and z.
std::array<double, 5> planar(double x, double y, double) {
  auto w = stirred(x, y, 0.0);
  w[k_pressure] = blast(x, y, 0.5)[k_pressure];
  return w;
}
std::array<double, 5> linear(double x, double, double) { return planar(x, 0.4, 0.0); }

void expect_same_bits_in_fewer_dimensions(HydroOptions options) {
  for (const int dimensions : {1, 2}) {
    const PrimitiveAt initial = dimensions == 1 ? linear : planar;
    const int across = dimensions == 1 ? 16 : 32;
    options.dimensions = 3;
    const auto reference = after_steps(options, {{32, across, 16}, 8, 8}, 4, initial);
    options.dimensions = dimensions;
    for (const auto& [block, patch] : {std::pair{2, 8}, {4, 16}, {8, 8}, {8, 16}, {16, 8}}) {
      if (block < options.ghosts().reach) continue;
      const auto found = after_steps(options, {{32, across, 16}, block, patch}, 4, initial);
      EXPECT_EQ(differing(reference, found), 0)
          << dimensions << " dimensions, " << options.reconstruction << ", blocks of " << block
          << ", patches of " << patch;
    }
  }
}

TEST(Sweep, fewer_dimensions_give_the_same_bits) {
  expect_same_bits_in_fewer_dimensions(with(Integrator::muscl_hancock, "plm"));
  expect_same_bits_in_fewer_dimensions(with(Integrator::rk3, "ppm"));
  expect_same_bits_in_fewer_dimensions(with(Integrator::rk2, "ppm26"));
  for (const DualEnergy dual_energy : {DualEnergy::on, DualEnergy::overwrite}) {
    HydroOptions options = with(Integrator::rk2, "plm");
    options.scalars = passive_scalars(2);
    options.dual_energy = dual_energy;
    options.dual_energy_threshold = 0.7;
    options.acceleration = {0.1, -0.2, 0.3};
    expect_same_bits_in_fewer_dimensions(options);
  }
}

// Whatever blocks of a tile are another rank's.
TEST(Sweep, fewer_dimensions_leave_out_no_block_of_this_rank) {
  HydroOptions options = with(Integrator::muscl_hancock, "plm");
  const BoxShape shape{{16, 16, 16}, 4, 8};
  const auto with_one_given_away = [&](int dimensions, int slot) {
    options.dimensions = dimensions;
    UniformBlocks box(options, shape);
    box.set(linear);
    box.give_away(slot);
    sweep(options, box.arguments(box.state(), box.next(), k_hancock_stages[0], 1e-3));
    return std::vector<double>(box.next().data(), box.next().data() + box.next().extent(0));
  };
  for (const int slot : {0, 5, 21})
    EXPECT_EQ(differing(with_one_given_away(3, slot), with_one_given_away(1, slot)), 0)
        << "slot " << slot;
}

TEST(Sweep, scalars_do_not_change_the_gas) {
  HydroOptions options = with(Integrator::muscl_hancock, "plm");
  auto without = after_steps(options, {{32, 32, 32}, 8, 16}, 8, blast);
  options.scalars = passive_scalars(2);
  auto also = after_steps(options, {{32, 32, 32}, 8, 16}, 8, blast);
  also.resize(without.size());
  EXPECT_EQ(differing(without, also), 0);
}

void expect_conservation(HydroOptions options) {
  options.scalars = passive_scalars(1);
  UniformBlocks box(options, {{16, 16, 16}, 8, 16});
  box.set(stirred);
  const auto mean = [&](int v) {
    long double sum = 0;
    box.for_cells([&](int x, int y, int z) { sum += box.at(v, x, y, z); });
    return double(sum / 4096);
  };
  std::vector<double> first;
  for (int v = 0; v < 6; ++v) first.push_back(mean(v));
  for (int n = 0; n < 10; ++n) box.step(n == 0 ? 1e-3 : box.stable_dt(0.8));
  for (int v = 0; v < 6; ++v) EXPECT_NEAR(mean(v), first[v], 1e-14) << "variable " << v;
  EXPECT_EQ(box.result().bad_tiles, 0);
}

TEST(Sweep, every_combination_conserves_mass_momentum_energy_and_scalars) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (const std::string reconstruction : {"plm", "ppm"})
      for (const std::string limiter : {"minmod", "mc", "van_leer", "huynh"})
        for (const std::string riemann :
             {"llf", "hll", "hllc_hybrid", "hllc_low_mach", "hllc", "exact"}) {
          if (reconstruction == "ppm" && limiter != "mc") continue;
          expect_conservation(with(integrator, reconstruction, riemann, limiter));
        }
  for (const std::string reconstruction : {"ppm26", "ppm26_published"})
    expect_conservation(with(Integrator::rk3, reconstruction));
}

// The strengths that faces need for the shock sensor come from cells beyond the patch, too.
TEST(Sweep, the_shock_sensor_changes_the_fluxes_of_a_blast_but_not_those_of_smooth_flow) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2})
    for (const std::string reconstruction : {"plm", "ppm"}) {
      const BoxShape shape{{16, 16, 16}, 8, 8};
      const auto difference = [&](const PrimitiveAt& initial) {
        return differing(
            after_steps(with(integrator, reconstruction, "hllc"), shape, 4, initial),
            after_steps(with(integrator, reconstruction, "hllc_hybrid"), shape, 4, initial));
      };
      EXPECT_GT(difference(blast), 0);
      EXPECT_EQ(difference(stirred), 0);
    }
}

// A uniform flow must come out as it went in, whatever lies in table entries that nobody reads.
TEST(Sweep, missing_boxes_beyond_the_ghosts_that_are_read_do_not_matter) {
  HydroOptions options = with(Integrator::muscl_hancock, "plm");
  UniformBlocks box(options, {{16, 16, 16}, 4, 16});
  box.set(stirred);
  box.step(1e-3);
  const auto expected = box.values(5);
  UniformBlocks other(options, {{16, 16, 16}, 4, 16});
  other.set(stirred);
  other.forget_corners();
  other.step(1e-3);
  EXPECT_EQ(differing(expected, other.values(5)), 0);
}

TEST(Sweep, cells_of_other_ranks_are_read_but_not_written) {
  HydroOptions options = with(Integrator::muscl_hancock, "plm");
  for (int N : {2, 4, 8}) {
    UniformBlocks box(options, {{16, 16, 16}, N, 16});
    box.set(stirred);
    UniformBlocks masked(options, {{16, 16, 16}, N, 16});
    masked.set(stirred);
    const int slot = masked.slot_of(8, 8, 8);
    masked.give_away(slot);
    box.step(1e-3);
    const double untouched = masked.next()(masked.offset(0, 8, 8, 8));
    masked.step(1e-3);
    EXPECT_EQ(masked.at(0, 8, 8, 8), untouched);
    box.for_cells([&](int x, int y, int z) {
      if (box.slot_of(x, y, z) == slot) return;
      EXPECT_EQ(box.at(4, x, y, z), masked.at(4, x, y, z)) << x << " " << y << " " << z;
    });
  }
}

// With a fifth of the blocks left to this rank, and NaN where a sweep of them has no need to look.
void expect_to_need_no_more_than_ghosts(const HydroOptions& options, int N, int patch) {
  const mesh::GhostShape ghosts = options.ghosts();
  const BoxShape shape{{16, 16, 16}, N, patch};
  UniformBlocks all(options, shape), some(options, shape);
  all.set(stirred), some.set(stirred);
  for (int slot = 0; slot < some.slots(); ++slot)
    if (slot * 7 % 11 > 1) some.give_away(slot);
  const auto is_own = [&](int x, int y, int z) {
    return some.boxes()[some.slot_of(x, y, z)].buffer == mesh::k_own;
  };
  const auto is_needed = [&](int x, int y, int z) {
    const int g = ghosts.reach;
    for (int c = -g; c <= g; ++c)
      for (int b = -g; b <= g; ++b)
        for (int a = -g; a <= g; ++a)
          if (ghosts.contains(std::abs(a), std::abs(b), std::abs(c)) && is_own(x + a, y + b, z + c))
            return true;
    return false;
  };
  some.for_cells([&](int x, int y, int z) {
    if (!is_needed(x, y, z))
      some.copy_at(k_mass, x, y, z) = std::numeric_limits<double>::quiet_NaN();
  });
  for (UniformBlocks* box : {&all, &some})
    sweep(options, box->arguments(box->state(), box->next(), {0.0, 1.0, 1.0, 0.0, true}, 1e-3));
  some.for_cells([&](int x, int y, int z) {
    const auto of = [&](UniformBlocks& box) { return box.next()(box.offset(k_energy, x, y, z)); };
    EXPECT_EQ(of(some), is_own(x, y, z) ? of(all) : 0.0) << x << " " << y << " " << z;
  });
}

TEST(Sweep, own_cells_need_no_more_than_their_ghosts_however_few_they_are) {
  HydroOptions steep = with(Integrator::rk2, "plm", "hllc", "huynh");
  steep.dual_energy = DualEnergy::overwrite;
  for (const HydroOptions& options :
       {with(Integrator::muscl_hancock, "plm"), steep, with(Integrator::rk3, "ppm26")})
    for (const int N : {2, 4, 8})
      for (const int patch : {8, 16})
        if (N >= options.ghosts().reach) expect_to_need_no_more_than_ghosts(options, N, patch);
}

TEST(Sweep, reports_the_tile_that_holds_a_broken_state) {
  HydroOptions options = with(Integrator::muscl_hancock, "plm");
  for (const double broken : {-1.0, 1e-3, std::numeric_limits<double>::quiet_NaN()}) {
    UniformBlocks box(options, {{32, 32, 32}, 8, 8});
    box.set(stirred);
    if (broken == 1e-3) {
      for (int n = 1; n < 4; ++n) box.at(n, 20, 4, 12) = 1.0;  // kinetic beyond total energy
      box.at(k_energy, 20, 4, 12) = 1e-3;
    } else {
      box.at(k_mass, 20, 4, 12) = broken;
    }
    BatchBuffer batches(1 << 20);
    for (BatchBuffer* schedule : {&batches, static_cast<BatchBuffer*>(nullptr)}) {
      box.use(schedule);
      sweep(options, box.arguments(box.state(), box.next(), k_hancock_stages[0], 1e-9));
      EXPECT_EQ(box.bad()(box.tile_index(20, 4, 12)), 1);
      EXPECT_EQ(box.bad()(box.tile_index(4, 20, 28)), 0);
    }
    box.step(1e-9);
    EXPECT_GE(box.result().bad_tiles, 1);
  }
}

TEST(Sweep, uniform_acceleration_of_a_uniform_gas_is_exact) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3}) {
    HydroOptions options = with(integrator, "plm");
    options.acceleration = {0.3, -0.2, 0.1};
    UniformBlocks box(options, {{16, 16, 16}, 16, 16});
    box.set([](double, double, double) { return std::array<double, 5>{2, 0.5, 0.5, 0, 3}; });
    for (int n = 0; n < 10; ++n) box.step(0.1);
    EXPECT_NEAR(box.at(k_momentum_x, 3, 4, 5), 2 * (0.5 + 0.3), 1e-13);
    EXPECT_NEAR(box.at(k_momentum_z, 3, 4, 5), 2 * 0.1, 1e-13);
    const double kinetic = 0.8 * 0.8 + 0.3 * 0.3 + 0.1 * 0.1;
    EXPECT_NEAR(box.at(k_energy, 3, 4, 5) - kinetic, 3 / 0.4, 1e-12);
  }
}

// A flow with a net flux of every variable through any plane.
std::array<double, 5> drifting(double x, double y, double z) {
  auto w = stirred(x, y, z);
  const double k = 2 * M_PI, bump = 0.2 * (std::sin(k * x) + std::sin(k * y) + std::sin(k * z));
  return {w[0] + bump, w[1] + 0.5 + bump, w[2] + 0.4 + bump, w[3] + 0.3 + bump, w[4] + bump};
}

// The change of the mass on one side of a closed surface is what the registers of the surface hold.
void expect_registers_to_balance(int N, int M, bool average, Integrator integrator,
                                 const std::string& reconstruction = "plm",
                                 BatchBuffer* batches = nullptr) {
  HydroOptions options = with(integrator, reconstruction);
  options.scalars = passive_scalars(1);
  const int axis_cells = 16;
  for (int axis = 0; axis < 3; ++axis) {
    UniformBlocks box(options, {{axis_cells, axis_cells, axis_cells}, N, M});
    box.use(batches);
    box.set(drifting);
    const int faces = average ? M / 2 : M, tiles_across = axis_cells / M;
    const int variables = options.variable_count();
    const std::int64_t per_request = std::int64_t(variables) * faces * faces;
    // Two surfaces across the box: at its lower end, and in the middle of it.
    int count = 0;
    for (int b = 0; b < tiles_across; ++b)
      for (int a = 0; a < tiles_across; ++a)
        for (const int position : {0, 8}) {
          int cell[3] = {a * M, b * M, 0};
          if (axis == 0) cell[1] = a * M, cell[2] = b * M;
          if (axis == 1) cell[2] = b * M;
          cell[axis] = position;
          mesh::FluxRegisterFaces r{};
          r.axis = static_cast<std::int8_t>(axis), r.average = average;
          r.plane = static_cast<std::int16_t>(position % M);
          r.a_end = r.b_end = static_cast<std::int16_t>(M);
          r.stride_b = faces, r.stride_variable = faces * faces;
          r.base = count * per_request;
          box.request(box.tile_index(cell[0], cell[1], cell[2]), r, ++count * per_request);
        }
    const auto inside = [&](int v) {
      double sum = 0;
      box.for_cells([&](int x, int y, int z) {
        if ((axis == 0 ? x : axis == 1 ? y : z) < 8) sum += box.at(v, x, y, z);
      });
      return sum / axis_cells;
    };
    std::vector<double> before;
    for (int v = 0; v < variables; ++v) before.push_back(inside(v));
    for (int n = 0; n < 3; ++n) box.step(1e-3);
    for (int v = 0; v < variables; ++v) {
      double through = 0;
      for (int r = 0; r < count; ++r)
        for (int n = 0; n < faces * faces; ++n)
          through += (r % 2 == 0 ? 1 : -1) * (average ? 4 : 1) *
                     box.registers()(r * per_request + v * faces * faces + n);
      EXPECT_NEAR(inside(v) - before[v], through, 1e-12 * 256)
          << "axis " << axis << " variable " << v;
      if (v < k_hydro_variables) {
        EXPECT_GT(std::abs(through), 1e-9);
      }
    }
  }
}

TEST(Sweep, in_batches_waits_for_its_result_alone) {
  const HydroOptions options = with(Integrator::muscl_hancock, "plm");
  BatchBuffer batches(1 << 20);
  UniformBlocks box(options, {{32, 32, 32}, 8, 8});
  box.use(&batches);
  box.set(blast);
  box.step(1e-6);  // nothing is allocated afterwards
  const SweepArguments arguments =
      box.arguments(box.state(), box.next(), k_hancock_stages[0], 1e-3);
  const SweepResult expected = sweep(options, arguments);

  Kokkos::deep_copy(box.bad(), 1);  // of another sweep
  LevelSweep parts(options, arguments);
  const octant::test::KernelWatch watch;
  parts.start(0, 24);
  parts.start(24, 64);
  EXPECT_EQ(watch.launches(), 4 * batches.batches());  // gather, states, fluxes, update
  EXPECT_EQ(watch.waits(), 0);
  const SweepResult result = parts.result();
  EXPECT_EQ(watch.waits(), 1);
  EXPECT_EQ(result.fastest, expected.fastest);
  EXPECT_EQ(result.bad_tiles, 0);
}

TEST(FluxRequests, registers_hold_the_flux_through_their_surface) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    expect_registers_to_balance(8, 8, false, integrator);
  expect_registers_to_balance(16, 16, false, Integrator::rk3);
  expect_registers_to_balance(8, 8, false, Integrator::rk3, "ppm26");
  expect_registers_to_balance(4, 8, false, Integrator::muscl_hancock);
}
TEST(FluxRequests, averaged_registers_hold_the_flux_through_their_surface) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    expect_registers_to_balance(8, 8, true, integrator);
  expect_registers_to_balance(4, 16, true, Integrator::muscl_hancock);
  expect_registers_to_balance(8, 8, true, Integrator::rk3, "ppm26");
}
TEST(FluxRequests, registers_hold_the_flux_of_batches_through_their_surface) {
  BatchBuffer batches(1 << 20);
  for (const bool average : {false, true}) {
    expect_registers_to_balance(8, 8, average, Integrator::rk2, "plm", &batches);
    expect_registers_to_balance(4, 16, average, Integrator::muscl_hancock, "plm", &batches);
  }
}

TEST(FluxRequests, registers_are_the_same_in_fewer_dimensions) {
  const auto registers = [](int block, int dimensions, bool average, int axis) {
    HydroOptions options = with(Integrator::muscl_hancock, "plm");
    options.dimensions = dimensions;
    UniformBlocks box(options, {{16, 8, 8}, block, 8});
    box.set(axis == 0 ? linear : planar);
    mesh::FluxRegisterFaces request{};
    request.axis = static_cast<std::int8_t>(axis);
    request.average = average;
    request.plane = 4;
    request.a_begin = request.b_begin = 4, request.a_end = request.b_end = 8;
    request.stride_b = average ? 2 : 4;
    request.stride_variable = request.stride_b * request.stride_b;
    box.request(0, request, static_cast<std::size_t>(5) * request.stride_variable);
    box.step(1e-3);
    const auto found = box.registers();
    return std::vector<double>(found.data(), found.data() + found.extent(0));
  };
  for (const int block : {4, 8})
    for (const bool average : {false, true}) {
      const auto along_x = registers(block, 3, average, 0);
      EXPECT_NE(along_x, std::vector<double>(along_x.size()));
      EXPECT_EQ(differing(along_x, registers(block, 1, average, 0)), 0);
      EXPECT_EQ(differing(along_x, registers(block, 2, average, 0)), 0);
      EXPECT_EQ(differing(registers(block, 3, average, 1), registers(block, 2, average, 1)), 0);
    }
}

}  // namespace
}  // namespace octant::hydro::test
