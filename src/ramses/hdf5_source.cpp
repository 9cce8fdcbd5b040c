#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/hdf5_file.hpp"
#include "ramses/source.hpp"

// Reader of data_NNNNN.h5 as written by the 2026 version of cuRAMSES, together with the texts of
// binary outputs, which alone contain the units:
//
//   /header               attributes, some scalars as shape (1): ncpu, nx, ny, nz, nlevelmax,
//                         levelmin, boxlen, nvar, gamma, time, nstep_coarse, omega_m, omega_l,
//                         omega_k, omega_b, h0, aexp, ...; dtnew [level]
//   /amr/level_L          xg_1, xg_2, xg_3 [oct]: centres in coarse cells; son_flag [oct * 8];
//                         ngrid_per_cpu [domain]
//   /hydro/level_L        uold_1, uold_2, ... [oct * 8]: conserved variables
//   /gravity/level_L      f_1, f_2, f_3 [oct * 8]: gravitational force, in runs with gravity
//   /particles            x_1, ..., v_1, ..., mass, identity, levelp, ptypep [particle];
//                         birth_epoch, metallicity in runs with stars or sinks;
//                         npart_per_cpu [domain]
//   /sinks                idsink, msink, xsink_1, ..., vsink_1, ..., tsink [sink]; statistics of
//                         the surrounding gas, which are ignored and recomputed
//
// Levels, variables and axes count from 1. Octs and particles are ordered by domain.

namespace octant {

namespace {

std::string level_of(const char* group, int level) {
  return fmt::format("/{}/level_{}", group, level);
}

std::vector<std::int64_t> as_integers(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

// Value of an attribute that is a number or, as written by cuRAMSES, a vector of length one.
double number_of(const Hdf5Reader& file, const char* object, const char* name) {
  const AttributeValue value = file.attribute_value(object, name);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    if (integers->size() == 1) return static_cast<double>(integers->front());
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    if (reals->size() == 1) return reals->front();
  return file.attribute<double>(object, name);
}

double header_number(const Hdf5Reader& file, const char* name) {
  return number_of(file, "/header", name);
}

int header_count(const Hdf5Reader& file, const char* name, double most = 1e6) {
  const double value = header_number(file, name);
  if (!(value >= 0.0) || value > most || value != std::floor(value))
    throw InputError("'{}': /header: {} = {} is not a valid count; expected at most {}",
                     file.path(), name, value, most);
  return static_cast<int>(value);
}

// Families of some particles. Collective.
std::vector<std::int8_t> read_families(const Hdf5Reader& file, RowRange rows) {
  const auto identities = file.read<std::int64_t>("/particles/identity", rows);
  std::vector<std::int8_t> types;
  std::vector<double> births;
  if (file.exists("/particles/ptypep")) {
    const auto wide = file.read<std::int32_t>("/particles/ptypep", rows);
    for (const std::int32_t type : wide)
      types.push_back(static_cast<std::int8_t>(std::clamp(type, -1, 127)));
  } else if (file.exists("/particles/birth_epoch")) {
    births = file.read<double>("/particles/birth_epoch", rows);
  }
  std::vector<std::int8_t> families;
  file.communicator().collective_try(
      [&] { families = ramses_families(file.path(), identities, types, births); });
  return families;
}

class RamsesHdf5 final : public RamsesSource {
 public:
  RamsesHdf5(const Communicator& communicator, const RamsesFacts& attributes, int chunk,
             RamsesCells cells)
      : RamsesSource(communicator, attributes, chunk),
        cells_(cells),
        file_(communicator, attributes.hdf5_file) {
    const auto count = [&](const char* name) { return header_count(file_, name); };
    head_.levels = header_count(file_, "nlevelmax", 60);
    head_.variables = cells == RamsesCells::forces ? k_ramses_force_fields
                      : attributes.has_gas         ? count("nvar")
                                                   : 0;
    head_.last_steps = file_.attribute<std::vector<double>>("/header", "dtnew");
    for (const double step : head_.last_steps)
      if (!(step >= 0.0) || !std::isfinite(step))
        throw InputError("'{}': /header: dtnew: invalid time step {}", file_.path(), step);
    if (const auto named = std::ssize(attributes.variables); named > 0 && named != count("nvar"))
      throw InputError(
          "'{}': /header: nvar: the file has {} variables, but hydro_file_descriptor.txt lists {}",
          file_.path(), count("nvar"), named);
    head_.gamma = header_number(file_, "gamma");
    head_.coarse_cells = {count("nx"), count("ny"), count("nz")};
  }

  std::vector<RamsesHead> heads() const override { return {head_}; }
  bool is_conserved() const override { return true; }

  void next_level() override {
    const std::string amr = level_of("amr", ++level_);
    first_rows_.assign(static_cast<std::size_t>(facts_.domains) + 1, 0);
    if (!file_.exists(amr)) return;
    const auto counts = counts_of_domains(amr + "/ngrid_per_cpu");
    std::partial_sum(counts.begin(), counts.end(), first_rows_.begin() + 1,
                     std::plus<std::int64_t>());
    const std::int64_t octs = first_rows_.back();
    for (int axis = 0; axis < 3; ++axis) require_rows(fmt::format("{}/xg_{}", amr, axis + 1), octs);
    require_rows(amr + "/son_flag", k_oct_cells * octs);
    for (int v = 0; v < head_.variables; ++v) require_rows(variable(v), k_oct_cells * octs);
  }

  void read(int round, RowRange some, RamsesOcts& octs) override {
    octs.resize(some.count, k_oct_cells * head_.variables);
    auto parts = pieces(round, some);
    const std::int64_t most = communicator_.max(std::ssize(parts));
    parts.resize(static_cast<std::size_t>(most), {.domain = 1, .octs = {}, .at = 0});
    for (const auto& [domain, part, at] : parts)
      read({first_rows_[domain - 1] + part.begin, part.count}, octs, at);
  }

  RamsesParticles particles(int round) override {
    RamsesParticles all;
    if (!file_.exists("/particles/mass")) return all;
    const auto counts = as_integers(counts_of_domains("/particles/npart_per_cpu"));
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    for (const char* column : {"x_1", "x_2", "x_3", "v_1", "v_2", "v_3", "mass", "identity"})
      require_rows(fmt::format("/particles/{}", column), total);
    for (const char* column : {"levelp", "ptypep", "birth_epoch", "metallicity"})
      if (const auto path = fmt::format("/particles/{}", column); file_.exists(path))
        require_rows(path, total);
    for (const RowRange rows : rows_of(counts, round)) append(rows, all);
    return all;
  }

  RamsesParticles sinks() override {
    RamsesParticles sinks;
    if (!file_.exists("/sinks/msink")) return sinks;
    const std::int64_t total = file_.shape("/sinks/msink").at(0);
    for (const char* column : {"msink", "idsink", "xsink_1", "xsink_2", "xsink_3", "vsink_1",
                               "vsink_2", "vsink_3", "tsink"})
      if (const auto path = fmt::format("/sinks/{}", column); file_.exists(path))
        require_rows(path, total, "/sinks/msink");
    const RowRange rows{0, communicator_.is_root() ? total : 0};
    sinks.mass = file_.read<double>("/sinks/msink", rows);
    sinks.identity = as_integers(file_.read<std::int32_t>("/sinks/idsink", rows));
    sinks.family.assign(sinks.mass.size(), k_ramses_cloud);
    append_vectors("/sinks/xsink", rows, sinks.position);
    append_vectors("/sinks/vsink", rows, sinks.velocity);
    if (file_.exists("/sinks/tsink"))
      sinks.columns["birth_time"] = file_.read<double>("/sinks/tsink", rows);
    return sinks;
  }

 private:
  // Dataset of a variable on the current level.
  std::string variable(int number) const {
    return cells_ == RamsesCells::forces
               ? fmt::format("{}/f_{}", level_of("gravity", level_), number + 1)
               : fmt::format("{}/uold_{}", level_of("hydro", level_), number + 1);
  }

  // Reads a number of octs or particles for each domain.
  std::vector<std::int32_t> counts_of_domains(const std::string& dataset) const {
    require_rows(dataset, facts_.domains, "the number of domains");
    auto counts = file_.read<std::int32_t>(dataset, {0, facts_.domains});
    if (std::ranges::any_of(counts, [](std::int32_t count) { return count < 0; }))
      throw InputError("'{}': {} contains negative numbers", file_.path(), dataset);
    return counts;
  }

  std::int64_t octs_of(int domain) const override {
    return first_rows_[domain] - first_rows_[domain - 1];
  }

  // Rows of a round's domains: the same number of ranges on every rank, some of them empty.
  std::vector<RowRange> rows_of(const std::vector<std::int64_t>& counts, int round) const {
    const std::vector<int> numbers = domains(round);
    std::vector<RowRange> rows(communicator_.max(static_cast<std::int64_t>(numbers.size())));
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const auto domain = counts.begin() + numbers[n] - 1;
      rows[n] = {std::accumulate(counts.begin(), domain, std::int64_t{0}), *domain};
    }
    return rows;
  }

  // Requires a dataset of one column with a number of rows that `origin` determines.
  void require_rows(const std::string& dataset, std::int64_t rows,
                    const char* origin = "the number of rows of all domains") const {
    if (const auto shape = file_.shape(dataset); shape != std::vector{rows})
      throw InputError("'{}': {} has {} rows; expected {} ({})", file_.path(), dataset,
                       shape.empty() ? 0 : shape[0], rows, origin);
  }

  // Reads these rows of the current level to position `at` of `octs`. Collective.
  void read(RowRange rows, RamsesOcts& octs, std::int64_t at) const {
    const std::string amr = level_of("amr", level_);
    for (int axis = 0; axis < 3; ++axis) {
      const auto centres = file_.read<double>(fmt::format("{}/xg_{}", amr, axis + 1), rows);
      communicator_.collective_try([&] {
        for (std::int64_t n = 0; n < rows.count; ++n) {
          octs.places[at + n][axis] = ramses_oct_place(level_, centres[n]);
          if (octs.places[at + n][axis] < 0)
            throw InputError("'{}': {}/xg_{}: {} is not the centre of an oct", file_.path(), amr,
                             axis + 1, centres[n]);
        }
      });
    }
    const RowRange cells{rows.begin * k_oct_cells, rows.count * k_oct_cells};
    const auto sons = file_.read<std::int32_t>(amr + "/son_flag", cells);
    for (std::int64_t n = 0; n < cells.count; ++n)
      octs.refined[at + n / k_oct_cells] |=
          static_cast<std::uint8_t>((sons[n] > 0) << n % k_oct_cells);
    for (int v = 0; v < head_.variables; ++v) {
      const std::string name = variable(v);
      const bool is_density = cells_ == RamsesCells::gas && v == 0;
      const auto values = file_.read<double>(name, cells);
      communicator_.collective_try([&] {
        for (std::int64_t n = 0; n < cells.count; ++n) {
          if (!std::isfinite(values[n]) || (is_density && !(values[n] > 0.0)))
            throw InputError("'{}': {}: row {} has {}", file_.path(), name, cells.begin + n,
                             values[n]);
          octs.values[(v * k_oct_cells + n % k_oct_cells) * octs.size() + at + n / k_oct_cells] =
              values[n];
        }
      });
    }
  }

  // Appends some rows of the components NAME_1, NAME_2 and NAME_3.
  void append_vectors(const std::string& name, RowRange rows,
                      std::vector<std::array<double, 3>>& to) const {
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(rows.count));
    for (int axis = 0; axis < 3; ++axis) {
      const auto values = file_.read<double>(fmt::format("{}_{}", name, axis + 1), rows);
      for (std::size_t n = 0; n < values.size(); ++n) to[before + n][axis] = values[n];
    }
  }

  void append(RowRange rows, RamsesParticles& all) const {
    const auto column = [&](const std::string& name) {
      return file_.read<double>("/particles/" + name, rows);
    };
    append_vectors("/particles/x", rows, all.position);
    append_vectors("/particles/v", rows, all.velocity);
    const auto add = [](auto& to, const auto& values) {
      to.insert(to.end(), values.begin(), values.end());
    };
    add(all.identity, file_.read<std::int64_t>("/particles/identity", rows));
    add(all.family, read_families(file_, rows));
    add(all.mass, column("mass"));
    if (file_.exists("/particles/levelp"))
      add(all.level, file_.read<std::int32_t>("/particles/levelp", rows));
    if (file_.exists("/particles/birth_epoch"))
      add(all.columns["birth_time"], column("birth_epoch"));
    if (file_.exists("/particles/metallicity"))
      add(all.columns["metallicity"], column("metallicity"));
  }

  RamsesCells cells_;
  Hdf5Reader file_;
  RamsesHead head_;
  int level_ = 0;                         // the current one
  std::vector<std::int64_t> first_rows_;  // first row of each domain on this level, and the end
};

// Reports the contents of the file that are not read. Collective.
void report_unread_parts(const Hdf5Reader& file, int variables) {
  report_unread(file, "/",
                {"header", "coarse", "domain", "amr", "hydro", "gravity", "particles", "sinks"});
  report_unread(file, "/particles",
                {"x_1", "x_2", "x_3", "v_1", "v_2", "v_3", "mass", "identity", "levelp", "ptypep",
                 "birth_epoch", "metallicity", "npart_per_cpu"});
  std::vector<std::string> of_sinks{"idsink",  "msink",   "xsink_1", "xsink_2", "xsink_3",
                                    "vsink_1", "vsink_2", "vsink_3", "tsink"};
  if (file.exists("/sinks"))
    std::ranges::copy_if(file.children("/sinks"), std::back_inserter(of_sinks),
                         [](const std::string& name) { return name.starts_with("sink_stat_"); });
  report_unread(file, "/sinks", of_sinks);
  std::vector<std::string> of_gas;
  for (int v = 1; v <= variables; ++v) of_gas.push_back(fmt::format("uold_{}", v));
  report_unread(file, level_of("hydro", 1), of_gas);
}

// Throws InputError if a group of particles or sinks lacks its masses, without which it would be
// ignored. The attribute `total`, if present, must equal the number of rows.
void require_whole(const Hdf5Reader& file, const char* group, const char* dataset,
                   const char* total) {
  if (!file.exists(group)) return;
  const std::string path = fmt::format("{}/{}", group, dataset);
  const bool has_rows = file.exists(path), has_total = file.has_attribute(group, total);
  if (!has_rows && !file.children(group).empty())
    throw InputError("'{}': {} has no {}: the layout is not that of the 2026 version of cuRAMSES",
                     file.path(), group, dataset);
  const auto rows = static_cast<double>(has_rows ? file.shape(path).at(0) : 0);
  if (has_total && number_of(file, group, total) != rows)
    throw InputError("'{}': {} has {} rows, but the attribute {} is {}", file.path(), path, rows,
                     total, number_of(file, group, total));
}

// Replaces the numbers of the texts, which have fewer digits, by those of /header.
void read_header_group(const Hdf5Reader& file, RamsesFacts& attributes) {
  for (const auto& [name, value] : k_ramses_numbers) {
    std::string own = name;  // name in lower case
    std::ranges::transform(own, own.begin(), [](unsigned char c) { return std::tolower(c); });
    if (own.starts_with("unit_")) continue;
    const double found = header_number(file, own.c_str()), expected = attributes.*value;
    constexpr double k_rounding = 1e-6;  // of single precision
    if (!(std::abs(found - expected) <= k_rounding * std::abs(expected)))
      throw InputError(
          "'{}': /header: {} is {}, but info_{}.txt has {}: files of different outputs "
          "are mixed",
          file.path(), own, found, attributes.number, expected);
    attributes.*value = found;
  }
  const int domains = header_count(file, "ncpu"), dimensions = header_count(file, "ndim");
  if (domains != attributes.domains || dimensions != 3)
    throw InputError(
        "'{}': /header: {} domains of {} dimensions; info_{}.txt has {} domains, and "
        "3 dimensions are expected",
        file.path(), domains, dimensions, attributes.number, attributes.domains);
}

// Counts particles by family; every rank counts some of the rows. Collective.
std::map<std::string, std::int64_t> count_families(const Hdf5Reader& file) {
  const Communicator& communicator = file.communicator();
  const std::int64_t total = file.shape("/particles/mass").at(0), ranks = communicator.size();
  for (const char* column : {"identity", "ptypep", "birth_epoch"})
    if (const auto path = fmt::format("/particles/{}", column);
        file.exists(path) && file.shape(path) != std::vector{total})
      throw InputError("'{}': /particles/mass has {} rows, but {} has the shape {}", file.path(),
                       total, path, file.shape(path));
  const std::int64_t begin = total * communicator.rank() / ranks;
  const RowRange rows{begin, total * (communicator.rank() + 1) / ranks - begin};
  std::array<std::int64_t, 4> found{};
  for (const std::int8_t family : read_families(file, rows)) ++found[family];
  communicator.sum_in_place(std::span<std::int64_t>(found));
  const std::pair<const char*, RamsesFamily> names[] = {
      {"DM", k_ramses_dark}, {"star", k_ramses_star}, {"cloud", k_ramses_cloud}};
  std::map<std::string, std::int64_t> families;
  for (const auto& [name, family] : names)
    if (found[family] > 0) families[name] = found[family];
  return families;
}

}  // namespace

void read_hdf5_facts(const Communicator& communicator, RamsesFacts& attributes) {
  const Hdf5Reader file(communicator, attributes.hdf5_file);
  read_header_group(file, attributes);
  require_whole(file, "/particles", "mass", "npart_total");
  require_whole(file, "/sinks", "msink", "nsink");
  report_unread_parts(file, header_count(file, "nvar", 1000));
  attributes.has_gas = file.exists("/hydro");
  attributes.has_forces = file.exists("/gravity");
  attributes.has_sinks = file.exists("/sinks/msink");
  const auto families =
      file.exists("/particles/mass") ? count_families(file) : std::map<std::string, std::int64_t>();
  if ((attributes.has_families || attributes.has_totals) && families != attributes.families)
    throw InputError(
        "'{}' contains particles of the families {}, but header_{}.txt lists {}: files "
        "of different outputs are mixed",
        attributes.hdf5_file, families, attributes.number, attributes.families);
  attributes.families = families;
}

std::unique_ptr<RamsesSource> open_hdf5(const Communicator& communicator,
                                        const RamsesFacts& attributes, int chunk,
                                        RamsesCells cells) {
  return std::make_unique<RamsesHdf5>(communicator, attributes, chunk, cells);
}

}  // namespace octant
