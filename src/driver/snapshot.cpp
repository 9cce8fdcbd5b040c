#include "driver/snapshot.hpp"

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/log.hpp"
#include "decomp/key_order.hpp"
#include "driver/file_header.hpp"
#include "driver/particle_file.hpp"
#include "driver/stored_blocks.hpp"
#include "hydro/field_access.hpp"
#include "io/expectations.hpp"
#include "io/row_batches.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

template <class T, std::size_t n>
std::vector<T> as_vector(const std::array<T, n>& values) {
  return {values.begin(), values.end()};
}

void write_universe(Hdf5Writer& file, const cosmology::Universe& universe, double scale_factor) {
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
  for (const auto& [name, value] : values) file.attribute("/header", name, value);
}

void write_header(Hdf5Writer& file, const AmrSimulation& simulation, const char* kind) {
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  const AmrOptions& options = simulation.options();
  const auto& cells = options.mesh.base_cells;
  std::vector<double> box_size;
  for (int d = 0; d < 3; ++d) box_size.push_back(geometry.upper()[d] - geometry.lower()[d]);
  write_file_header(file, {.kind = kind,
                           .model = name_of(options.model),
                           .problem = options.problem_name,
                           .time = simulation.time(),
                           .step = simulation.step_count(),
                           .units = options.units(simulation.scale_factor()),
                           .parameters = options.resolved()});
  const auto put = [&](const char* name, const AttributeValue& value) {
    file.attribute("/header", name, value);
  };
  put("scale_factor", simulation.scale_factor());
  put("box_size", box_size);
  put("lower", as_vector(geometry.lower()));
  put("upper", as_vector(geometry.upper()));
  put("base_cells", std::vector<std::int64_t>(cells.begin(), cells.end()));
  put("block_size", std::int64_t{geometry.block_size()});
  put("max_level", std::int64_t{geometry.max_level()});
  put("finest_level", std::int64_t{simulation.mesh().finest_level()});
  put("gamma", options.hydro.gamma);
  if (options.universe) write_universe(file, *options.universe, simulation.scale_factor());
}

// Fields are written and read in batches of this size, so that output needs hardly more memory than
// the run itself.
constexpr std::int64_t k_batch_bytes = 1 << 20;

std::int64_t rows_per_batch(int block_size) {
  const std::int64_t row_bytes = sizeof(double) * block_size * block_size * block_size;
  return std::max<std::int64_t>(1, k_batch_bytes / row_bytes);
}

// Some blocks of a level: their way to the file, and their cells.
struct BlockBatch {
  RowBatch rows;
  mesh::CellRange cells;
};

// Writes the blocks of a level and leaves the way that its fields will take.
std::vector<BlockBatch> write_level_structure(Hdf5Writer& file, const AmrSimulation& simulation,
                                              int level) {
  const mesh::Mesh& mesh = simulation.mesh();
  const mesh::TreeLevel& blocks = mesh.blocks(level);
  std::vector<Key> keys;
  std::vector<double> origins;
  std::vector<std::uint8_t> refined;
  for (const int slot : blocks.own()) {
    keys.push_back(blocks.key(slot));
    refined.push_back(blocks.refined(slot));
    const auto origin = mesh.geometry().origin(level, morton_decode(keys.back()));
    origins.insert(origins.end(), origin.begin(), origin.end());
  }
  const std::vector<std::int32_t> owners(keys.size(), mesh.communicator().rank());
  const auto places = rows_in_key_order(mesh.communicator(), keys);
  RowShuffle rows(mesh.communicator(), places);
  const std::string group = level_group("mesh", level) + "/";
  const auto put = [&]<class T>(const char* name, const std::vector<T>& values,
                                std::vector<std::int64_t> shape, const DatasetMeaning& meaning) {
    std::int64_t width = 1;
    for (const auto extent : shape) width *= extent;
    const auto written = rows.to_writers(std::span<const T>(values), width);
    file.dataset(group + name, rows.range(), shape, std::span<const T>(written), meaning);
  };
  const int key_words = sizeof(Key) / sizeof(std::uint64_t);
  std::vector<std::uint64_t> words(keys.size() * key_words);
  std::memcpy(words.data(), keys.data(), keys.size() * sizeof(Key));
  put("key", words, key_words == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2},
      {"1", "Morton key of the block on its level"});
  put("origin", origins, {3}, {"length", "lower corner of the block"});
  put("refined", refined, {}, {"1", "mask of refined octants, bit ix + 2 iy + 4 iz"});
  put("owner", owners, {}, {"1", "rank that owned the block"});
  file.attribute(level_group("mesh", level), "cell_size", mesh.geometry().cell_size(level));
  std::vector<BlockBatch> batches;
  for (RowBatch& batch :
       row_batches(mesh.communicator(), places, rows_per_batch(mesh.layout().block_size))) {
    std::vector<int> slots;
    for (const std::int64_t n : batch.own)
      slots.push_back(blocks.own()[static_cast<std::size_t>(n)]);
    batches.push_back({std::move(batch), mesh.cells(level, slots)});
  }
  return batches;
}

// Writes one field of a level. values(cells) gives it for some blocks, [block][cell].
template <class Values>
void write_field(Hdf5Writer& file, std::vector<BlockBatch>& batches, const mesh::Mesh& mesh,
                 const char* room, int level, const std::string& name,
                 const DatasetMeaning& meaning, const Values& values) {
  const std::int64_t N = mesh.layout().block_size;
  const std::int64_t total =
      mesh.communicator().sum(static_cast<std::int64_t>(mesh.blocks(level).count()));
  const Hdf5Rows rows =
      file.create_dataset<double>(level_group(room, level) + "/" + name, total, {N, N, N}, meaning);
  for (auto& [batch, cells] : batches) {
    const std::vector<double> own = values(cells);
    const auto written = batch.shuffle.to_writers(std::span<const double>(own), N * N * N);
    file.write_rows(rows, batch.range, std::span<const double>(written));
  }
}

DatasetMeaning meaning_of(const hydro::GasField& field) { return {field.unit, field.description}; }

// What gravity stores; all of it in a checkpoint, the present potential and force in a snapshot.
void write_gravity(Hdf5Writer& file, std::vector<BlockBatch>& batches,
                   const AmrSimulation& simulation, int level, bool checkpoint) {
  if (!simulation.gravity()) return;
  const gravity::StoredPotential& stored = simulation.gravity()->stored();
  for (int n = 0; n < gravity::k_fields; ++n) {
    const std::string name = gravity::k_field_names[n];
    if (!checkpoint && name == "previous_potential") continue;
    const bool potential = name.ends_with("potential");
    write_field(file, batches, simulation.mesh(), "gravity", level, name,
                {potential ? "length^2 / time^2" : "length / time^2",
                 potential ? "potential of self-gravity" : "component of its force per mass"},
                [&](const mesh::CellRange& cells) {
                  return hydro::read_conserved(stored.layout(), stored.data(level), cells, n);
                });
  }
  if (!checkpoint) return;
  const gravity::PotentialTimes times = stored.times(level);
  file.attribute(level_group("gravity", level), "time", times.now);
  file.attribute(level_group("gravity", level), "previous_time", times.previous);
}

}  // namespace

void write_snapshot(const AmrSimulation& simulation, const std::string& path) {
  const mesh::Mesh& mesh = simulation.mesh();
  const hydro::HydroOptions& gas = simulation.options().hydro;
  const hydro::GasVariables variables = gas.enabled ? gas.variables() : hydro::GasVariables{};
  Hdf5Writer file(mesh.communicator(), path);
  write_header(file, simulation, "snapshot");
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    auto batches = write_level_structure(file, simulation, level);
    const double* blocks = mesh.fields(level).blocks(LevelFields::k_now);
    for (int n = 0; n < std::ssize(variables); ++n) {
      const hydro::GasField field = variables[n].shown_field();
      write_field(file, batches, mesh, "hydro", level, field.name, meaning_of(field),
                  [&](const mesh::CellRange& cells) {
                    return hydro::read_primitive(gas, mesh.layout(), blocks, cells, n);
                  });
    }
    write_gravity(file, batches, simulation, level, false);
  }
  for (const particles::Particles& kind : simulation.matter().kinds()) write_particles(file, kind);
  file.commit();
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

std::string ledger_group(const subgrid::Ledger& ledger) { return "/processes/" + ledger.owner(); }

void write_ledger(Hdf5Writer& file, const subgrid::Ledger& ledger) {
  file.group(ledger_group(ledger));
  for (const subgrid::Ledger::Total& total : ledger.totals())
    file.attribute(ledger_group(ledger), total.name, total.value);
}

void write_run_state(Hdf5Writer& file, const RunState& state) {
  file.attribute("/header", "floored_cells", state.floored.cells);
  file.attribute("/header", "floored_mass", state.floored.mass);
  file.attribute("/header", "floored_energy", state.floored.energy);
  const EnergyBudget& e = state.energy;
  file.attribute("/header", "energy_budget",
                 std::vector<double>{e.begun ? 1.0 : 0.0, e.initial, e.work, e.log_a, e.potential});
  for (const subgrid::Ledger& ledger : state.ledgers) write_ledger(file, ledger);
}

// The ledgers of the run's processes, with what the file has of each.
std::vector<subgrid::Ledger> read_ledgers(const Hdf5Reader& file,
                                          std::vector<subgrid::Ledger> ledgers) {
  for (subgrid::Ledger& ledger : ledgers) {
    const std::string group = ledger_group(ledger);
    if (!file.exists(group))
      throw InputError("{}: the checkpoint has no ledger of {}: it was written without it",
                       file.path(), ledger.owner());
    for (const subgrid::Ledger::Total& total : ledger.totals())
      ledger.restore(total.name, finite_attribute(file, group, total.name));
  }
  return ledgers;
}

RunState read_run_state(const Hdf5Reader& file, const AmrSimulation& simulation) {
  const auto number = [&](const char* name) { return finite_attribute(file, "/header", name); };
  const auto count = [&](const char* name) { return count_attribute(file, "/header", name); };
  const auto e = finite_attributes(file, "/header", "energy_budget", 5);
  return {.time = number("time"),
          .step = count("step"),
          .floored = {count("floored_cells"), number("floored_mass"), number("floored_energy")},
          .energy = {.begun = e[0] != 0.0,
                     .initial = e[1],
                     .work = e[2],
                     .log_a = e[3],
                     .potential = e[4]},
          .ledgers = read_ledgers(file, simulation.ledgers())};
}

}  // namespace

void write_checkpoint(const AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& path) {
  const mesh::Mesh& mesh = simulation.mesh();
  Hdf5Writer file(mesh.communicator(), path);
  write_header(file, simulation, "checkpoint");
  write_progress(file, progress);
  write_run_state(file, simulation.state());
  const auto fields = stored_fields(simulation);
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    auto batches = write_level_structure(file, simulation, level);
    const double* blocks = mesh.fields(level).blocks(LevelFields::k_now);
    for (int n = 0; n < std::ssize(fields); ++n)
      write_field(file, batches, mesh, "hydro", level, fields[n].name, meaning_of(fields[n]),
                  [&](const mesh::CellRange& cells) {
                    return hydro::read_conserved(mesh.layout(), blocks, cells, n);
                  });
    write_gravity(file, batches, simulation, level, true);
  }
  for (const particles::Particles& kind : simulation.matter().kinds()) write_particles(file, kind);
  file.commit();
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
          "{}: the checkpoint has no field \"{}\"; were hydro.enabled, hydro.scalars or "
          "hydro.dual_energy other than now?",
          path, field.name);
  if (simulation.gravity() && !file.exists(level_group("gravity", 0) + "/potential"))
    throw InputError("{}: the checkpoint has no potential; was gravity.enabled other than now?",
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
    throw InputError("'{}': /header: in this universe, time {} does not have the scale factor {}",
                     file.path(), time, a);
}

// Reads variable n of a level's stored blocks, which this rank owns in the order of the file.
void read_field(const Hdf5Reader& file, const std::string& name, const StoredBlocks& stored,
                const mesh::Mesh& mesh, int level, const mesh::BlockLayout& layout, double* blocks,
                int n) {
  const std::int64_t N = layout.block_size, batch = rows_per_batch(layout.block_size);
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
      read_field(file, group + "/" + gravity::k_field_names[n], stored, simulation.mesh(), level,
                 potential.layout(), potential.data(level), n);
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
