#include "io/ramses_domain.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace octant {

namespace {

std::string group_folder(const RamsesFacts& facts, int group) {
  return fmt::format("{}/group_{:05d}", facts.folder, group);
}

constexpr int k_records_before_centres = 3;
constexpr int k_records_behind_centres = 1 + 6 + 3 * k_cells_of_ramses_oct;
constexpr int k_amr_records = k_records_before_centres + 3 + k_records_behind_centres;

std::int64_t oct_place(const FortranFile& file, int level, double centre) {
  const std::int64_t place = ramses_oct_place(level, centre);
  if (place < 0)
    file.refuse("octs' centres",
                fmt::format("{} is no centre of an oct of level {}", centre, level));
  return place;
}

}  // namespace

std::string ramses_text_folder(const RamsesFacts& facts) {
  return facts.domains_of_group > 0 ? group_folder(facts, 1) : facts.folder;
}

std::string ramses_file(const RamsesFacts& facts, const char* kind, int domain) {
  const int size = facts.domains_of_group;
  return fmt::format("{}/{}_{}.out{:05d}",
                     size > 0 ? group_folder(facts, (domain - 1) / size + 1) : facts.folder, kind,
                     facts.number, domain);
}

RamsesDomain::RamsesDomain(const RamsesFacts& facts, RamsesCells cells, int number)
    : cells_(cells),
      amr_path_(ramses_file(facts, "amr", number)),
      number_(number),
      domains_(facts.domains) {
  if (cells == RamsesCells::forces) values_path_ = ramses_file(facts, "grav", number);
  else if (facts.has_gas) values_path_ = ramses_file(facts, "hydro", number);
  read_amr_head(facts);
  if (cells == RamsesCells::forces) read_force_head();
  else if (facts.has_gas) read_gas_head(facts);
}

void RamsesDomain::read_amr_head(const RamsesFacts& facts) {
  FortranFile amr(amr_path_);
  const std::int64_t boundaries = read_sizes(amr);
  read_times(amr, facts);
  read_lists(amr, boundaries);
  const std::string ordering = amr.text("ordering");
  const bool ksection = ordering == "ksection";  // of cuRAMSES
  amr.skip("bounds of domains", ordering == "bisection" ? 5 : ksection ? 10 : 1);
  amr.skip("son, flag1, cpu_map", 3);
  amr_place_ = amr.place();
}

// Returns how many regions of boundaries there are.
std::int64_t RamsesDomain::read_sizes(FortranFile& amr) {
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected)
      amr.refuse(what, fmt::format("{} where {} is expected: files of several runs are mixed",
                                   found, expected));
  };
  expect("ncpu", amr.integer("ncpu"), domains_);
  expect("ndim", amr.integer("ndim"), 3);
  const auto coarse = amr.integers("nx, ny, nz", 3);
  std::copy(coarse.begin(), coarse.end(), head_.coarse_cells.begin());
  const auto [least, most] = std::ranges::minmax(coarse);
  if (least < 1 || most > 3)
    amr.refuse(
        "nx, ny, nz",
        fmt::format("a coarse grid of {} x {} x {}; one cell, and one more for each wall, can "
                    "be read",
                    coarse[0], coarse[1], coarse[2]));
  head_.levels = static_cast<int>(amr.integer("nlevelmax"));
  if (head_.levels < 1 || head_.levels > 60)
    amr.refuse("nlevelmax", fmt::format("{} levels", head_.levels));
  amr.skip("ngridmax");
  const std::int64_t boundaries = amr.integer("nboundary");
  if (boundaries < 0 || boundaries > 100)
    amr.refuse("nboundary", fmt::format("{} regions of boundaries", boundaries));
  lists_ = domains_ + static_cast<int>(boundaries);
  amr.skip("ngrid_current");
  amr.skip("boxlen");
  return boundaries;
}

void RamsesDomain::read_times(FortranFile& amr, const RamsesFacts& facts) {
  amr.skip("noutput, iout, ifout");
  amr.skip("tout, aout", 2);
  constexpr double k_rounding = 1e-6;  // of single precision
  if (const double time = amr.real("t");
      !(std::abs(time - facts.time) <= k_rounding * std::abs(facts.time)))
    amr.refuse("t", fmt::format("a domain at time {}, where info_{}.txt has {}: files of several "
                                "outputs are mixed",
                                time, facts.number, facts.time));
  amr.skip("dtold");
  head_.last_steps = amr.reals("dtnew", head_.levels);
  for (const double step : head_.last_steps)
    if (!(step >= 0.0) || !std::isfinite(step))
      amr.refuse("dtnew", fmt::format("a step of length {}", step));
  amr.skip("nstep to mass_sph", 5);
}

void RamsesDomain::read_lists(FortranFile& amr, std::int64_t boundaries) {
  amr.skip("headl, taill", 2);
  const auto own = amr.integers("numbl", std::int64_t{domains_} * head_.levels);
  amr.skip("numbtot");
  std::vector<std::int64_t> beyond;
  if (boundaries > 0) {
    amr.skip("headb, tailb", 2);
    beyond = amr.integers("numbb", boundaries * head_.levels);
  }
  amr.skip("headf, tailf, numbf, used_mem, used_mem_tot");
  for (int level = 1; level <= head_.levels; ++level) {
    for (int n = 0; n < domains_; ++n) in_lists_.push_back(own[(level - 1) * domains_ + n]);
    for (int n = 0; n < boundaries; ++n) in_lists_.push_back(beyond[(level - 1) * boundaries + n]);
  }
  if (std::ranges::min(in_lists_) < 0) amr.refuse("numbl, numbb", "a negative number of octs");
}

// The next number of a file of cells' values must be that of the tree's.
void RamsesDomain::expect(FortranFile& values, const char* what, std::int64_t expected) const {
  if (const std::int64_t found = values.integer(what); found != expected)
    values.refuse(what, fmt::format("{} where '{}' has {}", found, amr_path_, expected));
}

void RamsesDomain::read_gas_head(const RamsesFacts& facts) {
  FortranFile gas(values_path_);
  expect(gas, "ncpu", domains_);
  head_.variables = static_cast<int>(gas.integer("nvar"));
  const auto named = static_cast<int>(facts.variables.size());
  if (named > 0 && head_.variables != named)
    gas.refuse("nvar", fmt::format("{} variables where hydro_file_descriptor.txt names {}",
                                   head_.variables, named));
  expect(gas, "ndim", 3);
  expect(gas, "nlevelmax", head_.levels);
  expect(gas, "nboundary", lists_ - domains_);
  head_.gamma = gas.real("gamma");
  values_place_ = gas.place();
}

void RamsesDomain::read_force_head() {
  FortranFile forces(values_path_);
  expect(forces, "ncpu", domains_);
  // Before the force come the potential and, with -DOUTPUT_PARTICLE_DENSITY, a density.
  const std::int64_t found = forces.integer("ndim + 1");
  if (found != 4 && found != 5)
    forces.refuse("ndim + 1",
                  fmt::format("{} variables of a cell; a potential and a force are 4", found));
  passed_ = static_cast<int>(found) - k_ramses_force_fields;
  head_.variables = k_ramses_force_fields;
  expect(forces, "nlevelmax", head_.levels);
  expect(forces, "nboundary", lists_ - domains_);
  values_place_ = forces.place();
}

// Octs of a level in the list of a domain or boundary, from 0.
std::int64_t RamsesDomain::octs_in_list(int list, int level) const {
  return in_lists_[static_cast<std::size_t>(level - 1) * lists_ + list];
}

void RamsesDomain::next_level() {
  ++level_;
  amr_before_ = std::exchange(amr_begin_, amr_place_);
  values_before_ = std::exchange(values_begin_, values_place_);
  FortranFile amr(amr_path_, amr_place_);
  for (int list = 0; list < lists_; ++list) {
    if (list == number_ - 1) own_octs_ = amr.place();
    if (octs_in_list(list) > 0) amr.skip("octs", k_amr_records);
    if (list == number_ - 1) end_of_octs_ = amr.place();
  }
  amr_place_ = amr.place();
  if (level_ == head_.levels && !amr.at_end())
    amr.refuse("the last one", "the file goes on behind it");
  if (!values_path_.empty()) next_level_of_values();
}

void RamsesDomain::next_level_of_values() {
  FortranFile values(values_path_, values_place_);
  for (int list = 0; list < lists_; ++list) {
    const std::int64_t count = octs_in_list(list);
    if (const std::int64_t level = values.integer("ilevel"); level != level_)
      values.refuse("ilevel", fmt::format("{} where {} is expected", level, level_));
    if (const std::int64_t other = values.integer("ncache"); other != count)
      values.refuse("ncache", fmt::format("{} octs of level {} in list {}, but '{}' has {}", other,
                                          level_, list + 1, amr_path_, count));
    if (list == number_ - 1) own_values_ = values.place();
    if (count > 0) values.skip("variables", k_cells_of_ramses_oct * (passed_ + head_.variables));
    if (list == number_ - 1) end_of_values_ = values.place();
  }
  values_place_ = values.place();
  if (level_ == head_.levels && !values.at_end())
    values.refuse("the last one", "the file goes on behind it");
}

void RamsesDomain::add_images(Images which, std::vector<RamsesOctImage>& images) const {
  const bool is_before = which == Images::of_level_before;
  const int level = is_before ? level_ - 1 : level_;
  if (values_path_.empty() || level == 0) return;
  FortranFile amr(amr_path_, is_before ? amr_before_ : amr_begin_);
  FortranFile values(values_path_, is_before ? values_before_ : values_begin_);
  for (int list = 0; list < domains_; ++list) {
    const std::int64_t count = octs_in_list(list, level);
    values.skip("ilevel, ncache", 2);
    if (count == 0) continue;
    const bool is_wanted = is_before || (list == number_ - 1) == (which == Images::own);
    if (!is_wanted) {
      amr.skip("octs", k_amr_records);
      values.skip("variables", k_cells_of_ramses_oct * (passed_ + head_.variables));
      continue;
    }
    const std::size_t first = images.size();
    images.resize(first + static_cast<std::size_t>(count), {list + 1, number_, {}, {}});
    amr.skip("octs' indices, next and prev", k_records_before_centres);
    for (int axis = 0; axis < 3; ++axis) {
      const auto centres = amr.reals("octs' centres", count);
      for (std::int64_t n = 0; n < count; ++n)
        images[first + n].place[axis] = oct_place(amr, level, centres[n]);
    }
    amr.skip("father to flag1", k_records_behind_centres);
    for (int cell = 0; cell < k_cells_of_ramses_oct; ++cell) {
      values.skip("potential", passed_);
      const auto of_cells = values.reals("a variable", count);
      for (std::int64_t n = 0; n < count; ++n) images[first + n].first_variable[cell] = of_cells[n];
      values.skip("variables", head_.variables - 1);
    }
  }
}

void RamsesDomain::read(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  read_tree(some, octs, at);
  if (!values_path_.empty()) read_values(some, octs, at);
}

void RamsesDomain::read_tree(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  FortranFile amr(amr_path_, own_octs_);
  if (some.begin == 0) amr.fetch_ahead(end_of_octs_);
  amr.skip("octs' indices, next and prev", 3);
  std::vector<double> centres(static_cast<std::size_t>(some.count));
  for (int axis = 0; axis < 3; ++axis) {
    amr.reals("octs' centres", count(), some.begin, centres);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.places[at + n][axis] = oct_place(amr, level_, centres[n]);
  }
  amr.skip("father and neighbours", 7);
  std::vector<std::int64_t> sons(static_cast<std::size_t>(some.count));
  for (int cell = 0; cell < k_cells_of_ramses_oct; ++cell) {
    amr.integers("son", count(), some.begin, sons);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.refined[at + n] |= static_cast<std::uint8_t>((sons[n] > 0) << cell);
  }
}

void RamsesDomain::read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  FortranFile file(values_path_, own_values_);
  if (some.begin == 0) file.fetch_ahead(end_of_values_);
  const bool begins_with_density = cells_ == RamsesCells::gas;
  for (int cell = 0; cell < k_cells_of_ramses_oct; ++cell) {
    file.skip("potential", passed_);
    for (int n = 0; n < head_.variables; ++n) {
      const std::int64_t column =
          (std::int64_t{n} * k_cells_of_ramses_oct + cell) * octs.size() + at;
      const auto values =
          std::span(octs.values)
              .subspan(static_cast<std::size_t>(column), static_cast<std::size_t>(some.count));
      file.reals("a variable", count(), some.begin, values);
      const bool is_density = begins_with_density && n == 0;
      for (const double value : values)
        if (!std::isfinite(value) || (is_density && !(value > 0.0)))
          file.refuse("a variable",
                      fmt::format("a {} of {}", is_density ? "density" : "value", value));
    }
  }
}

}  // namespace octant
