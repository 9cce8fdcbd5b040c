// Fields through files: as they are on the same grid, and interpolated from another one.
#include <gtest/gtest.h>

#include "../io/scratch.hpp"
#include "core/error.hpp"
#include "dns/field_file.hpp"
#include "flow_fixture.hpp"

namespace octant::dns {

namespace {

using Spot = TestFlow::Point;

// Writes rows that the root holds.
void put(Hdf5Writer& file, const std::string& name, const std::vector<double>& values,
         const std::vector<std::int64_t>& shape) {
  const bool root = Communicator::world().is_root();
  file.dataset(name, root ? RowRange{0, shape[0]} : RowRange{shape[0], 0},
               std::vector<std::int64_t>(shape.begin() + 1, shape.end()),
               root ? std::span<const double>(values) : std::span<const double>(),
               {"1", "of a test"});
}

// Writes a dataset [k][j][i] plane by plane.
void write_planes(Hdf5Writer& file, const StoredField& field) {
  const auto& [nx, ny, nz] = field.whole;
  Hdf5Rows rows = file.create_dataset<double>("/" + field.group + "/" + field.name, nz, {ny, nx},
                                              field.meaning);
  rows.total *= ny;  // a row is one along x from here on
  rows.row_bytes /= ny;
  const int planes = field.own.cells() > 0 ? field.own[2].count() : 0;
  for (int k = 0, most = Communicator::world().max(planes); k < most; ++k) {
    const bool here = k < planes;
    const std::vector<double> values = here ? field.plane(k) : std::vector<double>();
    const std::int64_t row =
        here ? std::int64_t{field.own[2].begin + k} * ny + field.own[1].begin : 0;
    file.write_rows(rows, {row, here ? field.own[1].count() : 0}, std::span<const double>(values));
  }
}

// A file as snapshots are: points of a grid, and datasets that are functions of position.
class StoredFlow {
 public:
  StoredFlow(const FlowSetup& setup)
      : grid(setup.grid, setup.flow.boundary[2][0] == Side::periodic) {
    for (int axis = 0; axis < 3; ++axis) {
      points[0][axis] = centres(grid, axis);
      points[1][axis] = faces(grid, axis);
    }
  }

  void put_grid(Hdf5Writer& file) const {
    for (int axis = 0; axis < 3; ++axis) {
      const std::string name = std::string("/grid/") + "xyz"[axis];
      put(file, name, points[0][axis], {grid.cells[axis]});
      put(file, name + "_face", points[1][axis], {grid.cells[axis]});
    }
  }
  template <class Function>
  void put_field(Hdf5Writer& file, const std::string& name, int component,
                 const Function& function) const {
    std::vector<double> values;
    const auto at = [&](int axis, int n) { return points[component == axis ? 1 : 0][axis][n]; };
    for (int k = 0; k < grid.cells[2]; ++k)
      for (int j = 0; j < grid.cells[1]; ++j)
        for (int i = 0; i < grid.cells[0]; ++i)
          values.push_back(function(Spot{at(0, i), at(1, j), at(2, k)}));
    put(file, name, values, {grid.cells[2], grid.cells[1], grid.cells[0]});
  }

  Grid grid;
  std::array<std::array<std::vector<double>, 3>, 2> points;  // centres and faces, along each axis
};

class StoredFields : public testing::Test {
 protected:
  // Writes a file by write(file), and calls test(reader).
  template <class Write, class Test>
  void with_file(const Write& write, const Test& test) {
    const std::string path = scratch_.path("flow.h5");
    {
      Hdf5Writer file(world_, path);
      write(file);
      file.commit();
    }
    test(Hdf5Reader(world_, path));
    world_.barrier();
  }

  // The message with which a file that write(file) makes is refused for a flow of this setup.
  template <class Write>
  std::string refusal(const FlowSetup& setup, const Write& write) {
    std::string message;
    with_file(write, [&](const Hdf5Reader& file) {
      TestFlow test(setup, {world_.size(), 1});
      message = error_of<InputError>([&] {
        const StoredPoints points(file, test.domain());
        points.interpolate("/fields/u", k_u, test.state().u);
      });
    });
    return message;
  }

  Communicator world_ = Communicator::world();
  Scratch scratch_{world_};
};

FlowSetup box_between_walls(std::array<int, 3> cells) {
  FlowSetup setup;
  setup.grid.cells = cells;
  setup.grid.size = {1.0, 1.5, 0.8};
  setup.grid.stretching = Stretching::tanh;
  for (auto& sides : setup.flow.boundary) sides = {Side::wall, Side::wall};
  return setup;
}

TEST_F(StoredFields, come_back_with_the_same_bits_on_any_process_grid) {
  FlowSetup setup = box_between_walls({9, 8, 10});
  for (int axis = 0; axis < 3; ++axis) setup.flow.boundary[axis][0] = Side::outflow;
  setup.scalar.enabled = true;
  const auto noise = [](int c, const Spot& x) {
    return std::sin(1.0 + c + 31.0 * x[0] + 17.0 * x[1] * x[2] + 5.0 * x[2]);
  };
  const auto noise_of = [&](int c) { return [&, c](const Spot& x) { return noise(c, x); }; };
  const auto grids = process_grids_of(setup.grid.cells);
  TestFlow written(setup, grids.front());
  written.set(written.state().p, -1, noise_of(3));
  written.set(written.flow().scalar(), -1, noise_of(4));
  written.set_velocity(noise);
  const auto write = [&](Hdf5Writer& file) {
    for (const StoredField& field :
         stored_fields(written.domain(), written.state(), &written.flow().scalar()))
      write_planes(file, field);
  };
  with_file(write, [&](const Hdf5Reader& file) {
    EXPECT_EQ(file.children("/fields"), (std::vector<std::string>{"p", "t", "u", "v", "w"}));
    EXPECT_EQ(file.shape("/lower_faces/v"), (std::vector<std::int64_t>{10, 1, 9}));
    for (const pencil::ProcessGrid processes : grids) {
      SCOPED_TRACE(to_string(processes));
      TestFlow test(setup, processes);
      State& state = test.state();
      for (int c = 0; c < k_components; ++c)
        read_field(file, test.domain(), std::string("/fields/") + "uvw"[c], state.velocity(c));
      read_field(file, test.domain(), "/fields/p", state.p);
      read_field(file, test.domain(), "/fields/t", test.flow().scalar());
      read_lower_faces(file, test.domain(), state);
      EXPECT_EQ(test.error(state.p, -1, noise_of(3)), 0.0);
      EXPECT_EQ(test.error(test.flow().scalar(), -1, noise_of(4)), 0.0);
      // Faces on upper walls have the value of the wall; those on lower sides that of the flow.
      TestFlow expected(setup, processes);
      expected.set_velocity(noise);
      for (int c = 0; c < k_components; ++c) {
        const Field &found = state.velocity(c), &right = expected.state().velocity(c);
        const Domain& d = test.domain();
        for (int k = d.first(c, 2); k < d.nz; ++k)
          for (int j = d.first(c, 1); j < d.ny; ++j)
            for (int i = d.first(c, 0); i < d.nx; ++i)
              ASSERT_EQ(found(i, j, k), right(i, j, k)) << c << ": " << i << " " << j << " " << k;
      }
    }
  });
}

// A cubic polynomial along each axis that is 0 on the walls.
double cubic(const Spot& x, const Vector& size) {
  double product = 1.0;
  for (int axis = 0; axis < 3; ++axis)
    product *= x[axis] * (size[axis] - x[axis]) * (1.0 + (axis + 1) * x[axis]);
  return product;
}

TEST_F(StoredFields, of_another_grid_are_exact_for_cubic_polynomials) {
  const FlowSetup setup = box_between_walls({9, 8, 10});
  FlowSetup stored_setup = box_between_walls({7, 10, 12});
  stored_setup.grid.stretching = Stretching::tanh_lower;
  const StoredFlow stored(stored_setup);
  const auto value = [&](const Spot& x) { return cubic(x, setup.grid.size); };
  with_file(
      [&](Hdf5Writer& file) {
        stored.put_grid(file);
        for (int c = 0; c < k_components; ++c)
          stored.put_field(file, std::string("/fields/") + "uvw"[c], c, value);
        // Values at centres have no counterpart at walls.
        stored.put_field(file, "/fields/p", -1,
                         [](const Spot& x) { return 1.0 + x[0] * x[1] * x[2] * x[2] * x[2]; });
      },
      [&](const Hdf5Reader& file) {
        for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
          TestFlow test(setup, processes);
          const StoredPoints points(file, test.domain());
          EXPECT_FALSE(points.is_same());
          for (int c = 0; c < k_components; ++c) {
            points.interpolate(std::string("/fields/") + "uvw"[c], c, test.state().velocity(c));
            EXPECT_LT(test.error(test.state().velocity(c), c, value), 1e-13) << c;
          }
          points.interpolate("/fields/p", -1, test.state().p);
          EXPECT_LT(
              test.error(test.state().p, -1,
                         [](const Spot& x) { return 1.0 + x[0] * x[1] * x[2] * x[2] * x[2]; }),
              1e-13);
        }
      });
}

TEST_F(StoredFields, of_periodic_grids_are_interpolated_to_fourth_order) {
  FlowSetup setup = box_between_walls({14, 10, 12});
  setup.grid.stretching = Stretching::uniform;
  for (auto& sides : setup.flow.boundary) sides = {Side::periodic, Side::periodic};
  const auto wave = [&](const Spot& x) {
    double product = 1.0;
    for (int axis = 0; axis < 3; ++axis)
      product *= std::sin(2.0 * M_PI * x[axis] / setup.grid.size[axis] + 0.3);
    return product;
  };
  double errors[2];
  for (const int refined : {0, 1}) {
    FlowSetup coarse = setup;
    coarse.grid.cells = refined ? std::array{22, 18, 26} : std::array{11, 9, 13};
    const StoredFlow stored(coarse);
    with_file(
        [&](Hdf5Writer& file) {
          stored.put_grid(file);
          stored.put_field(file, "/fields/u", k_u, wave);
        },
        [&](const Hdf5Reader& file) {
          TestFlow test(setup, process_grids_of(setup.grid.cells).back());
          StoredPoints(file, test.domain()).interpolate("/fields/u", k_u, test.state().u);
          errors[refined] = test.error(test.state().u, k_u, wave);
        });
  }
  EXPECT_GT(std::log2(errors[0] / errors[1]), 3.5);
}

TEST_F(StoredFields, of_the_runs_own_grid_are_taken_as_they_are) {
  const FlowSetup setup = box_between_walls({9, 8, 10});
  const StoredFlow stored(setup);
  const auto value = [](const Spot& x) { return x[0] + 2.0 * x[1] + 3.0 * x[2]; };
  for (const bool with_grid : {false, true})
    with_file(
        [&](Hdf5Writer& file) {
          if (with_grid) stored.put_grid(file);
          stored.put_field(file, "/fields/u", k_u, value);
        },
        [&](const Hdf5Reader& file) {
          for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
            TestFlow test(setup, processes);
            EXPECT_TRUE(StoredPoints(file, test.domain()).is_same());
            read_field(file, test.domain(), "/fields/u", test.state().u);
            EXPECT_EQ(test.error(test.state().u, k_u, value), 0.0);
          }
        });
}

TEST_F(StoredFields, without_lower_faces_have_no_gradient_there) {
  FlowSetup setup = box_between_walls({9, 8, 10});
  for (int axis = 0; axis < 3; ++axis) setup.flow.boundary[axis][0] = Side::outflow;
  const StoredFlow stored(setup);
  const auto value = [](const Spot& x) { return x[0] + 2.0 * x[1] + 3.0 * x[2]; };
  with_file([&](Hdf5Writer& file) { stored.put_field(file, "/fields/u", k_u, value); },
            [&](const Hdf5Reader& file) {
              for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
                TestFlow test(setup, processes);
                State& state = test.state();
                test.set_velocity([&](int, const Spot& x) { return value(x); });
                read_lower_faces(file, test.domain(), state);
                const Domain& d = test.domain();
                EXPECT_EQ(state.u(-1, 1, 1), state.u(0, 1, 1));
                if (d.ends(1, 0)) {
                  EXPECT_EQ(state.v(1, -1, 1), state.v(1, 0, 1));
                }
                if (d.ends(2, 0)) {
                  EXPECT_EQ(state.w(1, 1, -1), state.w(1, 1, 0));
                }
              }
            });
}

TEST_F(StoredFields, that_do_not_fit_are_refused_with_what_was_expected) {
  const FlowSetup setup = box_between_walls({6, 8, 9});
  const StoredFlow stored(setup), other(box_between_walls({7, 8, 9}));
  FlowSetup longer = setup;
  longer.grid.size[1] = 2.0;
  const auto one = [](const Spot&) { return 1.0; };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(refusal(setup, [&](Hdf5Writer& file) { stored.put_grid(file); }), "/fields/u is missing");
  expect(refusal(setup,
                 [&](Hdf5Writer& file) {
                   put(file, "/fields/u", {1.0, 2.0}, {2});
                 }),
         "/fields/u has shape [2]; expected [k][j][i]");
  expect(refusal(setup, [&](Hdf5Writer& file) { other.put_field(file, "/fields/u", k_u, one); }),
         "/fields/u has 7 cells along x, but this run has 6; interpolation requires the cell "
         "positions in "
         "/grid/x and /grid/x_face");
  expect(refusal(longer,
                 [&](Hdf5Writer& file) {
                   stored.put_grid(file);
                   stored.put_field(file, "/fields/u", k_u, one);
                 }),
         "/grid/y_face ends at 1.5, but grid.size is 2: the domains must be identical");
  StoredFlow shuffled = stored;
  std::swap(shuffled.points[0][2][3], shuffled.points[0][2][4]);
  expect(refusal(setup,
                 [&](Hdf5Writer& file) {
                   shuffled.put_grid(file);
                   shuffled.put_field(file, "/fields/u", k_u, one);
                 }),
         "expected increasing values");
  const auto read_refusal = [&](const std::string& dataset) {
    std::string message;
    with_file([&](Hdf5Writer& file) { other.put_field(file, "/fields/u", k_u, one); },
              [&](const Hdf5Reader& file) {
                TestFlow test(setup, {world_.size(), 1});
                message = error_of<InputError>(
                    [&] { read_field(file, test.domain(), dataset, test.state().u); });
              });
    return message;
  };
  expect(read_refusal("/fields/u"), "/fields/u has shape [9, 8, 7]; expected [9, 8, 6]");
  expect(read_refusal("/fields/none"), "/fields/none");
}

}  // namespace

}  // namespace octant::dns
