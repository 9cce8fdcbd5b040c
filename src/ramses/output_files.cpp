// Files of RAMSES outputs (binary_source.cpp): texts, and for every domain a file of its octs, one
// for each kind of cell values, and one of its particles.
//
// The files contain all that RAMSES needs for a restart with the same number of domains. Octs are
// numbered from 1 in file order, by level and within a level by the domain that owns them; octs
// beyond walls follow, by region. The index of a cell is
// coarse cells + (cell of oct - 1) * ngridmax + number of the oct.
#include "ramses/export.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/own_files.hpp"

namespace octant {

namespace {

constexpr const char* k_use_hdf5 = "set ramses.layout = \"hdf5\"";

// Converts a number of `things` to the 32-bit integers of the files. Throws RunError if it does not
// fit.
std::int32_t narrow(const RamsesOutput& output, std::int64_t number, const std::string& things,
                    const char* remedy = k_use_hdf5) {
  if (!std::in_range<std::int32_t>(number))
    throw RunError("{}: {} {} exceed the 32-bit integers of this format; {}",
                   output.attributes.folder, number, things, remedy);
  return static_cast<std::int32_t>(number);
}

std::string path_in(const RamsesOutput& output, const std::string& name) {
  return output.attributes.folder + "/" + name;
}

std::string domain_path(const RamsesOutput& output, const char* kind, int domain) {
  return path_in(output, fmt::format("{}_{}.out{:05d}", kind, output.attributes.number, domain));
}

// Text of info_NNNNN.txt. Numbers have all digits of a double, more than RAMSES itself writes.
std::string info_text(const RamsesOutput& output, std::int64_t most_octs) {
  const RamsesFacts& f = output.attributes;
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
  const RamsesFacts& attributes = output.attributes;
  std::string text = fmt::format("#{:>12}{:>10}\n", "Family", "Count");
  for (const char* family :
       {"other_tracer", "debris_tracer", "cloud_tracer", "star_tracer", "other_tracer",
        "gas_tracer", "DM", "star", "cloud", "debris", "other", "undefined"}) {
    const auto found = attributes.families.find(family);
    text += fmt::format("{:>13}{:10d}\n", family,
                        found == attributes.families.end() ? 0 : found->second);
  }
  text += " Particle fields\npos vel mass iord level family tag ";
  return text + (attributes.families.contains("star") ? "tform metal\n"
                 : output.sinks > 0                   ? "tform\n"
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
  const RamsesFacts& attributes = output.attributes;
  write_own_file(path_in(output, fmt::format("info_{}.txt", attributes.number)),
                 info_text(output, most_octs));
  write_own_file(path_in(output, fmt::format("header_{}.txt", attributes.number)),
                 output.is_curamses ? curamses_header_text(output) : header_text(output));
  write_own_file(path_in(output, "hydro_file_descriptor.txt"),
                 output.is_curamses ? curamses_descriptor_text(attributes.variables)
                                    : descriptor_text(attributes.variables, false));
  if (output.is_curamses) return;
  if (!attributes.particle_fields.empty())
    write_own_file(path_in(output, "part_file_descriptor.txt"),
                   descriptor_text(attributes.particle_fields, output.long_ids));
}

void write_ramses_sinks(const RamsesOutput& output, const RamsesParticles& sinks) {
  // Accretion data of RAMSES sinks, which Octant does not have, are 0.
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
  write_own_file(path_in(output, fmt::format("sink_{}.csv", output.attributes.number)), text);
}

RamsesTreeFile::RamsesTreeFile(const RamsesOutput& output, int domain, const RamsesLists& lists,
                               const std::vector<std::int32_t>& sons, int root_owner)
    : file_(domain_path(output, "amr", domain)), lists_(lists) {
  const std::int64_t held = octs_of(lists), most = most_octs(held);
  const auto& [nx, ny, nz] = output.coarse_cells;
  if (nx * ny * nz + k_oct_cells * most > std::numeric_limits<std::int32_t>::max())
    throw RunError(
        "{}: {} octs exceed the maximum that RAMSES supports; increase the number of domains "
        "(ramses.domains)",
        output.attributes.folder, held);
  const auto listed_octs = static_cast<std::int32_t>(held);
  const auto most_of_them = static_cast<std::int32_t>(most);
  write_sizes(output, listed_octs, most_of_them);
  write_times(output);
  write_cosmology(output);
  write_lists(output);
  file_.integers({listed_octs + 1, most_of_them, 1, listed_octs, listed_octs});
  write_coarse_cells(output, sons, root_owner);
}

void RamsesTreeFile::write_sizes(const RamsesOutput& output, std::int32_t held, std::int32_t most) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  file_.integers({output.attributes.domains});
  file_.integers({3});
  file_.integers({nx, ny, nz});
  file_.integers({output.levels});
  file_.integers({most});
  file_.integers({output.boundary_regions()});
  file_.integers({held});
  file_.reals({output.attributes.box_length});
}

void RamsesTreeFile::write_times(const RamsesOutput& output) {
  constexpr double k_huge = std::numeric_limits<double>::max();
  const RamsesFacts& f = output.attributes;
  file_.integers({1, 1, std::stoi(f.number) + 1});  // requested outputs, and the next ones
  file_.reals({k_huge});
  file_.reals({k_huge});
  file_.reals({f.time});
  // Steps are 0 because velocities are synchronised: no half kick is pending.
  const std::vector<double> no_steps(static_cast<std::size_t>(output.levels), 0.0);
  file_.record(no_steps);
  file_.record(no_steps);
  const auto steps = static_cast<std::int32_t>(f.coarse_steps);
  file_.integers({steps, steps});
}

std::map<std::string, double> ramses_run_numbers(const RamsesOutput& output) {
  const RamsesFacts& f = output.attributes;
  const double a = f.scale_factor;
  const bool expands = f.is_cosmological();
  const double rate =
      std::sqrt(f.omega_m / (a * a * a) + f.omega_lambda + f.omega_curvature / (a * a));
  return {{"const", 0.0},
          {"mass_tot_0", output.gas_mass},
          {"rho_tot", output.mass / std::pow(f.box_length, 3)},
          {"omega_m", f.omega_m},
          {"omega_l", f.omega_lambda},
          {"omega_k", f.omega_curvature},
          {"omega_b", f.omega_b},
          {"h0", f.hubble},
          // Time tables extend from half of this scale factor to the present.
          {"aexp_ini", expands ? 0.5 * a : 10.0},
          {"boxlen_ini", output.box_megaparsecs_per_h},
          {"aexp", a},
          {"hexp", expands ? a * a * rate : 0.0},
          {"aexp_old", a},
          {"epot_tot_int", 0.0},
          {"epot_tot_old", 0.0},
          {"mass_sph", expands ? f.omega_b / f.omega_m * std::pow(0.5, 3 * f.coarsest_level)
                               : output.mass_unit}};
}

void RamsesTreeFile::write_cosmology(const RamsesOutput& output) {
  const auto numbers = ramses_run_numbers(output);
  const auto write = [&](std::initializer_list<const char*> names) {
    std::vector<double> record;
    for (const char* name : names) record.push_back(numbers.at(name));
    file_.record(record);
  };
  write({"const", "mass_tot_0", "rho_tot"});
  write({"omega_m", "omega_l", "omega_k", "omega_b", "h0", "aexp_ini", "boxlen_ini"});
  write({"aexp", "hexp", "aexp_old", "epot_tot_int", "epot_tot_old"});
  write({"mass_sph"});
}

// Writes first and last oct of each level and list, and the numbers of octs in all domains.
void RamsesTreeFile::write_lists(const RamsesOutput& output) {
  struct Lists {
    std::vector<std::int32_t> heads, tails, counts;
  } of_domains, of_regions;
  std::vector<std::int32_t> totals;
  const int domains = output.attributes.domains;
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
      totals.push_back(narrow(output, n, fmt::format("octs on level {}", level + 1)));
    totals.insert(totals.end(), 6, 0);
  }
  const auto write = [&](const Lists& all) {
    for (const auto* values : {&all.heads, &all.tails, &all.counts}) file_.record(*values);
  };
  write(of_domains);
  if (output.is_curamses) file_.record(std::vector<std::int64_t>(totals.begin(), totals.end()));
  else file_.record(totals);
  if (output.boundary_regions() > 0) write(of_regions);
}

void RamsesTreeFile::write_coarse_cells(const RamsesOutput& output,
                                        const std::vector<std::int32_t>& sons, int root_owner) {
  file_.text("hilbert", 128);
  if (output.is_curamses) file_.record(quadruple_precision(output.bounds));
  else file_.record(output.bounds);
  file_.record(sons);
  std::vector<std::int32_t> at_cells;
  for (const std::int32_t son : sons) at_cells.push_back(son > 0 ? 1 : 0);
  file_.record(at_cells);  // flags: cells remain refined
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
  file_.integers({output.attributes.domains});
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
          file_.reserve(count * sizeof(double), count > 0 ? k_oct_cells * variables : 0));
    }
  }
}

void RamsesCellFile::write(int level, int n, std::span<const double> values) {
  std::size_t begin = 0;
  for (std::size_t list = 0; list < lists_[level - 1].size(); ++list) {
    const auto count = static_cast<std::size_t>(lists_[level - 1][list]);
    std::vector<double> of_cell(count);
    for (int cell = 0; cell < k_oct_cells && count > 0; ++cell) {
      for (std::size_t oct = 0; oct < count; ++oct)
        of_cell[oct] = values[(begin + oct) * k_oct_cells + cell];
      const std::int64_t before = std::int64_t{cell} * variables_ + n;
      file_.record_at(
          places_[level - 1][list] + before * FortranWriter::length_of(count * sizeof(double)),
          std::as_bytes(std::span(of_cell)));
    }
    begin += count;
  }
}

FortranWriter ramses_particle_file(const RamsesOutput& output, int domain, std::int64_t count,
                                   std::int64_t all_stars) {
  FortranWriter file(domain_path(output, "part", domain));
  file.integers({output.attributes.domains});
  file.integers({3});
  file.integers({narrow(output, count, "particles in a domain", "increase ramses.domains")});
  file.integers({-1, -1, -1, -1});  // seeds of random numbers: initialise again
  if (output.long_ids) file.record(std::vector<std::int64_t>{all_stars});
  else file.integers({narrow(output, all_stars, "stars")});
  file.reals({output.star_mass});
  file.reals({0.0});  // mass lost by stars
  file.integers({narrow(output, output.sinks, "sinks")});
  return file;
}

// --- links between octs --------------------------------------------------------------------------

namespace {

bool has_walls(const RamsesOutput& output, int axis) { return output.coarse_cells[axis] > 1; }

std::int64_t octs_across(int level) { return std::int64_t{1} << (level - 1); }

// Index of a boundary region, from 0, in the order of axes.
int region_of(const RamsesOutput& output, int axis, bool above) {
  int before = 0;
  for (int d = 0; d < axis; ++d) before += has_walls(output, d) ? 2 : 0;
  return before + (above ? 1 : 0);
}

// Index, from 0, of the coarse cell that an oct of level 1 divides. All axes are wrapped
// periodically, as in RAMSES, also those with walls.
std::int32_t coarse_cell(const RamsesOutput& output, const RamsesPlace& place) {
  std::int64_t cell = 0;
  for (int d = 2; d >= 0; --d) {
    const int extent = output.coarse_cells[d];
    cell = cell * extent + (place[d] + output.cells_below[d] + extent) % extent;
  }
  return static_cast<std::int32_t>(cell);
}

// Calls visit(position, mask of refined cells, is_inside_box) for all octs and images in order.
template <class Visit>
void for_octs(const HeldLevel& level, const Visit& visit) {
  for (const OctItem& oct : level.octs) visit(place_of(oct.key), oct.refined, true);
  for (const OctImage& image : level.images) {
    unsigned refined = 0;
    for (unsigned cell = 0; cell < k_oct_cells; ++cell)
      refined |= (level.octs[image.of].refined >> (cell ^ image.mirrored) & 1) << cell;
    visit(image.place, refined, false);
  }
}

}  // namespace

void add_images(const RamsesOutput& output, HeldLevel& level) {
  level.images.clear();
  const std::int64_t last = octs_across(level.number) - 1;
  for (std::int64_t n = 0; n < std::ssize(level.octs); ++n) {
    const RamsesPlace place = place_of(level.octs[n].key);
    for (int direction = 0; direction < 27; ++direction) {
      OctImage image{.place = place, .region = -1, .mirrored = 0, .of = n};
      bool exists = true;
      for (int d = 0, rest = direction; d < 3; ++d, rest /= 3) {
        const int step = rest % 3 - 1;
        if (step == 0) continue;
        exists = exists && has_walls(output, d) && place[d] == (step < 0 ? 0 : last);
        image.place[d] += step;
        image.mirrored |= 1u << d;
        image.region = region_of(output, d, step > 0);
      }
      if (exists && image.region >= 0) level.images.push_back(image);
    }
  }
  std::ranges::sort(level.images, {}, [](const OctImage& image) {
    return std::tuple(image.region, image.place[2], image.place[1], image.place[0]);
  });
}

OctNumbers::OctNumbers(const HeldLevel& level) {
  numbers_.reserve(static_cast<std::size_t>(level.size()));
  // RamsesTreeFile has refused numbers that exceed 32 bits.
  auto next = static_cast<std::int32_t>(level.first_oct);
  for_octs(level, [&](const RamsesPlace& place, unsigned, bool) {
    numbers_.insert(key_of({place[0] + 1, place[1] + 1, place[2] + 1}), next++);
  });
}

std::int32_t OctNumbers::at(const RamsesPlace& place) const {
  if (std::ranges::min(place) < -1) return 0;
  const std::int32_t* number = numbers_.find(key_of({place[0] + 1, place[1] + 1, place[2] + 1}));
  return number ? *number : 0;
}

RamsesTreeLevel linked(const RamsesOutput& output, const RamsesDomains& domains,
                       const HeldLevel& level, const OctNumbers& coarser, const OctNumbers& finer,
                       std::int64_t most) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  const std::int32_t coarse = nx * ny * nz;
  const std::int64_t across = octs_across(level.number);
  // Index of a cell of the coarser level, which an oct may divide; 0 if not in the file.
  const auto index_of = [&](RamsesPlace cell) -> std::int32_t {
    if (level.number == 1) return 1 + coarse_cell(output, cell);
    std::int64_t octant = 0;
    RamsesPlace oct;
    for (int d = 0; d < 3; ++d) {
      if (!has_walls(output, d)) cell[d] = (cell[d] + across) % across;
      oct[d] = cell[d] >> 1;
      octant |= (cell[d] & 1) << d;
    }
    const std::int32_t number = coarser.at(oct);
    return number > 0 ? static_cast<std::int32_t>(coarse + octant * most + number) : 0;
  };
  RamsesTreeLevel links;
  for_octs(level, [&](const RamsesPlace& place, unsigned refined, bool is_inside) {
    for (int d = 0; d < 3; ++d)
      links.centre[d].push_back(output.cells_below[d] + (static_cast<double>(place[d]) + 0.5) /
                                                            static_cast<double>(across));
    links.father.push_back(index_of(place));
    for (int face = 0; face < 6; ++face) {
      RamsesPlace beside = place;
      beside[face / 2] += face % 2 == 0 ? -1 : 1;
      links.neighbour[face].push_back(index_of(beside));
    }
    for (int c = 0; c < k_oct_cells; ++c) {
      RamsesPlace cell;
      for (int d = 0; d < 3; ++d) cell[d] = 2 * place[d] + (c >> d & 1);
      links.son[c].push_back(finer.at(cell));
      links.owner[c].push_back(is_inside ? domains.owner(level.number, cell) + 1 : 0);
      links.flag[c].push_back(refined >> c & 1);
    }
  });
  return links;
}

std::vector<std::int32_t> sons_of_coarse_cells(const RamsesOutput& output, const HeldLevel& first) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  std::vector<std::int32_t> sons(static_cast<std::size_t>(nx * ny * nz), 0);
  auto next = static_cast<std::int32_t>(first.first_oct);  // 1: the octs of level 1 come first
  for_octs(first, [&](const RamsesPlace& place, unsigned, bool) {
    sons[static_cast<std::size_t>(coarse_cell(output, place))] = next++;
  });
  return sons;
}

}  // namespace octant
