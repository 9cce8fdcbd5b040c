// All parameters of an AMR run as structs, and their declaration.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "amr/refine_options.hpp"
#include "comm/comm_options.hpp"
#include "core/named.hpp"
#include "core/parameters.hpp"
#include "cosmology/initial_conditions.hpp"
#include "cosmology/universe.hpp"
#include "decomp/partition.hpp"
#include "gravity/gravity_options.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/refinement.hpp"
#include "io/input_files.hpp"
#include "mesh/geometry.hpp"
#include "output/format.hpp"
#include "output/output_options.hpp"
#include "problems/given_state.hpp"
#include "problems/problem.hpp"
#include "radiation/radiation_options.hpp"
#include "run/debug_options.hpp"
#include "run/run_control.hpp"
#include "run/run_request.hpp"
#include "subgrid/cell_expressions.hpp"
#include "subgrid/presets.hpp"
#include "subgrid/process.hpp"
#include "telemetry/telemetry_options.hpp"

namespace octant {

// Section [time].
struct TimeOptions {
  double end = 1.0;
  std::int64_t max_steps = 1'000'000'000;
  double cfl = 0.8;
  double largest_step = 0.0;  // maximum length of a coarse step; 0: no limit
  bool subcycle = true;
};

// Section [units]: code units in cgs. All ones: the run has no physical units.
struct UnitOptions {
  double length = 1.0, density = 1.0, time = 1.0;

  // True if the run has physical units.
  bool has_physical_units() const { return length != 1.0 || density != 1.0 || time != 1.0; }
  // Code units in cgs.
  CodeUnits units() const { return {length, density * length * length * length, time}; }
};

// Loop order and memory space for the work on a level: execution.schedule. All schedules give the
// same bits.
enum class Schedule { automatic, host, device };
// Names of the values in execution.schedule.
constexpr auto names_of(Schedule) { return std::array{"auto", "host", "device"}; }
// Parameters of the section [execution].
struct ExecutionOptions {
  Schedule schedule = Schedule::automatic;
  std::string model;  // file for read_measured_sweeps(), which selects the schedule of each level
  double batch_megabytes = 0.0;

  // Throws InputError for schedules that this build does not support, and if both a model and a
  // schedule are given.
  void check() const;
  // Returns true if all levels use the device schedule: sweeps of the gas in batches of tiles, and
  // Fourier transforms of the base level in batches of lines.
  bool in_batches() const;
  // Memory of a batch in bytes.
  std::int64_t batch_bytes() const;
};

// Section [io].
struct InputOptions {
  int chunk_files = 0;
};

// Parameters of an AMR run.
class AmrOptions {
 public:
  ModelKind model = ModelKind::amr;
  std::string problem_name;
  mesh::MeshOptions mesh;
  mesh::FrameOptions frame;
  hydro::HydroOptions hydro;  // includes the variables of processes and of radiation
  radiation::RadiationOptions radiation;
  InitialScales scales;  // set by set_scales()
  gravity::GravityOptions gravity;
  cosmology::CosmologyOptions cosmology;
  cosmology::InitialOptions initial;
  std::vector<std::string> snapshot_epochs;  // in the formats of cosmology::scale_factor_of()
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
  // Slow-down factor of this rank's kernels, from [debug]; 1 normally.
  double slowness = 1.0;
  int ranks_per_node = 1;
  std::unique_ptr<problems::Problem> problem;
  // gas that replaces the problem's initial gas; empty: not replaced
  problems::StateFunction given_state;
  // Particle kinds from a restart file, in addition to those of the problem.
  std::vector<particles::Kind> further_kinds;
  // Enabled physical processes, such as cooling, in the order in which they act.
  std::vector<std::unique_ptr<subgrid::Process>> processes = subgrid::make_processes();
  subgrid::EventSearch event_search = subgrid::EventSearch::blocks;
  std::unique_ptr<cosmology::Universe> universe;  // null without expansion
  subgrid::Preset preset = subgrid::Preset::none;
  std::vector<std::string> preset_assignments;  // parameters set by the preset, as "name = value"

  // Reads and checks a parameter file; `files` reads it and the files that it names. Throws
  // InputError. Local, see InputFiles::share().
  static AmrOptions from_file(const std::string& path, const ParameterSchema::Overrides& overrides,
                              InputFiles& files);
  // Reads the text of a parameter file, such as that in a checkpoint.
  static AmrOptions from_text(const std::string& text, const std::string& source,
                              const ParameterSchema::Overrides& overrides, InputFiles& files);
  // Reads a text, and the files that it names on this rank.
  static AmrOptions from_text(const std::string& text, const std::string& source,
                              const ParameterSchema::Overrides& overrides);

  // Refinement criteria of a level at code time `at`, including that of the Jeans length.
  std::vector<hydro::RefinementCriterion> criteria(int level, double at) const;
  // Sets quantities derived from the initial state: scales, and floors without a given value.
  void set_scales(const InitialScales& found);

  // Code time at which the run ends.
  double end_time() const { return universe ? universe->end_time() : time.end; }
  // Times of all requested snapshots, including those given as epochs.
  std::vector<double> snapshot_times() const;
  // Face-centred fields of the enabled processes.
  std::vector<mesh::SolenoidalField> face_fields() const;
  // Gravitational constant in code units at code time `at`.
  double newton_constant(double at) const;
  // Code units in cgs at a scale factor; all ones if the run has no physical units.
  CodeUnits units(double scale_factor) const;
  // Unit system that converts quantities with units in the parameter file.
  UnitSystem unit_system() const;
  // Proper time in s at a code time, since the Big Bang or the start of the run.
  double seconds(double at) const;
  // Unit of refine.mass.
  double mass_unit() const;

  // Note about hydro.dimensions; empty if there is nothing to report.
  std::string about_dimensions() const;
  // Note about parameters in sections that are not enabled; empty if there are none.
  const std::string& about_disabled_sections() const { return without_effect_; }
  // Note about initial pressures that the equation of state replaces; empty if there are none.
  const std::string& about_pressures() const { return replaced_pressures_; }
  // All parameters with their values, as TOML.
  const std::string& resolved() const;
  // Checksums of the data files of the run, see checksums_of_data_files().
  const std::string& data_files() const;

 private:
  friend std::string amr_manual(const std::string& section);
  friend std::vector<std::string> amr_sections();
  void read(const std::string& text, const std::string& source,
            const ParameterSchema::Overrides& overrides, InputFiles& files);
  void declare_all(ParameterSchema& schema);
  void finish(const ParameterSchema& schema, InputFiles& files);
  void check_work() const;
  void check_equation_of_state() const;
  void finish_radiation(const TextReader& read_text);
  std::string against_dimensions(int dimensions) const;
  void finish_cosmology();
  void add_process_variables();
  void check_output(const mesh::Geometry& geometry) const;
  void finish_processes(const TextReader& read_text);
  std::string resolved_, data_files_, without_effect_, replaced_pressures_;
};

}  // namespace octant
