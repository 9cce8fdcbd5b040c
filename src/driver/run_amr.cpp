#include "driver/run_amr.hpp"

#include "core/error.hpp"
#include "core/log.hpp"
#include "driver/amr_simulation.hpp"
#include "driver/power_file.hpp"
#include "driver/snapshot.hpp"

namespace octant::driver {

namespace {

std::string header(const AmrOptions& options) {
  const int max_level = options.mesh.max_level;
  std::string line =
      "step,time,a,dt,mass,momentum_x,momentum_y,momentum_z,kinetic,internal,potential,total_"
      "energy,"
      "absolute_momentum,floored_cells,floored_mass,floored_energy";
  for (int l = 0; l <= max_level; ++l) line += fmt::format(",blocks_{}", l);
  for (int l = 0; l <= max_level; ++l) line += fmt::format(",leaf_cells_{}", l);
  if (options.problem->has_dark_matter())
    line += ",dark_particles,dark_mass,dark_momentum_x,dark_momentum_y,dark_momentum_z";
  if (options.universe) line += ",redshift,ekin,eint,epot,econs";
  return line;
}

std::string row(const AmrSimulation& s, double dt) {
  const Totals& t = s.totals();
  const particles::ParticleTotals& dark = t.dark;
  const Floored& f = s.floored();
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", s.step_count(), s.time(),
                  s.scale_factor(), dt, t.mass, t.momentum[0], t.momentum[1], t.momentum[2],
                  t.kinetic_energy, t.total_energy - t.kinetic_energy, t.potential_energy,
                  t.total_energy + dark.kinetic_energy + t.potential_energy, t.absolute_momentum,
                  f.cells, f.mass, f.energy);
  for (const auto blocks : t.blocks) line += fmt::format(",{}", blocks);
  for (const auto cells : t.leaf_cells) line += fmt::format(",{}", cells);
  if (s.matter().dark())
    line += fmt::format(",{},{},{},{},{}", dark.count, dark.mass, dark.momentum[0],
                        dark.momentum[1], dark.momentum[2]);
  if (s.options().universe)
    line += fmt::format(",{},{},{},{},{}", cosmology::redshift(s.scale_factor()),
                        t.kinetic_energy + dark.kinetic_energy, t.total_energy - t.kinetic_energy,
                        t.potential_energy, s.energy().error());
  return line;
}

AmrOptions read_options(const RunRequest& request, const Communicator& communicator) {
  AmrOptions options;
  communicator.agree([&] {
    options = AmrOptions::from_file(request.file, request.overrides);
    if (!request.output.empty()) options.output.directory = request.output;
  });
  return options;
}

class AmrModel final : public Model {
 public:
  AmrModel(const RunRequest& request, const Communicator& communicator)
      : options_(read_options(request, communicator)), simulation_(communicator, options_) {}

  const Communicator& communicator() const override { return simulation_.mesh().communicator(); }
  RunSettings settings() const override {
    OutputOptions output = options_.output;
    output.snapshot_times = options_.snapshot_times();
    return {options_.end_time(), options_.time.max_steps, output, options_.run,
            options_.resolved()};
  }
  Timers& timers() override { return simulation_.timers(); }

  void log_beginning() const override {
    const auto& cells = options_.mesh.base_cells;
    log::info("{}: base grid {} x {} x {}, blocks of {}^3, levels 0 to {}, {} rank(s)",
              options_.problem_name, cells[0], cells[1], cells[2], options_.mesh.block_size,
              options_.mesh.max_level, communicator().size());
    const auto extent = mesh::Geometry(options_.mesh).extent(0);
    if (std::int64_t{extent[0]} * extent[1] * extent[2] < communicator().size())
      log::warn("{} base blocks for {} ranks: some ranks are idle until the mesh refines",
                extent[0] * extent[1] * extent[2], communicator().size());
    if (options_.universe) log_universe();
  }

  void initialise() override { simulation_.initialise(); }
  OutputProgress read_checkpoint(const std::string& path) override {
    return driver::read_checkpoint(simulation_, path);
  }

  double time() const override { return simulation_.time(); }
  std::string when() const override {
    if (!options_.universe) return Model::when();
    const double a = simulation_.scale_factor();
    return fmt::format("z {:.4g} (a {:.5g})", cosmology::redshift(a), a);
  }
  std::int64_t step_count() const override { return simulation_.step_count(); }
  void prepare_step() override {
    simulation_.adapt();
    simulation_.measure();
  }
  void measure() override { simulation_.measure(); }
  double stable_dt() const override { return simulation_.stable_dt(); }
  void step(double dt) override { simulation_.step(dt); }

  std::string history_header() const override { return header(options_); }
  std::string history_row(double dt) const override { return row(simulation_, dt); }

  std::int64_t cell_updates() const override { return simulation_.cell_updates(); }
  std::string status() const override {
    std::string text = "blocks";
    for (const auto count : simulation_.totals().blocks) text += fmt::format(" {}", count);
    return text;
  }

  void write_snapshot(const std::string& path) override {
    driver::write_snapshot(simulation_, path);
    if (simulation_.gravity() && simulation_.gravity()->is_periodic())
      write_power_spectrum(power_spectrum(), communicator(), path);
  }
  void write_checkpoint(const OutputProgress& progress, const std::string& path) override {
    driver::write_checkpoint(simulation_, progress, path);
  }

  // How hard the potentials were to find.
  void log_end() const override {
    const gravity::Gravity* gravity = simulation_.gravity();
    if (!gravity) return;
    for (int level = 0; level <= options_.mesh.max_level; ++level) {
      const auto& s = gravity->statistics(level);
      if (s.by_fourier)
        log::info("gravity: level {}: {} solves by Fourier transforms", level, s.solves);
      else if (s.solves > 0)
        log::info("gravity: level {}: {} solves with {:.2f} V-cycles in the mean, {} at most",
                  level, s.solves, static_cast<double>(s.cycles) / static_cast<double>(s.solves),
                  s.most_cycles);
    }
  }

 private:
  gravity::PowerSpectrum power_spectrum() {
    gravity::PowerSpectrum spectrum = simulation_.gravity()->power_spectrum();
    const mesh::Geometry& geometry = simulation_.mesh().geometry();
    double volume = 1.0;
    for (int d = 0; d < 3; ++d) volume *= geometry.upper()[d] - geometry.lower()[d];
    const Totals& totals = simulation_.totals();
    spectrum.shot_noise = gravity::shot_noise(volume, totals.dark.count,
                                              totals.dark.mass / (totals.mass + totals.dark.mass));
    return spectrum;
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

  AmrOptions options_;
  AmrSimulation simulation_;
};

}  // namespace

int run_amr(const RunRequest& request) {
  AmrModel model(request, Communicator::world());
  return run(model, request);
}

}  // namespace octant::driver
