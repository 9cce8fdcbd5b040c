#include "driver/ramses_families.hpp"

#include <algorithm>
#include <map>

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

void read_ramses_particles(AmrSimulation& simulation, const RamsesFacts& facts,
                           RamsesSource& source) {
  const auto is_known = [&](const std::string& name) {
    return std::ranges::any_of(k_families, [&](const Family& f) { return f.name == name; }) ||
           (name == "cloud" && facts.has_sinks);
  };
  for (const auto& [name, count] : facts.families)
    if (!is_known(name))
      log::warn("{}: {} particles of family {} are left out: Octant has no such kind", facts.folder,
                count, name);
  std::map<std::string, std::int64_t> found;
  for_families(facts, source,
               [&](const std::string& name, const RamsesParticles& some, RamsesFamily family) {
                 particles::Particles& kind = *simulation.matter().kind(name);
                 const auto batch =
                     batch_of(some, family, kind.kind(), simulation.mesh().geometry());
                 found[name] += std::ssize(batch.id);
                 kind.add(batch);
               });
  for (const Family& family : k_families) {
    if (!facts.families.contains(family.name)) continue;
    const std::int64_t total = simulation.mesh().communicator().sum(found[family.kind]);
    if (total != facts.families.at(family.name))
      refuse_ramses(facts,
                    fmt::format("its files have {} particles of family {}, but header_{}.txt says "
                                "{}: files are missing, or of several outputs",
                                total, family.name, facts.number, facts.families.at(family.name)));
  }
}

}  // namespace octant::driver
