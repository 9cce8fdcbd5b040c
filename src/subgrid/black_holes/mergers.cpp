#include "subgrid/black_holes/black_holes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "comm/route.hpp"
#include "mesh/reach.hpp"
#include "subgrid/friends/distributed.hpp"

namespace octant::subgrid {

namespace {

using Vector = std::array<double, 3>;

// Maps a position back into the domain.
void wrap(const mesh::Geometry& geometry, Vector& position) {
  for (int d = 0; d < 3; ++d) {
    const double lower = geometry.lower()[d], upper = geometry.upper()[d], size = upper - lower;
    if (geometry.periodic(d) && position[d] < lower) position[d] += size;
    if (geometry.periodic(d) && position[d] >= upper) position[d] -= size;
    position[d] = std::clamp(position[d], lower, upper);
  }
}

// Merges `light` into `heavy`.
void merge_into(const mesh::Geometry& geometry, Hole& heavy, const Hole& light) {
  const Vector displacement = mesh::nearest_image(geometry, heavy.position, light.position);
  const double mass = heavy.mass + light.mass, share = light.mass / mass;
  Vector past, orbit;
  for (int d = 0; d < 3; ++d) past[d] = light.velocity[d] - heavy.velocity[d];
  for (int d = 0; d < 3; ++d)
    orbit[d] = displacement[(d + 1) % 3] * past[(d + 2) % 3] -
               displacement[(d + 2) % 3] * past[(d + 1) % 3];
  const bool turns = std::hypot(orbit[0], orbit[1], orbit[2]) > 0.0;
  const bool is_lighter = light.mass <= heavy.mass;
  const double q = is_lighter ? light.mass / heavy.mass : heavy.mass / light.mass;
  heavy.spin = limited_spin(spin_of_merger(q, is_lighter ? heavy.spin : light.spin,
                                           is_lighter ? light.spin : heavy.spin,
                                           turns ? orbit : Vector{0.0, 0.0, 1.0}));
  for (int d = 0; d < 3; ++d) {
    heavy.position[d] += share * displacement[d];
    heavy.velocity[d] = (heavy.mass * heavy.velocity[d] + light.mass * light.velocity[d]) / mass;
    heavy.gas_angular_momentum[d] += light.gas_angular_momentum[d];
  }
  wrap(geometry, heavy.position);
  heavy.mass = mass;
  heavy.accreted_mass += light.accreted_mass;
  heavy.unreleased += light.unreleased;
  heavy.saved_energy += light.saved_energy;
  heavy.bondi_rate += light.bondi_rate;
  heavy.eddington_rate += light.eddington_rate;
  heavy.mergers += 1 + light.mergers;
}

// Returns the heaviest black hole; of equal masses the older one.
auto heaviest_of(std::span<const Hole> holes) {
  return std::max_element(holes.begin(), holes.end(),
                          [](const Hole& a, const Hole& b) { return a.mass < b.mass; });
}

void list_mergers(std::span<const Hole> holes, const Hole& result,
                  std::vector<HoleMerger>& mergers) {
  const auto heaviest = heaviest_of(holes);
  for (const Hole& hole : holes)
    if (hole.id != heaviest->id)
      mergers.push_back({.id = result.id,
                         .heaviest = heaviest->id,
                         .other = hole.id,
                         .heaviest_mass = heaviest->mass,
                         .other_mass = hole.mass,
                         .position = result.position});
}

// Friends-of-friends groups of black holes, restricted to bound pairs if that option is set.
friends::DistributedGroups close_groups(const HoleStep& step, const std::vector<Hole>& holes,
                                        friends::FastestMethod& fastest) {
  const Communicator& communicator = step.sync.mesh.communicator();
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  std::vector<friends::Body> bodies;
  for (const Hole& hole : holes)
    bodies.push_back({hole.position, hole.velocity, hole.mass, hole.id});
  friends::Linking linking{.length = step.options.merge_length * step.finest_cell};
  for (int d = 0; d < 3; ++d)
    if (geometry.periodic(d)) linking.period[d] = geometry.upper()[d] - geometry.lower()[d];
  if (!step.options.merge_bound) return find_groups(communicator, bodies, linking, fastest);
  return find_groups(communicator, bodies, linking, fastest, friends::BoundBodies{step.gravity});
}

// Member of a group and its owner rank.
struct Member {
  std::uint64_t label;
  Hole hole;
  int owner;
};

// Gathers the members of each group on the rank given by its label, sorted by group and id.
std::vector<Member> gather_groups(const Communicator& communicator, const std::vector<Hole>& holes,
                                  const std::vector<std::uint64_t>& labels) {
  std::vector<Member> own;
  std::vector<int> ranks;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    own.push_back({labels[n], holes[n], communicator.rank()});
    ranks.push_back(static_cast<int>(labels[n] % communicator.size()));
  }
  auto members =
      route(communicator, std::span<const int>(ranks), std::span<const Member>(own)).items;
  std::ranges::sort(members, {}, [](const Member& m) { return std::pair(m.label, m.hole.id); });
  return members;
}

}  // namespace

Hole merged(const mesh::Geometry& geometry, std::span<const Hole> holes, double& lost) {
  const Hole& oldest = holes.front();
  const auto heaviest = heaviest_of(holes);
  double before = 0.0;
  for (const Hole& hole : holes) before += kinetic_energy(hole.mass, hole.velocity);
  Hole result = *heaviest;
  for (const Hole& hole : holes)
    if (hole.id != heaviest->id) merge_into(geometry, result, hole);
  result.id = oldest.id;
  result.birth_time = oldest.birth_time;
  result.birth_scale_factor = oldest.birth_scale_factor;
  lost += before - kinetic_energy(result.mass, result.velocity);
  return result;
}

void merge_holes(const HoleStep& step, friends::FastestMethod& fastest) {
  if (step.options.merge_length == 0.0) return;
  particles::Particles& sinks = step.sync.kind("sinks");
  const Communicator& communicator = step.sync.mesh.communicator();
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  const std::vector<Hole> holes = read_holes(sinks, 0);
  const std::vector<Member> members =
      gather_groups(communicator, holes, close_groups(step, holes, fastest).label);
  std::vector<Hole> results;
  std::vector<std::int64_t> leaving;
  std::vector<int> owners;
  for (auto begin = members.begin(), end = begin; begin != members.end(); begin = end) {
    std::vector<Hole> group;
    for (; end != members.end() && end->label == begin->label; ++end) group.push_back(end->hole);
    if (group.size() < 2) continue;
    double of_group = 0.0;
    results.push_back(merged(geometry, group, of_group));
    step.ledger["merger_kinetic"] += of_group;
    list_mergers(group, results.back(), step.sync.mergers);
    for (auto member = begin; member != end; ++member) {
      leaving.push_back(member->hole.number);
      owners.push_back(member->owner);
    }
  }
  std::int64_t any_mergers = results.empty() ? 0 : 1;
  const auto removed = route(communicator, std::span<const int>(owners),
                             std::span<const std::int64_t>(leaving), any_mergers);
  if (any_mergers == 0) return;
  sinks.remove(removed.items);
  sinks.add(batch_of(results));
}

}  // namespace octant::subgrid
