#include "subgrid/black_holes/black_holes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "subgrid/black_holes/feeding.hpp"
#include "subgrid/events/grant_requests.hpp"

namespace octant::subgrid {

namespace {

// Radiative efficiency of discs around black holes without spin evolution.
constexpr double k_usual_efficiency = 0.1;

double cell_of(const HoleStep& step, const Hole& hole) {
  return step.sync.mesh.geometry().cell_size(hole.level);
}

EventRegion surroundings_of(const HoleStep& step, const Hole& hole) {
  return region_of(hole, BlackHoleOptions::k_reach * cell_of(step, hole));
}

double square_of(const std::array<double, 3>& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

double bondi_radius(const HoleStep& step, const Hole& hole, const GasMeans& gas) {
  double square = gas.sound_speed * gas.sound_speed;
  for (int d = 0; d < 3; ++d) square += std::pow(hole.velocity[d] - gas.velocity[d], 2);
  return step.gravity * hole.mass / square;
}

// Returns the kernel width for each black hole: the Bondi radius from the means of the widest
// kernel, at least a quarter of a cell and at most half of the reach. Returns nothing, on all
// ranks, if no rank has a black hole.
std::optional<std::vector<double>> kernels(const HoleStep& step, const std::vector<Hole>& holes) {
  std::vector<Surroundings::Event> events;
  for (const Hole& hole : holes)
    events.push_back(
        {surroundings_of(step, hole), 0.5 * BlackHoleOptions::k_reach * cell_of(step, hole)});
  const events::SummedEvents<Surroundings> summed(
      step.sync.mesh, Surroundings{step.target.gas.gamma}, step.target, events, step.search);
  if (!summed.reaching.any) return std::nullopt;
  const auto means = summed.blasts(holes.size());
  std::vector<double> kernels;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    const double dx = cell_of(step, holes[n]), widest = events[n].kernel;
    kernels.push_back(means[n].mass > 0.0
                          ? std::clamp(bondi_radius(step, holes[n], means[n]), 0.25 * dx, widest)
                          : widest);
  }
  return kernels;
}

Accretion accretion_law(const HoleStep& step) {
  const BlackHoleOptions& options = step.options;
  const double limit = options.velocity_limit * 1e5 / step.sync.units.velocity();
  return {{step.variables, step.target.metals},
          step.target.gas.gamma,
          step.gravity,
          options.boost,
          options.boost_density / step.hydrogen(),
          limit > 0.0 ? limit : std::numeric_limits<double>::infinity(),
          options.eddington};
}

// Changes the spin by accretion in at most k_max_parts chunks. For each chunk, black hole and inner
// disc align or counter-align with their total angular momentum (spin_after_chunk); the spin then
// changes as by a thin disc or, if `arrested`, as by a magnetically arrested disc.
void spin_up(const HoleStep& step, Hole& hole, double mass_ratio, bool arrested) {
  constexpr int k_max_parts = 1000;
  const double momentum = std::sqrt(square_of(hole.gas_angular_momentum));
  if (momentum == 0.0 || mass_ratio <= 1.0) return;
  SpinVector direction = hole.gas_angular_momentum;
  for (double& component : direction) component /= momentum;
  const double a = std::sqrt(square_of(hole.spin));
  const DiscPart part = disc_part(a, hole.mass / step.solar_mass(),
                                  std::clamp(hole.feeding(), 1e-10, 1.0), hole.efficiency);
  const double growth = mass_ratio - 1.0;
  const double wanted = part.mass > 0.0 ? std::ceil(growth / part.mass) : 1.0;
  const int parts = static_cast<int>(std::min(wanted, double{k_max_parts}));
  if (wanted > k_max_parts) step.ledger["coarse_discs"] += 1.0;
  const double ratio = std::pow(mass_ratio, 1.0 / parts);
  for (int n = 0; n < parts; ++n) {
    const double now = std::sqrt(square_of(hole.spin));
    const double of_disc = now > 0.0 ? 2.0 * growth / (parts * now) * std::sqrt(part.radius) : 0.0;
    hole.spin = spin_after_chunk(hole.spin, {direction, of_disc, ratio, arrested});
  }
  const double after = std::sqrt(square_of(hole.spin));
  if (after > step.options.largest_spin)
    for (double& component : hole.spin) component *= step.options.largest_spin / after;
}

void add_accreted_gas(const HoleStep& step, Hole& hole,
                      const std::array<double, GasRemoval::granted>& taken) {
  const double gas = taken[GasRemoval::k_mass];
  if (gas == 0.0) return;
  const NucleusOptions& agn = step.options.agn;
  const bool arrested = agn.enabled && agn.mad && hole.feeding() < agn.radio_threshold;
  const double radiated =
      hole.efficiency * (arrested ? hole.feeding() / agn.radio_threshold : 1.0) * gas;
  const double before = kinetic_energy(hole.mass, hole.velocity), old_mass = hole.mass;
  hole.mass += gas - radiated;
  std::array<double, 3> momentum;
  for (int d = 0; d < 3; ++d) {
    momentum[d] = taken[GasRemoval::k_momentum + d];
    hole.velocity[d] = (old_mass * hole.velocity[d] + momentum[d]) / hole.mass;
    hole.gas_angular_momentum[d] = taken[GasRemoval::k_angular_momentum + d];
  }
  hole.accreted_mass += gas;
  hole.unreleased += gas;
  if (step.options.spin) spin_up(step, hole, hole.mass / old_mass, arrested);
  step.ledger["accreted"] += gas;
  step.ledger["radiated"] += radiated;
  step.ledger["metals"] += taken[GasRemoval::k_metals];
  step.enter_momentum(momentum);
  step.ledger["accreted_energy"] +=
      taken[GasRemoval::k_energy] - (kinetic_energy(hole.mass, hole.velocity) - before);
}

// Returns the momentum that a black hole loses to the gas by dynamical friction. The force uses the
// gas state at the start of the step; each substep reduces the speed by at most a tenth. The
// relative velocity never changes sign.
std::array<double, 3> drag(const HoleStep& step, const Hole& hole, const GasMeans& gas,
                           double gas_mass) {
  constexpr double k_largest_change = 0.1, k_resolved = 0.2;
  constexpr int k_max_pieces = 1000;
  std::array<double, 3> relative;
  for (int d = 0; d < 3; ++d) relative[d] = hole.velocity[d] - gas.velocity[d];
  const double speed = std::sqrt(square_of(relative));
  if (speed == 0.0 || gas_mass <= 0.0) return {};
  const double reach =
      std::min(bondi_radius(step, hole, gas), 2.0 * step.gravity * hole.mass / (speed * speed));
  // no friction is added, because the wake is resolved
  if (reach > k_resolved * cell_of(step, hole)) return {};
  const double denser = std::max(gas.density * step.hydrogen() / step.options.boost_density, 1.0);
  const double scale = std::pow(denser, step.options.drag_boost) * 4.0 * M_PI * gas.density *
                       std::pow(step.gravity / gas.sound_speed, 2) * hole.mass;
  double now = speed, left = step.length(hole);
  for (int n = 0; n < k_max_pieces && left > 0.0 && now > 0.0; ++n) {
    const double slowing = scale * wake(now / gas.sound_speed);
    const double piece = std::min(left, k_largest_change * now / slowing);
    now -= piece * slowing;
    left -= piece;
  }
  // The speed of gas lighter than the black hole rises at most to that of the black hole.
  const double share = std::min(1.0 - now / speed, gas_mass / (gas_mass + hole.mass));
  for (double& component : relative) component *= share * hole.mass;
  return relative;
}

}  // namespace

double wake(double mach) {
  if (mach < 0.02) return mach / 3.0;  // leading term of the series at low Mach number
  if (mach < 0.95) return (0.5 * std::log((1.0 + mach) / (1.0 - mach)) - mach) / (mach * mach);
  if (mach <= 1.007) return 1.0;
  return (0.5 * std::log(mach * mach - 1.0) + 3.2) / (mach * mach);
}

DiscPart disc_part(double spin, double solar_masses, double feeding, double efficiency) {
  constexpr double k_alpha = 0.1;  // viscosity parameter
  constexpr double k_alpha2 = k_alpha * k_alpha;
  constexpr double k_viscosities = 2.0 * (1.0 + 7.0 * k_alpha2) / ((4.0 + k_alpha2) * k_alpha2);
  if (spin == 0.0) return {0.0, 0.0};
  const double m8 = solar_masses / 1e8, rate = feeding / (efficiency / 0.1);
  const double warp = 6.4e3 * std::pow(spin, 0.625) * std::pow(m8, 0.125) * std::pow(rate, -0.25) *
                      std::pow(k_viscosities, -0.625);
  const double self_gravity = 5e2 * std::pow(m8, -52.0 / 45.0) * std::pow(rate, -22.0 / 45.0);
  if (self_gravity < warp)
    return {6e5 * std::pow(m8, 34.0 / 45.0) * std::pow(rate, 4.0 / 45.0) / solar_masses,
            self_gravity};
  const double years = 5.3e5 * std::pow(spin, 0.875) * std::pow(rate, -0.75) *
                       std::pow(k_viscosities, -0.875) * std::pow(m8, 1.375);
  const double growth_time = eddington_time(efficiency) / constants::k_year / feeding;
  return {years / growth_time, warp};
}

bool feed(const HoleStep& step, std::vector<Hole>& holes) {
  const auto found = kernels(step, holes);
  if (!found) return false;
  const std::vector<double>& kernel = *found;
  std::vector<Accretion::Event> events;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    Hole& hole = holes[n];
    hole.efficiency = k_usual_efficiency;
    if (step.options.spin)
      hole.efficiency = efficiency_in_disc(hole.spin, hole.gas_angular_momentum);
    hole.eddington_rate = hole.mass / step.eddington_time(hole.efficiency);
    Accretion::Event event{.region = surroundings_of(step, hole),
                           .kernel = kernel[n],
                           .velocity = {},
                           .mass = hole.mass,
                           .eddington_rate = hole.eddington_rate,
                           .step = step.length(hole),
                           .may_feed = step.options.accretion && hole.saved_energy == 0.0};
    for (int d = 0; d < 3; ++d) event.velocity[d] = hole.velocity[d];
    events.push_back(event);
  }
  const auto accreted = grant_requests(step.sync.mesh, accretion_law(step), step.target,
                                       std::span<const Accretion::Event>(events), step.search);
  std::vector<DraggedGas::Event> wakes;
  for (std::size_t n = 0; n < holes.size(); ++n) {
    Hole& hole = holes[n];
    const auto& [around, taken] = accreted[n];
    hole.bondi_rate = around.bondi_rate;
    hole.gas_density = around.gas.density;
    hole.sound_speed = around.gas.sound_speed;
    hole.relative_speed = around.speed;
    add_accreted_gas(step, hole, taken);
    if (!step.options.drag || around.gas.mass == 0.0) continue;
    const auto momentum = drag(step, hole, around.gas, around.gas.mass - taken[GasRemoval::k_mass]);
    if (square_of(momentum) == 0.0) continue;
    const double before = kinetic_energy(hole.mass, hole.velocity);
    DraggedGas::Event event{events[n].region, kernel[n], {}, 0.0};
    for (int d = 0; d < 3; ++d) {
      hole.velocity[d] -= momentum[d] / hole.mass;
      event.momentum[d] = momentum[d];
      step.ledger[std::string("momentum_") + "xyz"[d]] += -momentum[d];
    }
    event.energy = before - kinetic_energy(hole.mass, hole.velocity);
    step.ledger["drag_energy"] += event.energy;
    wakes.push_back(event);
  }
  const InjectedSums injected =
      apply_events(step.sync.mesh, DraggedGas{}, step.target,
                   std::span<const DraggedGas::Event>(wakes), step.search);
  step.ledger["floor_energy"] += injected.sums[InjectedSums::k_floor_energy];
  return true;
}

}  // namespace octant::subgrid
