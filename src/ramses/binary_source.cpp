// Binary outputs of RAMSES (Teyssier 2002): a directory output_NNNNN with texts about the run and,
// for each domain (a rank of the run that wrote it), one binary file of its octs, one of their gas
// and one of its particles. The files lie in the directory itself, or in group_00001, group_00002,
// ..., of which the first has the texts (IOGROUPSIZEREP).
//
// Files store the octs level by level, and within a level those of domain 1, then of 2, ...: the
// file of a domain contains its own octs and copies of neighbouring ones, then octs beyond walls.
// Variables are primitive: density, velocity, pressure, passive scalars.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "io/fortran_file.hpp"
#include "ramses/source.hpp"

namespace octant {

namespace {

constexpr int k_records_before_centres = 3;
constexpr int k_records_behind_centres = 1 + 6 + 3 * k_oct_cells;
constexpr int k_amr_records = k_records_before_centres + 3 + k_records_behind_centres;

std::int64_t oct_position(const FortranFile& file, int level, double centre) {
  const std::int64_t place = ramses_oct_place(level, centre);
  if (place < 0)
    file.refuse("oct centres",
                fmt::format("{} is not the centre of an oct of level {}", centre, level));
  return place;
}

// An oct of the current level in the files of a domain: its own, or a copy of another domain's.
// Copies have the values of the original.
struct RamsesOctImage {
  int owner = 0, holder = 0;  // domains, from 1
  RamsesPlace place{};
  std::array<double, k_oct_cells> first_variable{};  // of its cells: density, or force along x
};

// Positions of the current level's octs in a file of a domain.
struct LevelOffsets {
  RecordPosition before, begin, next;  // positions of the previous, this and the next level
  RecordPosition own, end_of_own;      // range of the octs that the domain owns

  void go_on() { before = std::exchange(begin, next); }
};

// Octs that one domain owns, level by level, coarsest first: the files of its tree and of the
// values in its cells. Local.
class RamsesDomain {
 public:
  RamsesDomain(const RamsesFacts& attributes, RamsesCells cells, int number);  // from 1

  const RamsesHead& head() const { return head_; }
  void next_level();
  // Number of octs of the current level.
  std::int64_t count() const { return octs_in_list(number_ - 1, level_); }
  // Reads some octs of the current level to position `at` of `octs`.
  void read(RowRange some, RamsesOcts& octs, std::int64_t at) const;
  // Adds octs of the current level that the domain owns, or its copies of others; or both kinds of
  // the previous level.
  enum class Images { own, copies, of_level_before };
  void add_images(Images which, std::vector<RamsesOctImage>& images) const;
  int level() const { return level_; }
  const std::string& values_path() const { return values_path_; }

 private:
  void read_amr_head(const RamsesFacts& attributes);
  std::int64_t read_sizes(FortranFile& amr);
  void read_times(FortranFile& amr, const RamsesFacts& attributes);
  void read_lists(FortranFile& amr, std::int64_t boundaries);
  void read_values_head(const RamsesFacts& attributes);
  void expect(FortranFile& values, const char* what, std::int64_t expected) const;
  void next_level_of_values();
  std::int64_t octs_in_list(int list, int level) const;
  static void require_octs(FortranFile& amr, std::int64_t count);
  int values_records() const { return k_oct_cells * (passed_ + head_.variables); }
  void read_tree(RowRange some, RamsesOcts& octs, std::int64_t at) const;
  void read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const;

  RamsesCells cells_;
  std::string amr_path_, values_path_;  // the latter is empty without gas
  RamsesHead head_;
  int passed_ = 0;                                // variables of a cell before the requested ones
  int number_, domains_, lists_ = 0, level_ = 0;  // level_: the current one
  std::vector<std::int64_t> in_lists_;            // number of octs, [level - 1][list]
  LevelOffsets tree_, values_;
};

RamsesDomain::RamsesDomain(const RamsesFacts& attributes, RamsesCells cells, int number)
    : cells_(cells),
      amr_path_(ramses_file(attributes, "amr", number)),
      number_(number),
      domains_(attributes.domains) {
  if (cells == RamsesCells::forces) values_path_ = ramses_file(attributes, "grav", number);
  else if (attributes.has_gas) values_path_ = ramses_file(attributes, "hydro", number);
  read_amr_head(attributes);
  if (!values_path_.empty()) read_values_head(attributes);
}

void RamsesDomain::read_amr_head(const RamsesFacts& attributes) {
  FortranFile amr(amr_path_);
  const std::int64_t boundaries = read_sizes(amr);
  read_times(amr, attributes);
  read_lists(amr, boundaries);
  static const std::map<std::string, int> records_of_bounds{
      {"hilbert", 1}, {"planar", 1}, {"angular", 1}, {"bisection", 5}, {"ksection", 10}};
  const std::string ordering = amr.text("ordering");
  const auto records = records_of_bounds.find(ordering);
  if (records == records_of_bounds.end()) {
    std::vector<std::string> known;
    for (const auto& [name, number] : records_of_bounds) known.push_back(name);
    amr.refuse("ordering",
               fmt::format("'{}'; expected one of {}", ordering, fmt::join(known, ", ")));
  }
  amr.skip("bounds of domains", records->second);
  amr.skip("son, flag1, cpu_map", 3);
  tree_.next = amr.position();
}

// Returns the number of boundary regions.
std::int64_t RamsesDomain::read_sizes(FortranFile& amr) {
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected)
      amr.refuse(what, fmt::format("expected {1}, found {0}: files of different runs are mixed",
                                   found, expected));
  };
  expect("ncpu", amr.integer("ncpu"), domains_);
  expect("ndim", amr.integer("ndim"), 3);
  const auto coarse = amr.integers("nx, ny, nz", 3);
  std::copy(coarse.begin(), coarse.end(), head_.coarse_cells.begin());
  head_.levels = static_cast<int>(amr.integer("nlevelmax"));
  if (head_.levels < 1 || head_.levels > 60)
    amr.refuse("nlevelmax", fmt::format("{} levels; expected 1 to 60", head_.levels));
  amr.skip("ngridmax");
  const std::int64_t boundaries = amr.integer("nboundary");
  if (boundaries < 0 || boundaries > 100)
    amr.refuse("nboundary", fmt::format("{} boundary regions; expected 0 to 100", boundaries));
  lists_ = domains_ + static_cast<int>(boundaries);
  amr.skip("ngrid_current");
  amr.skip("boxlen");
  return boundaries;
}

void RamsesDomain::read_times(FortranFile& amr, const RamsesFacts& attributes) {
  amr.skip("noutput, iout, ifout");
  amr.skip("tout, aout", 2);
  constexpr double k_rounding = 1e-6;  // of single precision
  if (const double time = amr.real("t");
      !(std::abs(time - attributes.time) <= k_rounding * std::abs(attributes.time)))
    amr.refuse("t", fmt::format("the time of the domain is {}, but info_{}.txt has {}: files of "
                                "different outputs are mixed",
                                time, attributes.number, attributes.time));
  amr.skip("dtold");
  head_.last_steps = amr.reals("dtnew", head_.levels);
  for (const double step : head_.last_steps)
    if (!(step >= 0.0) || !std::isfinite(step))
      amr.refuse("dtnew", fmt::format("invalid time step {}", step));
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
  if (std::ranges::min(in_lists_) < 0) amr.refuse("numbl, numbb", "the number of octs is negative");
}

// Requires the next number of a file of cell values to equal that of the tree file.
void RamsesDomain::expect(FortranFile& values, const char* what, std::int64_t expected) const {
  if (const std::int64_t found = values.integer(what); found != expected)
    values.refuse(what,
                  fmt::format("the value is {}, but '{}' has {}", found, amr_path_, expected));
}

void RamsesDomain::read_values_head(const RamsesFacts& attributes) {
  FortranFile values(values_path_);
  const bool is_gas = cells_ == RamsesCells::gas;
  expect(values, "ncpu", domains_);
  if (is_gas) {
    head_.variables = static_cast<int>(values.integer("nvar"));
    const auto named = static_cast<int>(attributes.variables.size());
    if (named > 0 && head_.variables != named)
      values.refuse("nvar",
                    fmt::format("the file has {} variables, but hydro_file_descriptor.txt lists {}",
                                head_.variables, named));
    expect(values, "ndim", 3);
  } else {
    // The potential and, with -DOUTPUT_PARTICLE_DENSITY, a density precede the force.
    const std::int64_t found = values.integer("ndim + 1");
    if (found != 4 && found != 5)
      values.refuse(
          "ndim + 1",
          fmt::format("the file has {} variables per cell; expected 4 (potential and force)",
                      found));
    passed_ = static_cast<int>(found) - k_ramses_force_fields;
    head_.variables = k_ramses_force_fields;
  }
  expect(values, "nlevelmax", head_.levels);
  expect(values, "nboundary", lists_ - domains_);
  if (is_gas) head_.gamma = values.real("gamma");
  values_.next = values.position();
}

// Number of octs of a level in the list of a domain or boundary, from 0.
std::int64_t RamsesDomain::octs_in_list(int list, int level) const {
  return in_lists_[static_cast<std::size_t>(level - 1) * lists_ + list];
}

// Requires the next record to be large enough for `count` octs, before memory is allocated.
void RamsesDomain::require_octs(FortranFile& amr, std::int64_t count) {
  if (const std::int64_t bytes = amr.bytes_of_next("oct indices"); count > bytes)
    amr.refuse("oct indices", fmt::format("a list has {} octs according to numbl, but the next "
                                          "record has only {} bytes",
                                          count, bytes));
}

void RamsesDomain::next_level() {
  ++level_;
  tree_.go_on();
  values_.go_on();
  FortranFile amr(amr_path_, tree_.begin);
  for (int list = 0; list < lists_; ++list) {
    if (list == number_ - 1) tree_.own = amr.position();
    if (const std::int64_t count = octs_in_list(list, level_); count > 0) {
      require_octs(amr, count);
      amr.skip("octs", k_amr_records);
    }
    if (list == number_ - 1) tree_.end_of_own = amr.position();
  }
  tree_.next = amr.position();
  if (level_ == head_.levels) amr.require_end();
  if (!values_path_.empty()) next_level_of_values();
}

void RamsesDomain::next_level_of_values() {
  FortranFile values(values_path_, values_.begin);
  for (int list = 0; list < lists_; ++list) {
    const std::int64_t count = octs_in_list(list, level_);
    if (const std::int64_t level = values.integer("ilevel"); level != level_)
      values.refuse("ilevel", fmt::format("expected {1}, found {0}", level, level_));
    if (const std::int64_t other = values.integer("ncache"); other != count)
      values.refuse("ncache",
                    fmt::format("the file has {} octs of level {} in list {}, but '{}' has {}",
                                other, level_, list + 1, amr_path_, count));
    if (list == number_ - 1) values_.own = values.position();
    if (count > 0) values.skip("variables", values_records());
    if (list == number_ - 1) values_.end_of_own = values.position();
  }
  values_.next = values.position();
  if (level_ == head_.levels) values.require_end();
}

void RamsesDomain::add_images(Images which, std::vector<RamsesOctImage>& images) const {
  const bool is_before = which == Images::of_level_before;
  const int level = is_before ? level_ - 1 : level_;
  if (values_path_.empty() || level == 0) return;
  FortranFile amr(amr_path_, is_before ? tree_.before : tree_.begin);
  FortranFile values(values_path_, is_before ? values_.before : values_.begin);
  for (int list = 0; list < domains_; ++list) {
    const std::int64_t count = octs_in_list(list, level);
    values.skip("ilevel, ncache", 2);
    if (count == 0) continue;
    const bool is_wanted = is_before || (list == number_ - 1) == (which == Images::own);
    if (is_wanted) require_octs(amr, count);
    if (!is_wanted) {
      amr.skip("octs", k_amr_records);
      values.skip("variables", values_records());
      continue;
    }
    const std::size_t first = images.size();
    images.resize(first + static_cast<std::size_t>(count), {list + 1, number_, {}, {}});
    amr.skip("oct indices, next and prev", k_records_before_centres);
    for (int axis = 0; axis < 3; ++axis) {
      const auto centres = amr.reals("oct centres", count);
      for (std::int64_t n = 0; n < count; ++n)
        images[first + n].place[axis] = oct_position(amr, level, centres[n]);
    }
    amr.skip("father to flag1", k_records_behind_centres);
    for (int cell = 0; cell < k_oct_cells; ++cell) {
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
  FortranFile amr(amr_path_, tree_.own);
  if (some.begin == 0) amr.fetch_ahead(tree_.end_of_own);
  amr.skip("oct indices, next and prev", 3);
  std::vector<double> centres(static_cast<std::size_t>(some.count));
  for (int axis = 0; axis < 3; ++axis) {
    amr.reals("oct centres", count(), some.begin, centres);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.places[at + n][axis] = oct_position(amr, level_, centres[n]);
  }
  amr.skip("father and neighbours", 7);
  std::vector<std::int64_t> sons(static_cast<std::size_t>(some.count));
  for (int cell = 0; cell < k_oct_cells; ++cell) {
    amr.integers("son", count(), some.begin, sons);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.refined[at + n] |= static_cast<std::uint8_t>((sons[n] > 0) << cell);
  }
}

void RamsesDomain::read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  FortranFile file(values_path_, values_.own);
  if (some.begin == 0) file.fetch_ahead(values_.end_of_own);
  for (int cell = 0; cell < k_oct_cells; ++cell) {
    file.skip("potential", passed_);
    for (int n = 0; n < head_.variables; ++n) {
      const std::int64_t column = (std::int64_t{n} * k_oct_cells + cell) * octs.size() + at;
      const auto values =
          std::span(octs.values)
              .subspan(static_cast<std::size_t>(column), static_cast<std::size_t>(some.count));
      file.reals("a variable", count(), some.begin, values);
      const bool is_density = cells_ == RamsesCells::gas && n == 0;
      for (const double value : values)
        if (!std::isfinite(value) || (is_density && !(value > 0.0)))
          file.refuse("a variable",
                      fmt::format("invalid {} {}", is_density ? "density" : "value", value));
    }
  }
}

// A directory with files of every domain.
class RamsesFolder final : public RamsesSource {
 public:
  RamsesFolder(const Communicator& communicator, const RamsesFacts& attributes, int chunk,
               RamsesCells cells)
      : RamsesSource(communicator, attributes, chunk), cells_(cells) {
    communicator.collective_try([&] {
      for (int round = 0; round < rounds(); ++round)
        for (const int domain : domains(round)) {
          const auto [file, is_new] = files_.try_emplace(domain, attributes, cells, domain);
          variables_ = file->second.head().variables;
        }
    });
  }

  std::vector<RamsesHead> heads() const override {
    std::vector<RamsesHead> heads;
    for (const auto& [domain, file] : files_) heads.push_back(file.head());
    return heads;
  }
  bool is_conserved() const override { return false; }

  void next_level() override {
    communicator_.collective_try([&] {
      for (auto& [domain, file] : files_) file.next_level();
    });
    if (facts_.domains > 1)
      for (int round = 0; round < rounds(); ++round) compare_copies(round);
    if (cells_ == RamsesCells::gas && facts_.has_gas)
      communicator_.collective_try([&] {
        for (const auto& [domain, file] : files_) compare_with_fathers(file);
      });
  }

  void read(int round, RowRange some, RamsesOcts& octs) override {
    octs.resize(some.count, k_oct_cells * variables_);
    communicator_.collective_try([&] {
      for (const auto& [domain, part, at] : pieces(round, some))
        files_.at(domain).read(part, octs, at);
    });
  }

  RamsesParticles particles(int round) override {
    RamsesParticles particles;
    communicator_.collective_try([&] {
      for (const int domain : domains(round)) {
        const auto counts = read_domain_particles(facts_, domain, particles);
        for (std::size_t n = 0; n < bounds_.size(); ++n)
          bounds_[n] = std::max(bounds_[n], n < 2 ? counts[n] : -counts[n - 2]);
      }
    });
    communicator_.max_in_place(std::span<std::int64_t>(bounds_));
    for (std::size_t n = 0; n < 2; ++n)
      if (bounds_[n] != -bounds_[n + 2])
        throw InputError(
            "'{0}': all files part_{1}.out* must have the same number of {4} formed during the "
            "run, "
            "but it ranges from {2} to {3}: files of different outputs are mixed",
            facts_.folder, facts_.number, -bounds_[n + 2], bounds_[n], n == 0 ? "stars" : "sinks");
    return particles;
  }

  RamsesParticles sinks() override { return read_sinks_of_text(communicator_, facts_); }

 private:
  std::int64_t octs_of(int domain) const override { return files_.at(domain).count(); }

  // Compares copies of octs in the files of a round's domains with the originals. Headers do not
  // contain the time of the values; equal copies show that all files are of one output. Collective.
  void compare_copies(int round) const {
    std::vector<RamsesOctImage> held;
    communicator_.collective_try([&] {
      for (const int domain : domains(round))
        files_.at(domain).add_images(RamsesDomain::Images::copies, held);
    });
    std::vector<int> readers;
    for (const RamsesOctImage& copy : held)
      readers.push_back((copy.owner - 1) % communicator_.size());
    auto copies = route(communicator_, readers, std::span<const RamsesOctImage>(held)).items;
    std::ranges::sort(copies, {}, &RamsesOctImage::owner);
    communicator_.collective_try([&] {
      for (auto first = copies.begin(); first != copies.end();) {
        const auto last = std::ranges::find_if(
            first, copies.end(), [&](const RamsesOctImage& c) { return c.owner != first->owner; });
        compare_with_originals(files_.at(first->owner), std::span(first, last));
        first = last;
      }
    });
  }

  static void compare_with_originals(const RamsesDomain& domain,
                                     std::span<const RamsesOctImage> copies) {
    constexpr double k_rounding = 1e-6;  // of single precision
    std::vector<RamsesOctImage> own;
    domain.add_images(RamsesDomain::Images::own, own);
    std::ranges::sort(own, {}, &RamsesOctImage::place);
    std::size_t different = 0;
    for (const RamsesOctImage& copy : copies) {
      const auto found = std::ranges::lower_bound(own, copy.place, {}, &RamsesOctImage::place);
      const bool is_there = found != own.end() && found->place == copy.place;
      bool same = is_there;
      for (int cell = 0; same && cell < k_oct_cells; ++cell) {
        const double a = found->first_variable[cell], b = copy.first_variable[cell];
        // Values that are not numbers are rejected when they are read.
        same = !(std::abs(a - b) > k_rounding * std::max(std::abs(a), std::abs(b)));
      }
      different += !same;
    }
    if (different > 0)
      throw InputError(
          "'{}': {} of {} octs of a level differ from their copies in files of other domains: "
          "files of different outputs are mixed",
          domain.values_path(), different, copies.size());
  }

  // Compares parent cells with their octs: RAMSES stores the mean density of an oct in the cell it
  // divides. Values of another tree do not match. Patches of RAMSES may then change a few cells.
  static void compare_with_fathers(const RamsesDomain& domain) {
    constexpr double k_rounding = 1e-5, k_max_changed = 0.1;
    if (domain.count() == 0 || domain.level() == 1) return;
    std::vector<RamsesOctImage> fathers, own;
    domain.add_images(RamsesDomain::Images::of_level_before, fathers);
    domain.add_images(RamsesDomain::Images::own, own);
    std::ranges::sort(fathers, {}, &RamsesOctImage::place);
    std::size_t different = 0;
    for (const RamsesOctImage& oct : own) {
      std::array<std::int64_t, 3> place = oct.place;
      std::size_t cell = 0;
      for (int d = 0; d < 3; ++d) {
        cell |= static_cast<std::size_t>(place[d] & 1) << d;
        place[d] >>= 1;
      }
      const auto father = std::ranges::lower_bound(fathers, place, {}, &RamsesOctImage::place);
      if (father == fathers.end() || father->place != place) {
        ++different;
        continue;
      }
      double mean = 0.0;
      for (const double density : oct.first_variable) mean += density / k_oct_cells;
      const double expected = father->first_variable[cell];
      different += std::abs(mean - expected) > k_rounding * std::abs(expected);
    }
    if (static_cast<double>(different) > k_max_changed * static_cast<double>(own.size()))
      throw InputError(
          "'{}': {} of {} octs of level {} do not match the density of their parent cell: the "
          "hydro and AMR files belong to different outputs",
          domain.values_path(), different, own.size(), domain.level());
  }

  std::map<int, RamsesDomain> files_;
  RamsesCells cells_;
  int variables_ = 0;
  // Maximum numbers of stars and sinks formed, over all files read so far; and minus their minima.
  static constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::min();
  std::array<std::int64_t, 4> bounds_{k_none, k_none, k_none, k_none};
};

}  // namespace

std::unique_ptr<RamsesSource> open_folder(const Communicator& communicator,
                                          const RamsesFacts& attributes, int chunk,
                                          RamsesCells cells) {
  return std::make_unique<RamsesFolder>(communicator, attributes, chunk, cells);
}

}  // namespace octant
