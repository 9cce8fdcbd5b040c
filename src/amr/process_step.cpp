#include "amr/process_step.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "telemetry/parquet_file.hpp"

namespace octant {

namespace {

using subgrid::HoleMerger;
using subgrid::StarBirth;

// Maximum range of sort positions (Table::place) of the rows that rank 0 holds at a time.
constexpr std::uint64_t k_max_positions = 1 << 17;

// Temporary files, removed in the destructor, also after errors.
struct TemporaryFiles {
  bool are_owned;
  std::vector<std::string> paths;

  ~TemporaryFiles() {
    if (!are_owned) return;
    for (const std::string& path : paths) std::remove(path.c_str());
  }
};

// Converts rows to the columns of a Parquet file.
template <class Row>
class RowsAsColumns {
 public:
  explicit RowsAsColumns(const std::vector<Row>& rows) : rows_(rows) {}
  template <class Get>
  void add(const std::string& name, const Get& get) {
    std::vector<std::decay_t<decltype(get(rows_.front()))>> values;
    std::transform(rows_.begin(), rows_.end(), std::back_inserter(values), get);
    columns.push_back({name, std::move(values)});
  }
  template <class Get>
  void add_vector(const std::string& name, const Get& get) {
    for (int d = 0; d < 3; ++d)
      add(fmt::format("{}_{}", name, "xyz"[d]), [&](const Row& row) { return get(row)[d]; });
  }
  std::vector<telemetry::Column> columns;

 private:
  const std::vector<Row>& rows_;
};

// Traits of a table: name and file stem, sort position of a row, which increases with time,
// secondary sort key, and columns.
template <class Event>
struct Table;

template <>
struct Table<StarBirth> {
  static constexpr const char* name = "stars_formed";
  template <class Row>
  static std::pair<std::uint64_t, std::uint64_t> place(const Row& row) {
    return {row.event.id, 0};
  }
  template <class Row>
  static void add(RowsAsColumns<Row>& table) {
    table.add("id", [](const Row& row) { return row.event.id; });
    table.add("step", [](const Row& row) { return row.step; });
    table.add("time", [](const Row& row) { return row.time; });
    table.add("scale_factor", [](const Row& row) { return row.scale_factor; });
    table.add("level", [](const Row& row) { return row.event.level; });
    table.add_vector("position", [](const Row& row) { return row.event.position; });
    table.add_vector("velocity", [](const Row& row) { return row.event.velocity; });
    table.add("mass", [](const Row& row) { return row.event.mass; });
    table.add("metallicity", [](const Row& row) { return row.event.metallicity; });
    table.add("hydrogen_density", [](const Row& row) { return row.event.hydrogen; });
    table.add("temperature_over_mu", [](const Row& row) { return row.event.temperature; });
    table.add("virial_parameter", [](const Row& row) { return row.event.virial_parameter; });
    table.add("mach", [](const Row& row) { return row.event.mach; });
  }
};

template <>
struct Table<HoleMerger> {
  static constexpr const char* name = "black_hole_mergers";
  template <class Row>
  static std::pair<std::uint64_t, std::uint64_t> place(const Row& row) {
    return {static_cast<std::uint64_t>(row.step), row.event.other};
  }
  template <class Row>
  static void add(RowsAsColumns<Row>& table) {
    table.add("step", [](const Row& row) { return row.step; });
    table.add("time", [](const Row& row) { return row.time; });
    table.add("scale_factor", [](const Row& row) { return row.scale_factor; });
    table.add("id", [](const Row& row) { return row.event.id; });
    table.add("heaviest_id", [](const Row& row) { return row.event.heaviest; });
    table.add("heaviest_mass", [](const Row& row) { return row.event.heaviest_mass; });
    table.add("other_id", [](const Row& row) { return row.event.other; });
    table.add("other_mass", [](const Row& row) { return row.event.other_mass; });
    table.add_vector("position", [](const Row& row) { return row.event.position; });
  }
};

template <class Event>
std::string log_in(const std::string& directory) {
  return fmt::format("{}/{}.parquet", directory, Table<Event>::name);
}

template <class Row>
auto place_of(const Row& row) {
  return Table<decltype(Row::event)>::place(row);
}

template <class Row>
void sort_by_position(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return place_of(a) < place_of(b); });
}

}  // namespace

template <class Event>
void EventLog<Event>::add(const std::vector<Event>& events, std::int64_t step, double time,
                          double scale_factor) {
  for (const Event& event : events) rows_.push_back({event, step, time, scale_factor});
}

template <class Event>
void EventLog<Event>::write(const Communicator& communicator, const std::string& directory) {
  constexpr auto k_none = std::numeric_limits<std::uint64_t>::max();
  sort_by_position(rows_);
  TemporaryFiles temporary{communicator.is_root(), {}};
  std::vector<std::string>& parts = temporary.paths;
  auto next = rows_.cbegin();
  for (;;) {
    const std::uint64_t first =
        communicator.min(next == rows_.cend() ? k_none : place_of(*next).first);
    if (first == k_none) break;
    const auto end = std::find_if(next, rows_.cend(), [&](const Row& row) {
      return place_of(row).first - first >= k_max_positions;
    });
    const std::vector<int> to_root(end - next, 0);
    auto here = route(communicator, std::span<const int>(to_root),
                      std::span<const Row>(&*next, to_root.size()));
    parts.push_back(fmt::format("{}/.{}_{}.parquet", directory, Table<Event>::name, parts.size()));
    communicator.collective_try([&] {
      if (communicator.is_root()) write_rows(parts.back(), std::move(here.items));
    });
    next = end;
  }
  rows_.clear();
  const std::string path = log_in<Event>(directory);
  const bool is_whole = rows_of_earlier_ == k_all_rows;
  if (parts.empty() && (earlier_.empty() || (earlier_ == path && is_whole))) return;
  communicator.collective_try([&] {
    if (communicator.is_root()) merge(parts, path);
  });
  earlier_ = path;
  rows_of_earlier_ = k_all_rows;
}

template <class Event>
void EventLog<Event>::write_rows(const std::string& path, std::vector<Row> rows) const {
  sort_by_position(rows);
  RowsAsColumns<Row> table(rows);
  Table<Event>::add(table);
  telemetry::write_parquet(path, table.columns, {});
}

// Writes the rows of the earlier file, up to the restart, and those of the parts to `path`. Logs a
// warning if the earlier file is missing. Called on rank 0 alone.
template <class Event>
void EventLog<Event>::merge(const std::vector<std::string>& parts, const std::string& path) {
  std::vector<std::string> inputs;
  if (!earlier_.empty() && std::filesystem::is_regular_file(earlier_)) inputs.push_back(earlier_);
  else if (!earlier_.empty())
    log::warn("{} is missing: {} will contain only data from after the restart", earlier_, path);
  inputs.insert(inputs.end(), parts.begin(), parts.end());
  if (inputs.empty()) return;
  const bool continues_here = inputs.front() == earlier_;
  telemetry::merge_parquet(inputs, path, {{"table", Table<Event>::name}},
                           continues_here ? rows_of_earlier_ : k_all_rows,
                           telemetry::Storage::on_disk);
}

template <class Event>
void EventLog<Event>::go_on(const Communicator& communicator, const std::string& directory,
                            std::int64_t step) {
  const std::string path = log_in<Event>(directory);
  bool is_there = false;
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    is_there = std::filesystem::is_regular_file(path);
    if (!is_there) return;
    const std::string wanted[] = {"step"};
    const auto columns = telemetry::read_parquet(path, wanted);
    const auto& steps = std::get<std::vector<std::int64_t>>(columns.front().values);
    rows_of_earlier_ = std::lower_bound(steps.begin(), steps.end(), step) - steps.begin();
  });
  communicator.broadcast(rows_of_earlier_);
  if (communicator.any(is_there)) earlier_ = path;
}

template class EventLog<StarBirth>;
template class EventLog<HoleMerger>;

ProcessStep::ProcessStep(StepContext& context, GasSolver& gas, GravityStep& gravity, Matter& matter)
    : context_(context),
      mesh_(context.mesh),
      options_(context.options),
      gas_(gas),
      gravity_(gravity),
      matter_(matter) {
  for (const auto& process : options_.processes)
    ledgers_.emplace_back(process->name(), process->accounts());
  for (const auto& process : options_.processes) process->begin(mesh_.communicator());
}

// Returns the gas of a level for processes at `time`, in a coarse step with midpoint `coarse_time`.
subgrid::GasLevel ProcessStep::gas_level(int level, double time, double coarse_time) {
  const auto* const universe = options_.universe.get();
  const double a = universe ? universe->scale_factor(time) : 1.0;
  subgrid::GasLevel gas(
      mesh_, level, options_.hydro.gas(),
      {.units = options_.units(a),
       .time = time,
       .scale_factor = a,
       .background_redshift =
           universe ? cosmology::redshift(universe->scale_factor(coarse_time)) : 0.0,
       .newton_constant = gravity_.solver() ? options_.newton_constant(time) : 0.0,
       .finest_cell = mesh_.geometry().cell_size(context_.finest_allowed()),
       .coarse_step = context_.step,
       .step_within = context_.level_steps[level]});
  for (const auto& process : options_.processes)
    if (const auto floor = process->floor(gas); floor.factor > 0.0) gas.floor = floor;
  return gas;
}

// --- tasks --------------------------------------------------------------------------------------

void ProcessStep::act_before(const LevelStep& step) {
  changed_gas_ = false;
  act_around_step(context_.time + 0.25 * step.dt, 0.5 * step.dt);
}

void ProcessStep::act_after(const LevelStep& step) {
  act_around_step(context_.time + 0.75 * step.dt, 0.5 * step.dt);
}

// Applies processes on all levels for `dt`, half a coarse step with midpoint `time`.
void ProcessStep::act_around_step(double time, double dt) {
  bool acted = false;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (!process.acts_around_coarse_steps()) continue;
      const auto working = context_.counted_work(process.name(), cost::cells, level);
      process.advance(gas_level(level, time, context_.middle_of_step), dt, ledgers_[n]);
      acted = true;
    }
  }
  if (!acted) return;
  mesh_.restrict_all();
  gas_.measure_signals(1);
}

// Applies processes and restricts the gas. Measures signal speeds for the next steps of finer
// levels; after a coarse step, the measurement of the state does this.
void ProcessStep::act(const LevelStep& step) {
  for (int level = step.level; level <= mesh_.finest_level(); ++level) {
    const double dt = context_.level_dt[level];
    subgrid::GasLevel gas =
        gas_level(level, context_.clocks[level] - 0.5 * dt, context_.middle_of_step);
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (process.acts_around_coarse_steps()) continue;
      const auto working = context_.counted_work(process.name(), cost::cells, level);
      gas.cells = mesh_.leaf_cells(level);
      process.advance(gas, dt, ledgers_[n]);
    }
  }
  follow_gas(step.level);
}

void ProcessStep::react(int level, double time, double dt, const double* photons) {
  for (std::size_t n = 0; n < ledgers_.size(); ++n) {
    const subgrid::Process& process = *options_.processes[n];
    if (process.photon_groups() == 0) continue;
    const auto working = context_.counted_work(process.name(), cost::cells, level);
    subgrid::GasLevel gas = gas_level(level, time, context_.middle_of_step);
    gas.cells = mesh_.cells(level);
    process.react(gas, dt, photons, ledgers_[n]);
  }
}

// Describes levels >= `coarsest` at `time`, after the last step of each.
subgrid::SyncPoint ProcessStep::sync_point(int coarsest, double time) {
  const double a = options_.universe ? options_.universe->scale_factor(time) : 1.0;
  subgrid::SyncPoint sync{.mesh = mesh_,
                          .kinds = matter_.kinds(),
                          .coarsest = coarsest,
                          .time = time,
                          .scale_factor = a,
                          .units = options_.units(a),
                          .seconds = [this](double at) { return options_.seconds(at); },
                          .levels = {},
                          .steps = {},
                          .faces = context_.faces.get()};
  if (coarsest > 0)
    sync.arrived -= (context_.clocks[coarsest - 1] - time) / context_.level_dt[coarsest - 1];
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const double dt = context_.level_dt[level];
    sync.levels.push_back(
        gas_level(level, context_.clocks[level] - 0.5 * dt, context_.middle_of_step));
    sync.steps.push_back(dt);
  }
  return sync;
}

void ProcessStep::set_emission(const LevelStep& step) {
  if (!options_.radiation.has_emission) return;
  const mesh::BlockLayout layout = mesh_.layout();
  const int first = layout.variables - options_.radiation.photon_groups;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    double* const blocks = mesh_.fields(level).blocks(mesh::LevelFields::k_now);
    mesh::for_cells(
        "no emission", mesh_.cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
          for (int n = first; n < layout.variables; ++n)
            blocks[layout.offset(cell) + n * layout.stride_variable] = 0.0;
        });
  }
  subgrid::SyncPoint sync = sync_point(0, context_.time);
  for (const auto& process : options_.processes)
    if (process->has_photon_sources()) process->begin_step(sync, step.dt);
  mesh_.restrict_all();
}

void ProcessStep::interact(const LevelStep& step) {
  const int coarsest = step.level;
  subgrid::SyncPoint sync = sync_point(coarsest, context_.clocks[coarsest]);
  bool changed = false;
  for (std::size_t n = 0; n < ledgers_.size(); ++n) {
    const subgrid::Process& process = *options_.processes[n];
    const auto working = context_.counted_work(process.name(), cost::interactions, coarsest);
    for (subgrid::GasLevel& level : sync.levels) level.cells = mesh_.leaf_cells(level.number);
    changed = process.interact(sync, ledgers_[n]) || changed;
  }
  births_.add(sync.births, context_.step, sync.time, sync.scale_factor);
  mergers_.add(sync.mergers, context_.step, sync.time, sync.scale_factor);
  if (changed) follow_gas(coarsest);
  changed_gas_ = changed;
}

// Restricts the gas and measures signal speeds after processes changed levels >= `coarsest`.
void ProcessStep::follow_gas(int coarsest) {
  mesh_.restrict_all(coarsest);
  if (coarsest > 0) gas_.measure_signals(coarsest);
}

void ProcessStep::sum_ledgers(const LevelStep& /*step*/) {
  subgrid::Ledger::sum_over_ranks(ledgers_, mesh_.communicator());
}

void ProcessStep::remeasure_gravity(const LevelStep& /*step*/) {
  if (changed_gas_) gravity_.solver()->resume();
}

// --- between steps ------------------------------------------------------------------------------

double ProcessStep::added_energy() const {
  double energy = 0.0;
  for (std::size_t n = 0; n < ledgers_.size(); ++n)
    energy += options_.processes[n]->added_energy(ledgers_[n]);
  return energy;
}

void ProcessStep::limit_steps(std::vector<double>& limits) {
  if (options_.processes.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const subgrid::GasLevel gas = gas_level(level, context_.time, context_.time);
    for (const auto& process : options_.processes) {
      double& limit = limits[process->acts_around_coarse_steps() ? 0 : level];
      limit = std::min(limit, process->longest_step(gas));
    }
  }
}

void ProcessStep::write_logs(const std::string& directory) {
  births_.write(mesh_.communicator(), directory);
  mergers_.write(mesh_.communicator(), directory);
}

void ProcessStep::continue_logs(const std::string& directory) {
  births_.go_on(mesh_.communicator(), directory, context_.step);
  mergers_.go_on(mesh_.communicator(), directory, context_.step);
}

}  // namespace octant
