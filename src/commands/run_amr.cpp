#include "commands/models.hpp"

#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>

#include "amr/amr_history.hpp"
#include "amr/snapshot.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gravity/base_grid.hpp"
#include "io/files.hpp"
#include "io/hdf5_file.hpp"
#include "output/file_header.hpp"
#include "output/octant_format.hpp"
#include "ramses/ramses.hpp"
#include "run/commands.hpp"
#include "run/machine.hpp"
#include "run/memory_need.hpp"
#include "run/run_files.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant {

namespace {

// Particle kinds of a RAMSES output, or of a checkpoint of a run that started from one. None for
// "", or if the file cannot be read. Collective.
std::vector<particles::Kind> kinds_of_restart(const Communicator& communicator,
                                              const std::string& requested,
                                              const std::string& directory) {
  std::vector<particles::Kind> kinds;
  if (requested.empty()) return kinds;
  try {
    const std::string path = find_checkpoint(communicator, requested, directory);
    if (is_ramses_output(communicator, path)) return ramses_kinds(communicator, path);
    const Hdf5Reader file(communicator, path);
    if (!file.has_attribute("/header", k_further_kinds)) return kinds;
    std::istringstream names(file.attribute<std::string>("/header", k_further_kinds));
    for (std::string name; names >> name;)
      for (const particles::Kind& kind :
           {particles::dark_matter(), subgrid::stars(), subgrid::sinks()})
        if (kind.name == name) kinds.push_back(kind);
    return kinds;
  } catch (const InputError&) {
    return kinds;  // the error is reported when the state is read
  }
}

AmrOptions read_amr_options(const RunRequest& request, const Communicator& communicator,
                            const GivenFunctions& given) {
  auto options = read_options<AmrOptions>(request, communicator);
  communicator.collective_try([&] {
    options.given_state = given.state;
    if (given.source) {
      if (!options.hydro.enabled)
        throw InputError("a source function requires hydro.enabled = true");
      if (options.hydro.is_barotropic())
        throw InputError(
            "hydro.equation_of_state = \"{}\" is not supported with a source function; expected "
            "\"ideal\", or accelerations as expressions in [sources]",
            name_of(options.hydro.eos.kind));
      options.processes.push_back(subgrid::make_source(given.source));
    }
  });
  const NodeOfRank place = find_node_of_rank(communicator, options.debug);
  options.slowness = options.debug.slowness(communicator.rank(), place.number);
  options.ranks_per_node = place.ranks_per_node;
  options.further_kinds = kinds_of_restart(communicator, request.restart, options.output.directory);
  require_memory(communicator, base_grid_bytes(options) / communicator.size(), "the base grid",
                 "mesh.base_cells");
  request.files->clear();
  return options;
}

// Code unit of length in units of the table, and the names of these units.
struct SpectrumUnits {
  double length = 1.0;
  std::string wave_number = "1/length", volume = "length^3";
};

std::string table_of(const gravity::PowerSpectrum& spectrum, const SpectrumUnits& units) {
  const double volume = std::pow(units.length, 3);
  std::string text = fmt::format("k [{0}],power [{1}],corrected [{1}],modes,shot_noise [{1}]\n",
                                 units.wave_number, units.volume);
  for (const gravity::SpectrumBin& bin : spectrum.bins)
    text += fmt::format("{},{},{},{},{}\n", bin.k / units.length, volume * bin.power,
                        volume * bin.corrected, bin.modes, volume * spectrum.shot_noise);
  return text;
}

// Writes the power spectrum atomically next to the snapshot DIR/snap_NNNNN.h5, as
// DIR/power_NNNNN.csv: one row per bin, with units in the column names. Throws RunError on every
// rank on failure. Collective.
void write_power_spectrum(const gravity::PowerSpectrum& spectrum, const SpectrumUnits& units,
                          const Communicator& communicator, const std::string& snapshot_path) {
  const std::filesystem::path snapshot(snapshot_path);
  std::string name = snapshot.stem().string();
  name.replace(0, name.find('_'), "power");
  WholeFile file(communicator, (snapshot.parent_path() / (name + ".csv")).string());
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    const std::string text = table_of(spectrum, units);
    PosixFile part(file.part_path(), PosixFile::Mode::create);
    part.write_at(0, std::as_bytes(std::span(text)));
    part.sync();
  });
  file.commit();
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

telemetry::BlockFacts block_facts(int level, Key key, const BlockMeter::Cost& cost) {
  return {.level = level,
          .key = static_cast<std::uint64_t>(key),
          .updates = cost.updates,
          .cost_ns = cost.total(),
          .work = cost.work,
          .gravity_ns = cost[CostComponent::gravity],
          .cells_ns = cost[CostComponent::cells],
          .particles_ns = cost[CostComponent::particles],
          .interactions_ns = cost[CostComponent::interactions]};
}

class AmrModel final : public Model {
 public:
  AmrModel(const RunRequest& request, const Communicator& communicator, const GivenFunctions& given)
      : options_(read_amr_options(request, communicator, given)),
        simulation_(communicator, options_) {}

  AmrSimulation& simulation() { return simulation_; }

  const Communicator& communicator() const override { return simulation_.mesh().communicator(); }
  RunSettings settings() const override {
    OutputOptions output = options_.output;
    output.snapshot_times = options_.snapshot_times();
    return {options_.model,
            options_.mesh.block_size,
            options_.end_time(),
            options_.time.max_steps,
            output,
            options_.run,
            options_.telemetry,
            options_.debug,
            options_.resolved()};
  }
  Timers& timers() override { return simulation_.timers(); }

  void log_start() const override {
    const auto& cells = options_.mesh.base_cells;
    log::info("{}: base grid {} x {} x {}, blocks of {}^3, levels 0 to {}, {} rank(s)",
              options_.problem_name, cells[0], cells[1], cells[2], options_.mesh.block_size,
              options_.mesh.max_level, communicator().size());
    const auto extent = mesh::Geometry(options_.mesh).extent(0);
    if (std::int64_t{extent[0]} * extent[1] * extent[2] < communicator().size())
      log::warn("{} base blocks for {} ranks: some ranks are idle until the mesh is refined",
                extent[0] * extent[1] * extent[2], communicator().size());
    if (const std::string about = options_.about_dimensions(); !about.empty())
      log::info("{}", about);
    for (const std::string& about :
         {options_.about_disabled_sections(), options_.about_pressures()})
      if (!about.empty()) log::warn("{}", about);
    if (options_.problem)
      for (const std::string& note : options_.problem->notes()) log::warn("{}", note);
    if (options_.universe) log_universe();
    if (!options_.preset_assignments.empty())
      log::info("subgrid.preset = \"{}\" sets {}", name_of(options_.preset),
                fmt::join(options_.preset_assignments, ", "));
  }

  void initialise() override { simulation_.initialise(); }
  OutputProgress read_checkpoint(const std::string& path) override {
    if (is_ramses_output(communicator(), path)) {
      RamsesRestart restart = read_ramses(simulation_, path, options_.input.chunk_files);
      add_half_kick_ = std::move(restart.add_half_kick);
      return restart.progress;
    }
    const OutputProgress progress = octant::read_checkpoint(simulation_, path);
    simulation_.processes().continue_logs(folder_of(path));
    return progress;
  }

  double time() const override { return simulation_.time(); }
  std::string when() const override {
    if (!options_.universe) return Model::when();
    const double a = simulation_.scale_factor();
    const double z = cosmology::redshift(a);
    return fmt::format("z {:.4g} (a {:.5g})", std::abs(z) < 1e-9 ? 0.0 : z, a);
  }
  std::int64_t step_count() const override { return simulation_.step_count(); }
  void prepare_step() override {
    complete_kicks();
    simulation_.adapt();
    simulation_.measure();
  }
  void measure() override { simulation_.measure(); }
  double stable_dt() const override { return simulation_.stable_dt(); }
  void step(double dt) override { simulation_.step(dt); }

  Columns history(double dt) const override { return history_columns(simulation_, dt); }

  std::int64_t cell_updates() const override { return simulation_.cell_updates(); }
  std::int64_t all_cell_updates() const override { return simulation_.all_cell_updates(); }
  std::int64_t leaf_cells() const override {
    const auto& counts = simulation_.totals().leaf_cells;
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  }
  void report_step(telemetry::Recorder& recorder, telemetry::StepFacts& attributes) const override {
    const mesh::Mesh& mesh = simulation_.mesh();
    const Totals& totals = simulation_.totals();
    attributes.regridded = simulation_.regridded();
    attributes.rebalanced = simulation_.rebalanced();
    attributes.finest_level = mesh.finest_level();
    attributes.blocks =
        std::accumulate(totals.blocks.begin(), totals.blocks.end(), std::int64_t{0});
    attributes.leaf_cells = leaf_cells();
    attributes.own_leaf_cells = simulation_.own_leaf_cells();
    attributes.own_work = simulation_.meter().work();
    attributes.own_data_bytes = simulation_.data_bytes();
    for (const auto& [level, report] : simulation_.placements())
      recorder.add_placement({level, report.policy, report.cplx_x, report.makespan_before,
                              report.makespan_after, report.blocks_moved,
                              report.blocks_moved * simulation_.bytes_per_block(),
                              report.off_rank_share, report.off_node_share, report.duration_ns});
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const mesh::TreeLevel& blocks = mesh.blocks(level);
      attributes.own_blocks += blocks.count();
      for (const int slot : blocks.own()) {
        recorder.add_block(
            block_facts(level, blocks.key(slot), simulation_.meter().costs(level)[slot]));
      }
    }
  }
  std::string status() const override {
    std::string text = "blocks";
    for (const auto count : simulation_.totals().blocks) text += fmt::format(" {}", count);
    return text;
  }

  Paths write_snapshot(const std::string& stem) override {
    synchronise_for_ramses();
    const Paths paths = write_in_formats(options_.formats, options_.output.formats,
                                         snapshot_contents(simulation_), stem);
    simulation_.processes().write_logs(folder_of(stem));
    if (simulation_.gravity() && simulation_.gravity()->is_periodic())
      write_power_spectrum(power_spectrum(), spectrum_units(), communicator(), stem);
    return paths;
  }
  Paths write_cutouts(const std::string& directory, std::int64_t number) override {
    synchronise_for_ramses();
    const OutputOptions& output = options_.output;
    const MeshContents whole = snapshot_contents(simulation_);
    Paths paths;
    if (output.coarse_level >= 0)
      paths = write_in_formats(options_.formats, output.formats,
                               coarse_contents(whole, output.coarse_level),
                               fmt::format("{}/coarse_{:05d}", directory, number));
    for (const Plane& plane : output.planes())
      paths.push_back(
          write_octant_file(slice_contents(whole, plane), plane.stem(directory, number)));
    return paths;
  }
  void write_checkpoint(const OutputProgress& progress, const std::string& stem) override {
    complete_kicks();
    simulation_.processes().write_logs(folder_of(stem));
    octant::write_checkpoint(simulation_, progress, stem);
  }

  // Logs the convergence of the gravity solver.
  void log_end() const override {
    const gravity::Gravity* gravity = simulation_.gravity();
    if (!gravity) return;
    for (int level = 0; level <= options_.mesh.max_level; ++level) {
      const std::string report = gravity->report(level);
      if (!report.empty()) log::info("gravity: level {}: {}", level, report);
    }
  }

 private:
  gravity::PowerSpectrum power_spectrum() {
    const Matter& matter = simulation_.matter();
    const mesh::OptionallyOwnedField density = matter.density_of_equal_clouds();
    // Ranks without base blocks also have a gas field, without data.
    std::optional<gravity::BlockField> gas;
    if (matter.has_gas()) gas = matter.gas_density(0);
    gravity::PowerSpectrum spectrum = simulation_.gravity()->power_spectrum(density.field, gas);
    const mesh::Geometry& geometry = simulation_.mesh().geometry();
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry.upper()[d] - geometry.lower()[d];
    const Totals& totals = simulation_.totals();
    for (const particles::ParticleTotals& kind : totals.particles)
      if (kind.mass > 0.0)
        spectrum.shot_noise += gravity::shot_noise(
            volume, kind.count, kind.mass / (totals.mass + totals.particle_mass()));
    return spectrum;
  }

  // Comoving units, as in linear theory.
  SpectrumUnits spectrum_units() const {
    if (!options_.universe) return {};
    return {options_.universe->options().box, "h/Mpc", "(Mpc/h)^3"};
  }

  void log_universe() const {
    const cosmology::CosmologyOptions& o = options_.universe->options();
    const double a = cosmology::scale_factor_of(o.end, "cosmology.end");
    const double cell = mesh::Geometry(options_.mesh).cell_size(options_.mesh.max_level) * o.box;
    log::info(
        "box of {} Mpc/h, Omega_m {}, Omega_Lambda {}, Omega_b {}, h {}, until z {:.4g}; finest "
        "cells of {:.3g} comoving kpc/h",
        o.box, o.omega_m, o.omega_lambda, o.omega_b, o.h, cosmology::redshift(a), 1e3 * cell);
  }

  // Completes the velocities of another code's output, before a step or a checkpoint.
  void complete_kicks() {
    if (add_half_kick_) std::exchange(add_half_kick_, nullptr)();
  }
  // Completes the velocities before an output for RAMSES, which states that no kick is pending.
  void synchronise_for_ramses() {
    if (std::ranges::find(options_.output.formats, "ramses") != options_.output.formats.end())
      complete_kicks();
  }

  AmrOptions options_;
  AmrSimulation simulation_;
  std::function<void()> add_half_kick_;  // after another code's output
};

}  // namespace

OpenModel make_amr_model(const RunRequest& request, const Communicator& communicator,
                         const GivenFunctions& given) {
  auto model = std::make_unique<AmrModel>(request, communicator, given);
  AmrSimulation& simulation = model->simulation();
  return {.model = std::move(model), .amr = &simulation};
}

int run_amr(const RunRequest& request) {
  AmrModel model(request, Communicator::world(), {});
  return run(model, request);
}

std::string amr_plan(const RunRequest& request) {
  AmrOptions options;
  request.files->share(Communicator::world(), [&] {
    options = AmrOptions::from_file(request.file, request.overrides, *request.files);
  });
  return describe_step(options);
}

std::vector<std::string> amr_sections() {
  AmrOptions options;
  ParameterSchema schema;
  options.declare_all(schema);
  return schema.sections();
}

std::string amr_manual(const std::string& section) {
  AmrOptions options;
  ParameterSchema schema;
  options.declare_all(schema);
  std::string text = section == "problem" ? "" : schema.markdown(section);
  if (!section.empty() && section != "problem") return text;
  for (const std::string& name : problems::problem_names()) {
    ParameterSchema own;
    const auto problem = problems::make_problem(name);
    problem->declare(own);
    text += fmt::format("\n## problem.name = \"{}\"\n\n{}", name, own.markdown("problem"));
  }
  return text;
}

}  // namespace octant
