#include "driver/ramses_families.hpp"

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
#include "driver/ramses_agreement.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::driver {

namespace {

// What files of particles have as families: RAMSES's name and number, and the kind.
struct Family {
  const char* name;
  RamsesFamily number;
  const char* kind;
};
constexpr Family k_families[] = {{"DM", k_ramses_dark, "dark"}, {"star", k_ramses_star, "stars"}};

// Files of a universe hold the supercomoving time of birth only. Returns how many particles were
// born outside of the times that there are before the output.
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
    constexpr double k_rounding = 1e-6;  // of time steps and of tables
    outside += time < first || time > now + k_rounding * std::abs(now);
    scale_factors.push_back(universe.scale_factor(std::clamp(time, first, now)));
  }
  batch.columns[k_scale_factor] = std::move(scale_factors);
  return outside;
}

}  // namespace

std::vector<particles::Kind> known_ramses_kinds() {
  return {particles::dark_matter(), subgrid::stars(), subgrid::sinks()};
}

std::vector<particles::Kind> kinds_of_families(const RamsesFacts& facts) {
  std::vector<particles::Kind> kinds;
  for (const particles::Kind& kind : known_ramses_kinds()) {
    const bool is_there = std::ranges::any_of(k_families, [&](const Family& family) {
      return family.kind == kind.name && facts.families.contains(family.name);
    });
    if (is_there || (kind.name == "sinks" && facts.has_sinks)) kinds.push_back(kind);
  }
  return kinds;
}

void for_families(const RamsesFacts& facts, RamsesSource& source, const VisitFamily& visit) {
  for (int round = 0; !facts.families.empty() && round < source.rounds(); ++round) {
    const RamsesParticles some = source.particles(round);
    for (const Family& family : k_families)
      if (facts.families.contains(family.name)) visit(family.kind, some, family.number);
  }
  if (facts.has_sinks) visit("sinks", source.sinks(), k_ramses_cloud);
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
      // A place on the upper face of a periodic box is one on the lower.
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
    // Which it was before it lost some, RAMSES's files do not say.
    else if (column.name == "initial_mass") batch.columns[column.name] = batch.mass;
  return batch;
}

// Identities that files have twice in a family. They are of several outputs then, between which
// particles have changed their domain. Sorted by rank of their remainder. Collective.
static void require_unique_identities(const RamsesFacts& facts, const Communicator& ranks,
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
    refuse_ramses(facts,
                  fmt::format("{} identities of particles of family {} are there twice, such as "
                              "{}: its part files are of several outputs",
                              sum, family, first));
}

// Names the columns of particles that no kind of the run has.
static void report_unread_columns(const RamsesFacts& facts) {
  std::set<std::string> read{"mass", "identity", "levelp", "family", "tag"};
  for (const char* vector : {"position_", "velocity_"})
    for (const char axis : {'x', 'y', 'z'}) read.insert(std::string(vector) + axis);
  for (const particles::Kind& kind : kinds_of_families(facts))
    for (const particles::Column& column : kind.columns) read.insert(column.name);
  std::vector<std::string> unread;
  for (const std::string& field : facts.particle_fields)
    if (!read.contains(field)) unread.push_back(field);
  if (!unread.empty())
    log::warn("{}: columns of particles that are not read: {}", facts.folder,
              fmt::join(unread, ", "));
}

void read_ramses_particles(AmrSimulation& simulation, const RamsesFacts& facts,
                           RamsesSource& source) {
  report_unread_columns(facts);
  const auto is_known = [&](const std::string& name) {
    return std::ranges::any_of(k_families, [&](const Family& f) { return f.name == name; }) ||
           (name == "cloud" && facts.has_sinks);
  };
  for (const auto& [name, count] : facts.families)
    if (!is_known(name))
      log::warn("{}: ignored {} particles of family {}: Octant has no corresponding kind",
                facts.folder, count, name);
  std::map<std::string, std::vector<std::int64_t>> found;
  const cosmology::Universe* const universe = simulation.options().universe.get();
  std::int64_t outside = 0;
  for_families(facts, source,
               [&](const std::string& name, const RamsesParticles& some, RamsesFamily family) {
                 particles::Particles& kind = *simulation.matter().kind(name);
                 auto batch = batch_of(some, family, kind.kind(), simulation.mesh().geometry());
                 if (universe)
                   outside += add_birth_scale_factors(batch, kind.kind(), *universe,
                                                      ramses_time(facts, universe));
                 for (std::size_t n = 0; n < some.size(); ++n)
                   if (some.family[n] == family) found[name].push_back(some.identity[n]);
                 kind.add(batch);
               });
  if (const std::int64_t all = simulation.mesh().communicator().sum(outside); all > 0)
    log::warn(
        "{}: {} stars or sinks have birth times that are not conformal times before the output "
        "(use_proper_time?): birth_scale_factor is set from the nearest valid time",
        facts.folder, all);
  for (const Family& family : k_families) {
    if (!facts.families.contains(family.name)) continue;
    const Communicator& ranks = simulation.mesh().communicator();
    const std::int64_t total = ranks.sum(std::int64_t{std::ssize(found[family.kind])});
    if (total != facts.families.at(family.name))
      refuse_ramses(facts,
                    fmt::format("its files have {} particles of family {}, but header_{}.txt says "
                                "{}: files are missing, or of several outputs",
                                total, family.name, facts.number, facts.families.at(family.name)));
    require_unique_identities(facts, ranks, family.name, found[family.kind]);
  }
}

}  // namespace octant::driver
