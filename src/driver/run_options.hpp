// All parameters of a run, as structs, and their declaration.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm_options.hpp"
#include "core/named.hpp"
#include "core/parameters.hpp"
#include "cosmology/initial_conditions.hpp"
#include "cosmology/universe.hpp"
#include "decomp/partition_options.hpp"
#include "driver/debug_options.hpp"
#include "driver/format.hpp"
#include "driver/output_options.hpp"
#include "driver/run_request.hpp"
#include "gravity/gravity_options.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/hydro_parameters.hpp"
#include "hydro/refinement.hpp"
#include "mesh/geometry.hpp"
#include "problems/problem.hpp"
#include "problems/region.hpp"
#include "subgrid/integrals.hpp"
#include "subgrid/presets.hpp"
#include "subgrid/process.hpp"
#include "telemetry/telemetry_options.hpp"

namespace octant::driver {

// Section [time].
struct TimeOptions {
  double end = 1.0;
  std::int64_t max_steps = 1'000'000'000;
  double cfl = 0.8;
  double largest_step = 0.0;  // 0: any
  bool subcycle = true;
};

// Section [units]: what one unit of the code is in cgs. All ones: the run has no physical units.
struct UnitOptions {
  double length = 1.0, density = 1.0, time = 1.0;

  bool given() const { return length != 1.0 || density != 1.0 || time != 1.0; }
  CodeUnits units() const { return {length, density * length * length * length, time}; }
};

// What densities and energy densities of the initial state are: their means, to a power of two, so
// that a run in other units that differ by powers of two has the same bits.
struct InitialScales {
  double density = 1.0, energy = 1.0;

  // Of a primitive variable. Fractions, and all other scalars, have the scale 1.
  double of(int variable, const hydro::HydroOptions& gas) const;
};

// Section [refine].
struct RefineOptions {
  std::vector<std::string> gradient_fields, curvature_fields;
  std::vector<double> gradient, curvature;
  double floor = 0.0;
  std::vector<double> density;
  double jeans = 0.0;  // see AmrOptions::criteria
  std::vector<double> mass;
  double mass_unit = 0.0;
  double gas_weight = 1.0;
  int mass_scalar = -1;
  double mass_scalar_above = 0.01;
  bool holdback = false;
  int buffer = 1;
  int interval = 1;
  problems::RefinedRegion region;
  problems::RefinedPlaces places;

  // The criteria on one level. Throws InputError for an unknown field or lists of unequal length.
  std::vector<hydro::RefinementCriterion> criteria(int level, const hydro::HydroOptions& gas,
                                                   const InitialScales& scales) const;
};

// Section [run].
struct RunOptions {
  double walltime = 0.0;
  double walltime_margin = 60.0;
  std::string control_file = "control.toml";
};

void declare(ParameterSchema& schema, RunOptions& options);

// Section [execution]: in which order, and with that where, the work of a level is done. The same
// bits.
enum class Schedule { automatic, host, device };
constexpr auto names_of(Schedule) { return std::array{"auto", "host", "device"}; }
struct ExecutionOptions {
  Schedule schedule = Schedule::automatic;
  std::string model;  // a file of read_measured_sweeps(), by which each level takes its schedule
  double batch_megabytes = 0.0;

  // Throws InputError for what this program lacks.
  void check() const;
  // Whether the gas of all levels is swept in batches of tiles, and the base level transformed in
  // batches of lines.
  bool in_batches() const;
  // The memory that a batch works in.
  std::int64_t batch_bytes() const;
};

// Section [io].
struct InputOptions {
  int chunk_files = 0;
};

// Everything that a parameter file says about an AMR run.
class AmrOptions {
 public:
  ModelKind model = ModelKind::amr;
  std::string problem_name;
  mesh::MeshOptions mesh;
  mesh::FrameOptions frame;
  hydro::HydroOptions hydro;  // from hydro_parameters, with the variables of processes
  hydro::HydroParameters hydro_parameters;
  InitialScales scales;  // see set_scales()
  gravity::GravityOptions gravity;
  cosmology::CosmologyOptions cosmology;
  cosmology::InitialOptions initial;
  std::vector<std::string> snapshot_epochs;  // as cosmology::scale_factor_of
  CommOptions comm;
  BalanceOptions balance;
  TimeOptions time;
  UnitOptions physical;
  OutputOptions output;
  subgrid::Integrals integrals;
  Formats<MeshContents> formats = make_mesh_formats();
  InputOptions input;
  RefineOptions refine;
  RunOptions run;
  ExecutionOptions execution;
  telemetry::TelemetryOptions telemetry;
  DebugOptions debug;
  // By [debug] and the machine, for the rank that runs.
  double slowness = 1.0;  // of its kernels
  int ranks_per_node = 1;
  std::unique_ptr<problems::Problem> problem;
  // Of particles that a restart brings along, beside those of the problem.
  std::vector<particles::Kind> further_kinds;
  // Those that act, in their order.
  std::vector<std::unique_ptr<subgrid::Process>> processes = subgrid::make_processes();
  subgrid::EventSearch event_search = subgrid::EventSearch::blocks;
  std::unique_ptr<cosmology::Universe> universe;  // null where nothing expands
  subgrid::Preset preset = subgrid::Preset::none;
  std::vector<std::string> of_preset;  // what it has set, as "name = value"

  // Reads and checks a file. Throws InputError.
  static AmrOptions from_file(const std::string& path, const ParameterSchema::Overrides& overrides);
  // The same from the text that a checkpoint holds.
  static AmrOptions from_text(const std::string& text, const std::string& source,
                              const ParameterSchema::Overrides& overrides);

  // The criteria that the gas of one level must meet at a time, that of the Jeans length included.
  std::vector<hydro::RefinementCriterion> criteria(int level, double time) const;
  // Sets what follows from the initial state: the scales, and floors that parameters leave open.
  void set_scales(const InitialScales& initial);

  double end_time() const { return universe ? universe->end_time() : time.end; }
  // When snapshots are asked for, those given as epochs included.
  std::vector<double> snapshot_times() const;
  // Newton's constant in code units.
  double newton_constant(double time) const;
  // What the code's numbers are in cgs at a scale factor; ones where the run has no physical units.
  CodeUnits units(double scale_factor) const;
  // Unit system that converts quantities with units in the parameter file.
  UnitSystem unit_system() const;
  // Proper time in s that has gone by at a time of the code, since the universe began or the run.
  double seconds(double time) const;
  // The mass that refine.mass counts in.
  double mass_unit() const;

  // A sentence about the axes along which the gas does not change, or may not; empty if there is
  // nothing to say.
  std::string about_dimensions() const;
  // Every parameter with its value, as TOML.
  std::string resolved() const;

 private:
  friend std::string amr_manual(const std::string& section);
  friend std::vector<std::string> amr_sections();
  // Reads the parameters twice where a preset says what those are that are not given.
  using ParameterReader =
      std::function<void(ParameterSchema& schema, const ParameterSchema::Overrides& overrides)>;
  void read(const ParameterReader& read, const ParameterSchema::Overrides& overrides);
  void declare_all(ParameterSchema& schema);
  void finish(const ParameterSchema& schema);
  void check_spin(const mesh::Geometry& geometry) const;
  void check_work() const;
  std::string against_dimensions(int dimensions) const;
  void finish_cosmology();
  void add_process_variables();
  void check_output(const mesh::Geometry& geometry) const;
  void finish_processes();
  std::string resolved_;
};

}  // namespace octant::driver
