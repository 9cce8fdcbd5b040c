#include "amr/amr_options.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/ranges.h>

#include "amr/matter.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "gravity/gravity.hpp"
#include "hydro/eos/eos_table.hpp"
#include "hydro/sweep.hpp"
#include "output/file_header.hpp"

namespace octant {

void ExecutionOptions::check() const {
  if (schedule == Schedule::host && !hydro::k_has_core_schedule)
    throw InputError(
        "execution.schedule = \"host\": not supported by a program built for GPUs; expected "
        "\"auto\", or a build for CPUs");
  if (model.empty()) return;
  if (schedule != Schedule::automatic)
    throw InputError(
        "execution.model is incompatible with execution.schedule = \"{}\"; expected \"auto\"",
        name_of(schedule));
  if (!hydro::k_has_core_schedule)
    throw InputError(
        "execution.model = \"{}\": not supported by a program built for GPUs, which only supports "
        "the device schedule; leave it empty, or use a CPU build",
        model);
}

bool ExecutionOptions::in_batches() const {
  return schedule == Schedule::device || !hydro::k_has_core_schedule;
}

std::int64_t ExecutionOptions::batch_bytes() const {
  const double chosen = hydro::k_has_core_schedule ? 32.0 : 1024.0;
  return std::llround(1e6 * (batch_megabytes > 0.0 ? batch_megabytes : chosen));
}

namespace {

void declare(ParameterSchema& schema, ExecutionOptions& o) {
  schema.add("execution.schedule", o.schedule,
             {.meaning = "Execution schedule of the hydrodynamic sweeps. host: each core "
                         "processes one tile of cells at a time, plane by plane in cache. device: "
                         "batches of tiles processed kernel by kernel; FFTs of the base-level "
                         "Poisson solver are batched as well. auto: the faster one by "
                         "execution.model if given, otherwise host on CPUs and device on GPUs. "
                         "Both schedules give bitwise-identical results"});
  schema.add(
      "execution.model", o.model,
      {.meaning = "File with timings of both schedules, written by octant bench device-model; "
                  "each level then uses the schedule that is faster for its number of blocks"});
  schema.add("execution.batch_megabytes", o.batch_megabytes,
             {.unit = "MB",
              .meaning = "Memory footprint of a batch in the device schedule; on CPUs, a batch "
                         "should fit into the cache of a core; on GPUs, a batch should occupy the "
                         "whole GPU; 0:  32 on CPUs, 1024 on GPUs",
              .min = 0.0,
              .max = 1e5});
}

void declare(ParameterSchema& schema, TimeOptions& o) {
  schema.add("time.end", o.end,
             {.unit = "time", .meaning = "Time at which the run ends", .min = 0});
  schema.add("time.max_steps", o.max_steps, {.meaning = "Maximum number of steps", .min = 0});
  schema.add("time.cfl", o.cfl,
             {.meaning = "Courant number: dt = cfl dx / max(|vx| + |vy| + |vz| + 3 c)",
              .max = 1.0,
              .above = 0.0});
  schema.add("time.largest_step", o.largest_step,
             {.unit = "time", .meaning = "Maximum coarse time step; 0: no limit", .min = 0});
  schema.add("time.subcycle", o.subcycle,
             {.meaning = "Subcycling: each level takes two steps per step of the next coarser "
                         "level; false: all levels use the same time step"});
}

void declare(ParameterSchema& schema, UnitOptions& o) {
  schema.add("units.length", o.length,
             {.unit = "cm",
              .meaning = "Code unit of length; not supported with cosmology.enabled = true",
              .above = 0.0});
  schema.add("units.density", o.density,
             {.unit = "g cm^-3",
              .meaning = "Code unit of density; not supported with cosmology.enabled = true",
              .above = 0.0});
  schema.add("units.time", o.time,
             {.unit = "s",
              .meaning = "Code unit of time; not supported with cosmology.enabled = true",
              .above = 0.0});
}

// Note about parameters in sections that are not enabled; empty if there are none.
std::string parameters_without_effect(const ParameterSchema& schema, bool has_radiation) {
  std::vector<std::string> names = schema.without_effect();
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with("telemetry.") || (has_radiation && name.starts_with("radiation."));
  });
  if (names.empty()) return "";
  return fmt::format("without effect, because their sections are not enabled: {}",
                     fmt::join(names, ", "));
}

// Note about initial pressures that the equation of state replaces; empty if none are given.
std::string replaced_pressures(const ParameterSchema& schema, const hydro::EosOptions& eos) {
  if (!eos.is_barotropic()) return "";
  std::vector<std::string> names;
  for (const Parameter& parameter : schema.parameters())
    if (parameter.was_set &&
        (parameter.name == "problem.pressure" || parameter.name == "problem.temperature"))
      names.push_back(parameter.name);
  if (names.empty()) return "";
  return fmt::format(
      "without effect, because hydro.equation_of_state = \"{}\" determines the pressure: {}",
      name_of(eos.kind), fmt::join(names, ", "));
}

// Throws InputError if only some code units are given; the others would be 1 cm, 1 g/cm^3 or 1 s.
void require_all_units(const ParameterSchema& schema) {
  std::vector<std::string> given, missing;
  for (const char* name : {"units.length", "units.density", "units.time"})
    (schema.was_set(name) ? given : missing).push_back(name);
  if (!given.empty() && !missing.empty())
    throw InputError("{} is set, but {} is missing; expected all three units or none",
                     fmt::join(given, " and "), fmt::join(missing, " and "));
}

}  // namespace

UnitSystem AmrOptions::unit_system() const {
  UnitSystem system;
  if (cosmology.enabled) {
    system.hubble = cosmology.h;
    system.why_no_code =
        "the units of an expanding box change with the scale factor; give a number in code units";
  } else if (physical.has_physical_units()) {
    system.code = physical.units();
  } else {
    system.why_no_code =
        "this run has no unit system; set units.length, units.density and units.time";
  }
  return system;
}

std::vector<hydro::RefinementCriterion> AmrOptions::criteria(int level, double at) const {
  if (!hydro.enabled) return {};
  auto all = refine.criteria(level, hydro, scales);
  if (refine.jeans > 0.0) {
    // Jeans criterion dx > c sqrt(pi / (G rho)) / n with n = refine.jeans and c^2 = gamma p / rho.
    // For other equations of state, the lower bound of rho c^2 / p replaces gamma, so that the
    // Jeans length is resolved everywhere.
    const double gamma = hydro.eos.smallest_exponent(hydro.gamma);
    const double dx = refine.jeans * mesh::Geometry(mesh).cell_size(level);
    all.push_back({hydro::RefinementKind::jeans, hydro::k_pressure,
                   newton_constant(at) * dx * dx / (M_PI * gamma), 0.0});
  }
  return all;
}

void AmrOptions::declare_all(ParameterSchema& schema) {
  schema.add(
      "model", model,
      {.meaning = "Solver family: amr (gas, gravity, particles) or dns (incompressible flow)"});
  schema.add(
      "problem.name", problem_name,
      {.meaning = "Initial conditions", .choices = problems::problem_names(), .required = true});
  declare(schema, mesh);
  frame.declare(schema);
  declare(schema, time);
  declare(schema, physical);
  schema.set_units(
      {"units.length", "units.density", "units.time", "cosmology.enabled", "cosmology.h"},
      [this] { return unit_system(); });
  hydro.declare(schema);
  radiation.declare(schema);
  schema.add(
      "subgrid.preset", preset,
      {.meaning = "Preset of defaults for cooling, star formation and feedback, named after a "
                  "published simulation; values in the parameter file override the preset"});
  for (const auto& process : processes) process->declare(schema);
  schema.add(
      "events.method", event_search,
      {.meaning =
           "Search method that pairs cells with supernovae and black holes; affects speed only"});
  declare(schema, gravity);
  declare(schema, cosmology);
  schema.add(
      "cosmology.snapshots", snapshot_epochs,
      {.meaning = "Redshifts or scale factors of snapshots, such as [\"z = 3\", \"a = 0.5\"]"});
  declare(schema, initial);
  declare(schema, refine);
  declare(schema, balance);
  declare(schema, comm);
  declare(schema, output);
  declare_levels(schema, output);
  integrals.declare(schema);
  declare(schema, formats, output.formats);
  schema.add("io.chunk_files", input.chunk_files,
             {.unit = "files",
              .meaning = "Number of files that each rank reads at a time when restarting from the "
                         "output of another code; 0: all",
              .min = 0});
  declare(schema, run);
  declare(schema, execution);
  telemetry::declare(schema, telemetry);
  declare(schema, debug);
  if (problem) problem->declare(schema);
}

void AmrOptions::finish(const ParameterSchema& schema, InputFiles& files) {
  const TextReader read_text = files.reader();
  hydro.finish();
  const bool has_forces = gravity.enabled || hydro.acceleration != std::array{0.0, 0.0, 0.0};
  mesh.outflow_is_diode = has_forces && frame.angular_velocity == 0.0;
  const mesh::Geometry geometry(mesh);
  hydro.frame = frame.frame(geometry);
  if (const std::string reason = against_dimensions(hydro.dimensions); !reason.empty())
    throw InputError("hydro.dimensions = {}: {}", hydro.dimensions, reason);
  static_cast<void>(SyntheticLoad(debug.synthetic_load));  // for its checks
  refine.region.check(geometry);
  refine.places.compile();
  balance.check();
  execution.check();
  check_work();
  check_equation_of_state();
  require_all_units(schema);
  const CodeUnits code_units = physical.units();
  hydro.eos.set_profile(geometry, hydro.dimensions);
  hydro.eos.set_constants(physical.has_physical_units() ? &code_units : nullptr, hydro.gamma);
  if (hydro.eos.kind == hydro::EquationOfState::table)
    hydro.eos.table = hydro::read_tabulated_gas(files, hydro.eos.table_path,
                                                hydro.eos.table_tolerance, code_units, hydro.gamma);
  if (hydro.is_balanced() && gravity.enabled)
    throw InputError(
        "hydro.well_balanced = \"{}\" is not supported with gravity.enabled = true, because "
        "self-gravity is applied between the sweeps; expected \"off\"",
        name_of(hydro.well_balanced));
  if (refine.jeans > 0.0 && !gravity.enabled)
    throw InputError("refine.jeans = {} requires gravity.enabled = true", refine.jeans);
  finish_cosmology();
  if (!refine.mass.empty() && refine.mass_unit == 0.0 && !universe)
    throw InputError("refine.mass requires refine.mass_unit where cosmology.enabled = false");
  const int scalars = hydro.enabled ? hydro.passive_scalar_count : 0;
  if (refine.mass_scalar >= scalars)
    throw InputError("refine.mass_scalar = {}: the run has only {} scalars (hydro.scalars)",
                     refine.mass_scalar, scalars);
  add_process_variables();
  finish_radiation(read_text);
  check_output(geometry);
  if (hydro.enabled) integrals.compile(geometry, hydro.gas(), shown_names(hydro.scalars));
  if (problem)
    problem->prepare({.geometry = geometry,
                      .hydro = hydro,
                      .G = gravity.enabled ? newton_constant(0.0) : 0.0,
                      .universe = universe.get(),
                      .initial = initial,
                      .units = physical.units(),
                      .read_text = read_text});
  without_effect_ = parameters_without_effect(schema, radiation.is_active());
  replaced_pressures_ = replaced_pressures(schema, hydro.eos);
  resolved_ = schema.resolved_toml();
  data_files_ = checksums_of_data_files(schema, files);
  finish_processes(read_text);
  for (int level = 0; level <= mesh.max_level; ++level) refine.criteria(level, hydro, scales);
}

void AmrOptions::check_work() const {
  if (gravity.work == gravity::Work::forces) return;
  const std::string work = fmt::format("gravity.work = \"{}\"", name_of(gravity.work));
  if (!gravity.enabled || !hydro.enabled)
    throw InputError("{} requires {} = true", work,
                     gravity.enabled ? "hydro.enabled" : "gravity.enabled");
  if (cosmology.enabled)
    throw InputError(
        "{} is not supported in an expanding box; set it to \"forces\" with cosmology.enabled = "
        "true",
        work);
  if (hydro.dual_energy != hydro::DualEnergy::on)
    throw InputError(
        "{} requires hydro.dual_energy = \"on\", which keeps the pressure positive where the work "
        "exceeds the thermal energy; it is set to \"{}\"",
        work, name_of(hydro.dual_energy));
}

// Barotropic gas has no independent thermal energy; gas with a cold curve and real gas have it.
void AmrOptions::check_equation_of_state() const {
  if (hydro.is_ideal()) return;
  const std::string eos = fmt::format("hydro.equation_of_state = \"{}\"", name_of(hydro.eos.kind));
  if (!hydro.enabled) throw InputError("{} requires hydro.enabled = true", eos);
  if (cosmology.enabled)
    throw InputError(
        "{} is not supported with cosmology.enabled = true, because the unit of velocity changes "
        "with the scale factor; expected \"ideal\"",
        eos);
  if (hydro.eos.kind == hydro::EquationOfState::stiffened && refine.jeans > 0.0)
    throw InputError(
        "{} is not supported with refine.jeans = {}, because its pressure may be "
        "negative; expected 0",
        eos, refine.jeans);
  const auto supports = [&](const subgrid::Process& process) {
    return hydro.is_barotropic() ? !process.needs_heat() : process.supports_cold_curve();
  };
  for (const auto& process : processes)
    if (process->is_wanted() && !supports(*process))
      throw InputError(
          "{} is not supported with [{}], which changes or reads the internal energy of the gas; "
          "expected \"ideal\"",
          eos, process->name());
}

void AmrOptions::finish_radiation(const TextReader& read_text) {
  if (!hydro.moves && gravity.enabled)
    throw InputError("hydro.moves = false is not supported with gravity.enabled = true");
  if (!hydro.moves && hydro.acceleration != std::array{0.0, 0.0, 0.0})
    throw InputError("hydro.moves = false is not supported with hydro.acceleration");
  radiation.photon_groups = 0;
  for (const auto& process : processes) {
    if (!process->is_wanted()) continue;
    radiation.photon_groups += process->photon_groups();
    radiation.has_emission = radiation.has_emission || process->has_photon_sources();
  }
  if (!radiation.is_active()) return;
  for (const auto& process : processes)
    if (radiation.photon_groups > 0 && process->is_wanted() &&
        std::string_view(process->name()) == "cooling")
      throw InputError(
          "ionization.enabled = true is not supported with cooling.enabled = true: both contain "
          "the radiative cooling of hydrogen and helium; for metals, set ionization.metal_table "
          "instead of [cooling]");
  if (cosmology.enabled && radiation.enabled)
    throw InputError("radiation.enabled = true is not supported with cosmology.enabled = true");
  const CodeUnits today = units(1.0);
  const bool has_units = cosmology.enabled || physical.has_physical_units();
  radiation.finish(hydro, has_units ? &today : nullptr, mesh.max_level > 0, read_text);
  hydro.separate = radiation.fields();
}

// Returns the reason why hydro.dimensions = `dimensions` is not allowed; empty if it is.
std::string AmrOptions::against_dimensions(int dimensions) const {
  const mesh::Geometry geometry(mesh);
  for (int axis = dimensions; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    if (!geometry.periodic(axis))
      return fmt::format("mesh.boundary_{} must be [\"periodic\", \"periodic\"]", name);
    if (geometry.extent(0)[axis] != 1)
      return fmt::format("mesh.base_cells[{}] = {}: expected one block of {} cells", axis,
                         mesh.base_cells[axis], mesh.block_size);
  }
  if (dimensions == 3) return {};
  if (dimensions == 1 && hydro.frame.turns())
    return "frame.angular_velocity requires gas motion along x and y";
  if (gravity.enabled) return "gravity.enabled = true requires three dimensions";
  for (const auto& process : processes)
    if (process->is_wanted())
      return fmt::format("not supported with source terms and subgrid physics, but [{}] is set",
                         process->name());
  return {};
}

std::string AmrOptions::about_dimensions() const {
  if (!hydro.enabled || radiation.is_active() || !against_dimensions(2).empty()) return {};
  const int fewest = against_dimensions(1).empty() ? 1 : 2;
  if (hydro.dimensions > fewest)
    return fmt::format(
        "the domain is one block wide: if the gas varies {}, hydro.dimensions = {} gives "
        "bitwise-identical results in less time",
        fewest == 1 ? "only along x" : "only along x and y", fewest);
  if (execution.in_batches())
    return fmt::format("hydro.dimensions = {} saves no time where tiles are swept in batches",
                       hydro.dimensions);
  return fmt::format("{}: fluxes are computed for one {} of cells and copied to all others",
                     hydro.dimensions == 1 ? "one dimension" : "two dimensions",
                     hydro.dimensions == 1 ? "row" : "layer");
}

// Default pressure floor relative to the pressure at mean density. Pressures in voids are about
// 1e-5 of the pressure at mean density, well above this floor.
constexpr double k_pressure_floor_fraction = 1e-10;

// Sets up an expanding box: in supercomoving units with gamma = 5/3, it obeys the equations of a
// static box with gravity proportional to a.
void AmrOptions::finish_cosmology() {
  if (!cosmology.enabled) {
    if (!snapshot_epochs.empty() || refine.holdback)
      throw InputError("{} requires cosmology.enabled = true",
                       refine.holdback ? "refine.holdback" : "cosmology.snapshots");
    return;
  }
  const auto forbid = [](bool is_other, const char* name, const char* instead) {
    if (is_other)
      throw InputError("{} is not supported with cosmology.enabled = true: {}", name, instead);
  };
  double longest = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    longest = std::max(longest, mesh.upper[axis] - mesh.lower[axis]);
  forbid(time.end != TimeOptions{}.end, "time.end", "set cosmology.end instead");
  forbid(physical.has_physical_units(), "[units]",
         "the units follow from cosmology.box, omega_m and h");
  forbid(gravity.constant != 1.0, "gravity.constant", "the value follows from cosmology.omega_m");
  forbid(mesh.lower != mesh::MeshOptions{}.lower || longest != 1.0, "mesh.lower or mesh.upper",
         "the longest side of the box, cosmology.box, is the unit of length");
  if (!gravity.enabled)
    throw InputError("cosmology.enabled = true requires gravity.enabled = true");
  if (hydro.enabled && std::abs(hydro.gamma - 5.0 / 3.0) > 1e-6)
    throw InputError(
        "hydro.gamma = {}: expected 5/3 with cosmology.enabled = true, which uses supercomoving "
        "units",
        hydro.gamma);
  for (int axis = 0; axis < 3; ++axis)
    if (mesh.boundary[axis] != mesh::MeshOptions::k_periodic)
      throw InputError(
          "mesh.boundary_{}: cosmology.enabled = true requires [\"periodic\", \"periodic\"]",
          static_cast<char>('x' + axis));
  forbid(hydro.frame.turns(), "frame.angular_velocity", "an expanding box cannot rotate");
  universe = std::make_unique<cosmology::Universe>(cosmology);
  if (hydro.given_pressure_floor == 0.0)
    hydro.pressure_floor = k_pressure_floor_fraction * universe->adiabatic_pressure();
  end_time();
  snapshot_times();
}

void AmrOptions::set_scales(const InitialScales& found) {
  constexpr double k_density_fraction = 1e-12, k_energy_fraction = 1e-14;
  scales = found;
  if (hydro.given_density_floor == 0.0) hydro.density_floor = k_density_fraction * scales.density;
  if (hydro.given_pressure_floor == 0.0 && !universe)
    hydro.pressure_floor = k_energy_fraction * scales.energy;
}

void AmrOptions::add_process_variables() {
  for (const auto& process : processes) {
    if (!process->is_wanted()) continue;
    for (const hydro::GasVariable& variable : process->variables()) {
      const auto is_it = [&](const auto& other) { return other.name == variable.name; };
      const auto own = hydro.scalars.begin() + hydro.passive_scalar_count;
      if (std::any_of(own, hydro.scalars.end(), is_it)) continue;  // added by another process, too
      if (hydro.variable_index(variable.name))
        throw InputError("[{}] defines the gas variable \"{}\", which already exists",
                         process->name(), variable.name);
      hydro.scalars.push_back(variable);
    }
  }
}

std::vector<mesh::SolenoidalField> AmrOptions::face_fields() const {
  std::vector<mesh::SolenoidalField> fields;
  for (const auto& process : processes)
    if (process->is_wanted())
      for (mesh::SolenoidalField& field : process->face_fields())
        fields.push_back(std::move(field));
  return fields;
}

void AmrOptions::check_output(const mesh::Geometry& geometry) const {
  std::vector<std::string> fields;
  if (hydro.enabled) fields = shown_names(hydro.variables());
  for (const gravity::StoredField& field : gravity::k_stored_fields)
    if (gravity.enabled && field.is_shown) fields.emplace_back(field.name);
  for (const mesh::SolenoidalField& field : face_fields())
    for (int axis = 0; axis < 3; ++axis) fields.push_back(field.info.component(axis).name);
  output.check(fields, geometry.lower(), geometry.upper());
  const std::vector<std::string>& written = output.fields.empty() ? fields : output.fields;
  for (const auto& format : formats)
    if (std::ranges::find(output.formats, format->name()) != output.formats.end())
      format->check(geometry, written);
}

// Removes processes that are not enabled, along with their parameters.
void AmrOptions::finish_processes(const TextReader& read_text) {
  std::erase_if(processes, [](const auto& process) { return !process->is_wanted(); });
  std::vector<particles::Kind> kinds;
  if (problem) kinds = particle_kinds(*this);
  if (hydro.frame.turns() && (!kinds.empty() || !hydro.enabled))
    throw InputError("frame.angular_velocity = {}: {}", frame.angular_velocity,
                     kinds.empty() ? "there is no gas (hydro.enabled = false)"
                                   : "particles, here of type \"" + kinds.front().name +
                                         "\", are not supported in a rotating frame");
  for (const auto& process : processes)
    process->prepare(
        {.has_gas = hydro.enabled,
         .expands = universe != nullptr,
         .has_units = universe != nullptr || physical.has_physical_units(),
         .has_gravity = gravity.enabled,
         .has_stars = std::any_of(kinds.begin(), kinds.end(),
                                  [](const particles::Kind& kind) { return kind.name == "stars"; }),
         .has_black_holes = std::any_of(
             processes.begin(), processes.end(),
             [](const auto& other) { return std::string_view(other->name()) == "black_holes"; }),
         .limits_accretion =
             std::any_of(processes.begin(), processes.end(),
                         [](const auto& other) { return other->limits_accretion(); }),
         .mean_gas_density = universe ? cosmology.omega_b / cosmology.omega_m : 0.0,
         .geometry = mesh::Geometry(mesh),
         .gas = hydro.gas(),
         .scalars = shown_names(hydro.scalars),
         .event_search = event_search,
         .is_balanced = hydro.is_balanced(),
         .gas_moves = hydro.moves,
         .light_speed = radiation.light().c * units(1.0).velocity(),
         .speed_ratio = radiation.speed_ratio,
         .first_photons = static_cast<int>(hydro.variables().size()) -
                          radiation.photon_groups * (radiation.has_emission ? 5 : 4),
         .read_text = read_text});
}

std::vector<double> AmrOptions::snapshot_times() const {
  std::vector<double> times = output.snapshot_times;
  for (const std::string& epoch : snapshot_epochs)
    times.push_back(universe->time(cosmology::scale_factor_of(epoch, "cosmology.snapshots")));
  return times;
}

double AmrOptions::newton_constant(double at) const {
  return universe ? universe->newton_constant(at) : gravity.constant;
}

CodeUnits AmrOptions::units(double scale_factor) const {
  return universe ? universe->units(scale_factor) : physical.units();
}

double AmrOptions::seconds(double at) const {
  if (!universe) return at * physical.units().time;
  const double hubble_time = universe->units(1.0).time;
  return universe->expansion().cosmic_time(universe->scale_factor(at)) * hubble_time;
}

double AmrOptions::mass_unit() const {
  return refine.mass_unit > 0.0 ? refine.mass_unit
                                : mesh::Geometry(mesh).cell_volume(0);  // mean density 1
}

// Reads the parameters, twice with a preset, which adds to the given ones.
void AmrOptions::read(const std::string& text, const std::string& source,
                      const ParameterSchema::Overrides& overrides, InputFiles& files) {
  ParameterSchema schema;
  declare_all(schema);
  schema.read_text(text, source, overrides);
  preset_assignments = subgrid::assignments_of(preset);
  std::erase_if(preset_assignments, [&](const std::string& assignment) {
    return schema.was_set(assignment.substr(0, assignment.find(' ')));
  });
  if (!preset_assignments.empty()) {
    ParameterSchema::Overrides all = preset_assignments;
    all.insert(all.end(), overrides.begin(), overrides.end());
    schema.read_text(text, source, all);
  }
  finish(schema, files);
}

AmrOptions AmrOptions::from_file(const std::string& path,
                                 const ParameterSchema::Overrides& overrides, InputFiles& files) {
  return from_text(files.parameter_file(path), path, overrides, files);
}

AmrOptions AmrOptions::from_text(const std::string& text, const std::string& source,
                                 const ParameterSchema::Overrides& overrides, InputFiles& files) {
  AmrOptions options;
  const auto name = ParameterSchema::peek_text(text, source, "problem.name", overrides);
  if (name) options.problem = problems::make_problem(*name);
  options.read(text, source, overrides, files);
  return options;
}

AmrOptions AmrOptions::from_text(const std::string& text, const std::string& source,
                                 const ParameterSchema::Overrides& overrides) {
  InputFiles files;
  return from_text(text, source, overrides, files);
}

const std::string& AmrOptions::resolved() const { return resolved_; }

const std::string& AmrOptions::data_files() const { return data_files_; }

}  // namespace octant
