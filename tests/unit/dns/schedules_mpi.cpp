// Planes and batches: two orders of the same work, with the same bits on a host, on one rank or on
// several.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/kernel_launch.hpp"

namespace octant::dns {

namespace {

using Sides = std::vector<Side>;

struct Case {
  std::string name;
  GridOptions grid;
  FlowParameters flow;
  ScalarOptions scalar;
};

Case box(const std::string& name, std::array<int, 3> cells, Sides x, Sides y, Sides z) {
  Case c;
  c.name = name;
  c.grid.cells = cells;
  c.grid.size = {1.3, 0.9, 1.1};
  c.flow.boundary = {x, y, z};
  c.flow.viscosity = 0.3;  // what the sides add must alter the last bits where two of them meet
  return c;
}

const Sides k_ring{Side::periodic, Side::periodic}, k_walls{Side::wall, Side::wall};

Case periodic_box() { return box("periodic", {12, 9, 7}, k_ring, k_ring, k_ring); }

Case channel(Axis axis) {
  Case c = box("channel along " + name_of(axis), {10, 7, 11}, k_ring, k_ring, k_walls);
  c.grid.stretching = Stretching::tanh;
  c.flow.forcing = Forcing::bulk_velocity;
  c.flow.forcing_axis = axis;
  c.flow.bulk_velocity = 0.7;
  c.flow.boundary_velocity[2][1] = {0.3, -0.1, 0.0};
  return c;
}

// The response to a forcing velocity differs within a plane.
Case duct() {
  Case c = channel(Axis::x);
  c.name = "duct";
  c.flow.boundary[1] = {Side::wall, Side::free_slip};
  c.flow.boundary_velocity[1][0] = {0.2, 0.0, 0.1};
  return c;
}

Case pushed_ring() {
  Case c = box("periodic with a force", {8, 10, 5}, k_ring, k_ring, k_ring);
  c.flow.forcing = Forcing::pressure_gradient;
  c.flow.forcing_axis = Axis::y;
  c.flow.pressure_gradient = 2.0;
  return c;
}

Case cavity() {
  Case c = box("cavity", {11, 13, 6}, k_walls, {Side::free_slip, Side::wall}, k_walls);
  c.grid.stretching = Stretching::tanh_lower;
  c.flow.boundary_velocity[2][1] = {1.0, 0.5, 0.0};
  c.flow.boundary_velocity[0][0] = {0.0, 0.25, 0.5};
  return c;
}

// What enters through one side of an axis leaves through the other one.
Case stream(int axis, int inflow_end) {
  Case c = box("stream " + std::to_string(axis) + std::to_string(inflow_end), {9, 8, 10}, k_walls,
               {Side::free_slip, Side::wall}, k_walls);
  Sides& sides = c.flow.boundary[axis];
  sides = {Side::outflow, Side::outflow};
  sides[inflow_end] = Side::inflow;
  c.flow.boundary_velocity[axis][inflow_end] = {0.1, 0.2, -0.1};
  c.flow.boundary_velocity[axis][inflow_end][axis] = inflow_end == 0 ? 0.8 : -0.8;
  return c;
}

Case open_edges() {
  return box("outflows that meet", {7, 8, 9}, {Side::outflow, Side::outflow},
             {Side::wall, Side::outflow}, {Side::outflow, Side::wall});
}

Case convection() {
  Case c = box("convection", {10, 9, 8}, k_walls, k_ring, k_walls);
  c.name = "convection";
  c.grid.stretching = Stretching::cosine;
  c.scalar.enabled = true;
  c.scalar.diffusivity = 0.02;
  c.scalar.buoyancy = 3.0;
  c.scalar.reference = 0.2;
  c.scalar.boundary[0] = {ScalarSideKind::insulated, ScalarSideKind::value};
  c.scalar.values = {{{0.0, 0.4}, {0.0, 0.0}, {1.0, -0.5}}};
  return c;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases{periodic_box(), channel(Axis::x), channel(Axis::y), duct(),
                          pushed_ring(),  cavity(),         open_edges(),     convection()};
  for (int axis = 0; axis < 3; ++axis)
    for (const int end : {0, 1}) cases.push_back(stream(axis, end));
  return cases;
}

// All process grids of the ranks with two cells along y and two unknowns along z for each of them.
std::vector<pencil::ProcessGrid> process_grids(const Case& c) {
  const int ranks = Communicator::world().size();
  std::vector<pencil::ProcessGrid> grids;
  for (int y = 1; y <= ranks; ++y)
    if (ranks % y == 0 && 2 * y <= c.grid.cells[1] && 2 * (ranks / y) < c.grid.cells[2])
      grids.push_back({y, ranks / y});
  return grids;
}

// A flow, and what it refers to.
class Trial {
 public:
  Trial(const Case& c, pencil::ProcessGrid processes, ScheduleKind schedule,
        Axis pencil_axis = Axis::x)
      : parameters_(c.flow),
        domain_(Communicator::world(), Grid(c.grid, Boundaries(c.flow, c.grid.size).periodic(2)),
                Boundaries(c.flow, c.grid.size), processes) {
    parameters_.schedule = schedule;
    parameters_.pencil_axis = pencil_axis;
    pencil::PoissonOptions solvers;
    solvers.tridiagonal.method = c.flow.poisson;
    flow_ = std::make_unique<Flow>(domain_, parameters_, c.scalar, solvers, CommOptions{});
  }

  Flow& flow() { return *flow_; }

  // Numbers that differ everywhere, the same for every schedule.
  void stir() {
    State& state = flow_->state();
    double seed = 1.0;
    for (Field* field : fields(state)) {
      fill(*field, seed);
      seed += 0.37;
    }
    if (flow_->has_scalar()) fill(flow_->scalar(), seed);
    flow_->complete();
  }
  void take(Trial& other) {
    const auto from = fields(other.flow().state()), to = fields(flow_->state());
    for (std::size_t n = 0; n < to.size(); ++n) copy(*from[n], *to[n]);
    if (flow_->has_scalar()) copy(other.flow().scalar(), flow_->scalar());
    flow_->complete();
  }
  // All cells of all fields, with the faces on lower sides.
  std::vector<double> bits() {
    std::vector<double> values;
    std::vector<Field*> all = fields(flow_->state());
    if (flow_->has_scalar()) all.push_back(&flow_->scalar());
    for (const Field* field : all)
      for (int k = -1; k < domain_.nz; ++k)
        for (int j = -1; j < domain_.ny; ++j)
          values.insert(values.end(), field->row(k, j) - 1, field->row(k, j) + domain_.nx);
    return values;
  }

 private:
  static std::vector<Field*> fields(State& s) { return {&s.u, &s.v, &s.w, &s.p}; }
  void fill(Field& field, double seed) const {
    for (int k = 0; k < domain_.nz; ++k)
      for (int j = 0; j < domain_.ny; ++j)
        for (int i = 0; i < domain_.nx; ++i)
          field(i, j, k) = std::sin(seed * (1.0 + i + 7.1 * j) + 3.3 * k);
  }

  void copy(const Field& from, Field& to) const {
    for (int k = -1; k < domain_.nz; ++k)
      for (int j = -1; j < domain_.ny; ++j)
        std::copy_n(from.row(k, j) - 1, domain_.nx + 1, to.row(k, j) - 1);
  }

  FlowParameters parameters_;
  Domain domain_;
  std::unique_ptr<Flow> flow_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// The same bits on a host; to round-off where a GPU's transforms are others.
constexpr bool k_same = k_is_host<DeviceSpace>;

void expect_agreement(const std::vector<double>& a, const std::vector<double>& b,
                      const std::string& what) {
  if (k_same) {
    EXPECT_TRUE(same_bits(a, b)) << what;
    return;
  }
  double largest = 0.0, difference = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    largest = std::max(largest, std::abs(a[n]));
    difference = std::max(difference, std::abs(a[n] - b[n]));
  }
  EXPECT_LE(difference, 1e-10 * largest) << what;
}

void expect_agreement(double a, double b, const std::string& what) {
  EXPECT_NEAR(a, b, k_same ? 0.0 : 1e-9 * std::abs(a)) << what;
}

bool same_totals(const Totals& a, const Totals& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

constexpr double k_step = 0.004;

class Schedules : public testing::TestWithParam<Diffusion> {
 protected:
  using Method = pencil::TridiagonalMethod;

  // Calls test(case, process grid, what a message says of them) for all cases, with some ways to
  // solve for lines along z.
  template <class Test>
  void for_all(std::initializer_list<Method> methods, const Test& test) const {
    for (Case c : all_cases())
      for (const Method method : methods)
        for (const pencil::ProcessGrid processes : process_grids(c)) {
          if (method == Method::ptdma && processes.z == 1) continue;
          c.flow.diffusion = GetParam();
          c.flow.poisson = method;
          test(c, processes,
               fmt::format("{}, {}, {}", c.name, to_string(processes), name_of(method)));
        }
  }
};

TEST_P(Schedules, have_the_same_bits_with_all_boundaries_and_forcings) {
  for_all({Method::ftm, Method::ptdma}, [](const Case& c, pencil::ProcessGrid processes,
                                           const std::string& what) {
    Trial planes(c, processes, ScheduleKind::planes), batches(c, processes, ScheduleKind::batches);
    for (Trial* trial : {&planes, &batches}) {
      trial->stir();
      for (int n = 0; n < 3; ++n) trial->flow().step(k_step);
    }
    expect_agreement(planes.bits(), batches.bits(), what);
    expect_agreement(planes.flow().mean_force(), batches.flow().mean_force(), what);
  });
}

TEST_P(Schedules, measure_the_same_bits) {
  for_all({Method::ftm}, [](const Case& c, pencil::ProcessGrid processes, const std::string& what) {
    Trial planes(c, processes, ScheduleKind::planes), batches(c, processes, ScheduleKind::batches);
    for (Trial* trial : {&planes, &batches}) {
      trial->stir();
      trial->flow().step(k_step);
    }
    const Totals a = measure(planes.flow()), b = measure(batches.flow());
    EXPECT_TRUE(!k_same || same_totals(a, b)) << what;
    EXPECT_LE(a.scaled_divergence, 1e-12) << what;
    expect_agreement(stable_step(planes.flow(), a, 0.8), stable_step(batches.flow(), b, 0.8), what);
  });
}

TEST_P(Schedules, go_on_from_each_others_state) {
  for_all({Method::ftm}, [](const Case& c, pencil::ProcessGrid processes, const std::string& what) {
    Trial whole(c, processes, ScheduleKind::planes), first(c, processes, ScheduleKind::batches),
        second(c, processes, ScheduleKind::planes), third(c, processes, ScheduleKind::batches);
    whole.stir();
    for (int n = 0; n < 3; ++n) whole.flow().step(k_step);
    first.stir();
    first.flow().step(k_step);
    second.take(first);
    second.flow().step(k_step);
    third.take(second);
    third.flow().step(k_step);
    expect_agreement(third.bits(), whole.bits(), what);
  });
}

// Process grids that leave two cells along x to each rank in pencils along z.
bool has_pencils_along_z(const Case& c, pencil::ProcessGrid processes) {
  return 2 * processes.z <= c.grid.cells[0];
}

TEST_P(Schedules, have_the_same_bits_with_pencils_along_z) {
  for_all({Method::ftm}, [](const Case& c, pencil::ProcessGrid processes, const std::string& what) {
    if (!has_pencils_along_z(c, processes)) return;
    Trial rows(c, processes, ScheduleKind::planes),
        lines(c, processes, ScheduleKind::batches, Axis::z);
    for (Trial* trial : {&rows, &lines}) {
      trial->stir();
      for (int n = 0; n < 3; ++n) trial->flow().step(k_step);
    }
    expect_agreement(rows.bits(), lines.bits(), what);
    expect_agreement(rows.flow().mean_force(), lines.flow().mean_force(), what);
    const Totals a = measure(rows.flow()), b = measure(lines.flow());
    EXPECT_TRUE(!k_same || same_totals(a, b)) << what;
    const bool sends = processes.z > 1;
    EXPECT_EQ(lines.flow().poisson_report().turn.bytes > 0, sends) << what;
    if (c.flow.diffusion == Diffusion::implicit_z) {
      EXPECT_EQ(lines.flow().diffusion_report().z.bytes, 0) << what;
    }
  });
}

TEST_P(Schedules, go_on_in_pencils_of_another_axis) {
  for_all({Method::ftm}, [](const Case& c, pencil::ProcessGrid processes, const std::string& what) {
    if (!has_pencils_along_z(c, processes)) return;
    Trial whole(c, processes, ScheduleKind::batches, Axis::z),
        first(c, processes, ScheduleKind::batches, Axis::z),
        second(c, processes, ScheduleKind::planes);
    whole.stir();
    for (int n = 0; n < 3; ++n) whole.flow().step(k_step);
    first.stir();
    first.flow().step(k_step);
    second.take(first);
    second.flow().step(k_step);
    first.take(second);
    first.flow().step(k_step);
    expect_agreement(first.bits(), whole.bits(), what);
  });
}

TEST_P(Schedules, agree_with_ptdma_in_pencils_along_z) {
  for_all({Method::ptdma},
          [](const Case& c, pencil::ProcessGrid processes, const std::string& what) {
            if (!has_pencils_along_z(c, processes)) return;
            Trial rows(c, processes, ScheduleKind::batches),
                lines(c, processes, ScheduleKind::batches, Axis::z);
            for (Trial* trial : {&rows, &lines}) {
              trial->stir();
              trial->flow().step(k_step);
            }
            const std::vector<double> a = rows.bits(), b = lines.bits();
            double largest = 0.0, difference = 0.0;
            for (std::size_t n = 0; n < a.size(); ++n) {
              largest = std::max(largest, std::abs(a[n]));
              difference = std::max(difference, std::abs(a[n] - b[n]));
            }
            EXPECT_LE(difference, 1e-11 * largest) << what;
          });
}

TEST(PencilsAlongZ, are_refused_with_the_schedule_of_planes) {
  Case c = periodic_box();
  EXPECT_THROW(Trial(c, {Communicator::world().size(), 1}, ScheduleKind::planes, Axis::z),
               InputError);
  c.flow.pencil_axis = Axis::z;
  EXPECT_TRUE(in_batches(c.flow));
}

TEST_P(Schedules, tell_where_a_flow_has_broken_down) {
  const Communicator world = Communicator::world();
  for (const ScheduleKind schedule : {ScheduleKind::planes, ScheduleKind::batches}) {
    Case c = periodic_box();
    c.flow.diffusion = GetParam();
    Trial trial(c, {world.size(), 1}, schedule);
    trial.stir();
    if (world.rank() == 0)
      trial.flow().state().v(3, 1, 2) = std::numeric_limits<double>::quiet_NaN();
    trial.flow().complete();
    try {
      measure(trial.flow());
      FAIL() << name_of(schedule);
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("cell (3, 1, 2)"), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Diffusion, Schedules, testing::ValuesIn(values_of<Diffusion>()));

}  // namespace

}  // namespace octant::dns
