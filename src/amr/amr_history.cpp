#include "amr/amr_history.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant {

namespace {

void add_gas_columns(Columns& columns, const Totals& totals) {
  columns.add("mass", totals.mass);
  columns.add_vector("momentum", totals.momentum);
  columns.add("kinetic", totals.kinetic_energy);
  columns.add("internal", totals.internal_energy());
}

// Adds the potential energy and the total energy of gas, particles and gravity.
void add_energy_columns(Columns& columns, const Totals& totals) {
  columns.add("potential", totals.potential_energy);
  columns.add("total_energy",
              totals.total_energy + totals.particle_kinetic_energy() + totals.potential_energy);
}

// Adds the totals of grey radiation and of the photon groups.
void add_radiation_columns(Columns& columns, const RadiationTotals& radiation,
                           const radiation::RadiationOptions& options) {
  if (options.enabled) {
    columns.add("radiation_energy", radiation.energy);
    columns.add_vector("radiation_momentum", radiation.momentum);
  }
  if (options.opacity_table) columns.add("cells_outside_opacity_table", radiation.outside_table);
  // Values are unknown before the first measurement.
  for (int n = 0; n < options.photon_groups; ++n)
    columns.add(fmt::format("photons_{}", n),
                radiation.photons.empty() ? 0.0 : radiation.photons[n]);
}

// Adds the scale of the momentum errors, and the contributions of floors to the budgets.
void add_error_columns(Columns& columns, const Totals& totals, const Floored& floored) {
  columns.add("absolute_momentum", totals.absolute_momentum);
  columns.add("floored_cells", floored.cells);
  columns.add("floored_mass", floored.mass);
  columns.add("floored_energy", floored.energy);
  columns.add_vector("floored_angular_momentum", floored.angular_momentum);
}

// Returns true if the domain is not periodic along all axes.
bool has_boundaries(const mesh::Geometry& geometry) {
  return !(geometry.periodic(0) && geometry.periodic(1) && geometry.periodic(2));
}

void add_outflow_columns(Columns& columns, const AmrSimulation& simulation) {
  const Outflow& outflow = simulation.outflow();
  outflow.add_columns(columns);
  if (simulation.gravity()) columns.add("outflow_potential", outflow.amount[Outflow::potential]);
  if (simulation.options().radiation.enabled)
    columns.add("outflow_radiation", outflow.amount[Outflow::radiation]);
  if (simulation.options().radiation.photon_groups > 0)
    columns.add("outflow_photons", outflow.amount[Outflow::photons]);
}

void add_mesh_columns(Columns& columns, const Totals& totals) {
  columns.add_numbered("blocks", totals.blocks);
  columns.add_numbered("leaf_cells", totals.leaf_cells);
}

void add_particle_columns(Columns& columns, const particles::Kind& kind,
                          const particles::ParticleTotals& totals) {
  columns.add(kind.name + "_particles", totals.count);
  if (!kind.has_mass) return;
  columns.add(kind.name + "_mass", totals.mass);
  columns.add_vector(kind.name + "_momentum", totals.momentum);
  columns.add(kind.name + "_kinetic", totals.kinetic_energy);
}

// Adds the outflow of particles. The ends of column names differ from those of
// add_particle_columns(), by which tools find the particle kinds.
void add_particle_outflow_columns(Columns& columns, const particles::Kind& kind,
                                  const particles::ParticleOutflow& outflow, bool has_gravity) {
  using particles::ParticleOutflow;
  columns.add(kind.name + "_outflow_count", outflow.count);
  if (!kind.has_mass) return;
  columns.add(kind.name + "_outflow_mass", outflow.amount[ParticleOutflow::mass]);
  columns.add_vector(kind.name + "_outflow_momentum",
                     std::span(outflow.amount).subspan<ParticleOutflow::momentum, 3>());
  columns.add(kind.name + "_outflow_kinetic", outflow.amount[ParticleOutflow::kinetic]);
  if (has_gravity)
    columns.add(kind.name + "_outflow_potential", outflow.amount[ParticleOutflow::potential]);
}

void add_cosmology_columns(Columns& columns, const AmrSimulation& simulation) {
  const Totals& totals = simulation.totals();
  columns.add("redshift", cosmology::redshift(simulation.scale_factor()));
  columns.add("ekin", totals.kinetic_energy + totals.particle_kinetic_energy());
  columns.add("eint", totals.internal_energy());
  columns.add("epot", totals.potential_energy);
  columns.add("energy_resolution", simulation.energy().resolution);
  if (simulation.energy().counts_withheld)
    columns.add("energy_spared", simulation.energy().withheld_work);
  columns.add("econs", simulation.energy().error());
}

// Adds the columns of output.integrals; values are unknown before the first measurement.
void add_integral_columns(Columns& columns, const std::vector<std::string>& names,
                          const std::vector<double>& values) {
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (fmt::format(",{},", columns.names()).find(fmt::format(",{},", names[n])) !=
        std::string::npos)
      throw InputError("output.integrals.{0}: history.csv already has a column \"{0}\"", names[n]);
    columns.add(names[n], values.empty() ? 0.0 : values[n]);
  }
}

}  // namespace

Columns history_columns(const AmrSimulation& simulation, double dt) {
  const Totals& totals = simulation.totals();
  Columns columns;
  columns.add("step", simulation.step_count());
  columns.add("time", simulation.time());
  columns.add("a", simulation.scale_factor());
  columns.add("dt", dt);
  add_gas_columns(columns, totals);
  add_energy_columns(columns, totals);
  if (const auto& radiation = simulation.options().radiation; radiation.is_active())
    add_radiation_columns(columns, totals.radiation, radiation);
  add_error_columns(columns, totals, simulation.floored());
  if (simulation.options().hydro.is_barotropic())
    columns.add("exchanged_energy", simulation.exchanged_energy());
  if (simulation.options().gravity.work == gravity::Work::potential)
    columns.add("energy_resolution", simulation.energy().resolution);
  if (simulation.options().hydro.eos.kind == hydro::EquationOfState::table)
    columns.add("cells_outside_table", totals.outside_table);
  if (simulation.options().hydro.enabled && has_boundaries(simulation.mesh().geometry()))
    add_outflow_columns(columns, simulation);
  add_mesh_columns(columns, totals);
  const auto kinds = simulation.matter().kinds();
  for (std::size_t n = 0; n < kinds.size(); ++n)
    add_particle_columns(columns, kinds[n].kind(), totals.particles[n]);
  if (has_boundaries(simulation.mesh().geometry()))
    for (const particles::Particles& kind : kinds)
      add_particle_outflow_columns(columns, kind.kind(), kind.outflow(),
                                   simulation.gravity() != nullptr);
  if (simulation.options().universe) add_cosmology_columns(columns, simulation);
  for (const subgrid::Ledger& ledger : simulation.ledgers()) ledger.add_columns(columns);
  add_integral_columns(columns, simulation.options().integrals.names(), totals.integrals);
  if (simulation.options().problem) simulation.options().problem->add_columns(columns);
  return columns;
}

}  // namespace octant
