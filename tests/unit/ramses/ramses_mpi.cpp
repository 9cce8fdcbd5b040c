// A small output of RAMSES is read back as it was written, whichever rank reads which domain, and
// is refused where its files do not belong together.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "io/hdf5_file.hpp"
#include "ramses/export.hpp"
#include "ramses/ramses.hpp"
#include "tests/unit/io/grafic_files.hpp"
#include "tests/unit/io/scratch.hpp"

namespace octant {
namespace {

using grafic_files::expect_input_error;

constexpr int k_domains = 3, k_levels = 3, k_variables = 5, k_cells = 8;
using Place = std::array<std::int64_t, 3>;

struct Oct {
  int owner;
  Place place;
  std::uint8_t refined;
};

// One oct, its eight children, and one child of one of these.
std::vector<std::vector<Oct>> octs_by_level() {
  std::vector<std::vector<Oct>> levels{{{1, {0, 0, 0}, 0xff}}, {}, {}};
  for (int n = 0; n < k_cells; ++n) {
    const Place place{n & 1, n >> 1 & 1, n >> 2};
    const bool is_father = n == 5;
    levels[1].push_back({1 + n % k_domains, place, static_cast<std::uint8_t>(is_father ? 4 : 0)});
    if (is_father) levels[2].push_back({2, {2 * place[0], 2 * place[1] + 1, 2 * place[2]}, 0});
  }
  for (auto& level : levels) std::ranges::stable_sort(level, {}, &Oct::owner);
  return levels;
}

// A variable in a cell: linear in space, so that a divided cell has the mean of its parts.
double value(int level, const Place& oct, int cell, int variable) {
  double sum = 1.0 + variable;
  for (int d = 0; d < 3; ++d)
    sum += (d + 1) * std::ldexp(2.0 * static_cast<double>(oct[d]) + (cell >> d & 1) + 0.5, -level);
  return sum;
}

// Value that one domain's files hold instead.
using Spoil = std::function<double(int domain, const Oct&, int level, double value)>;

RamsesOutput small_output(const std::string& folder) {
  RamsesOutput output;
  output.attributes.folder = folder;
  output.attributes.number = "00007";
  output.attributes.domains = k_domains;
  output.attributes.coarsest_level = 2;
  output.attributes.coarse_steps = 12;
  output.attributes.box_length = 2.0;
  output.attributes.time = 0.375;
  output.attributes.unit_length = 3e21;
  output.attributes.variables = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
  output.attributes.particle_fields = {"position_x", "position_y", "position_z", "velocity_x",
                                       "velocity_y", "velocity_z", "mass",       "identity",
                                       "levelp",     "family",     "tag",        "birth_time"};
  output.attributes.families = {{"DM", 2}, {"star", 1}};
  output.levels = k_levels;
  output.gamma = 1.4;
  output.sinks = 1;
  output.bounds = {0.0, 100.0, 200.0, 512.0};
  for (const auto& level : octs_by_level()) {
    auto& counts = output.octs.emplace_back(k_domains, 0);
    for (const Oct& oct : level) ++counts[oct.owner - 1];
  }
  return output;
}

RamsesTreeLevel tree_of(const std::vector<Oct>& octs, int level) {
  RamsesTreeLevel tree;
  for (const Oct& oct : octs) {
    for (int d = 0; d < 3; ++d)
      tree.centre[d].push_back(std::ldexp(static_cast<double>(oct.place[d]) + 0.5, 1 - level));
    tree.father.push_back(1);
    for (auto& neighbour : tree.neighbour) neighbour.push_back(1);
    for (int cell = 0; cell < k_cells; ++cell) {
      tree.son[cell].push_back(oct.refined >> cell & 1);
      tree.owner[cell].push_back(oct.owner);
      tree.flag[cell].push_back(0);
    }
  }
  return tree;
}

// A particle of each domain: two of dark matter and, in the last domain, a star.
void write_particle(const RamsesOutput& output, int domain, std::int64_t stars) {
  FortranWriter file = ramses_particle_file(output, domain, 1, stars);
  for (int d = 0; d < 3; ++d) file.reals({0.25 * domain + 0.125 * d});
  for (int d = 0; d < 3; ++d) file.reals({-1.0 * domain - d});
  file.reals({0.01 * domain});
  file.integers({100 + domain});
  file.integers({k_levels});
  file.record(std::vector<std::int8_t>{domain < k_domains ? k_ramses_dark : k_ramses_star});
  file.record(std::vector<std::int8_t>{0});
  file.reals({domain < k_domains ? 0.0 : 0.25});
  file.finish();
}

// Every domain holds copies of all octs of the others.
void write_files(const std::string& folder, const Spoil& spoil) {
  std::filesystem::create_directories(folder);
  const RamsesOutput output = small_output(folder);
  const auto octs = octs_by_level();
  write_ramses_texts(output, 100);
  RamsesParticles sinks;
  sinks.position = {{0.5, 1.0, 1.5}};
  sinks.velocity = {{0.125, -0.25, 0.0}};
  sinks.mass = {2.5e-3};
  sinks.identity = {7};
  sinks.columns["birth_time"] = {0.01};
  write_ramses_sinks(output, sinks);
  for (int domain = 1; domain <= k_domains; ++domain) {
    RamsesTreeFile tree(output, domain, output.octs, {1}, 1);
    RamsesCellFile gas(output, RamsesCellFile::Kind::gas, domain, output.octs, k_variables);
    for (int level = 1; level <= k_levels; ++level) {
      tree.write_level(level, tree_of(octs[level - 1], level));
      for (int n = 0; n < k_variables; ++n) {
        std::vector<double> values;
        for (const Oct& oct : octs[level - 1])
          for (int cell = 0; cell < k_cells; ++cell) {
            const double v = value(level, oct.place, cell, n);
            values.push_back(spoil && n == 0 ? spoil(domain, oct, level, v) : v);
          }
        gas.write(level, n, values);
      }
    }
    tree.finish();
    gas.finish();
    write_particle(output, domain, 1);
  }
}

// The same in the layout of cuRAMSES. Collective.
void write_hdf5(const Communicator& world, const std::string& path) {
  Hdf5Writer file(world, path);
  const RamsesOutput output = small_output("");
  const DatasetMeaning meaning{"1", "made up for a test"};
  const auto put = [&]<class T>(const std::string& name, const std::vector<T>& all) {
    const RowRange rows = even_share(std::ssize(all), world.rank(), world.size());
    file.dataset<T>(name, rows, {},
                    std::span(all).subspan(static_cast<std::size_t>(rows.begin),
                                           static_cast<std::size_t>(rows.count)),
                    meaning);
  };
  file.group("/header");
  const std::pair<const char*, std::int64_t> counts[] = {{"ncpu", k_domains},
                                                         {"ndim", 3},
                                                         {"nx", 1},
                                                         {"ny", 1},
                                                         {"nz", 1},
                                                         {"nlevelmax", k_levels},
                                                         {"levelmin", 2},
                                                         {"nstep_coarse", 12},
                                                         {"nvar", k_variables}};
  for (const auto& [name, count] : counts) file.attribute("/header", name, count);
  const std::pair<const char*, double> numbers[] = {
      {"boxlen", 2.0},  {"time", 0.375},  {"aexp", 1.0},      {"h0", 1.0},   {"omega_m", 1.0},
      {"omega_l", 0.0}, {"omega_k", 0.0}, {"omega_b", 0.045}, {"gamma", 1.4}};
  for (const auto& [name, number] : numbers) file.attribute("/header", name, number);
  file.attribute("/header", "dtnew", std::vector<double>(k_levels, 0.0));
  const auto octs = octs_by_level();
  for (int level = 1; level <= k_levels; ++level) {
    const auto& own = octs[level - 1];
    const std::string amr = fmt::format("/amr/level_{}", level);
    const RamsesTreeLevel tree = tree_of(own, level);
    std::vector<std::int32_t> owned(output.octs[level - 1].begin(), output.octs[level - 1].end());
    put(amr + "/ngrid_per_cpu", owned);
    for (int d = 0; d < 3; ++d) put(fmt::format("{}/xg_{}", amr, d + 1), tree.centre[d]);
    std::vector<std::int32_t> sons;
    for (const Oct& oct : own)
      for (int cell = 0; cell < k_cells; ++cell) sons.push_back(oct.refined >> cell & 1);
    put(amr + "/son_flag", sons);
    for (int n = 0; n < k_variables; ++n) {
      std::vector<double> values;
      for (const Oct& oct : own)
        for (int cell = 0; cell < k_cells; ++cell)
          values.push_back(value(level, oct.place, cell, n));
      put(fmt::format("/hydro/level_{}/uold_{}", level, n + 1), values);
    }
  }
  for (int d = 0; d < 3; ++d) {
    put(fmt::format("/particles/x_{}", d + 1),
        std::vector{0.25 + 0.125 * d, 0.5 + 0.125 * d, 0.75 + 0.125 * d});
    put(fmt::format("/particles/v_{}", d + 1), std::vector{-1.0 - d, -2.0 - d, -3.0 - d});
    put(fmt::format("/sinks/xsink_{}", d + 1), std::vector{0.5 + 0.5 * d});
    put(fmt::format("/sinks/vsink_{}", d + 1), std::vector{std::array{0.125, -0.25, 0.0}[d]});
  }
  put("/particles/mass", std::vector{0.01, 0.02, 0.03});
  put("/particles/identity", std::vector<std::int64_t>{101, 102, 103});
  put("/particles/levelp", std::vector<std::int32_t>(3, k_levels));
  put("/particles/birth_epoch", std::vector{0.0, 0.0, 0.25});
  put("/particles/npart_per_cpu", std::vector<std::int32_t>(3, 1));
  put("/sinks/msink", std::vector{2.5e-3});
  put("/sinks/idsink", std::vector<std::int32_t>{7});
  put("/sinks/tsink", std::vector{0.01});
  file.commit();
}

class Ramses : public testing::Test {
 protected:
  std::string folder() const { return scratch.path("output_00007"); }
  std::string path(const std::string& name) const { return folder() + "/" + name; }

  // Rewrites the folder. Collective.
  void write(const Spoil& spoil = {}) const {
    change([&] {
      std::filesystem::remove_all(folder());
      write_files(folder(), spoil);
    });
  }
  // Changes files on the root alone. Collective.
  void change(const std::function<void()>& step) const {
    world.barrier();
    if (world.is_root()) step();
    world.barrier();
  }
  void replace(const std::string& name, const std::string& old, const std::string& now) const {
    std::ifstream in(path(name));
    std::stringstream text;
    text << in.rdbuf();
    std::string all = text.str();
    const auto at = all.find(old);
    ASSERT_NE(at, std::string::npos) << old << " is not in " << name;
    all.replace(at, old.size(), now);
    std::ofstream(path(name)) << all;
  }
  // Reads everything; cells in pieces of `at_once` octs, `chunk` domains in a round.
  void read_all(int chunk, std::int64_t at_once) const {
    const RamsesFacts attributes = read_ramses_facts(world, folder());
    const auto source = open_ramses(world, attributes, chunk);
    for (const RamsesHead& head : source->heads()) {
      EXPECT_EQ(head.levels, k_levels);
      EXPECT_EQ(head.variables, k_variables);
      EXPECT_EQ(head.gamma, 1.4);
      EXPECT_EQ(head.coarse_cells, (Place{1, 1, 1}));
    }
    for (int level = 1; level <= k_levels; ++level) {
      source->next_level();
      std::int64_t total = 0;
      for (int round = 0; round < source->rounds(); ++round) {
        const std::int64_t count = source->count(round), most = world.max(count);
        for (std::int64_t begin = 0; begin < most; begin += at_once) {
          RamsesOcts octs;
          source->read(round, {begin, std::clamp<std::int64_t>(count - begin, 0, at_once)}, octs);
          compare(level, octs);
          total += octs.size();
        }
      }
      EXPECT_EQ(world.sum(total), std::ssize(octs_by_level()[level - 1]));
    }
    std::int64_t particles = 0;
    for (int round = 0; round < source->rounds(); ++round)
      particles += compare(source->particles(round));
    EXPECT_EQ(world.sum(particles), 3);
    compare_sinks(source->sinks());
  }

  static void compare(int level, const RamsesOcts& octs) {
    for (std::int64_t n = 0; n < octs.size(); ++n) {
      const auto all = octs_by_level()[level - 1];
      const auto found = std::ranges::find(all, octs.places[n], &Oct::place);
      ASSERT_NE(found, all.end());
      EXPECT_EQ(octs.refined[n], found->refined);
      for (int v = 0; v < k_variables; ++v)
        for (int cell = 0; cell < k_cells; ++cell)
          EXPECT_EQ(octs.values[(v * k_cells + cell) * octs.size() + n],
                    value(level, found->place, cell, v));
    }
  }
  static std::int64_t compare(const RamsesParticles& some) {
    for (std::size_t n = 0; n < some.size(); ++n) {
      const auto domain = static_cast<int>(some.identity[n] - 100);
      const bool is_star = domain == k_domains;
      EXPECT_EQ(some.family[n], is_star ? k_ramses_star : k_ramses_dark);
      EXPECT_EQ(some.mass[n], 0.01 * domain);
      EXPECT_EQ(some.level[n], k_levels);
      EXPECT_EQ(some.columns.at("birth_time")[n], is_star ? 0.25 : 0.0);
      for (int d = 0; d < 3; ++d) {
        EXPECT_EQ(some.position[n][d], 0.25 * domain + 0.125 * d);
        EXPECT_EQ(some.velocity[n][d], -1.0 * domain - d);
      }
    }
    return static_cast<std::int64_t>(some.size());
  }
  void compare_sinks(const RamsesParticles& sinks) const {
    ASSERT_EQ(sinks.size(), world.is_root() ? 1U : 0U);
    if (sinks.size() == 0) return;
    EXPECT_EQ(sinks.identity, std::vector<std::int64_t>{7});
    EXPECT_EQ(sinks.family, std::vector<std::int8_t>{k_ramses_cloud});
    EXPECT_EQ(sinks.mass, std::vector{2.5e-3});
    EXPECT_EQ(sinks.position.at(0), (std::array{0.5, 1.0, 1.5}));
    EXPECT_EQ(sinks.velocity.at(0), (std::array{0.125, -0.25, 0.0}));
    EXPECT_EQ(sinks.columns.at("birth_time"), std::vector{0.01});
  }
  void expect_refused(const std::vector<std::string>& words) const {
    expect_input_error([&] { read_all(0, 100); }, words);
  }

  Communicator world = Communicator::world();
  Scratch scratch{world};
};

TEST_F(Ramses, files_of_all_domains_are_read_back_by_any_ranks) {
  write();
  EXPECT_TRUE(is_ramses_output(world, folder() + "/"));
  EXPECT_FALSE(is_ramses_output(world, scratch.path("output_00008")));
  EXPECT_FALSE(is_ramses_output(world, scratch.path("")));
  const RamsesFacts attributes = read_ramses_facts(world, folder());
  const RamsesFacts expected = small_output(folder()).attributes;
  EXPECT_EQ(attributes.number, "00007");
  EXPECT_EQ(attributes.domains, k_domains);
  EXPECT_EQ(attributes.coarsest_level, 2);
  EXPECT_EQ(attributes.coarse_steps, 12);
  EXPECT_EQ(attributes.variables, expected.variables);
  EXPECT_EQ(attributes.particle_fields, expected.particle_fields);
  EXPECT_EQ(attributes.families, expected.families);
  EXPECT_TRUE(attributes.has_gas && attributes.has_sinks && !attributes.has_forces);
  for (const auto& [name, number] : k_ramses_numbers)
    EXPECT_EQ(attributes.*number, expected.*number) << name;
  for (const int chunk : {0, 1})
    for (const std::int64_t at_once : {1, 3, 100}) read_all(chunk, at_once);
}

TEST(Curamses, quadruple_precision_is_that_of_ieee_754) {
  const std::vector<double> values{0.0, 1.0, -2.0, 0.1};
  const std::vector<std::uint64_t> expected{
      0, 0, 0, 0x3fff000000000000, 0, 0xc000000000000000, 0xa000000000000000, 0x3ffb999999999999};
  EXPECT_EQ(quadruple_precision(values), expected);
}

TEST_F(Ramses, numbers_beyond_32_bits_are_not_cut) {
  constexpr std::int64_t k_many = std::int64_t{1} << 31;
  write();
  if (!world.is_root()) return;
  RamsesOutput output = small_output(folder());
  const RamsesLists lists = output.octs;
  output.octs[2] = {k_many / 2, k_many / 2, 0};  // of all domains together
  EXPECT_THROW(RamsesTreeFile(output, 1, lists, {1}, 1), RunError);
  EXPECT_THROW(ramses_particle_file(output, 1, k_many, 0), RunError);
  EXPECT_THROW(ramses_particle_file(output, 1, 1, k_many), RunError);
}

TEST_F(Ramses, files_in_groups_are_found) {
  write();
  change([&] {
    for (int domain = 1; domain <= k_domains; ++domain) {
      const std::string group = path(fmt::format("group_{:05d}", (domain + 1) / 2));
      std::filesystem::create_directories(group);
      for (const char* kind : {"amr", "hydro", "part"}) {
        const std::string name = fmt::format("{}_00007.out{:05d}", kind, domain);
        std::filesystem::rename(path(name), group + "/" + name);
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      if (entry.is_regular_file())
        std::filesystem::rename(entry.path(),
                                path("group_00001/" + entry.path().filename().string()));
  });
  read_all(0, 100);
}

TEST_F(Ramses, forces_are_read_behind_the_potential) {
  write();
  change([&] {
    const RamsesOutput output = small_output(folder());
    const auto octs = octs_by_level();
    for (int domain = 1; domain <= k_domains; ++domain) {
      RamsesCellFile forces(output, RamsesCellFile::Kind::gravity, domain, output.octs, 4);
      for (int level = 1; level <= k_levels; ++level)
        for (int n = 0; n < 4; ++n) {
          std::vector<double> values;
          for (const Oct& oct : octs[level - 1])
            for (int cell = 0; cell < k_cells; ++cell)
              values.push_back(value(level, oct.place, cell, n));
          forces.write(level, n, values);
        }
      forces.finish();
    }
  });
  const RamsesFacts attributes = read_ramses_facts(world, folder());
  EXPECT_TRUE(attributes.has_forces);
  const auto source = open_ramses(world, attributes, 0, RamsesCells::forces);
  for (int level = 1; level <= k_levels; ++level) {
    source->next_level();
    RamsesOcts octs;
    source->read(0, {0, source->count(0)}, octs);
    for (std::int64_t n = 0; n < octs.size(); ++n)
      for (int d = 0; d < 3; ++d)
        for (int cell = 0; cell < k_cells; ++cell)
          EXPECT_EQ(octs.values[(d * k_cells + cell) * octs.size() + n],
                    value(level, octs.places[n], cell, 1 + d));
  }
}

TEST_F(Ramses, files_that_do_not_belong_together_are_refused) {
  write([](int domain, const Oct& oct, int level, double v) {
    return domain == 2 && oct.owner == 1 && level == 2 ? 1.01 * v : v;
  });
  expect_refused({"hydro_00007.out00001", "3 of", "differ from their copies"});
  write([](int, const Oct&, int level, double v) { return level == 2 ? 1.01 * v : v; });
  expect_refused({"octs of level 2 do not match the density of their parent cell"});
  write();
  change([&] {
    RamsesOutput later = small_output(folder());
    later.attributes.time = 0.5;
    write_ramses_texts(later, 100);
  });
  expect_refused(
      {"amr_00007.out0000", "the time of the domain is 0.375, but info_00007.txt has 0.5"});
  write();
  change([&] { write_particle(small_output(folder()), 2, 5); });
  expect_refused({"part_00007.out*", "ranges from 1 to 5", "files of different outputs are mixed"});
  write();
  change([&] { std::ofstream(path("hydro_00007.out00003"), std::ios::app) << "12345678"; });
  expect_refused({"hydro_00007.out00003", "expected the end of the file"});
  write();
  change([&] { std::filesystem::resize_file(path("amr_00007.out00002"), 900); });
  expect_refused({"amr_00007.out00002"});
}

TEST_F(Ramses, values_that_no_gas_has_are_refused) {
  for (const double wrong : {0.0, -1.0, std::nan("")}) {
    write([wrong](int, const Oct& oct, int level, double v) {
      return level == 3 && oct.owner == 2 ? wrong : v;
    });
    expect_refused({"hydro_00007.out0000"});
  }
}

TEST_F(Ramses, texts_that_are_missing_or_wrong_are_refused) {
  const auto refuse = [&](const std::function<void()>& spoil,
                          const std::vector<std::string>& words) {
    write();
    change(spoil);
    expect_refused(words);
  };
  const auto remove = [&](const char* name) {
    return [this, name] { std::filesystem::remove(path(name)); };
  };
  const auto edit = [&](const char* name, const char* old, const char* now) {
    return [=, this] { replace(name, old, now); };
  };
  refuse(remove("info_00007.txt"), {"info_00007.txt", "is missing"});
  refuse(remove("header_00007.txt"), {"header_00007.txt", "is missing", "particles per family"});
  refuse(remove("part_file_descriptor.txt"), {"part_file_descriptor.txt", "is missing"});
  refuse(edit("info_00007.txt", "boxlen", "length"), {"no line \"boxlen = ...\""});
  refuse(edit("info_00007.txt", "ndim        =          3", "ndim        =          2"),
         {"2 dimensions; expected 3"});
  refuse(edit("info_00007.txt", "nstep_coarse=         12", "nstep_coarse=       12.5"),
         {"nstep_coarse = 12.5 is not a valid count"});
  refuse(edit("info_00007.txt", "nstep_coarse=         12", "nstep_coarse=     twelve"),
         {"nstep_coarse = twelve is not a number"});
  refuse(edit("hydro_file_descriptor.txt", " 5, pressure, d\n", ""), {"nvar", "lists 4"});
  refuse(edit("part_file_descriptor.txt", "mass", "metallicity"), {"lacks the position"});
  refuse(edit("sink_00007.csv", "2.5", "x.5"), {"line 3 has no number in the column \"msink\""});
}

#ifdef OCTANT_HDF5
TEST_F(Ramses, an_hdf5_file_of_all_domains_is_read_back_by_any_ranks) {
  write();  // the texts, beside files that are not read
  write_hdf5(world, path("data_00007.h5"));
  const RamsesFacts attributes = read_ramses_facts(world, folder());
  EXPECT_EQ(attributes.domains, k_domains);
  EXPECT_EQ(attributes.box_length, 2.0);
  EXPECT_EQ(attributes.families, (std::map<std::string, std::int64_t>{{"DM", 2}, {"star", 1}}));
  EXPECT_TRUE(attributes.has_sinks && !attributes.has_forces);
  for (const int chunk : {0, 1})
    for (const std::int64_t at_once : {1, 3, 100}) read_all(chunk, at_once);
}
#endif

}  // namespace
}  // namespace octant
