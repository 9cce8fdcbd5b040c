#include "driver/snapshot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/log.hpp"
#include "driver/commands.hpp"
#include "driver/file_header.hpp"
#include "driver/octant_format.hpp"
#include "driver/particle_file.hpp"
#include "driver/ramses_restart.hpp"
#include "driver/stored_blocks.hpp"
#include "hydro/field_access.hpp"
#include "io/expectations.hpp"

namespace octant::driver {

using mesh::LevelFields;

void add_gravity_constant(Facts& facts, const AmrOptions& options) {
  if (options.gravity.enabled && !options.universe)
    facts.set(k_gravity_constant, options.gravity.constant);
}

namespace {

template <class T, std::size_t n>
std::vector<T> as_vector(const std::array<T, n>& values) {
  return {values.begin(), values.end()};
}

void add_universe(Facts& facts, const cosmology::Universe& universe, double scale_factor) {
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
  for (const auto& [name, value] : values) facts.set(name, value);
}

FileOrigin origin_of(const AmrSimulation& simulation, const char* kind) {
  const AmrOptions& options = simulation.options();
  return {.kind = kind,
          .model = name_of(options.model),
          .problem = options.problem_name,
          .time = simulation.time(),
          .step = simulation.step_count(),
          .units = options.units(simulation.scale_factor()),
          .parameters = options.resolved()};
}

Facts facts_of(const AmrSimulation& simulation) {
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  const AmrOptions& options = simulation.options();
  const auto& cells = options.mesh.base_cells;
  std::vector<double> box_size;
  for (int d = 0; d < 3; ++d) box_size.push_back(geometry.upper()[d] - geometry.lower()[d]);
  Facts facts;
  facts.set("scale_factor", simulation.scale_factor());
  facts.set("box_size", box_size);
  facts.set("lower", as_vector(geometry.lower()));
  facts.set("upper", as_vector(geometry.upper()));
  facts.set("base_cells", std::vector<std::int64_t>(cells.begin(), cells.end()));
  facts.set("block_size", std::int64_t{geometry.block_size()});
  facts.set("max_level", std::int64_t{geometry.max_level()});
  facts.set("finest_level", std::int64_t{simulation.mesh().finest_level()});
  facts.set("gamma", options.hydro.gamma);
  add_gravity_constant(facts, options);
  if (options.universe) add_universe(facts, *options.universe, simulation.scale_factor());
  return facts;
}

BlockLevel blocks_of(const mesh::Mesh& mesh, int number) {
  BlockLevel level{.number = number, .slots = {}, .keys = {}, .refined = {}, .room_facts = {}};
  const mesh::TreeLevel& blocks = mesh.blocks(number);
  for (const int slot : blocks.own()) {
    level.slots.push_back(slot);
    level.keys.push_back(blocks.key(slot));
    level.refined.push_back(blocks.refined(slot));
  }
  return level;
}

// What fills a file, but for its fields.
MeshContents bare_contents(const AmrSimulation& simulation, const char* kind) {
  const mesh::Mesh& mesh = simulation.mesh();
  const int N = mesh.geometry().block_size();
  MeshContents contents{.communicator = mesh.communicator(),
                        .geometry = mesh.geometry(),
                        .origin = origin_of(simulation, kind),
                        .facts = facts_of(simulation),
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

// How snapshots and checkpoints read variable n of some blocks of the gas.
using ReadGas = std::vector<double> (*)(const AmrSimulation&, const double* blocks,
                                        const mesh::CellRange&, int n);

std::vector<double> read_shown(const AmrSimulation& simulation, const double* blocks,
                               const mesh::CellRange& cells, int n) {
  return hydro::read_primitive(simulation.options().hydro, simulation.mesh().layout(), blocks,
                               cells, n);
}

std::vector<double> read_stored(const AmrSimulation& simulation, const double* blocks,
                                const mesh::CellRange& cells, int n) {
  return hydro::read_conserved(simulation.mesh().layout(), blocks, cells, n);
}

void add_gas(MeshContents& contents, const AmrSimulation& simulation,
             const std::vector<hydro::GasField>& fields, ReadGas read) {
  for (int n = 0; n < std::ssize(fields); ++n)
    contents.fields.push_back({"hydro",
                               fields[n].name,
                               {fields[n].unit, fields[n].description},
                               [&simulation, read, n](int level, std::span<const int> slots) {
                                 const mesh::Mesh& mesh = simulation.mesh();
                                 return read(simulation,
                                             mesh.fields(level).blocks(LevelFields::k_now),
                                             mesh.cells(level, slots), n);
                               }});
}

void add_gravity(MeshContents& contents, const AmrSimulation& simulation, int n) {
  const gravity::StoredPotential& stored = simulation.gravity()->stored();
  const gravity::StoredField& field = gravity::k_stored_fields[n];
  contents.fields.push_back({"gravity",
                             field.name,
                             {field.unit, field.description},
                             [&simulation, &stored, n](int level, std::span<const int> slots) {
                               return hydro::read_conserved(stored.layout(), stored.data(level),
                                                            simulation.mesh().cells(level, slots),
                                                            n);
                             }});
}

// The gas's variables as a snapshot shows them; none without gas.
std::vector<hydro::GasField> shown_fields(const hydro::HydroOptions& gas) {
  std::vector<hydro::GasField> fields;
  if (!gas.enabled) return fields;
  for (const hydro::GasVariable& variable : gas.variables())
    fields.push_back(variable.shown_field());
  return fields;
}

}  // namespace

MeshContents snapshot_contents(const AmrSimulation& simulation) {
  const OutputOptions& output = simulation.options().output;
  MeshContents contents = bare_contents(simulation, "snapshot");
  contents.precision = output.precision;
  contents.compression = output.compression;
  add_gas(contents, simulation, shown_fields(simulation.options().hydro), read_shown);
  for (int n = 0; simulation.gravity() && n < gravity::k_fields; ++n)
    if (gravity::k_stored_fields[n].is_shown) add_gravity(contents, simulation, n);
  select_fields(contents, output.fields);
  return contents;
}

namespace {

// The gas's variables as a checkpoint holds them: all of them, or none without gas.
std::vector<hydro::GasField> stored_fields(const AmrSimulation& simulation) {
  const hydro::HydroOptions& gas = simulation.options().hydro;
  std::vector<hydro::GasField> fields;
  if (!gas.enabled) return fields;
  for (const hydro::GasVariable& variable : gas.variables())
    fields.push_back(variable.stored_field());
  return fields;
}

std::string ledger_group(const subgrid::Ledger& ledger) {
  return fmt::format("/processes/{}", ledger.owner());
}

void add_further_kinds(MeshContents& contents, const AmrOptions& options) {
  std::string names;
  for (const particles::Kind& kind : options.further_kinds)
    names += (names.empty() ? "" : " ") + kind.name;
  if (!names.empty()) contents.facts.set(k_further_kinds, names);
}

// The terms of Outflow that checkpoints of all versions hold together.
constexpr int k_old_outflow = Outflow::potential;

void add_run_state(MeshContents& contents, const RunState& state) {
  contents.facts.set("density_scale", state.scales.density);
  contents.facts.set("energy_scale", state.scales.energy);
  contents.facts.set("floored_cells", state.floored.cells);
  contents.facts.set("floored_mass", state.floored.mass);
  contents.facts.set("floored_energy", state.floored.energy);
  const auto& left = state.outflow.amount;
  contents.facts.set("outflow", std::vector<double>(left.begin(), left.begin() + k_old_outflow));
  contents.facts.set("outflow_potential", left[Outflow::potential]);
  const EnergyBudget& e = state.energy;
  contents.facts.set("energy_budget", std::vector<double>{e.begun ? 1.0 : 0.0, e.initial, e.work,
                                                          e.log_a, e.potential, e.resolution,
                                                          e.resolution_before, e.unsolved});
  if (e.counts_spared) contents.facts.set("energy_spared", e.spared);
  for (const subgrid::Ledger& ledger : state.ledgers) {
    Facts totals;
    for (const subgrid::Ledger::Total& total : ledger.totals()) totals.set(total.name, total.value);
    contents.groups.emplace_back(ledger_group(ledger), totals);
  }
}

void add_potential_times(MeshContents& contents, const gravity::StoredPotential& stored) {
  for (BlockLevel& level : contents.levels) {
    const gravity::PotentialTimes times = stored.times(level.number);
    level.room_facts["gravity"].set("time", times.now);
    level.room_facts["gravity"].set("previous_time", times.previous);
  }
}

// The ledgers of the run's processes, with what the file has of each.
std::vector<subgrid::Ledger> read_ledgers(const Hdf5Reader& file,
                                          std::vector<subgrid::Ledger> ledgers) {
  for (subgrid::Ledger& ledger : ledgers) {
    const std::string group = ledger_group(ledger);
    if (!file.exists(group))
      throw InputError(
          "{}: the checkpoint has no ledger of {}: the run that wrote it did not use that process",
          file.path(), ledger.owner());
    for (const subgrid::Ledger::Total& total : ledger.totals())
      ledger.restore(total.name, finite_attribute(file, group, total.name));
  }
  return ledgers;
}

// A total that checkpoints of version 0.2.0 and before do not have: there it begins at zero.
double read_later_total(const Hdf5Reader& file, const std::string& name) {
  if (file.has_attribute("/header", name)) return finite_attribute(file, "/header", name);
  log::info("{} has no {}; it starts at zero", file.path(), name);
  return 0.0;
}

// Before version 0.3.0 floors were those of an initial state of the scales 1.
double read_scale(const Hdf5Reader& file, const std::string& name) {
  return file.has_attribute("/header", name) ? finite_attribute(file, "/header", name) : 1.0;
}

Outflow read_outflow(const Hdf5Reader& file, bool has_gravity) {
  Outflow outflow;
  const auto left = finite_attributes(file, "/header", "outflow", k_old_outflow);
  std::copy(left.begin(), left.end(), outflow.amount.begin());
  if (has_gravity) outflow.amount[Outflow::potential] = read_later_total(file, "outflow_potential");
  return outflow;
}

RunState read_run_state(const Hdf5Reader& file, const AmrSimulation& simulation) {
  const auto number = [&](const char* name) { return finite_attribute(file, "/header", name); };
  const auto count = [&](const char* name) { return count_attribute(file, "/header", name); };
  const auto e = finite_attributes(file, "/header", "energy_budget", 8);
  const bool counts_spared = simulation.energy().counts_spared;
  return {.time = number("time"),
          .step = count("step"),
          .scales = {read_scale(file, "density_scale"), read_scale(file, "energy_scale")},
          .floored = {count("floored_cells"), number("floored_mass"), number("floored_energy")},
          .outflow = read_outflow(file, simulation.gravity() != nullptr),
          .energy = {.begun = e[0] != 0.0,
                     .initial = e[1],
                     .work = e[2],
                     .log_a = e[3],
                     .potential = e[4],
                     .resolution = e[5],
                     .resolution_before = e[6],
                     .unsolved = e[7],
                     .counts_spared = counts_spared,
                     .spared = counts_spared ? read_later_total(file, "energy_spared") : 0.0},
          .ledgers = read_ledgers(file, simulation.ledgers())};
}

}  // namespace

void write_checkpoint(AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& stem) {
  MeshContents contents = bare_contents(simulation, "checkpoint");
  add_progress(contents.facts, progress);
  add_further_kinds(contents, simulation.options());
  add_run_state(contents, simulation.state());
  add_gas(contents, simulation, stored_fields(simulation), read_stored);
  if (const gravity::Gravity* gravity = simulation.gravity()) {
    for (int n = 0; n < gravity::k_fields; ++n) add_gravity(contents, simulation, n);
    add_potential_times(contents, gravity->stored());
  }
  write_octant_file(contents, stem);
}

namespace {

void check_header(const Hdf5Reader& file, const AmrSimulation& simulation) {
  const AmrOptions& options = simulation.options();
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  const std::string& path = file.path();
  require_checkpoint(file, options.resolved());
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
  for (const hydro::GasField& field : stored_fields(simulation))
    if (!file.exists(level_group("hydro", 0) + "/" + field.name))
      throw InputError(
          "{}: the checkpoint has no field \"{}\"; use the hydro.enabled, hydro.scalars and "
          "hydro.dual_energy of the run that wrote it",
          path, field.name);
  if (simulation.gravity() && !file.exists(level_group("gravity", 0) + "/potential"))
    throw InputError(
        "{}: the checkpoint has no potential; use the gravity.enabled of the run that wrote it",
        path);
  require_particles(file, simulation.matter().kinds());
}

// In a universe, time and scale factor go together.
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

// Reads variable n of a level's stored blocks, which this rank owns in the order of the file.
void read_field(const Hdf5Reader& file, const std::string& name, const StoredBlocks& stored,
                const mesh::Mesh& mesh, int level, const mesh::BlockLayout& layout, double* blocks,
                int n) {
  const std::int64_t N = layout.block_size, batch = blocks_per_batch(layout.block_size);
  require_shape(file, name, {stored.totals[level], N, N, N});
  const double bound = name.ends_with("/density") ? 0.0 : -std::numeric_limits<double>::infinity();
  const RowRange range = stored.ranges[level];
  const std::int64_t most = mesh.communicator().max(range.count);
  for (std::int64_t first = 0; first < most; first += batch) {
    const std::int64_t begin = std::min(first, range.count);
    const std::int64_t count = std::min(batch, range.count - begin);
    hydro::write_conserved(layout, blocks, mesh.cells(level).batch(begin, count), n,
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

void read_gravity(const Hdf5Reader& file, AmrSimulation& simulation, const StoredBlocks& stored) {
  simulation.gravity()->adapt_to_mesh();
  gravity::StoredPotential& potential = simulation.gravity()->stored();
  for (int level = 0; level < std::ssize(stored.levels); ++level) {
    const std::string group = level_group("gravity", level);
    for (int n = 0; n < gravity::k_fields; ++n)
      read_field(file, group + "/" + gravity::k_stored_fields[n].name, stored, simulation.mesh(),
                 level, potential.layout(), potential.data(level), n);
    potential.set_times(level, read_times(file, group));
  }
}

}  // namespace

OutputProgress read_checkpoint(AmrSimulation& simulation, const std::string& path) {
  mesh::Mesh& mesh = simulation.mesh();
  const Hdf5Reader file(mesh.communicator(), path);
  check_header(file, simulation);
  check_epoch(file, simulation);
  const StoredBlocks stored = restore_blocks(file, mesh);
  simulation.matter().adapt_to_mesh();
  const auto fields = stored_fields(simulation);
  for (int level = 0; level < std::ssize(stored.levels); ++level)
    for (int n = 0; n < std::ssize(fields); ++n)
      read_field(file, level_group("hydro", level) + "/" + fields[n].name, stored, mesh, level,
                 mesh.layout(), mesh.fields(level).blocks(LevelFields::k_now), n);
  if (simulation.gravity()) read_gravity(file, simulation, stored);
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

}  // namespace octant::driver
