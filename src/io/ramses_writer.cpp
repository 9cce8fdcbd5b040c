#include "io/ramses_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/own_files.hpp"

namespace octant {

namespace {

constexpr int k_cells_of_oct = 8;

std::string path_in(const RamsesOutput& output, const std::string& name) {
  return output.facts.folder + "/" + name;
}

std::string domain_path(const RamsesOutput& output, const char* kind, int domain) {
  return path_in(output, fmt::format("{}_{}.out{:05d}", kind, output.facts.number, domain));
}

// With all digits of a double, more than RAMSES itself writes.
std::string info_text(const RamsesOutput& output, std::int64_t most_octs) {
  const RamsesFacts& f = output.facts;
  std::string text;
  const std::pair<const char*, std::int64_t> counts[] = {{"ncpu", f.domains},
                                                         {"ndim", 3},
                                                         {"levelmin", f.coarsest_level},
                                                         {"levelmax", output.levels},
                                                         {"ngridmax", most_octs},
                                                         {"nstep_coarse", f.coarse_steps}};
  for (const auto& [name, count] : counts) text += fmt::format("{:<12}={:11d}\n", name, count);
  text += "\n";
  for (const auto& [name, number] : k_ramses_numbers)
    text += fmt::format("{:<12}={:24.16E}\n", name, f.*number);
  text += fmt::format("\nordering type={:<80}\n", "hilbert");
  text += "   DOMAIN   ind_min                 ind_max\n";
  for (int domain = 1; domain <= f.domains; ++domain)
    text += fmt::format("{:8d} {:23.15E} {:23.15E}\n", domain, output.bounds[domain - 1],
                        output.bounds[domain]);
  return text;
}

std::string header_text(const RamsesOutput& output) {
  const RamsesFacts& facts = output.facts;
  std::string text = fmt::format("#{:>12}{:>10}\n", "Family", "Count");
  for (const char* family :
       {"other_tracer", "debris_tracer", "cloud_tracer", "star_tracer", "other_tracer",
        "gas_tracer", "DM", "star", "cloud", "debris", "other", "undefined"}) {
    const auto found = facts.families.find(family);
    text +=
        fmt::format("{:>13}{:10d}\n", family, found == facts.families.end() ? 0 : found->second);
  }
  text += " Particle fields\npos vel mass iord level family tag ";
  return text + (facts.families.contains("star") ? "tform metal\n"
                 : output.sinks > 0              ? "tform\n"
                                                 : "\n");
}

std::string descriptor_text(const std::vector<std::string>& names, bool long_ids) {
  std::string text = "# version:  1\n# ivar, variable_name, variable_type\n";
  for (std::size_t n = 0; n < names.size(); ++n) {
    char type = 'd';
    if (names[n] == "identity") type = long_ids ? 'q' : 'i';
    if (names[n] == "levelp") type = 'i';
    if (names[n] == "family" || names[n] == "tag") type = 'b';
    text += fmt::format("{:2d}, {}, {}\n", n + 1, names[n], type);
  }
  return text;
}

template <class T>
std::span<const T> part(const std::vector<T>& values, std::int64_t begin, std::int64_t count) {
  return std::span(values).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(count));
}

std::int64_t octs_of(const RamsesLists& lists) {
  std::int64_t total = 0;
  for (const auto& level : lists) total += std::accumulate(level.begin(), level.end(), 0L);
  return total;
}

}  // namespace

int RamsesOutput::central_cell() const {
  return 1 + cells_below[0] + coarse_cells[0] * (cells_below[1] + coarse_cells[1] * cells_below[2]);
}

int RamsesOutput::boundary_regions() const {
  return 2 * static_cast<int>(std::ranges::count_if(coarse_cells, [](int n) { return n > 1; }));
}

void write_ramses_texts(const RamsesOutput& output, std::int64_t most_octs) {
  const RamsesFacts& facts = output.facts;
  write_own_file(path_in(output, fmt::format("info_{}.txt", facts.number)),
                 info_text(output, most_octs));
  write_own_file(path_in(output, fmt::format("header_{}.txt", facts.number)), header_text(output));
  write_own_file(path_in(output, "hydro_file_descriptor.txt"),
                 descriptor_text(facts.variables, false));
  if (!facts.particle_fields.empty())
    write_own_file(path_in(output, "part_file_descriptor.txt"),
                   descriptor_text(facts.particle_fields, output.long_ids));
}

void write_ramses_sinks(const RamsesOutput& output, const RamsesParticles& sinks) {
  // What Octant knows; the rest, of accretion, is 0.
  std::string text =
      " # id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,del_mass,rho_gas,cs**2,etherm,vx_gas,"
      "vy_gas,vz_gas,mbh,dmfsink,level \n"
      " # 1,m,l,l,l,l t**-1,l t**-1,l t**-1,m l**2 t**-1,m l**2 t**-1,m l**2 t**-1,t,m t**-1,m,"
      "m l**-3,l**2 t**-2,m l**2 t**-2,l t**-1,l t**-1,l t**-1,m,m,1\n";
  const auto& births = sinks.columns.at("birth_time");
  for (std::size_t n = 0; n < sinks.size(); ++n) {
    const auto& [x, y, z] = sinks.position[n];
    const auto& [u, v, w] = sinks.velocity[n];
    const double mass = sinks.mass[n];
    text += fmt::format("{:10d}", sinks.identity[n]);
    for (const double value : {mass, x,   y,   z,   u,   v,   w,   0.0, 0.0,  0.0, births[n],
                               0.0,  0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, mass, 0.0})
      text += fmt::format(",{:21.14E}", value);
    text += fmt::format(",{:10d}\n", output.levels);
  }
  write_own_file(path_in(output, fmt::format("sink_{}.csv", output.facts.number)), text);
}

RamsesTreeFile::RamsesTreeFile(const RamsesOutput& output, int domain, const RamsesLists& lists,
                               const std::vector<std::int32_t>& sons, int root_owner)
    : file_(domain_path(output, "amr", domain)), lists_(lists) {
  const std::int64_t held = octs_of(lists), most = most_octs(held);
  const auto& [nx, ny, nz] = output.coarse_cells;
  if (nx * ny * nz + k_cells_of_oct * most > std::numeric_limits<std::int32_t>::max())
    throw RunError("{}: {} octs are more than RAMSES can number: write more domains",
                   output.facts.folder, held);
  const auto held_octs = static_cast<std::int32_t>(held);
  const auto most_of_them = static_cast<std::int32_t>(most);
  write_sizes(output, held_octs, most_of_them);
  write_times(output);
  write_cosmology(output);
  write_lists(output);
  file_.integers({held_octs + 1, most_of_them, 1, held_octs, held_octs});
  write_coarse_cells(output, sons, root_owner);
}

void RamsesTreeFile::write_sizes(const RamsesOutput& output, std::int32_t held, std::int32_t most) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  file_.integers({output.facts.domains});
  file_.integers({3});
  file_.integers({nx, ny, nz});
  file_.integers({output.levels});
  file_.integers({most});
  file_.integers({output.boundary_regions()});
  file_.integers({held});
  file_.reals({output.facts.box_length});
}

void RamsesTreeFile::write_times(const RamsesOutput& output) {
  constexpr double k_huge = std::numeric_limits<double>::max();
  const RamsesFacts& f = output.facts;
  file_.integers({1, 1, std::stoi(f.number) + 1});  // outputs that are asked for, and the next ones
  file_.reals({k_huge});
  file_.reals({k_huge});
  file_.reals({f.time});
  // Velocities are those of this very time: no half kick of an earlier step is due.
  const std::vector<double> no_steps(static_cast<std::size_t>(output.levels), 0.0);
  file_.record(no_steps);
  file_.record(no_steps);
  const auto steps = static_cast<std::int32_t>(f.coarse_steps);
  file_.integers({steps, steps});
}

void RamsesTreeFile::write_cosmology(const RamsesOutput& output) {
  const RamsesFacts& f = output.facts;
  const double a = f.scale_factor;
  file_.reals({0.0, output.gas_mass, output.mass / std::pow(f.box_length, 3)});
  // Tables of times reach from half of this scale factor to today.
  const bool expands = f.is_cosmological();
  file_.reals({f.omega_m, f.omega_lambda, f.omega_curvature, f.omega_b, f.hubble,
               expands ? 0.5 * a : 10.0, output.box_megaparsecs_per_h});
  const double rate =
      std::sqrt(f.omega_m / (a * a * a) + f.omega_lambda + f.omega_curvature / (a * a));
  file_.reals({a, expands ? a * a * rate : 0.0, a, 0.0, 0.0});
  file_.reals({expands ? f.omega_b / f.omega_m * std::pow(0.5, 3 * f.coarsest_level) : 0.0});
}

// Where the octs of each level and list begin and end, and how many there are in all domains.
void RamsesTreeFile::write_lists(const RamsesOutput& output) {
  struct Lists {
    std::vector<std::int32_t> heads, tails, counts;
  } of_domains, of_regions;
  std::vector<std::int32_t> totals;
  const int domains = output.facts.domains;
  std::int32_t next = 1;
  for (std::size_t level = 0; level < lists_.size(); ++level) {
    for (std::size_t list = 0; list < lists_[level].size(); ++list) {
      const auto n = static_cast<std::int32_t>(lists_[level][list]);
      Lists& all = static_cast<int>(list) < domains ? of_domains : of_regions;
      all.heads.push_back(n > 0 ? next : 0);
      all.tails.push_back(n > 0 ? next + n - 1 : 0);
      all.counts.push_back(n);
      next += n;
    }
    const auto& own = output.octs[level];
    const std::int64_t all = std::accumulate(own.begin(), own.end(), std::int64_t{0});
    const auto [least, most] = std::ranges::minmax(own);
    for (const std::int64_t n : {all, least, most, all / domains})
      totals.push_back(static_cast<std::int32_t>(n));
    totals.insert(totals.end(), 6, 0);
  }
  const auto write = [&](const Lists& all) {
    for (const auto* values : {&all.heads, &all.tails, &all.counts}) file_.record(*values);
  };
  write(of_domains);
  file_.record(totals);
  if (output.boundary_regions() > 0) write(of_regions);
}

void RamsesTreeFile::write_coarse_cells(const RamsesOutput& output,
                                        const std::vector<std::int32_t>& sons, int root_owner) {
  file_.text("hilbert", 128);
  file_.record(output.bounds);
  file_.record(sons);
  std::vector<std::int32_t> at_cells;
  for (const std::int32_t son : sons) at_cells.push_back(son > 0 ? 1 : 0);
  file_.record(at_cells);  // they stay refined
  at_cells.assign(sons.size(), 0);
  at_cells[static_cast<std::size_t>(output.central_cell() - 1)] = root_owner;
  file_.record(at_cells);
}

void RamsesTreeFile::write_level(int level, const RamsesTreeLevel& octs) {
  std::int64_t begin = 0;
  for (const std::int64_t count : lists_[level - 1]) {
    if (count == 0) continue;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first_ + begin));
    file_.record(numbers);
    for (auto& n : numbers) ++n;
    numbers.back() = 0;
    file_.record(numbers);  // next
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first_ + begin) - 1);
    numbers.front() = 0;
    file_.record(numbers);  // previous
    for (const auto& centre : octs.centre) file_.record(part(centre, begin, count));
    file_.record(part(octs.father, begin, count));
    for (const auto& cells : octs.neighbour) file_.record(part(cells, begin, count));
    for (const auto* of_cells : {&octs.son, &octs.owner, &octs.flag})
      for (const auto& values : *of_cells) file_.record(part(values, begin, count));
    begin += count;
  }
  first_ += begin;
}

RamsesCellFile::RamsesCellFile(const RamsesOutput& output, Kind kind, int domain,
                               const RamsesLists& lists, int variables)
    : file_(domain_path(output, kind == Kind::gas ? "hydro" : "grav", domain)),
      lists_(lists),
      variables_(variables) {
  file_.integers({output.facts.domains});
  file_.integers({variables});
  if (kind == Kind::gas) file_.integers({3});
  file_.integers({output.levels});
  file_.integers({output.boundary_regions()});
  if (kind == Kind::gas) file_.reals({output.gamma});
  for (int level = 1; level <= output.levels; ++level) {
    auto& places = places_.emplace_back();
    for (const std::int64_t count : lists[level - 1]) {
      file_.integers({level});
      file_.integers({static_cast<std::int32_t>(count)});
      places.push_back(
          file_.reserve(count * sizeof(double), count > 0 ? k_cells_of_oct * variables : 0));
    }
  }
}

void RamsesCellFile::write(int level, int n, std::span<const double> values) {
  std::size_t begin = 0;
  for (std::size_t list = 0; list < lists_[level - 1].size(); ++list) {
    const auto count = static_cast<std::size_t>(lists_[level - 1][list]);
    std::vector<double> of_cell(count);
    for (int cell = 0; cell < k_cells_of_oct && count > 0; ++cell) {
      for (std::size_t oct = 0; oct < count; ++oct)
        of_cell[oct] = values[(begin + oct) * k_cells_of_oct + cell];
      const std::int64_t before = std::int64_t{cell} * variables_ + n;
      file_.record_at(
          places_[level - 1][list] + before * FortranWriter::length_of(count * sizeof(double)),
          std::as_bytes(std::span(of_cell)));
    }
    begin += count;
  }
}

FortranWriter ramses_particle_file(const RamsesOutput& output, int domain, std::int64_t count,
                                   std::int64_t all_stars, double mass_of_stars) {
  FortranWriter file(domain_path(output, "part", domain));
  file.integers({output.facts.domains});
  file.integers({3});
  file.integers({static_cast<std::int32_t>(count)});
  file.integers({-1, -1, -1, -1});  // seeds of random numbers, to be begun anew
  if (output.long_ids) file.record(std::vector<std::int64_t>{all_stars});
  else file.integers({static_cast<std::int32_t>(all_stars)});
  file.reals({mass_of_stars});
  file.reals({0.0});  // mass that stars have lost
  file.integers({static_cast<std::int32_t>(output.sinks)});
  return file;
}

}  // namespace octant
