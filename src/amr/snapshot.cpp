#include "amr/snapshot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "amr/field_list.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "io/expectations.hpp"
#include "output/file_header.hpp"
#include "output/octant_format.hpp"
#include "output/particle_file.hpp"
#include "run/commands.hpp"

namespace octant {

void add_gravity_constant(Attributes& attributes, const AmrOptions& options) {
  if (options.gravity.enabled && !options.universe)
    attributes.set(k_gravity_constant, options.gravity.constant);
}

namespace {

template <class T, std::size_t n>
std::vector<T> as_vector(const std::array<T, n>& values) {
  return {values.begin(), values.end()};
}

void add_universe(Attributes& attributes, const cosmology::Universe& universe,
                  double scale_factor) {
  const cosmology::CosmologyOptions& o = universe.options();
  const std::pair<const char*, double> values[] = {{"redshift", cosmology::redshift(scale_factor)},
                                                   {"omega_m", o.omega_m},
                                                   {"omega_lambda", o.omega_lambda},
                                                   {"omega_b", o.omega_b},
                                                   {"omega_radiation", o.omega_radiation},
                                                   {"w0", o.w0},
                                                   {"wa", o.wa},
                                                   {"h", o.h},
                                                   {"box_megaparsecs_per_h", o.box}};
  for (const auto& [name, value] : values) attributes.set(name, value);
}

FileOrigin origin_of(const AmrSimulation& simulation, const char* kind) {
  const AmrOptions& options = simulation.options();
  return {.kind = kind,
          .model = name_of(options.model),
          .problem = options.problem_name,
          .time = simulation.time(),
          .step = simulation.step_count(),
          .units = options.units(simulation.scale_factor()),
          .parameters = options.resolved(),
          .data_files = options.data_files()};
}

Attributes facts_of(const AmrSimulation& simulation) {
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  const AmrOptions& options = simulation.options();
  const auto& cells = options.mesh.base_cells;
  std::vector<double> box_size;
  for (int d = 0; d < 3; ++d) box_size.push_back(geometry.upper()[d] - geometry.lower()[d]);
  Attributes attributes;
  attributes.set("scale_factor", simulation.scale_factor());
  attributes.set("box_size", box_size);
  attributes.set("lower", as_vector(geometry.lower()));
  attributes.set("upper", as_vector(geometry.upper()));
  attributes.set("base_cells", std::vector<std::int64_t>(cells.begin(), cells.end()));
  attributes.set("block_size", std::int64_t{geometry.block_size()});
  attributes.set("max_level", std::int64_t{geometry.max_level()});
  attributes.set("finest_level", std::int64_t{simulation.mesh().finest_level()});
  attributes.set("gamma", options.hydro.gamma);
  if (options.refine.mass_unit > 0.0) attributes.set("refine_mass_unit", options.refine.mass_unit);
  if (options.hydro.eos.kind == hydro::EquationOfState::white_dwarf) {
    attributes.set("degeneracy_pressure", options.hydro.eos.degeneracy_pressure);
    attributes.set("degeneracy_density", options.hydro.eos.degeneracy_density);
  }
  if (options.hydro.eos.kind == hydro::EquationOfState::stiffened)
    attributes.set("stiffening_pressure", options.hydro.eos.stiffening_pressure);
  if (options.hydro.eos.kind == hydro::EquationOfState::gas_radiation)
    attributes.set("radiation_constant", options.hydro.eos.radiation_constant);
  if (options.hydro.eos.kind == hydro::EquationOfState::table)
    attributes.set("eos_table", options.hydro.eos.table_path);
  add_gravity_constant(attributes, options);
  if (options.universe) add_universe(attributes, *options.universe, simulation.scale_factor());
  return attributes;
}

BlockLevel blocks_of(const mesh::Mesh& mesh, int number) {
  BlockLevel level{
      .number = number, .slots = {}, .keys = {}, .refined = {}, .module_attributes = {}};
  const mesh::TreeLevel& blocks = mesh.blocks(number);
  for (const int slot : blocks.own()) {
    level.slots.push_back(slot);
    level.keys.push_back(blocks.key(slot));
    level.refined.push_back(blocks.refined(slot));
  }
  return level;
}

// Contents of a file other than its fields.
MeshContents bare_contents(const AmrSimulation& simulation, const char* kind) {
  const mesh::Mesh& mesh = simulation.mesh();
  const int N = mesh.geometry().block_size();
  MeshContents contents{.communicator = mesh.communicator(),
                        .geometry = mesh.geometry(),
                        .origin = origin_of(simulation, kind),
                        .attributes = facts_of(simulation),
                        .groups = {},
                        .precision = Precision::float64,
                        .compression = Compression::none,
                        .block_cells = {N, N, N},
                        .levels = {},
                        .fields = {},
                        .particles = {}};
  for (int level = 0; level <= mesh.finest_level(); ++level)
    contents.levels.push_back(blocks_of(mesh, level));
  for (const particles::Particles& particles : simulation.matter().kinds())
    contents.particles.push_back(contents_of(particles));
  return contents;
}

}  // namespace

MeshContents snapshot_contents(const AmrSimulation& simulation) {
  const OutputOptions& output = simulation.options().output;
  MeshContents contents = bare_contents(simulation, "snapshot");
  contents.precision = output.precision;
  contents.compression = output.compression;
  contents.fields = shown_fields(simulation);
  select_fields(contents, output.fields);
  return contents;
}

namespace {

std::string ledger_group(const subgrid::Ledger& ledger) {
  return fmt::format("/processes/{}", ledger.owner());
}

void add_further_kinds(MeshContents& contents, const AmrOptions& options) {
  std::string names;
  for (const particles::Kind& kind : options.further_kinds)
    names += (names.empty() ? "" : " ") + kind.name;
  if (!names.empty()) contents.attributes.set(k_further_kinds, names);
}

// Number of Outflow terms in the attribute "outflow" of checkpoints of all versions.
constexpr int k_old_outflow = Outflow::potential;

// Attributes of the energy budget, in the order of the list "energy_budget" of checkpoints before
// version 0.3.0, which starts with 1 if the budget has begun.
constexpr std::pair<const char*, double EnergyBudget::*> k_budget[] = {
    {"energy_budget_initial", &EnergyBudget::initial},
    {"energy_budget_work", &EnergyBudget::work},
    {"energy_budget_log_a", &EnergyBudget::log_a},
    {"energy_budget_potential", &EnergyBudget::potential},
    {"energy_budget_resolution", &EnergyBudget::resolution},
    {"energy_budget_resolution_before", &EnergyBudget::resolution_before},
    {"energy_budget_unsolved", &EnergyBudget::unsolved}};
constexpr const char* k_budget_begun = "energy_budget_begun";
constexpr const char* k_floored_turn = "floored_angular_momentum";

void add_energy_budget(Attributes& attributes, const EnergyBudget& budget) {
  attributes.set(k_budget_begun, std::int64_t{budget.begun});
  for (const auto& [name, member] : k_budget) attributes.set(name, budget.*member);
  if (budget.counts_withheld) attributes.set("energy_spared", budget.withheld_work);
}

void add_run_state(MeshContents& contents, const RunState& state, const AmrOptions& options) {
  contents.attributes.set("density_scale", state.scales.density);
  contents.attributes.set("energy_scale", state.scales.energy);
  contents.attributes.set("floored_cells", state.floored.cells);
  contents.attributes.set("floored_mass", state.floored.mass);
  contents.attributes.set("floored_energy", state.floored.energy);
  const auto& turn = state.floored.angular_momentum;
  contents.attributes.set(k_floored_turn, std::vector<double>(turn.begin(), turn.end()));
  if (options.hydro.is_barotropic())
    contents.attributes.set("exchanged_energy", state.exchanged_energy);
  const auto& left = state.outflow.amount;
  contents.attributes.set("outflow",
                          std::vector<double>(left.begin(), left.begin() + k_old_outflow));
  contents.attributes.set("outflow_potential", left[Outflow::potential]);
  if (options.radiation.enabled)
    contents.attributes.set("outflow_radiation", left[Outflow::radiation]);
  if (options.radiation.photon_groups > 0)
    contents.attributes.set("outflow_photons", left[Outflow::photons]);
  add_energy_budget(contents.attributes, state.energy);
  for (const subgrid::Ledger& ledger : state.ledgers) {
    Attributes totals;
    for (const subgrid::Ledger::Total& total : ledger.totals()) totals.set(total.name, total.value);
    contents.groups.emplace_back(ledger_group(ledger), totals);
  }
}

void add_potential_times(MeshContents& contents, const gravity::StoredPotential& stored) {
  for (BlockLevel& level : contents.levels) {
    const gravity::PotentialTimes times = stored.times(level.number);
    level.module_attributes["gravity"].set("time", times.now);
    level.module_attributes["gravity"].set("previous_time", times.previous);
  }
}

// Returns the ledgers of the processes with their totals from the file.
std::vector<subgrid::Ledger> read_ledgers(const Hdf5Reader& file,
                                          std::vector<subgrid::Ledger> ledgers) {
  for (subgrid::Ledger& ledger : ledgers) {
    const std::string group = ledger_group(ledger);
    if (!file.exists(group))
      throw InputError(
          "{}: the checkpoint has no budget of {}, because that process was not enabled in the run "
          "that wrote it",
          file.path(), ledger.owner());
    for (const subgrid::Ledger::Total& total : ledger.totals())
      ledger.restore(total.name, finite_attribute(file, group, total.name));
  }
  return ledgers;
}

// Reads a total that checkpoints up to version 0.2.0 lack; it starts at zero there.
double read_later_total(const Hdf5Reader& file, const std::string& name) {
  if (file.has_attribute("/header", name)) return finite_attribute(file, "/header", name);
  log::info("{} has no {}, which is initialized to zero", file.path(), name);
  return 0.0;
}

// Reads a scale of the initial state. Before version 0.3.0, floors were those for scales of 1.
double read_scale(const Hdf5Reader& file, const std::string& name) {
  return file.has_attribute("/header", name) ? finite_attribute(file, "/header", name) : 1.0;
}

Outflow read_outflow(const Hdf5Reader& file, bool has_gravity,
                     const radiation::RadiationOptions& radiation) {
  Outflow outflow;
  const auto left = finite_attributes(file, "/header", "outflow", k_old_outflow);
  std::copy(left.begin(), left.end(), outflow.amount.begin());
  if (has_gravity) outflow.amount[Outflow::potential] = read_later_total(file, "outflow_potential");
  if (radiation.enabled)
    outflow.amount[Outflow::radiation] = read_later_total(file, "outflow_radiation");
  if (radiation.photon_groups > 0)
    outflow.amount[Outflow::photons] = read_later_total(file, "outflow_photons");
  return outflow;
}

// Reads the amounts added by floors. Checkpoints before version 0.3.0 lack the angular
// momentum.
Floored read_floored(const Hdf5Reader& file) {
  Floored floored{.cells = count_attribute(file, "/header", "floored_cells"),
                  .mass = finite_attribute(file, "/header", "floored_mass"),
                  .energy = finite_attribute(file, "/header", "floored_energy")};
  if (!file.has_attribute("/header", k_floored_turn)) return floored;
  const auto turn = finite_attributes(file, "/header", k_floored_turn, 3);
  std::copy(turn.begin(), turn.end(), floored.angular_momentum.begin());
  return floored;
}

EnergyBudget read_energy_budget(const Hdf5Reader& file, bool counts_withheld) {
  EnergyBudget budget;
  if (file.has_attribute("/header", "energy_budget")) {
    const auto values =
        finite_attributes(file, "/header", "energy_budget", 1 + std::size(k_budget));
    budget.begun = values[0] != 0.0;
    for (std::size_t n = 0; n < std::size(k_budget); ++n)
      budget.*k_budget[n].second = values[1 + n];
  } else {
    budget.begun = count_attribute(file, "/header", k_budget_begun) != 0;
    for (const auto& [name, member] : k_budget)
      budget.*member = finite_attribute(file, "/header", name);
  }
  budget.counts_withheld = counts_withheld;
  if (counts_withheld) budget.withheld_work = read_later_total(file, "energy_spared");
  return budget;
}

RunState read_run_state(const Hdf5Reader& file, const AmrSimulation& simulation) {
  const auto number = [&](const char* name) { return finite_attribute(file, "/header", name); };
  const auto count = [&](const char* name) { return count_attribute(file, "/header", name); };
  return {.time = number("time"),
          .step = count("step"),
          .scales = {read_scale(file, "density_scale"), read_scale(file, "energy_scale")},
          .floored = read_floored(file),
          .exchanged_energy =
              simulation.options().hydro.is_barotropic() ? number("exchanged_energy") : 0.0,
          .outflow =
              read_outflow(file, simulation.gravity() != nullptr, simulation.options().radiation),
          .energy = read_energy_budget(file, simulation.energy().counts_withheld),
          .ledgers = read_ledgers(file, simulation.ledgers())};
}

}  // namespace

void write_checkpoint(AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& stem) {
  MeshContents contents = bare_contents(simulation, "checkpoint");
  add_progress(contents.attributes, progress);
  add_further_kinds(contents, simulation.options());
  add_run_state(contents, simulation.state(), simulation.options());
  for (const CheckpointField& stored : checkpoint_fields(simulation))
    contents.fields.push_back(stored.field);
  if (const gravity::Gravity* gravity = simulation.gravity())
    add_potential_times(contents, gravity->stored());
  write_octant_file(contents, stem);
}

namespace {

void check_header(const Hdf5Reader& file, AmrSimulation& simulation) {
  const AmrOptions& options = simulation.options();
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  const std::string& path = file.path();
  require_checkpoint(file, options.resolved(), options.data_files());
  require_same(path, "mesh.block_size", file.attribute<std::int64_t>("/header", "block_size"),
               std::int64_t{geometry.block_size()});
  const auto& cells = options.mesh.base_cells;
  require_same(path, "mesh.base_cells",
               file.attribute<std::vector<std::int64_t>>("/header", "base_cells"),
               std::vector<std::int64_t>(cells.begin(), cells.end()));
  require_same(path, "mesh.lower", file.attribute<std::vector<double>>("/header", "lower"),
               as_vector(geometry.lower()));
  require_same(path, "mesh.upper", file.attribute<std::vector<double>>("/header", "upper"),
               as_vector(geometry.upper()));
  for (const CheckpointField& stored : checkpoint_fields(simulation))
    if (const auto& [group, info, values] = stored.field;
        !file.exists(level_group(group, 0) + "/" + info.name))
      throw InputError("{}: the checkpoint has no field \"{}\"; set {} as in the run that wrote it",
                       path, info.name, stored.required);
  require_particles(file, simulation.matter().kinds());
}

// Checks that time and scale factor agree in an expanding box.
void check_epoch(const Hdf5Reader& file, const AmrSimulation& simulation) {
  const cosmology::Universe* universe = simulation.options().universe.get();
  if (!universe) return;
  const double time = finite_attribute(file, "/header", "time");
  const double a = finite_attribute(file, "/header", "scale_factor");
  const bool tabulated = a >= cosmology::Expansion::k_a_min && a <= cosmology::Expansion::k_a_max;
  if (!tabulated || std::abs(universe->time(a) - time) > 1e-6 * std::abs(time))
    throw InputError(
        "'{}': /header: time {} does not match the scale factor {} in the cosmology of this run",
        file.path(), time, a);
}

// Reads a field in a level's stored blocks, which this rank owns in the order of the file.
void read_field(const Hdf5Reader& file, const CheckpointField& field, const StoredBlocks& stored,
                const mesh::Mesh& mesh, int level) {
  const auto& [group, info, values] = field.field;
  const std::string name = level_group(group, level) + "/" + info.name;
  const int N = mesh.layout().block_size;
  const auto [nx, ny, nz] = info.extents({N, N, N});
  require_shape(file, name, {stored.totals[level], nz, ny, nx});
  const double bound = name.ends_with("/density") ? 0.0 : -std::numeric_limits<double>::infinity();
  const RowRange range = stored.ranges[level];
  const std::int64_t most = mesh.communicator().max(range.count), batch = blocks_per_batch(N);
  for (std::int64_t first = 0; first < most; first += batch) {
    const std::int64_t begin = std::min(first, range.count);
    const std::int64_t count = std::min(batch, range.count - begin);
    field.set(level, mesh.cells(level).batch(begin, count),
              read_finite(file, name, {range.begin + begin, count}, bound));
  }
}

gravity::PotentialTimes read_times(const Hdf5Reader& file, const std::string& group) {
  const gravity::PotentialTimes times{.now = finite_attribute(file, group, "time"),
                                      .previous = finite_attribute(file, group, "previous_time"),
                                      .solved = true};
  if (times.previous > times.now)
    throw InputError("'{}': {}: previous_time {} is after time {}", file.path(), group,
                     times.previous, times.now);
  return times;
}

}  // namespace

OutputProgress read_checkpoint(AmrSimulation& simulation, const std::string& path) {
  mesh::Mesh& mesh = simulation.mesh();
  const Hdf5Reader file(mesh.communicator(), path);
  check_header(file, simulation);
  check_epoch(file, simulation);
  const StoredBlocks stored = restore_blocks(file, mesh);
  simulation.matter().adapt_to_mesh();
  gravity::Gravity* gravity = simulation.gravity();
  if (gravity) gravity->adapt_to_mesh();
  const auto fields = checkpoint_fields(simulation);
  for (int level = 0; level < std::ssize(stored.levels); ++level) {
    for (const CheckpointField& field : fields) read_field(file, field, stored, mesh, level);
    if (gravity)
      gravity->stored().set_times(level, read_times(file, level_group("gravity", level)));
  }
  for (particles::Particles& kind : simulation.matter().kinds()) read_particles(file, kind);
  simulation.resume(read_run_state(file, simulation));
  return read_progress(file);
}

std::string describe_snapshot(const Communicator& communicator, const std::string& path) {
  const Hdf5Reader file(communicator, path);
  std::string out = describe_origin(file);
  const auto cells = count_attributes(file, "/header", "base_cells", 3);
  out += fmt::format("base grid {} x {} x {}, blocks of {}^3\n", cells[0], cells[1], cells[2],
                     file.attribute<std::int64_t>("/header", "block_size"));
  const auto finest = static_cast<int>(file.attribute<std::int64_t>("/header", "finest_level"));
  for (int level = 0; level <= finest; ++level)
    out += fmt::format("level {}: {} blocks, cell size {}\n", level,
                       file.shape(level_group("mesh", level) + "/refined")[0],
                       file.attribute<double>(level_group("mesh", level), "cell_size"));
  if (file.exists("/hydro")) {
    out += "fields:";
    for (const auto& name : file.children(level_group("hydro", 0))) out += " " + name;
    out += "\n";
  }
  out += describe_particles(file);
  return out + "\n" + stored_parameters(file);
}

}  // namespace octant
