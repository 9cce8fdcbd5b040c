#include "amr/measurement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant {

void Outflow::add_columns(Columns& columns) const {
  const auto vector = [&](int first) { return std::span(amount).subspan(first).first<3>(); };
  columns.add("outflow_mass", amount[mass]);
  columns.add_vector("outflow_momentum", vector(momentum));
  columns.add_vector("outflow_angular_momentum", vector(angular_momentum));
  columns.add("outflow_energy", amount[energy]);
}

namespace {

using FaceTotals = Kokkos::Array<double, Outflow::terms>;

// Potential at the centre of a boundary face, extrapolated linearly from the cell and its inner
// neighbour and averaged over both times. With the forces at both times, which define the work on
// the flow, this is second order.
KOKKOS_INLINE_FUNCTION double potential_at(const PotentialsOfStep& potentials,
                                           const mesh::DomainFace& face, int block_size, int a,
                                           int b) {
  const int stride[3] = {1, block_size, block_size * block_size};
  const int along_a = stride[face.axis == 0 ? 1 : 0], along_b = stride[face.axis == 2 ? 1 : 2];
  const int inwards = (face.side == 0 ? 1 : -1) * stride[face.axis];
  const mesh::Cell last{0, face.slot, face.first + a * along_a + b * along_b};
  const mesh::Cell inner{0, face.slot, last.index + inwards};
  const auto on_face = [&](const mesh::BlockField& potential) {
    return 1.5 * *potential.at(last) - 0.5 * *potential.at(inner);
  };
  return 0.5 * (on_face(potentials.before) + on_face(potentials.after));
}

// Sums the fluxes of one face after the other, each in the order of its cells.
struct SumOfFaces {
  mesh::DeviceArray<const mesh::DomainFace> faces;
  mesh::DeviceArray<FaceTotals> totals;
  double* registers;
  PotentialsOfStep potentials;
  int half, variables, spin;
  int grey, photons, groups;  // first variables of grey radiation (-1: none) and of photons
  double dx;

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    const mesh::DomainFace& face = faces(n);
    const int a = face.axis == 0 ? 1 : 0, b = face.axis == 2 ? 1 : 2;
    const double outward = (face.side == 0 ? -1.0 : 1.0) * dx * dx;
    FaceTotals sum{};
    for (int cell = 0; cell < half * half; ++cell) {
      double* const flux = registers + face.base + cell;
      const auto of = [&](int variable) { return flux[variable * half * half]; };
      double x[3] = {face.corner[0], face.corner[1], face.corner[2]};
      const int column = cell % half, row = cell / half;
      x[a] += (column + 0.5) * dx;
      x[b] += (row + 0.5) * dx;
      sum[Outflow::mass] += of(hydro::k_mass);
      sum[Outflow::energy] += of(hydro::k_energy);
      if (potentials.after.data)
        sum[Outflow::potential] +=
            of(hydro::k_mass) * potential_at(potentials, face, 2 * half, column, row);
      for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        sum[Outflow::momentum + d] += of(hydro::k_momentum_x + d);
        sum[Outflow::angular_momentum + d] +=
            x[e] * of(hydro::k_momentum_x + f) - x[f] * of(hydro::k_momentum_x + e);
        if (spin >= 0) sum[Outflow::angular_momentum + d] += of(spin + d);
      }
      if (grey >= 0) sum[Outflow::radiation] += of(grey);
      for (int g = 0; g < groups; ++g)
        sum[Outflow::photons] += of(photons + g * radiation::k_moments);
      for (int v = 0; v < variables; ++v) flux[v * half * half] = 0.0;
    }
    for (int t = 0; t < Outflow::terms; ++t) totals(n)[t] = outward * sum[t];
  }
};

}  // namespace

void collect_outflow(mesh::Mesh& mesh, int level, int spin,
                     const radiation::RadiationOptions& radiation,
                     const PotentialsOfStep& potentials,
                     std::array<ReproducibleSum, Outflow::terms>& terms) {
  const auto faces = mesh::to_device("domain faces", mesh.domain_faces(level));
  const int count = static_cast<int>(faces.extent(0));
  if (count == 0) return;
  const auto totals = mesh::uninitialised<FaceTotals>("outflow", count);
  mesh::for_items("outflow", count,
                  SumOfFaces{.faces = faces,
                             .totals = totals,
                             .registers = mesh.registers(level),
                             .potentials = potentials,
                             .half = mesh.layout().block_size / 2,
                             .variables = mesh.layout().variables,
                             .spin = spin,
                             .grey = radiation.enabled ? mesh.layout().swept : -1,
                             .photons = mesh.layout().swept + radiation.first_of_photons(),
                             .groups = radiation.photon_groups,
                             .dx = mesh.geometry().cell_size(level)});
  const auto of_faces = on_host(TransferKind::numbers, totals);
  for (int n = 0; n < count; ++n)
    for (int t = 0; t < Outflow::terms; ++t) terms[t] += of_faces(n)[t];
}

namespace {

// Courant number of particles: maximum fraction of a cell that a particle crosses in a step.
constexpr double k_particle_courant = 0.5;
// Maximum rotation angle of the frame in a step.
constexpr double k_largest_turn = 0.1;

}  // namespace

double Totals::particle_mass() const {
  double sum = 0.0;
  for (const particles::ParticleTotals& kind : particles) sum += kind.mass;
  return sum;
}

double Totals::particle_kinetic_energy() const {
  double energy = 0.0;
  for (const particles::ParticleTotals& kind : particles) energy += kind.kinetic_energy;
  return energy;
}

Measurement::Measurement(StepContext& context, Matter& matter, GasSolver& gas,
                         RadiationStep& radiation, GravityStep& gravity, ParticleStep& particles,
                         ProcessStep& processes)
    : context_(context),
      mesh_(context.mesh),
      options_(context.options),
      matter_(matter),
      gas_(gas),
      radiation_(radiation),
      gravity_(gravity),
      particles_(particles),
      processes_(processes),
      totals_(context.levels(), matter.kinds().size()),
      limits_(context.levels(), std::numeric_limits<double>::infinity()) {}

void Measurement::measure() {
  if (measured_) return;
  const auto timing = context_.timers.time("measure", Phase::compute);
  JointSums joint(mesh_.communicator());
  add_cells(joint);
  const auto reduce = [&] {
    const auto waiting = context_.timers.time("wait for all ranks", Phase::collective);
    joint.reduce();
  };
  if (gas_.awaits_validation()) reduce();  // because a repair changes the gas
  particles::Particles::add_totals(matter_.kinds(), joint, totals_.particles);
  add_integrals(joint);
  if (gravity_.solver()) gravity_.add_potential_energy(joint);
  reduce();
  totals_.radiation = radiation_.measure();
  EnergyBudget& energy = gravity_.energy();
  if (potential_before_regrid_)
    energy.resolution += gravity_.potential_energy() - *potential_before_regrid_;
  potential_before_regrid_.reset();
  if (gas_energy_before_regrid_)
    energy.add_regrid_energy(totals_.total_energy - *gas_energy_before_regrid_);
  gas_energy_before_regrid_.reset();
  if (gravity_.solver()) totals_.potential_energy = gravity_.potential_energy();
  if (options_.universe)
    energy.update(context_.scale_factor(), totals_.total_energy + totals_.particle_kinetic_energy(),
                  totals_.potential_energy, processes_.added_energy());
  options_.problem->measure(
      {mesh_, context_.time, gravity_.solver() ? &gravity_.solver()->stored() : nullptr});
  measure_limits();
  measured_ = true;
}

void Measurement::measure_cells() {
  JointSums joint(mesh_.communicator());
  add_cells(joint);
  joint.reduce();
}

// Counts blocks and cells, and measures the gas.
void Measurement::add_cells(JointSums& joint) {
  std::vector<std::int64_t> counts = count_cells();
  GasSolver::Measured gas;
  if (options_.hydro.enabled) gas = gas_.measure();
  const std::int64_t trouble[] = {gas_.pending_bad_tiles(), !gas.unphysical.empty(),
                                  gas_.restored_cells(), gas.outside_table};
  counts.insert(counts.end(), std::begin(trouble), std::end(trouble));
  joint.add(gas.sums, counts, [this, unphysical = gas.unphysical](auto sums, auto totals) {
    end_cells(unphysical, sums, totals);
  });
}

// Sets the totals of cells and gas from the totals over ranks of the terms of add_cells().
// `unphysical` describes a cell of this rank. Collective.
void Measurement::end_cells(const std::string& unphysical, std::span<const ReproducibleSum> sums,
                            std::span<const std::int64_t> counts) {
  const int levels = mesh_.geometry().max_level() + 1;
  const std::int64_t bad_tiles = counts[2 * levels],
                     ranks_with_invalid_cells = counts[2 * levels + 1];
  if (gas_.finish_validation(bad_tiles)) return measure_cells();
  if (ranks_with_invalid_cells > 0) {
    mesh_.communicator().collective_try([&] {
      if (!unphysical.empty())
        throw RunError("step {}, time {}: {}", context_.step, context_.time, unphysical);
    });
  }
  gas_.add_restored(counts[2 * levels + 2]);
  const std::int64_t outside = counts[2 * levels + 3], outside_before = totals_.outside_table;
  totals_ = Totals(levels, matter_.kinds().size());
  totals_.outside_table = outside;
  report_outside_table(outside_before);
  std::copy_n(counts.begin(), levels, totals_.blocks.begin());
  std::copy_n(counts.begin() + levels, levels, totals_.leaf_cells.begin());
  context_.all_leaf_cells = totals_.leaf_cells;
  totals_.mass = sums[hydro::k_mass_sum].to_double();
  for (int d = 0; d < 3; ++d) totals_.momentum[d] = sums[hydro::k_momentum_sum + d].to_double();
  totals_.total_energy = sums[hydro::k_total_energy_sum].to_double();
  totals_.kinetic_energy = sums[hydro::k_kinetic_energy_sum].to_double();
  totals_.absolute_momentum = sums[hydro::k_absolute_momentum_sum].to_double();
}

// Warns about the first cells that leave the table of the equation of state.
void Measurement::report_outside_table(std::int64_t before) const {
  const std::int64_t cells = totals_.outside_table;
  if (cells == 0) return;
  if (before == 0)
    log::warn(
        "{} cells are outside hydro.eos_table; beyond its densities and temperatures, its "
        "outermost ratios of pressure and energy are used (column cells_outside_table of "
        "history.csv)",
        cells);
}

// Numbers of blocks and of leaf cells by level on this rank.
std::vector<std::int64_t> Measurement::count_cells() {
  const int levels = mesh_.geometry().max_level() + 1, N = mesh_.geometry().block_size();
  std::vector<std::int64_t> counts(levels);
  context_.leaf_cells.assign(levels, 0);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    counts[level] = blocks.count();
    for (const int slot : blocks.own())
      context_.leaf_cells[level] += N * N * N / 8 * (8 - std::popcount(blocks.refined(slot)));
  }
  counts.insert(counts.end(), context_.leaf_cells.begin(), context_.leaf_cells.end());
  return counts;
}

void Measurement::add_integrals(JointSums& joint) {
  std::vector<ReproducibleSum> sums(options_.integrals.names().size());
  if (sums.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    options_.integrals.add(processes_.gas_level(level, context_.time, context_.time), sums);
  joint.add(sums, {}, [this](auto totals, auto /*counts*/) {
    for (const ReproducibleSum& sum : totals) totals_.integrals.push_back(sum.to_double());
  });
}

// Time-step constraints of each level other than signals: particle motion, free fall (a collapse
// from rest takes sqrt(3 pi / (32 G rho))), and processes.
void Measurement::measure_limits() {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::fill(limits_.begin(), limits_.end(), none);
  for (const particles::Particles& kind : matter_.kinds()) {
    const auto crossing = kind.crossing_times();
    for (std::size_t l = 0; l < crossing.size(); ++l)
      limits_[l] = std::min(limits_[l], k_particle_courant * crossing[l]);
  }
  if (gravity_.solver()) {
    const double G = options_.newton_constant(context_.time);
    const auto densest = matter_.densest();
    for (std::size_t l = 0; l < densest.size(); ++l) {
      const double free_fall =
          densest[l] > 0.0 ? std::sqrt(3.0 * M_PI / (32.0 * G * densest[l])) : none;
      limits_[l] = std::min(limits_[l], options_.time.cfl * free_fall);
    }
  }
  processes_.limit_steps(limits_);
  // Minima as maxima, which the reduction of signals includes, as it does the range of masses.
  std::vector<double> maxima = matter_.deposit_reduction_terms();
  const auto masses = std::ssize(maxima);
  std::ranges::transform(limits_, std::back_inserter(maxima), std::negate());
  gas_.reduce_signals(maxima);
  matter_.set_deposit_maxima(std::span(maxima).first(masses));
  std::transform(maxima.begin() + masses, maxima.end(), limits_.begin(), std::negate());
}

double Measurement::stable_dt() const {
  double dt = std::numeric_limits<double>::infinity();
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const double limit = std::min(
        {gas_.max_dt(level, options_.time.cfl), limits_[level], radiation_.longest_step(level)});
    dt = std::min(dt, limit * (options_.time.subcycle ? 1 << level : 1));
  }
  if (options_.universe) dt = std::min(dt, options_.universe->max_dt(context_.time));
  if (options_.hydro.frame.turns())
    dt = std::min(dt, k_largest_turn / std::abs(options_.hydro.frame.angular_velocity));
  const double max_dt = options_.time.largest_step;
  return max_dt > 0.0 ? std::min(dt, max_dt) : dt;
}

// --- tasks --------------------------------------------------------------------------------------

void Measurement::sum_budgets(const LevelStep& /*step*/) {
  JointSums joint(mesh_.communicator());
  processes_.add_ledgers(joint);
  if (gravity_.solver()) {
    gravity_.add_budgets(joint);
    if (options_.gravity.work == gravity::Work::potential)
      joint.add(std::array{gravity_.solver()->take_withheld_work()}, {},
                [this](auto totals, auto /*counts*/) {
                  gas_.add_floor_energy(totals.front().to_double());
                });
  }
  joint.reduce();
}

void Measurement::count_costs(const LevelStep& /*step*/) {
  gravity_.report_costs();
  context_.meter.end_step(particles_.counts());
}

void Measurement::validate(const LevelStep& /*step*/) {
  if (gas_.awaits_validation()) measure();
}

// Sums the outflow from the fluxes after repairs.
void Measurement::collect_outflow(const LevelStep& /*step*/) {
  const mesh::Geometry& geometry = mesh_.geometry();
  if (geometry.periodic(0) && geometry.periodic(1) && geometry.periodic(2)) return;
  particles_.collect_outflow();
  if (!options_.hydro.enabled) return;
  std::array<ReproducibleSum, Outflow::terms> outflow;  // on this rank
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    PotentialsOfStep potentials;
    if (const gravity::Gravity* solver = gravity_.solver()) {
      potentials.before = solver->stored().field(level, gravity::Field::previous_potential);
      potentials.after = solver->stored().field(level, gravity::Field::potential);
    }
    octant::collect_outflow(mesh_, level, options_.hydro.spin(), options_.radiation, potentials,
                            outflow);
  }
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(outflow));
  for (int n = 0; n < Outflow::terms; ++n) outflow_.amount[n] += outflow[n].to_double();
}

// --- regridding ---------------------------------------------------------------------------------

void Measurement::before_regrid() {
  const bool expands = gravity_.has_budget() && gravity_.energy().begun;
  if (!expands && options_.gravity.work != gravity::Work::potential) return;
  JointSums joint(mesh_.communicator());
  gravity_.add_potential_energy(joint);
  if (options_.hydro.dual_energy == hydro::DualEnergy::overwrite && !measured_) add_cells(joint);
  joint.reduce();
  potential_before_regrid_ = gravity_.potential_energy();
}

void Measurement::after_adapt(bool regridded) {
  EnergyBudget& energy = gravity_.energy();
  if (!regridded) energy.resolution += energy.unsolved;
  energy.unsolved = 0.0;
  if (!regridded) potential_before_regrid_.reset();
  else if (potential_before_regrid_ && options_.hydro.dual_energy == hydro::DualEnergy::overwrite)
    gas_energy_before_regrid_ = totals_.total_energy;
}

}  // namespace octant
