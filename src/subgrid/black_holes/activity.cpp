#include "subgrid/black_holes/black_holes.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "subgrid/black_holes/nucleus.hpp"
#include "subgrid/events/grant_requests.hpp"

namespace octant::subgrid {

namespace {

double active_radius(const HoleStep& step, const Hole& hole) {
  const NucleusOptions& agn = step.options.agn;
  const double least = agn.least_radius * 1e3 * constants::k_parsec / step.sync.units.length;
  return std::max(agn.radius * step.sync.mesh.geometry().cell_size(hole.level), least);
}

// Returns true if a jet of the black hole would extend over half of the domain.
bool is_too_wide(const HoleStep& step, const Hole& hole) {
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  const double width = 2.0 * JetLaw::radius(active_radius(step, hole));
  for (int d = 0; d < 3; ++d)
    if (width >= geometry.upper()[d] - geometry.lower()[d]) return true;
  return false;
}

bool has_jet(const HoleStep& step, const Hole& hole) {
  return hole.feeding() < step.options.agn.radio_threshold;
}

// Rest energy of the mass accreted since the last energy release.
double rest_energy(const HoleStep& step, const Hole& hole) {
  return hole.unreleased * step.light * step.light;
}

// Energy that a black hole in quasar mode would heat the gas with, apart from its saved energy.
double heating_energy(const HoleStep& step, const Hole& hole) {
  if (has_jet(step, hole)) return 0.0;
  return step.options.agn.thermal_efficiency * hole.efficiency * rest_energy(step, hole);
}

bool may_heat(const HoleStep& step, const Hole& hole) {
  return heating_energy(step, hole) != 0.0 || hole.saved_energy != 0.0;
}

bool may_launch_jet(const HoleStep& step, const Hole& hole) {
  return has_jet(step, hole) && hole.unreleased != 0.0 &&
         hole.unreleased >= step.options.agn.jet_trigger * (hole.mass - hole.unreleased);
}

// Heats the gas around black holes in quasar mode.
void heat(const HoleStep& step, std::vector<Hole>& holes) {
  const NucleusOptions& agn = step.options.agn;
  const double per_kelvin = 1.0 / (step.sync.units.temperature() * (step.target.gas.gamma - 1.0));
  std::vector<HeatLaw::Event> events;
  std::vector<std::size_t> of;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    const Hole& hole = holes[n];
    if (!may_heat(step, hole)) continue;
    events.push_back({region_of(hole, active_radius(step, hole)), hole.saved_energy,
                      heating_energy(step, hole), agn.heating_trigger * per_kelvin});
    of.push_back(n);
  }
  const auto heated =
      grant_requests(step.sync.mesh, HeatLaw{agn.maximum_temperature * per_kelvin}, step.target,
                     std::span<const HeatLaw::Event>(events), step.search);
  for (std::size_t n = 0; n < events.size(); ++n) {
    Hole& hole = holes[of[n]];
    const auto& [blast, granted] = heated[n];
    step.ledger["saved"] += granted[HeatLaw::k_refused] - hole.saved_energy;
    step.ledger["injected"] += granted[HeatLaw::k_given];
    hole.saved_energy = granted[HeatLaw::k_refused];
    if (!blast.released) continue;
    step.ledger["nominal"] += events[n].energy;
    hole.unreleased = 0.0;
  }
}

// Jet axis: along the spin or, without spin, along the angular momentum of the gas.
SpinVector axis_of(const Hole& hole) {
  for (const SpinVector& vector : {hole.spin, hole.gas_angular_momentum}) {
    const double length = std::hypot(vector[0], vector[1], vector[2]);
    if (length > 0.0) return {vector[0] / length, vector[1] / length, vector[2] / length};
  }
  return {0.0, 0.0, 1.0};
}

double energy_of_jet(const HoleStep& step, const Hole& hole) {
  const NucleusOptions& agn = step.options.agn;
  if (!agn.mad) return agn.jet_efficiency * hole.efficiency * rest_energy(step, hole);
  const double a = std::hypot(hole.spin[0], hole.spin[1], hole.spin[2]);
  double along = 0.0;
  for (int d = 0; d < 3; ++d) along += hole.spin[d] * hole.gas_angular_momentum[d];
  return arrested_jet_efficiency(along < 0.0 ? -a : a) * rest_energy(step, hole);
}

void launch_jets(const HoleStep& step, std::vector<Hole>& holes) {
  const NucleusOptions& agn = step.options.agn;
  std::vector<JetLoading::Event> loads;
  std::vector<std::size_t> of;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    const Hole& hole = holes[n];
    if (!may_launch_jet(step, hole)) continue;
    // Radius that contains the centre of the host cell.
    const double radius = step.sync.mesh.geometry().cell_size(hole.level);
    loads.push_back({region_of(hole, radius), agn.mass_loading * hole.unreleased});
    of.push_back(n);
  }
  const auto loaded =
      grant_requests(step.sync.mesh, JetLoading{{step.variables, step.target.metals}}, step.target,
                     std::span<const JetLoading::Event>(loads), step.search);
  std::vector<JetLaw::Event> jets;
  for (std::size_t n = 0; n < loads.size(); ++n) {
    Hole& hole = holes[of[n]];
    const auto& taken = loaded[n].sums;
    const double reach = active_radius(step, hole), mass = taken[GasRemoval::k_mass];
    JetLaw::Event jet{.region = region_of(hole, JetLaw::radius(reach)),
                      .reach = reach,
                      .velocity = {},
                      .direction = {},
                      .mass = mass,
                      .energy = energy_of_jet(step, hole),
                      .kinetic_energy_fraction = agn.kinetic_fraction,
                      .heat = taken[GasRemoval::k_energy],
                      .metals = mass > 0.0 ? taken[GasRemoval::k_metals] / mass : 0.0};
    const SpinVector axis = axis_of(hole);
    for (int d = 0; d < 3; ++d) {
      jet.direction[d] = axis[d];
      if (mass == 0.0) continue;
      // Momentum is conserved: the jet starts with the mean velocity of the gas that it is loaded
      // with.
      jet.velocity[d] = taken[GasRemoval::k_momentum + d] / mass;
      jet.heat -= 0.5 * jet.velocity[d] * taken[GasRemoval::k_momentum + d];
    }
    jets.push_back(jet);
    step.ledger["nominal"] += jet.energy;
    step.ledger["injected"] += jet.energy;
    step.ledger["jet_loaded"] += mass;
    hole.unreleased = 0.0;
  }
  const InjectedSums injected = apply_events(step.sync.mesh, JetLaw{}, step.target,
                                             std::span<const JetLaw::Event>(jets), step.search);
  step.ledger["floor_energy"] += injected.sums[InjectedSums::k_floor_energy];
}

}  // namespace

void release_energy(const HoleStep& step, std::vector<Hole>& holes) {
  const Communicator& communicator = step.sync.mesh.communicator();
  enum { k_too_wide, k_heating, k_jets, k_count };
  std::int32_t on_any_rank[k_count] = {};
  for (const Hole& hole : holes) {
    on_any_rank[k_too_wide] |= static_cast<std::int32_t>(is_too_wide(step, hole));
    on_any_rank[k_heating] |= static_cast<std::int32_t>(may_heat(step, hole));
    on_any_rank[k_jets] |= static_cast<std::int32_t>(may_launch_jet(step, hole));
  }
  communicator.max_in_place(std::span<std::int32_t>(on_any_rank));
  if (on_any_rank[k_too_wide] != 0)
    throw RunError(
        "agn.least_radius = {} kpc: a jet would extend over half of the domain; use a smaller "
        "radius or a larger domain",
        step.options.agn.least_radius);
  if (on_any_rank[k_heating] != 0) heat(step, holes);
  // Heating may release the energy of a black hole whose jet is due, but starts no jet.
  if (on_any_rank[k_jets] != 0) launch_jets(step, holes);
}

}  // namespace octant::subgrid
