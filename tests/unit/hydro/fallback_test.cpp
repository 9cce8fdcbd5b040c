// The repair of unphysical cells.
#include <gtest/gtest.h>

#include "core/observer.hpp"
#include "hydro/fallback.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/riemann.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

HydroOptions options_of(Integrator integrator, const std::string& reconstruction,
                        const std::string& riemann) {
  HydroOptions options;
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.riemann = riemann;
  options.scalars = passive_scalars(1);
  options.acceleration = {0.1, 0.2, 0.3};
  return options;
}

// A cell of a box as the list of bad cells would name it.
BadCell place(const UniformBlocks& box, int x, int y, int z, int N, int M) {
  return {box.slot_of(x, y, z),
          x % N + N * (y % N + N * (z % N)),
          box.tile_index(x, y, z),
          std::int16_t(x % M),
          std::int16_t(y % M),
          std::int16_t(z % M),
          0};
}

// Primitive state and scalar concentration of a cell.
State<double> primitive(UniformBlocks& box, int x, int y, int z) {
  double volume;
  return to_primitive([&](int n) { return box.at(n, x, y, z); }, box.options().gas(), volume);
}

template <int Axis>
std::vector<double> donor_cell_flux(UniformBlocks& box, std::array<int, 3> cell) {
  std::array<int, 3> lower = cell;
  --lower[Axis];
  const mesh::Frame& frame = box.options().frame;
  const auto centre = [](const std::array<int, 3>& c) {
    return Vector<double>{(c[0] + 0.5) / 16, (c[1] + 0.5) / 16, (c[2] + 0.5) / 16};
  };
  auto l = primitive(box, lower[0], lower[1], lower[2]);
  auto r = primitive(box, cell[0], cell[1], cell[2]);
  Vector<double> face = centre(cell);
  face[Axis] -= 0.5 / 16;
  to_frame(frame, centre(lower), l);
  to_frame(frame, centre(cell), r);
  const auto f = boosted(Llf::flux<Axis>(l, r, box.options().gas()), frame.velocity_x(face[1]),
                         frame.velocity_y(face[0]));
  std::vector<double> flux(f.value, f.value + k_hydro_variables);
  const auto& upwind = f[k_mass] > 0 ? lower : cell;
  flux.push_back(f[k_mass] * box.at(5, upwind[0], upwind[1], upwind[2]) /
                 box.at(0, upwind[0], upwind[1], upwind[2]));
  return flux;
}

// Applying the differences to a cell must give what donor-cell fluxes alone would have given.
void expect_differences_to_restore_first_order(const HydroOptions& options, int N, int M) {
  UniformBlocks box(options, {{16, 16, 16}, N, M});
  box.set(stirred);
  const double dt = 1e-3, ratio = dt * 16;
  const SweepArguments arguments =
      box.arguments(box.state(), box.next(), stages(options.integrator)[0], dt);
  HydroOptions still = options;
  still.acceleration = {};
  sweep(still, arguments);
  const double angle = dt * options.frame.angular_velocity;
  for (const auto& c : {std::array{8, 8, 8}, std::array{5, 8, 15}, std::array{0, 1, 0}}) {
    const auto difference =
        fallback_differences(still, arguments, {place(box, c[0], c[1], c[2], N, M)});
    for (int n = 0; n < options.variable_count(); ++n) {
      double repaired = box.next()(box.offset(n, c[0], c[1], c[2]));
      for (int face = 0; face < 6; ++face)
        repaired += (face % 2 ? -1 : 1) * ratio * difference[face * options.variable_count() + n];
      double expected = box.at(n, c[0], c[1], c[2]);
      if (n == k_momentum_x) expected += angle * box.at(k_momentum_y, c[0], c[1], c[2]);
      if (n == k_momentum_y) expected -= angle * box.at(k_momentum_x, c[0], c[1], c[2]);
      for (int side : {0, 1}) {
        expected += (side ? -1 : 1) * ratio * donor_cell_flux<0>(box, {c[0] + side, c[1], c[2]})[n];
        expected += (side ? -1 : 1) * ratio * donor_cell_flux<1>(box, {c[0], c[1] + side, c[2]})[n];
        expected += (side ? -1 : 1) * ratio * donor_cell_flux<2>(box, {c[0], c[1], c[2] + side})[n];
      }
      EXPECT_NEAR(repaired, expected, 4e-15) << "variable " << n;
    }
  }
}

TEST(Fallback, differences_turn_the_update_of_a_cell_into_first_order) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2})
    for (const std::string reconstruction : {"plm", "ppm"})
      for (const std::string riemann :
           {"llf", "hll", "hllc_hybrid", "hllc_low_mach", "hllc", "exact"})
        for (const auto& [N, M] : {std::pair{8, 8}, {4, 16}, {16, 8}})
          expect_differences_to_restore_first_order(options_of(integrator, reconstruction, riemann),
                                                    N, M);
}

TEST(Fallback, differences_turn_the_update_of_a_cell_with_26_points_into_first_order) {
  for (const auto& [N, M] : {std::pair{8, 8}, {4, 16}})
    expect_differences_to_restore_first_order(options_of(Integrator::rk3, "ppm26", "hllc"), N, M);
}

TEST(Fallback, differences_turn_the_update_of_a_cell_into_first_order_where_the_frame_turns) {
  for (const std::string reconstruction : {"plm", "ppm26"}) {
    HydroOptions options = options_of(Integrator::rk2, reconstruction, "hllc");
    options.frame = {.angular_velocity = 1.3, .centre = {0.3, 0.6}};
    expect_differences_to_restore_first_order(options, 8, 8);
  }
}

TEST(Fallback, neighbours_agree_on_the_face_that_they_share) {
  const auto options = options_of(Integrator::muscl_hancock, "ppm", "hllc");
  for (int axis = 0; axis < 3; ++axis) {
    UniformBlocks box(options, {{16, 16, 16}, 8, 8});
    box.set(stirred);
    const auto arguments =
        box.arguments(box.state(), box.next(), stages(options.integrator)[0], 1e-3);
    int upper[3] = {8, 8, 8};  // its lower neighbour lies in another tile
    int lower[3] = {8, 8, 8};
    --lower[axis];
    const auto d = fallback_differences(options, arguments,
                                        {place(box, lower[0], lower[1], lower[2], 8, 8),
                                         place(box, upper[0], upper[1], upper[2], 8, 8)});
    for (int n = 0; n < 6; ++n)
      EXPECT_EQ(d[(2 * axis + 1) * 6 + n], d[(6 + 2 * axis) * 6 + n]) << "axis " << axis;
  }
}

TEST(Fallback, finds_all_bad_cells_however_many_there_are) {
  HydroOptions options;
  UniformBlocks box(options, {{16, 16, 16}, 8, 8});
  box.set(stirred);
  const auto arguments =
      box.arguments(box.state(), box.next(), stages(options.integrator)[0], 1e-3);
  sweep(options, arguments);
  for (int n = 0; n < 16 * 16 * 16; ++n) {
    const int x = n % 16, y = n / 16 % 16, z = n / 256;
    box.next()(box.offset(k_energy, x, y, z)) = -1.0;
    box.bad()(box.tile_index(x, y, z)) = 1;
  }
  EXPECT_EQ(find_bad_cells(options, arguments).size(), 16u * 16 * 16);
}

TEST(Fallback, finds_the_bad_cells_in_order_and_floors_mend_all_but_nan) {
  HydroOptions options;
  UniformBlocks box(options, {{16, 16, 16}, 8, 8});
  box.set(stirred);
  const auto arguments =
      box.arguments(box.state(), box.next(), stages(options.integrator)[0], 1e-3);
  sweep(options, arguments);
  EXPECT_TRUE(find_bad_cells(options, arguments).empty());
  const auto break_cell = [&](int n, int x, int y, int z, double value) {
    box.next()(box.offset(n, x, y, z)) = value;
    box.bad()(box.tile_index(x, y, z)) = 1;
  };
  break_cell(k_energy, 12, 3, 4, -1.0);
  break_cell(k_mass, 2, 3, 4, -0.5);
  break_cell(k_mass, 1, 3, 4, std::nan(""));
  static std::int64_t looked_at;
  kernel_work_callback = [](std::string_view kernel, const KernelWork& work) {
    if (kernel == "hydro::find_bad_cells") looked_at = work.items;
  };
  const auto cells = find_bad_cells(options, arguments);
  kernel_work_callback = nullptr;
  EXPECT_EQ(looked_at, 2 * 8 * 8 * 8) << "all cells of flagged tiles";
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].cell, 1 + 8 * (3 + 8 * 4));
  EXPECT_EQ(cells[1].cell, 2 + 8 * (3 + 8 * 4));
  EXPECT_EQ(cells[2].slot, box.slot_of(12, 3, 4));
  double lost[3];  // momentum
  for (int d = 0; d < 3; ++d)
    lost[d] = box.at(k_momentum_x + d, 2, 3, 4) - box.next()(box.offset(k_momentum_x + d, 2, 3, 4));
  const auto floored = apply_floors(options, arguments, cells);
  ASSERT_EQ(floored.irreparable.size(), 1u);
  EXPECT_EQ(floored.irreparable[0].cell, cells[0].cell);
  // What has less than no mass left is again what it was before the step.
  EXPECT_DOUBLE_EQ(floored.gains[0].mass, 0.5 + box.at(k_mass, 2, 3, 4));
  for (int n = 0; n < k_hydro_variables; ++n)
    EXPECT_EQ(box.next()(box.offset(n, 2, 3, 4)), box.at(n, 2, 3, 4)) << n;
  const double x[3] = {2.5 / 16, 3.5 / 16, 4.5 / 16};  // centre of that cell
  EXPECT_GT(std::abs(x[0] * lost[1] - x[1] * lost[0]), 1e-6);
  for (int d = 0; d < 3; ++d)
    EXPECT_NEAR(floored.gains[0].angular_momentum[d],
                x[(d + 1) % 3] * lost[(d + 2) % 3] - x[(d + 2) % 3] * lost[(d + 1) % 3], 1e-15);
  EXPECT_GT(floored.gains[1].energy, 1.0);
  EXPECT_EQ(find_bad_cells(options, arguments).size(), 1u);
}

}  // namespace
}  // namespace octant::hydro::test
