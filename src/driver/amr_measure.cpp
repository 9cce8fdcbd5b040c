// What the state is: totals, broken cells, and how long the next step may be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/residency.hpp"
#include "driver/amr_simulation.hpp"
#include "hydro/diagnostics.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

// Of the time in which the fastest particle crosses a cell.
constexpr double k_particle_courant = 0.5;
// The angle by which a frame may turn in a step.
constexpr double k_largest_turn = 0.1;
// The potential of a cloud in itself, in -G m / dx, in the mean over all places in a cell: from the
// 7-point Laplacian's Green's function at the distances of eight cells (Glasser & Zucker 1977).
constexpr double k_own_potential = 1.5961;

}  // namespace

double Totals::particle_mass() const {
  double mass = 0.0;
  for (const particles::ParticleTotals& kind : particles) mass += kind.mass;
  return mass;
}

double Totals::particle_kinetic_energy() const {
  double energy = 0.0;
  for (const particles::ParticleTotals& kind : particles) energy += kind.kinetic_energy;
  return energy;
}

void AmrSimulation::measure() {
  if (measured_) return;
  const auto timing = timers_.time("measure", Phase::compute);
  measure_cells();
  if (energy_before_regrid_) energy_.refine_gas(totals_.total_energy - *energy_before_regrid_);
  energy_before_regrid_.reset();
  for (std::size_t n = 0; n < totals_.particles.size(); ++n)
    totals_.particles[n] = matter_.kinds()[n].totals();
  measure_integrals();
  if (gravity_) totals_.potential_energy = potential_energy();
  if (options_.universe)
    energy_.update(scale_factor(), totals_.total_energy + totals_.particle_kinetic_energy(),
                   totals_.potential_energy, added_energy());
  options_.problem->measure({mesh_, time_, gravity_ ? &gravity_->stored() : nullptr});
  measure_limits();
  measured_ = true;
}

// In an expanding box, whose energy equation is about what forces do, less what they do not see.
// Found once for a state.
double AmrSimulation::potential_energy() {
  if (potential_energy_) return *potential_energy_;
  const auto timing = timers_.time("measure", Phase::compute);
  const double particles = potential_energies({sums_in_potential(0)}, time_).front();
  double energy = gravity_->potential_energy([this](int level) {
    return matter_.gas_density(level);
  }) + particles;
  if (options_.universe) energy += gravity_->unfelt_energy();
  potential_energy_ = energy;
  return energy;
}

// Of the particles on levels from `coarsest` on. They feel the potential of their own level, which
// their whole clouds lie in. Leaf cells would miss what clouds of a coarse level leave in cells
// that are refined.
AmrSimulation::SumsOfKinds AmrSimulation::sums_in_potential(int coarsest) {
  const auto potential = [&](int level) -> particles::VectorField {
    const auto [data, stride] = gravity_->stored().field(level, gravity::Field::potential);
    return {data, stride, 0};
  };
  return matter_.mass_sums(potential, coarsest);
}

// The potential energy of all particles, in each of some states at that time; all ranks' sums go
// through one reduction. A cloud's potential includes its own, which grows when its cells become
// smaller, though nothing has moved: each counts as if its cells were of the base level.
std::vector<double> AmrSimulation::potential_energies(std::initializer_list<SumsOfKinds> states,
                                                      double time) {
  std::vector<ReproducibleSum> sums;
  for (const SumsOfKinds& kinds : states)
    for (const auto& kind : kinds) {
      sums.push_back(kind.weighted);
      sums.insert(sums.end(), kind.squared.begin(), kind.squared.end());
    }
  reproducible_sum(mesh_.communicator(), std::span(sums));
  const double G = options_.newton_constant(time);
  std::vector<double> energies;
  auto sum = sums.begin();
  for (const SumsOfKinds& kinds : states) {
    double& energy = energies.emplace_back(0.0);
    for (const auto& kind : kinds) {
      energy += 0.5 * (sum++)->to_double();
      for (int level = std::max(kind.coarsest, 1); level <= mesh_.finest_level(); ++level)
        energy += 0.5 * k_own_potential * G * sum[level].to_double() *
                  (1.0 / mesh_.geometry().cell_size(level) - 1.0 / mesh_.geometry().cell_size(0));
      sum += std::ssize(kind.squared);
    }
  }
  return energies;
}

// Half of the potential of a unit mass's cloud in itself, in cells of the base level, with its sign
// changed: what a particle's squared mass adds to the potential energy, negative.
double AmrSimulation::own_potential_of_base() const {
  return gravity_ ? 0.5 * k_own_potential * options_.newton_constant(time_) /
                        mesh_.geometry().cell_size(0)
                  : 0.0;
}

// Counts what there is, and measures the gas in it if there is some. All that ranks add up goes
// through one reduction.
void AmrSimulation::measure_cells() {
  const int levels = mesh_.geometry().max_level() + 1;
  std::vector<std::int64_t> counts = count_cells();
  MeasuredGas gas;
  if (options_.hydro.enabled) gas = measure_gas();
  const std::int64_t trouble[] = {unjudged_ ? unjudged_->bad_tiles : 0, !gas.broken.empty(),
                                  restored_.cells};
  counts.insert(counts.end(), std::begin(trouble), std::end(trouble));
  {
    const auto waiting = timers_.time("wait for all ranks", Phase::collective);
    reproducible_sum(mesh_.communicator(), gas.sums, counts);
    if (options_.hydro.enabled) mesh_.communicator().max_in_place(std::span<double>(fastest_));
  }
  const std::int64_t bad_tiles = counts[2 * levels], broken_ranks = counts[2 * levels + 1];
  if (repair_last_sweep(bad_tiles)) return measure_cells();
  if (broken_ranks > 0) {
    mesh_.communicator().agree([&] {
      if (!gas.broken.empty()) throw RunError("step {}, time {}: {}", step_, time_, gas.broken);
    });
  }
  count_restored(counts[2 * levels + 2]);
  totals_ = Totals(levels, matter_.kinds().size());
  std::copy_n(counts.begin(), levels, totals_.blocks.begin());
  std::copy_n(counts.begin() + levels, levels, totals_.leaf_cells.begin());
  totals_.mass = gas.sums[hydro::k_mass_sum].to_double();
  for (int d = 0; d < 3; ++d) totals_.momentum[d] = gas.sums[hydro::k_momentum_sum + d].to_double();
  totals_.total_energy = gas.sums[hydro::k_total_energy_sum].to_double();
  totals_.kinetic_energy = gas.sums[hydro::k_kinetic_energy_sum].to_double();
  totals_.absolute_momentum = gas.sums[hydro::k_absolute_momentum_sum].to_double();
}

// Blocks by level and leaf cells by level, on this rank.
std::vector<std::int64_t> AmrSimulation::count_cells() {
  const int levels = mesh_.geometry().max_level() + 1, N = mesh_.geometry().block_size();
  std::vector<std::int64_t> counts(levels);
  leaf_cells_here_.assign(levels, 0);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    counts[level] = blocks.count();
    for (const int slot : blocks.own())
      leaf_cells_here_[level] += N * N * N / 8 * (8 - std::popcount(blocks.refined(slot)));
  }
  counts.insert(counts.end(), leaf_cells_here_.begin(), leaf_cells_here_.end());
  return counts;
}

// True if the sweep that ended the last step was still to be judged and broke tiles on any rank.
bool AmrSimulation::repair_last_sweep(std::int64_t bad_tiles) {
  if (!unjudged_) return false;
  if (bad_tiles > 0) repair_sweep();
  unjudged_.reset();
  return bad_tiles > 0;
}

// On this rank.
AmrSimulation::MeasuredGas AmrSimulation::measure_gas() {
  const mesh::Geometry& geometry = mesh_.geometry();
  MeasuredGas gas;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::CellRange& cells = mesh_.cells(level);
    const double* blocks = mesh_.fields(level).blocks(LevelFields::k_now);
    const auto [fastest, broken] = hydro::measure_gas(options_.hydro, mesh_.layout(), blocks, cells,
                                                      geometry.cell_volume(level), gas.sums);
    fastest_[level] = fastest;
    if (broken && gas.broken.empty())
      gas.broken = describe_cell(level, hydro::broken_cells(mesh_.layout(), blocks, cells).front());
  }
  return gas;
}

// Adds what broken cells gained when they got an older state back to what floors have added.
// `cells` of them on all ranks.
void AmrSimulation::count_restored(std::int64_t cells) {
  if (cells > 0) {
    ReproducibleSum gained[] = {restored_.mass, restored_.energy};
    reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(gained));
    const double mass = gained[0].to_double(), energy = gained[1].to_double();
    floored_.cells += cells;
    floored_.mass += mass;
    floored_.energy += energy;
    log::warn(
        "restored {} unphysical cells at coarse-fine boundaries to their pre-step state; mass "
        "{:.3g} and energy {:.3g} added",
        cells, mass, energy);
  }
  restored_ = {};
}

void AmrSimulation::measure_integrals() {
  std::vector<ReproducibleSum> sums(options_.integrals.names().size());
  if (sums.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    options_.integrals.add(gas_level(level, time_, time_), sums);
  reproducible_sum(mesh_.communicator(), std::span(sums));
  for (const ReproducibleSum& sum : sums) totals_.integrals.push_back(sum.to_double());
}

// How long a step of each level may be for all but signals.
void AmrSimulation::measure_limits() {
  std::fill(limits_.begin(), limits_.end(), std::numeric_limits<double>::infinity());
  measure_matter_limits();
  measure_process_limits();
}

// For particles, and for matter that falls freely: a collapse from rest takes
// sqrt(3 pi / (32 G rho)).
void AmrSimulation::measure_matter_limits() {
  for (const particles::Particles& kind : matter_.kinds()) {
    const auto crossing = kind.crossing_times();
    for (std::size_t l = 0; l < crossing.size(); ++l)
      limits_[l] = std::min(limits_[l], k_particle_courant * crossing[l]);
  }
  if (!gravity_) return;
  const double G = options_.newton_constant(time_);
  const auto densest = matter_.densest();
  for (std::size_t l = 0; l < densest.size(); ++l) {
    const double free_fall = densest[l] > 0.0 ? std::sqrt(3.0 * M_PI / (32.0 * G * densest[l]))
                                              : std::numeric_limits<double>::infinity();
    limits_[l] = std::min(limits_[l], options_.time.cfl * free_fall);
  }
}

std::string AmrSimulation::describe_cell(int level, const mesh::Cell& cell) const {
  const mesh::BlockLayout& layout = mesh_.layout();
  const int N = layout.block_size;
  const auto corner =
      mesh_.geometry().origin(level, morton_decode(mesh_.blocks(level).key(cell.slot)));
  const double dx = mesh_.geometry().cell_size(level);
  Kokkos::View<const double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
      mesh_.fields(level).blocks(LevelFields::k_now) + cell.slot * layout.stride_slot,
      layout.stride_slot);
  const auto values = on_host(Cargo::lists, block);
  std::string text = fmt::format("the gas is not physical on level {} at ({}, {}, {}):", level,
                                 corner[0] + (cell.index % N + 0.5) * dx,
                                 corner[1] + (cell.index / N % N + 0.5) * dx,
                                 corner[2] + (cell.index / N / N + 0.5) * dx);
  for (int n = 0; n < layout.variables; ++n)
    text += fmt::format(" {} = {}", mesh_.variables()[n].name,
                        values(n * layout.stride_variable + cell.index));
  return text + "; try a smaller time.cfl or a more diffusive hydro.riemann or hydro.limiter";
}

// A signal that falls with the strongest acceleration g, of gravity and of hydro.acceleration,
// shall not cross more than `courant` cells: v dt + g dt^2 / 2 = courant dx.
double AmrSimulation::signal_limit(int level, double courant) const {
  if (!options_.hydro.enabled) return std::numeric_limits<double>::infinity();
  const double distance = courant * mesh_.geometry().cell_size(level), v = fastest_[level];
  const auto& [x, y, z] = options_.hydro.acceleration;
  const double g = std::hypot(x, y, z) + (gravity_ ? gravity_->strongest(level) : 0.0);
  if (g == 0.0) return distance / v;
  return 2.0 * distance / (v + std::sqrt(v * v + 2.0 * g * distance));
}

double AmrSimulation::stable_dt() const {
  double dt = std::numeric_limits<double>::infinity();
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const double limit = std::min(signal_limit(level, options_.time.cfl), limits_[level]);
    dt = std::min(dt, limit * (options_.time.subcycle ? 1 << level : 1));
  }
  if (options_.universe) dt = std::min(dt, options_.universe->longest_step(time_));
  if (options_.hydro.frame.turns())
    dt = std::min(dt, k_largest_turn / std::abs(options_.hydro.frame.angular_velocity));
  const double largest = options_.time.largest_step;
  return largest > 0.0 ? std::min(dt, largest) : dt;
}

}  // namespace octant::driver
