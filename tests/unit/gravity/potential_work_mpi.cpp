#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"
#include "mesh/cell_loop.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

// A mesh whose blocks lie anywhere, through the faces of whose cells mass flows.
class Flows {
 public:
  // Of mass per area through a face that lies across an axis.
  using Flow = std::function<double(const Point& face, int axis)>;

  Flows(const std::string& boundary, int finest)
      : gas(box({16, 16, 16}, 4, finest, boundary)),
        stored(refined(), {}),
        levels(gas.mesh, {}, pool),
        potential_work(gas.mesh, stored, levels) {
    for (int level = 0; level <= gas.mesh.finest_level(); ++level) {
      stored.follow_mesh(level);
      stored.set_times(level, {.now = 1.0, .previous = 0.0, .solved = true});
    }
    levels.connect();
    potential_work.connect();
  }

  void set_potential(Field field, const Function& potential) {
    for (int level = 0; level <= gas.mesh.finest_level(); ++level)
      set(stored.field(level, field), potential, gas.mesh.cells(level));
  }

  // Calls see(cell's mean potential, mass that came to it per volume, work) for own leaf cells.
  template <class See>
  void work(int level, const Flow& flow, const Function& heat, const See& see) {
    const std::int64_t cells = cells_of(gas.mesh.layout().block_size),
                       all = cells * gas.mesh.blocks(level).slots();
    const DeviceArray<double> through("flow", 6 * all), hot("heat", all), found("work", all);
    const mesh::FaceFlow faces{through.data(), cells};
    const double h = gas.mesh.geometry().cell_size(level);
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side)
        set(
            {faces.through_face(0, axis, side), 6 * cells},
            [&](Point x) {
              x[axis] += (side - 0.5) * h;
              return of_level(level, flow, x, axis);
            },
            gas.mesh.cells(level));
    const BlockField heats{hot.data(), cells}, works{found.data(), cells};
    set(
        heats, [](const Point&) { return -1.0; }, gas.mesh.cells(level));
    set(heats, heat, gas.mesh.cells(level).leaves());
    potential_work.add(level, faces, heats, works);

    gas.for_cells(level, [&](const Point&, std::int64_t offset) {
      const std::int64_t stride = gas.mesh.layout().stride_slot;
      const mesh::Cell cell{0, static_cast<std::int32_t>(offset / stride),
                            static_cast<std::int32_t>(offset % stride)};
      if (*heats.at(cell) < 0.0) return;
      double came = 0.0;
      for (int axis = 0; axis < 3; ++axis)
        came += faces.through_face(cell.slot, axis, 0)[cell.index] -
                faces.through_face(cell.slot, axis, 1)[cell.index];
      see(0.5 * (*stored.field(level, Field::potential).at(cell) +
                 *stored.field(level, Field::previous_potential).at(cell)),
          came / h, *works.at(cell));
    });
  }

  Gas gas;
  StoredPotential stored;
  FieldPool pool;
  PatchLevels levels;
  PotentialWork potential_work;

 private:
  const mesh::Mesh& refined() {
    for (int round = 0; round < gas.mesh.geometry().max_level(); ++round)
      gas.refine([](const Point& x, int level) {
        return std::hypot(x[0] - 0.3, x[1] - 0.2, x[2] - 0.6) < (level == 0 ? 0.4 : 0.25);
      });
    scatter_blocks(gas, 5);
    return gas.mesh;
  }

  static void set(const BlockField& field, const Function& value, const CellRange& cells) {
    for (int place = 0; place < cells.count(); ++place)
      for (int index = 0; index < cells.cells_per_block(); ++index) {
        const mesh::OwnBlock& block = cells.blocks(place);
        const mesh::Cell cell{place, block.slot, index};
        if (mesh::loops::is_left_out(cells, block, index)) continue;
        const mesh::DevicePosition x = cells.centre(cell);
        *field.at(cell) = value({x[0], x[1], x[2]});
      }
  }

  // The mean of the flows through the finest faces in a face of a level.
  double of_level(int level, const Flow& flow, const Point& face, int axis) const {
    if (level == gas.mesh.finest_level()) return flow(face, axis);
    const double quarter = 0.25 * gas.mesh.geometry().cell_size(level);
    double sum = 0.0;
    for (int n = 0; n < 4; ++n) {
      Point fine = face;
      fine[(axis + 1) % 3] += n & 1 ? quarter : -quarter;
      fine[(axis + 2) % 3] += n & 2 ? quarter : -quarter;
      sum += of_level(level + 1, flow, fine, axis);
    }
    return 0.25 * sum;
  }
};

// Between 0 and 1, by position: the same for positions that differ by rounding or by the domain.
double drawn(const Point& x, int kind) {
  std::uint64_t key = kind;
  for (const double along : x)
    key = key * 1024 + static_cast<std::uint64_t>(std::lround(128.0 * along)) % 128;
  return RandomStream(1, key, 0).uniform(0);
}

TEST(PotentialWork, is_that_of_a_uniform_field_also_at_ends_and_jumps) {
  Flows flows("outflow", 2);
  ASSERT_EQ(flows.gas.mesh.finest_level(), 2);
  for (int along = 0; along < 3; ++along) {
    flows.set_potential(Field::potential, [&](const Point& x) { return 1.0 + 3.0 * x[along]; });
    flows.set_potential(Field::previous_potential, [&](const Point& x) { return x[along]; });
    for (int level = 0; level <= 2; ++level)
      flows.work(
          level, [](const Point&, int axis) { return 1.0 + axis; },
          [](const Point&) { return 1.0; },
          [&](double, double, double work) { EXPECT_NEAR(work, -2.0 * (1.0 + along), 1e-11); });
  }
}

// Whatever flows and whoever pays: on a level, and across jumps.
TEST(PotentialWork, takes_what_mass_that_came_has_in_its_potential) {
  for (const int finest : {0, 2}) {
    Flows flows("periodic", finest);
    ASSERT_EQ(flows.gas.mesh.finest_level(), finest);
    for (const Field field : {Field::potential, Field::previous_potential})
      flows.set_potential(field, [&](const Point& x) { return drawn(x, static_cast<int>(field)); });
    std::vector<double> excess, sizes;
    for (int level = 0; level <= finest; ++level) {
      const double volume = flows.gas.mesh.geometry().cell_volume(level);
      flows.work(
          level, [](const Point& face, int axis) { return drawn(face, 10 + axis) - 0.5; },
          [](const Point& x) { return std::exp(20.0 * drawn(x, 20)); },
          [&](double potential, double came, double work) {
            excess.push_back(volume * (work + potential * came));
            sizes.push_back(volume * std::abs(work));
          });
    }
    const Communicator& communicator = flows.gas.mesh.communicator();
    EXPECT_LT(std::abs(reproducible_sum(communicator, excess)),
              1e-13 * reproducible_sum(communicator, sizes))
        << finest;
  }
}

}  // namespace
}  // namespace octant::gravity::test
