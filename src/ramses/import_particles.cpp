#include "ramses/import.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/log.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant {

namespace {

// Family of particles in files: name and number in RAMSES, and the kind.
struct Family {
  const char* name;
  RamsesFamily number;
  const char* kind;
};
constexpr Family k_families[] = {{"DM", k_ramses_dark, "dark"}, {"star", k_ramses_star, "stars"}};

// Adds scale factors of birth, since cosmological files contain the supercomoving birth time only.
// Returns the number of particles born outside the valid times before the output.
std::int64_t add_birth_scale_factors(particles::ParticleBatch& batch, const particles::Kind& kind,
                                     const cosmology::Universe& universe, double now) {
  constexpr const char *k_time = "birth_time", *k_scale_factor = "birth_scale_factor";
  const bool has_column = std::ranges::any_of(
      kind.columns, [&](const particles::Column& c) { return c.name == k_scale_factor; });
  if (!has_column || !batch.columns.contains(k_time)) return 0;
  const double first = universe.time(cosmology::Expansion::k_a_min);
  std::int64_t outside = 0;
  std::vector<double> scale_factors;
  for (const double time : std::get<std::vector<double>>(batch.columns.at(k_time))) {
    constexpr double k_rounding = 1e-6;  // of time steps and tables
    outside += time < first || time > now + k_rounding * std::abs(now);
    scale_factors.push_back(universe.scale_factor(std::clamp(time, first, now)));
  }
  batch.columns[k_scale_factor] = std::move(scale_factors);
  return outside;
}

}  // namespace

std::vector<particles::Kind> kinds_of_families(const RamsesFacts& attributes) {
  std::vector<particles::Kind> kinds;
  for (const particles::Kind& kind :
       {particles::dark_matter(), subgrid::stars(), subgrid::sinks()}) {
    const bool is_there = std::ranges::any_of(k_families, [&](const Family& family) {
      return family.kind == kind.name && attributes.families.contains(family.name);
    });
    if (is_there || (kind.name == "sinks" && attributes.has_sinks)) kinds.push_back(kind);
  }
  return kinds;
}

void for_families(const RamsesFacts& attributes, RamsesSource& source, const VisitFamily& visit) {
  for (int round = 0; !attributes.families.empty() && round < source.rounds(); ++round) {
    const RamsesParticles some = source.particles(round);
    for (const Family& family : k_families)
      if (attributes.families.contains(family.name)) visit(family.kind, some, family.number);
  }
  if (attributes.has_sinks) visit("sinks", source.sinks(), k_ramses_cloud);
}

particles::ParticleBatch batch_of(const RamsesParticles& some, RamsesFamily family,
                                  const particles::Kind& kind, const mesh::Geometry& geometry) {
  particles::ParticleBatch batch;
  std::map<std::string, std::vector<double>> columns;
  for (std::size_t n = 0; n < some.size(); ++n) {
    if (some.family[n] != family) continue;
    std::array<double, 3> place;
    for (int d = 0; d < 3; ++d) {
      place[d] = geometry.lower()[d] + some.position[n][d];
      // Positions on the upper face of a periodic box are moved to the lower one.
      if (geometry.periodic(d) && place[d] >= geometry.upper()[d]) place[d] = geometry.lower()[d];
    }
    batch.position.push_back(place);
    batch.velocity.push_back(some.velocity[n]);
    if (kind.has_mass) batch.mass.push_back(some.mass[n]);
    batch.id.push_back(kind.first_id() + static_cast<std::uint64_t>(some.identity[n]));
    for (const auto& [name, values] : some.columns) columns[name].push_back(values[n]);
  }
  for (const particles::Column& column : kind.columns)
    if (columns.contains(column.name)) batch.columns[column.name] = columns[column.name];
    // RAMSES files do not contain the initial mass.
    else if (column.name == "initial_mass") batch.columns[column.name] = batch.mass;
  return batch;
}

// Throws InputError if identities occur twice in a family, as in files of different outputs when
// particles have changed their domain. Identities with the same remainder are compared on one rank.
// Collective.
static void require_unique_identities(const RamsesFacts& attributes, const Communicator& ranks,
                                      const char* family, std::span<const std::int64_t> own) {
  constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> given;
  std::ranges::copy_if(own, std::back_inserter(given), [](std::int64_t n) { return n > 0; });
  std::vector<int> readers;
  for (const std::int64_t n : given) readers.push_back(static_cast<int>(n % ranks.size()));
  auto all = route(ranks, readers, std::span<const std::int64_t>(given)).items;
  std::ranges::sort(all);
  std::int64_t twice = 0, first = k_none;
  for (std::size_t n = 1; n < all.size(); ++n)
    if (all[n] == all[n - 1]) {
      ++twice;
      first = std::min(first, all[n]);
    }
  first = ranks.min(first);
  if (const std::int64_t sum = ranks.sum(twice); sum > 0)
    refuse_ramses(attributes,
                  fmt::format("{} particles of family {} have duplicate identities, such as "
                              "{}: the part files belong to different outputs",
                              sum, family, first));
}

// Warns about columns that no kind of particle in the run has.
static void report_unread_columns(const RamsesFacts& attributes) {
  std::set<std::string> read{"mass", "identity", "levelp", "family", "tag"};
  for (const char* vector : {"position_", "velocity_"})
    for (const char axis : {'x', 'y', 'z'}) read.insert(std::string(vector) + axis);
  for (const particles::Kind& kind : kinds_of_families(attributes))
    for (const particles::Column& column : kind.columns) read.insert(column.name);
  std::vector<std::string> unread;
  for (const std::string& field : attributes.particle_fields)
    if (!read.contains(field)) unread.push_back(field);
  if (!unread.empty())
    log::warn("{}: ignored particle columns: {}", attributes.folder, fmt::join(unread, ", "));
}

// Warns about tracers, which are not read. Rejects particles of other families, since the run would
// lack their masses.
static void check_families(const RamsesFacts& attributes) {
  for (const auto& [name, count] : attributes.families) {
    if (name == "cloud" && attributes.has_sinks) continue;
    if (std::ranges::any_of(k_families, [&name = name](const Family& f) { return f.name == name; }))
      continue;
    if (name.ends_with("_tracer"))
      log::warn("{}: ignored {} particles of family {}: Octant has no corresponding particle type",
                attributes.folder, count, name);
    else if (name == "cloud")
      refuse_ramses(attributes,
                    fmt::format("the output contains {} cloud particles of sinks, but no "
                                "sinks: copy sink_{}.csv into the directory",
                                count, attributes.number));
    else
      refuse_ramses(attributes,
                    fmt::format("the output contains {} particles of family {}, which is "
                                "not supported; expected DM, star, cloud and tracers",
                                count, name));
  }
}

void read_ramses_particles(AmrSimulation& simulation, const RamsesFacts& attributes,
                           RamsesSource& source) {
  report_unread_columns(attributes);
  check_families(attributes);
  std::map<std::string, std::vector<std::int64_t>> found;
  const cosmology::Universe* const universe = simulation.options().universe.get();
  std::int64_t outside = 0;
  for_families(attributes, source,
               [&](const std::string& name, const RamsesParticles& some, RamsesFamily family) {
                 particles::Particles& kind = *simulation.matter().kind(name);
                 auto batch = batch_of(some, family, kind.kind(), simulation.mesh().geometry());
                 if (universe)
                   outside += add_birth_scale_factors(batch, kind.kind(), *universe,
                                                      ramses_time(attributes, universe));
                 for (std::size_t n = 0; n < some.size(); ++n)
                   if (some.family[n] == family) found[name].push_back(some.identity[n]);
                 kind.add(batch);
               });
  if (const std::int64_t all = simulation.mesh().communicator().sum(outside); all > 0)
    log::warn(
        "{}: {} stars or sinks have birth times that are not conformal times before the output "
        "(use_proper_time?): birth_scale_factor is set from the nearest valid time",
        attributes.folder, all);
  for (const Family& family : k_families) {
    if (!attributes.families.contains(family.name)) continue;
    const Communicator& ranks = simulation.mesh().communicator();
    const std::int64_t total = ranks.sum(std::int64_t{std::ssize(found[family.kind])});
    if (total != attributes.families.at(family.name))
      refuse_ramses(
          attributes,
          fmt::format("the files contain {} particles of family {}, but header_{}.txt "
                      "lists {}: files are missing, or belong to different outputs",
                      total, family.name, attributes.number, attributes.families.at(family.name)));
    require_unique_identities(attributes, ranks, family.name, found[family.kind]);
  }
}

}  // namespace octant
