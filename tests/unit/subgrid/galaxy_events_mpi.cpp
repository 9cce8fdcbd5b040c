// Events on an adaptive mesh: sums, overlaps, level jumps, faces, ranks; and others' numbers.
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"
#include "core/random.hpp"
#include "subgrid/black_holes/nucleus.hpp"
#include "subgrid/events/apply_events.hpp"
#include "subgrid/events/grant_requests.hpp"
#include "subgrid/supernovae/blasts.hpp"
#include "tests/unit/reference_path.hpp"

namespace octant::subgrid {
namespace {

constexpr EventSearch k_searches[] = {EventSearch::blocks, EventSearch::bins, EventSearch::brute};
constexpr hydro::Gas k_gas{.gamma = 5.0 / 3.0, .pressure_floor = 1e-30};
constexpr int k_metals = hydro::k_hydro_variables;
constexpr EventTarget k_target{k_gas, k_metals};

using State = std::array<double, 6>;  // five hydrodynamic variables and metals

// A box of gas, refined at random in the same way on any number of ranks.
struct Box {
  mesh::Mesh mesh;

  Box(mesh::Boundary boundary, int base_cells, int block_size, int max_level,
      const Communicator& communicator = Communicator::world())
      : mesh(mesh::Geometry(options(boundary, base_cells, block_size, max_level)), communicator,
             CommOptions{},
             {.variables = {{"density"},
                            {.name = "x", .vector_axis = 0},
                            {.name = "y", .vector_axis = 1},
                            {.name = "z", .vector_axis = 2},
                            {"energy"},
                            {"metals"}}},
             std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()) {
    for (int round = 0; round < max_level; ++round) mesh.regrid(flags(round));
  }

  static mesh::MeshOptions options(mesh::Boundary boundary, int base_cells, int block_size,
                                   int max_level) {
    mesh::MeshOptions options;
    options.block_size = block_size;
    options.base_cells = {base_cells, base_cells, base_cells};
    options.max_level = max_level;
    options.boundary.fill(std::vector(2, boundary));
    return options;
  }

  mesh::FlagMasks flags(int round) {
    mesh::FlagMasks flags(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      for (const int slot : mesh.blocks(l).own())
        for (const int bit : {21, 22, 25, 26, 37, 38, 41, 42})  // the block's own octants
          if (RandomStream(7, static_cast<std::uint64_t>(mesh.blocks(l).key(slot)) * 8 + l, round)
                  .uniform(bit) < 0.25)
            flags[l][slot] |= std::uint64_t{1} << bit;
    }
    return flags;
  }

  // Calls visit(level, slot, index, centre, first variable) for this rank's leaf cells.
  template <class Visit>
  void for_leaf_cells(const Visit& visit) {
    const int N = mesh.layout().block_size;
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const double dx = mesh.geometry().cell_size(level);
      for (const int slot : mesh.blocks(level).own()) {
        const auto corner =
            mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
        double* block =
            mesh.fields(level).blocks(mesh::LevelFields::k_now) + slot * mesh.layout().stride_slot;
        for (int c = 0; c < N * N * N; ++c) {
          const int x[3] = {c % N, c / N % N, c / N / N};
          int octant = 0;
          for (int d = 0; d < 3; ++d) octant |= (2 * x[d] >= N) << d;
          if (mesh.blocks(level).refined(slot) >> octant & 1) continue;
          visit(level, slot, c,
                mesh::Position{corner[0] + (x[0] + 0.5) * dx, corner[1] + (x[1] + 0.5) * dx,
                               corner[2] + (x[2] + 0.5) * dx},
                block + c);
        }
      }
    }
  }

  template <class Density>
  void fill(const Density& density) {
    for_leaf_cells([&](int, int, int, const mesh::Position& x, double* cell) {
      const State state{density(x), 0.3, -0.2, 0.1, 1.0, 0.01};
      for (int n = 0; n < 6; ++n) cell[n * mesh.layout().stride_variable] = state[n];
    });
  }

  std::map<std::array<int, 3>, State> cells() {  // by coordinates in cells of the finest level
    std::map<std::array<int, 3>, State> states;
    const double fine = mesh.geometry().cell_size(mesh.geometry().max_level());
    for_leaf_cells([&](int, int, int, const mesh::Position& x, double* cell) {
      State& state = states[{static_cast<int>(x[0] / fine), static_cast<int>(x[1] / fine),
                             static_cast<int>(x[2] / fine)}];
      for (int n = 0; n < 6; ++n) state[n] = cell[n * mesh.layout().stride_variable];
    });
    return states;
  }

  // Gives an event the block that holds it. False on other ranks.
  bool find_leaf(EventRegion& region) {
    bool found = false;
    for_leaf_cells([&](int level, int slot, int, const mesh::Position& x, double*) {
      const double half = 0.5 * mesh.geometry().cell_size(level);
      bool inside = true;
      for (int d = 0; d < 3; ++d)
        inside = inside && region.centre[d] >= x[d] - half && region.centre[d] < x[d] + half;
      if (inside) region.level = level, region.slot = slot, found = true;
    });
    return found;
  }
};

using Supernova = KineticBlast::Event;

// Overlapping supernovae everywhere, the same on all ranks: those of this rank.
std::vector<Supernova> swarm(Box& box, double radius) {
  std::vector<Supernova> own;
  for (std::uint64_t n = 0; n < 80; ++n) {
    const RandomStream stream(11, n, 0);
    Supernova event{{.id = 1000 - 7 * n, .radius = radius}, {}, 0.0, 0.0, 0.0};
    for (int d = 0; d < 3; ++d) {
      event.region.centre[d] = stream.uniform(d);
      event.velocity[d] = stream.uniform(3 + d) - 0.5;
    }
    event.mass = 1e-4 * (1.0 + stream.uniform(6));
    event.energy = 1e-2 * (1.0 + stream.uniform(7));
    event.metals = 0.1 * stream.uniform(8);
    if (box.find_leaf(event.region)) own.push_back(event);
  }
  return own;
}

State totals_of(const std::vector<Supernova>& events) {
  std::array<ReproducibleSum, 6> sums;
  for (const Supernova& event : events) {
    double square = 0.0;
    for (const double v : event.velocity) square += v * v;
    sums[0] += event.mass;
    for (int d = 0; d < 3; ++d) sums[1 + d] += event.mass * event.velocity[d];
    sums[4] += event.energy + 0.5 * event.mass * square;
    sums[5] += event.mass * event.metals;
  }
  reproducible_sum(Communicator::world(), sums);
  State totals;
  for (int n = 0; n < 6; ++n) totals[n] = sums[n].to_double();
  return totals;
}

State total_gas(Box& box) {
  std::array<ReproducibleSum, 6> sums;
  box.for_leaf_cells([&](int level, int, int, const mesh::Position&, double* cell) {
    for (int n = 0; n < 6; ++n)
      sums[n] +=
          box.mesh.geometry().cell_volume(level) * cell[n * box.mesh.layout().stride_variable];
  });
  reproducible_sum(Communicator::world(), sums);
  State totals;
  for (int n = 0; n < 6; ++n) totals[n] = sums[n].to_double();
  return totals;
}

double even(const mesh::Position&) { return 1.0; }

TEST(Events, conserve_what_they_carry_wherever_they_are) {
  for (const double radius : {1e-4, 0.04, 0.2})
    for (const int block_size : {2, 4, 8}) {
      Box box(mesh::Boundary::periodic, 16, block_size, 2);
      box.fill(even);
      const State before = total_gas(box);
      const std::vector<Supernova> events = swarm(box, radius);
      InjectedSums injected = apply_events(box.mesh, KineticBlast{}, k_target,
                                           std::span<const Supernova>(events), EventSearch::blocks);
      reproducible_sum(Communicator::world(), injected.sums);
      const State after = total_gas(box), carried = totals_of(events);
      for (int n = 0; n < 6; ++n) {
        const double scale = n == 0 || n == 5 ? carried[n] : 0.05;
        EXPECT_NEAR(after[n] - before[n], carried[n], 1e-12 * std::max(1.0, std::abs(before[n])));
        EXPECT_NEAR(injected.sums[n].to_double(), carried[n], 1e-12 * std::abs(scale)) << n;
      }
      EXPECT_EQ(injected.sums[InjectedSums::k_floor_energy].to_double(), 0.0);
    }
}

TEST(Events, every_search_gives_the_same_bits) {
  for (const mesh::Boundary boundary : {mesh::Boundary::periodic, mesh::Boundary::outflow})
    for (const double radius : {1e-4, 0.05, 0.3}) {
      std::map<std::array<int, 3>, State> first;
      for (const EventSearch search : k_searches) {
        Box box(boundary, 16, 4, 2);
        box.fill([](const mesh::Position& x) { return 1.0 + 0.5 * x[0]; });
        const std::vector<Supernova> events = swarm(box, radius);
        apply_events(box.mesh, KineticBlast{0.7}, k_target, std::span<const Supernova>(events),
                     search);
        if (search == EventSearch::blocks) first = box.cells();
        else EXPECT_EQ(first, box.cells()) << radius;
      }
    }
}

TEST(Events, give_the_same_bits_on_one_rank_and_on_several) {
  const auto cells_on = [](const Communicator& communicator) {
    Box box(mesh::Boundary::periodic, 16, 4, 2, communicator);
    box.fill([](const mesh::Position& x) { return 1.0 + 0.5 * x[0]; });
    const std::vector<Supernova> events = swarm(box, 0.05);
    apply_events(box.mesh, KineticBlast{}, k_target, std::span<const Supernova>(events),
                 EventSearch::blocks);
    return box.cells();
  };
  const Communicator world = Communicator::world();
  const auto together = cells_on(world), alone = cells_on(world.split(world.rank()));
  EXPECT_GE(alone.size(), together.size());
  for (const auto& [place, state] : together) EXPECT_EQ(alone.at(place), state);
}

// In a cold stream of Mach 1e4 the heat of a blast stays, though it is 1e-5 of the energy.
TEST(Events, heat_stays_in_a_cold_stream) {
  hydro::Gas gas = k_gas;
  gas.dual_energy = true;
  const double pressure = 1e-8;
  double state[6] = {1.0, 1e2, -3e2, 0.0, 5e4 + pressure / (gas.gamma - 1.0), pressure};
  const hydro::GasCell cell(state, 1, gas);
  const double momentum[3] = {1.0, -3.0, 0.0};  // of mass 0.01 that moves with the gas
  EXPECT_EQ(cell.add(0.01, momentum, 500.0 + 0.5), 0.0);
  EXPECT_NEAR(cell.density() * cell.internal_energy(), 0.5 + pressure / (gas.gamma - 1.0), 1e-9);
  EXPECT_DOUBLE_EQ(state[4], 50500.5 + pressure / (gas.gamma - 1.0));
}

// --- others' numbers -----------------------------------------------------------------------------

// Rows of a table with a heading, by column.
using Row = std::map<std::string, std::string>;
std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::vector<std::string> values;
    for (std::string word; std::getline(words, word, ',');) values.push_back(word);
    if (names.empty()) {
      names = values;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t n = 0; n < names.size(); ++n) row[names[n]] = values[n];
  }
  return rows;
}

double number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

// What stands behind a word in a file's first lines.
double in_heading(const std::string& path, const std::string& before, const std::string& after) {
  std::ifstream file(path);
  std::string line, heading;
  while (std::getline(file, line) && line[0] == '#') heading += line;
  const std::size_t begin = heading.find(before) + before.size();
  return std::stod(heading.substr(begin, heading.find(after, begin) - begin));
}

void read_vector(const Row& row, const std::string& prefix, double (&to)[3]) {
  const char* axes[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) to[d] = number(row, prefix + axes[d]);
}

// Compares what cells got with a table of cells, every row of it, and all cells that it leaves out.
void expect_gains(Box& box, const std::map<std::array<int, 3>, State>& before,
                  const std::string& path, bool has_metals, double tolerance) {
  std::map<std::array<int, 3>, State> expected;
  State scale{};
  for (const Row& row : read_rows(path)) {
    State& gain =
        expected[{std::stoi(row.at("i")), std::stoi(row.at("j")), std::stoi(row.at("k"))}];
    const char* names[] = {"mass", "momentum_x", "momentum_y", "momentum_z", "energy", "metals"};
    for (int n = 0; n < 5 + has_metals; ++n) {
      gain[n] = number(row, names[n]);
      scale[n] = std::max(scale[n], std::abs(gain[n]));
    }
  }
  ASSERT_FALSE(expected.empty()) << path;
  for (const auto& [place, state] : box.cells()) {
    const auto found = expected.find(place);
    for (int n = 0; n < 5 + has_metals; ++n)
      EXPECT_NEAR(state[n] - before.at(place)[n], found == expected.end() ? 0.0 : found->second[n],
                  tolerance * scale[n])
          << place[0] << " " << place[1] << " " << place[2] << ", variable " << n;
  }
}

TEST(GalaxyEvents, supernovae_give_every_cell_what_the_reference_says) {
  const std::string table = reference_path("galaxy/sn_injection_events.csv");
  if (table.empty()) GTEST_SKIP() << "OCTANT_DATA names no reference data";
  const auto cells = static_cast<int>(in_heading(table, "box of ", "^3 cells"));
  Box box(mesh::Boundary::periodic, cells, 8, 0);
  box.fill(even);
  const auto before = box.cells();
  std::vector<Supernova> events;
  std::uint64_t id = 0;
  for (const Row& row : read_rows(table)) {
    Supernova event{{.id = id++, .radius = in_heading(table, "r_max=", ",")}, {}, 0.0, 0.0, 0.0};
    read_vector(row, "", event.region.centre);
    read_vector(row, "v", event.velocity);
    event.mass = number(row, "mass");
    event.energy = number(row, "energy");
    event.metals = number(row, "Z");
    if (box.find_leaf(event.region)) events.push_back(event);
  }
  apply_events(box.mesh, KineticBlast{in_heading(table, "f_ek=", ";")}, k_target,
               std::span<const Supernova>(events), EventSearch::blocks);
  expect_gains(box, before, reference_path("galaxy/sn_injection_cells.csv"), true, 1e-12);
}

TEST(GalaxyEvents, nuclei_give_every_cell_what_the_reference_says) {
  const std::string table = reference_path("galaxy/agn_injection_events.csv");
  if (table.empty()) GTEST_SKIP() << "OCTANT_DATA names no reference data";
  const auto cells = static_cast<int>(in_heading(table, "box of ", "^3 cells"));
  Box box(mesh::Boundary::periodic, cells, 8, 0);
  box.fill([](const mesh::Position& x) {
    return 1.0 + 0.5 * std::cos(2.0 * M_PI * x[0]) * std::cos(2.0 * M_PI * x[1]);
  });
  const auto before = box.cells();
  std::vector<JetLaw::Event> jets;
  std::vector<HeatLaw::Event> heats;
  std::uint64_t id = 0;
  for (const Row& row : read_rows(table)) {
    JetLaw::Event jet{};
    jet.region.id = id++;
    jet.reach = number(row, "R");
    jet.energy = number(row, "energy");
    read_vector(row, "", jet.region.centre);
    if (!box.find_leaf(jet.region)) continue;
    if (row.at("mode") != "jet") {
      jet.region.radius = jet.reach;
      heats.push_back({jet.region, 0.0, jet.energy, 0.0});
      continue;
    }
    jet.region.radius = JetLaw::radius(jet.reach);
    read_vector(row, "v", jet.velocity);
    read_vector(row, "j", jet.direction);
    double length = 0.0;
    for (const double j : jet.direction) length += j * j;
    for (double& j : jet.direction) j /= std::sqrt(length);
    jet.mass = number(row, "mass");
    jet.kinetic_energy_fraction = number(row, "f_kin");
    jets.push_back(jet);
  }
  grant_requests(box.mesh, HeatLaw{1e30}, k_target, std::span<const HeatLaw::Event>(heats),
                 EventSearch::blocks);
  apply_events(box.mesh, JetLaw{}, k_target, std::span<const JetLaw::Event>(jets),
               EventSearch::blocks);
  // The table gives directions with ten digits: recomputed from it, the reference differs by 7e-11.
  expect_gains(box, before, reference_path("galaxy/agn_injection_cells.csv"), false, 1e-10);
}

}  // namespace
}  // namespace octant::subgrid
