#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.hpp"
#include "io/hdf5_file.hpp"
#include "io/ramses_kinds.hpp"
#include "io/unread_members.hpp"

// As cuRAMSES's version of 2026 writes it:
//
//   /header               attributes: ncpu, nx, ny, nz, nlevelmax, levelmin, boxlen, nvar, gamma,
//                         time, nstep_coarse, omega_m, omega_l, omega_k, omega_b, h0, aexp, ...;
//                         dtnew [level]
//   /amr/level_L          xg_1, xg_2, xg_3 [oct]: centres in coarse cells; son_flag [oct * 8];
//                         ngrid_per_cpu [domain]
//   /hydro/level_L        uold_1, uold_2, ... [oct * 8]: conserved variables
//   /gravity/level_L      f_1, f_2, f_3 [oct * 8]: its force, where there is some
//   /particles            x_1, ..., v_1, ..., mass, identity, levelp [particle]; birth_epoch,
//                         metallicity where there are stars or sinks: stars were born at another
//                         epoch than 0, and the clouds of sinks have negative identities;
//                         npart_per_cpu [domain]
//   /sinks                idsink, msink, xsink_1, ..., vsink_1, ..., tsink [sink]
//
// Levels, variables and axes count from 1. Octs and particles lie in the order of domains.

namespace octant {

namespace {

constexpr std::int64_t k_octants = 8;
constexpr double k_megaparsec = 3.08e24, k_critical_density = 1.88e-29;  // cgs; as RAMSES has them

std::string level_of(const char* room, int level) {
  return fmt::format("/{}/level_{}", room, level);
}

std::vector<std::int64_t> as_integers(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

RamsesFamily family_of(std::int64_t identity, double birth) {
  if (identity < 0) return k_ramses_cloud;
  return birth != 0.0 ? k_ramses_star : k_ramses_dark;
}

class RamsesHdf5 final : public RamsesSource {
 public:
  RamsesHdf5(const Communicator& communicator, const RamsesFacts& facts, int chunk,
             RamsesCells cells)
      : RamsesSource(communicator, facts, chunk),
        cells_(cells),
        file_(communicator, facts.hdf5_file) {
    const auto count = [&](const char* name) {
      return file_.attribute<std::int64_t>("/header", name);
    };
    head_.levels = static_cast<int>(count("nlevelmax"));
    head_.variables =
        cells == RamsesCells::forces ? k_ramses_force_fields : static_cast<int>(count("nvar"));
    if (file_.has_attribute("/header", "dtnew"))
      head_.last_steps = file_.attribute<std::vector<double>>("/header", "dtnew");
    for (const double step : head_.last_steps)
      if (!(step >= 0.0) || !std::isfinite(step))
        throw InputError("'{}': /header: dtnew: a step of length {}", file_.path(), step);
    head_.gamma = file_.attribute<double>("/header", "gamma");
    head_.coarse_cells = {count("nx"), count("ny"), count("nz")};
  }

  std::vector<RamsesHead> heads() const override { return {head_}; }
  bool is_conserved() const override { return true; }

  void next_level() override {
    const std::string amr = level_of("amr", ++level_);
    first_rows_.assign(static_cast<std::size_t>(facts_.domains) + 1, 0);
    if (!file_.exists(amr)) return;
    const auto counts = file_.read<std::int32_t>(amr + "/ngrid_per_cpu", {0, facts_.domains});
    std::partial_sum(counts.begin(), counts.end(), first_rows_.begin() + 1,
                     std::plus<std::int64_t>());
    const std::int64_t octs = first_rows_.back();
    for (int axis = 0; axis < 3; ++axis) require_rows(fmt::format("{}/xg_{}", amr, axis + 1), octs);
    require_rows(amr + "/son_flag", k_octants * octs);
    for (int v = 0; v < head_.variables; ++v) require_rows(variable(v), k_octants * octs);
  }

  void read(int round, RowRange some, RamsesOcts& octs) override {
    octs.resize(some.count, k_octants * head_.variables);
    auto parts = pieces(round, some);
    const std::int64_t most = communicator_.max(std::ssize(parts));
    parts.resize(static_cast<std::size_t>(most), {.domain = 1, .octs = {}, .at = 0});
    for (const auto& [domain, part, at] : parts)
      read({first_rows_[domain - 1] + part.begin, part.count}, octs, at);
  }

  RamsesParticles particles(int round) override {
    RamsesParticles all;
    if (!file_.exists("/particles/mass")) return all;
    const auto counts =
        as_integers(file_.read<std::int32_t>("/particles/npart_per_cpu", {0, facts_.domains}));
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    for (const char* column : {"x_1", "x_2", "x_3", "v_1", "v_2", "v_3", "mass", "identity"})
      require_rows(fmt::format("/particles/{}", column), total);
    if (file_.exists("/particles/levelp")) require_rows("/particles/levelp", total);
    for (const RowRange rows : rows_of(counts, round)) append(rows, all);
    return all;
  }

  RamsesParticles sinks() override {
    RamsesParticles sinks;
    if (!file_.exists("/sinks/msink")) return sinks;
    const std::int64_t total = file_.shape("/sinks/msink").at(0);
    const RowRange rows{0, communicator_.is_root() ? total : 0};
    sinks.mass = file_.read<double>("/sinks/msink", rows);
    sinks.identity = as_integers(file_.read<std::int32_t>("/sinks/idsink", rows));
    sinks.family.assign(sinks.mass.size(), k_ramses_cloud);
    sinks.position.resize(sinks.mass.size());
    sinks.velocity.resize(sinks.mass.size());
    for (int axis = 0; axis < 3; ++axis) {
      const auto x = file_.read<double>(fmt::format("/sinks/xsink_{}", axis + 1), rows);
      const auto v = file_.read<double>(fmt::format("/sinks/vsink_{}", axis + 1), rows);
      for (std::size_t n = 0; n < sinks.mass.size(); ++n) {
        sinks.position[n][axis] = x[n];
        sinks.velocity[n][axis] = v[n];
      }
    }
    if (file_.exists("/sinks/tsink"))
      sinks.columns["birth_time"] = file_.read<double>("/sinks/tsink", rows);
    return sinks;
  }

 private:
  // The dataset of a variable on the present level.
  std::string variable(int number) const {
    return cells_ == RamsesCells::forces
               ? fmt::format("{}/f_{}", level_of("gravity", level_), number + 1)
               : fmt::format("{}/uold_{}", level_of("hydro", level_), number + 1);
  }

  std::int64_t octs_of(int domain) const override {
    return first_rows_[domain] - first_rows_[domain - 1];
  }

  // Of the rows that belong to domains, those of a round: as many ranges on every rank, some empty.
  std::vector<RowRange> rows_of(const std::vector<std::int64_t>& counts, int round) const {
    const std::vector<int> numbers = domains(round);
    std::vector<RowRange> rows(communicator_.max(static_cast<std::int64_t>(numbers.size())));
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const auto domain = counts.begin() + numbers[n] - 1;
      rows[n] = {std::accumulate(counts.begin(), domain, std::int64_t{0}), *domain};
    }
    return rows;
  }

  void require_rows(const std::string& dataset, std::int64_t rows) const {
    if (const auto shape = file_.shape(dataset); shape != std::vector{rows})
      throw InputError("'{}': {} has {} rows, but domains own {} of them", file_.path(), dataset,
                       shape.empty() ? 0 : shape[0], rows);
  }

  // Reads these rows of the present level to where `octs` have room from `at` on. Collective.
  void read(RowRange rows, RamsesOcts& octs, std::int64_t at) const {
    const std::string amr = level_of("amr", level_);
    for (int axis = 0; axis < 3; ++axis) {
      const auto centres = file_.read<double>(fmt::format("{}/xg_{}", amr, axis + 1), rows);
      communicator_.agree([&] {
        for (std::int64_t n = 0; n < rows.count; ++n) {
          octs.places[at + n][axis] = ramses_oct_place(level_, centres[n]);
          if (octs.places[at + n][axis] < 0)
            throw InputError("'{}': {}/xg_{}: {} is not the centre of an oct", file_.path(), amr,
                             axis + 1, centres[n]);
        }
      });
    }
    const RowRange cells{rows.begin * k_octants, rows.count * k_octants};
    const auto sons = file_.read<std::int32_t>(amr + "/son_flag", cells);
    for (std::int64_t n = 0; n < cells.count; ++n)
      octs.refined[at + n / k_octants] |= static_cast<std::uint8_t>((sons[n] > 0) << n % k_octants);
    for (int v = 0; v < head_.variables; ++v) {
      const std::string name = variable(v);
      const bool is_density = cells_ == RamsesCells::gas && v == 0;
      const auto values = file_.read<double>(name, cells);
      communicator_.agree([&] {
        for (std::int64_t n = 0; n < cells.count; ++n) {
          if (!std::isfinite(values[n]) || (is_density && !(values[n] > 0.0)))
            throw InputError("'{}': {}: row {} has {}", file_.path(), name, cells.begin + n,
                             values[n]);
          octs.values[(v * k_octants + n % k_octants) * octs.size() + at + n / k_octants] =
              values[n];
        }
      });
    }
  }

  void append(RowRange rows, RamsesParticles& all) const {
    const std::size_t before = all.size();
    const auto count = static_cast<std::size_t>(rows.count);
    const auto column = [&](const std::string& name) {
      return file_.read<double>("/particles/" + name, rows);
    };
    all.position.resize(before + count);
    all.velocity.resize(before + count);
    for (int axis = 0; axis < 3; ++axis) {
      const auto x = column(fmt::format("x_{}", axis + 1)),
                 v = column(fmt::format("v_{}", axis + 1));
      for (std::size_t n = 0; n < count; ++n) {
        all.position[before + n][axis] = x[n];
        all.velocity[before + n][axis] = v[n];
      }
    }
    const auto add = [](auto& to, const auto& values) {
      to.insert(to.end(), values.begin(), values.end());
    };
    const auto identity = file_.read<std::int64_t>("/particles/identity", rows);
    add(all.identity, identity);
    add(all.mass, column("mass"));
    if (file_.exists("/particles/levelp"))
      add(all.level, file_.read<std::int32_t>("/particles/levelp", rows));
    std::vector<double> birth(count, 0.0);
    if (file_.exists("/particles/birth_epoch")) {
      birth = column("birth_epoch");
      add(all.columns["birth_time"], birth);
    }
    if (file_.exists("/particles/metallicity"))
      add(all.columns["metallicity"], column("metallicity"));
    for (std::size_t n = 0; n < count; ++n) all.family.push_back(family_of(identity[n], birth[n]));
  }

  RamsesCells cells_;
  Hdf5Reader file_;
  RamsesHead head_;
  int level_ = 0;                         // the present one
  std::vector<std::int64_t> first_rows_;  // of each domain's octs on it, and the end
};

// Names what the file holds beyond that which is read. Collective.
void report_unread_parts(const Hdf5Reader& file, int variables) {
  report_unread(file, "/", {"header", "domain", "amr", "hydro", "gravity", "particles", "sinks"});
  report_unread(file, "/particles",
                {"x_1", "x_2", "x_3", "v_1", "v_2", "v_3", "mass", "identity", "levelp",
                 "birth_epoch", "metallicity", "npart_per_cpu"});
  report_unread(file, "/sinks",
                {"idsink", "msink", "xsink_1", "xsink_2", "xsink_3", "vsink_1", "vsink_2",
                 "vsink_3", "tsink"});
  std::vector<std::string> of_gas;
  for (int v = 1; v <= variables; ++v) of_gas.push_back(fmt::format("uold_{}", v));
  report_unread(file, level_of("hydro", 1), of_gas);
}

// A group of particles or sinks without what tells how many there are would be passed by.
void require_whole(const Hdf5Reader& file, const char* group, const char* dataset) {
  if (file.exists(group) && !file.children(group).empty() &&
      !file.exists(fmt::format("{}/{}", group, dataset)))
    throw InputError("'{}': {} has no {}: its layout is not that of cuRAMSES's version of 2026",
                     file.path(), group, dataset);
}

}  // namespace

void read_hdf5_facts(const Communicator& communicator, RamsesFacts& facts) {
  const Hdf5Reader file(communicator, facts.hdf5_file);
  const auto number = [&](const char* name) { return file.attribute<double>("/header", name); };
  const auto count = [&](const char* name) {
    return file.attribute<std::int64_t>("/header", name);
  };
  facts.domains = static_cast<int>(count("ncpu"));
  facts.coarsest_level = static_cast<int>(count("levelmin"));
  facts.coarse_steps = count("nstep_coarse");
  for (const auto& [name, value] : k_ramses_numbers) {
    std::string own = name;  // in small letters
    std::ranges::transform(own, own.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!own.starts_with("unit_")) facts.*value = number(own.c_str());
  }
  if (facts.is_cosmological()) {
    const double a = facts.scale_factor, h = facts.hubble / 100.0;
    facts.unit_length = number("boxlen_ini") * a * k_megaparsec / h;
    facts.unit_density = facts.omega_m * k_critical_density * h * h / (a * a * a);
    facts.unit_time = a * a / (facts.hubble * 1e5 / k_megaparsec);
  }
  if (count("ndim") != 3 || facts.domains < 1 || !(facts.box_length > 0.0))
    throw InputError("'{}': /header: invalid values: {} dimensions, {} domains, box length {}",
                     facts.hdf5_file, count("ndim"), facts.domains, facts.box_length);
  require_whole(file, "/particles", "mass");
  require_whole(file, "/sinks", "msink");
  report_unread_parts(file, static_cast<int>(count("nvar")));
  facts.has_forces = file.exists("/gravity");
  facts.has_sinks = file.exists("/sinks/msink");
  if (!file.exists("/particles/mass")) return;
  // Every rank counts those of some rows.
  const std::int64_t total = file.shape("/particles/mass").at(0), ranks = communicator.size();
  const std::int64_t begin = total * communicator.rank() / ranks;
  const RowRange rows{begin, total * (communicator.rank() + 1) / ranks - begin};
  const auto identity = file.read<std::int64_t>("/particles/identity", rows);
  std::vector<double> birth(identity.size(), 0.0);
  if (file.exists("/particles/birth_epoch"))
    birth = file.read<double>("/particles/birth_epoch", rows);
  std::array<std::int64_t, 4> found{};
  for (std::size_t n = 0; n < identity.size(); ++n) ++found[family_of(identity[n], birth[n])];
  communicator.sum_in_place(std::span<std::int64_t>(found));
  const std::pair<const char*, RamsesFamily> names[] = {
      {"DM", k_ramses_dark}, {"star", k_ramses_star}, {"cloud", k_ramses_cloud}};
  for (const auto& [name, family] : names)
    if (found[family] > 0) facts.families[name] = found[family];
}

std::unique_ptr<RamsesSource> open_hdf5(const Communicator& communicator, const RamsesFacts& facts,
                                        int chunk, RamsesCells cells) {
  return std::make_unique<RamsesHdf5>(communicator, facts, chunk, cells);
}

}  // namespace octant
