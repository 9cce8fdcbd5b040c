#include "driver/run_dns.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/log.hpp"
#include "core/memory.hpp"
#include "driver/command_line.hpp"
#include "driver/dns_simulation.hpp"
#include "driver/dns_snapshot.hpp"
#include "driver/recording.hpp"

namespace octant::driver {

namespace {

// Nanoseconds of one core per cell and step, for the estimate of time: cautious round numbers for
// explicit, z-implicit and implicit diffusion.
constexpr double k_nanoseconds[] = {80.0, 100.0, 180.0};

DnsOptions read_options(const RunRequest& request, const Communicator& communicator) {
  DnsOptions options;
  communicator.agree([&] {
    options = DnsOptions::from_file(request.file, request.overrides);
    if (!request.output.empty()) options.output.directory = request.output;
  });
  options.slowness = options.debug.slowness(communicator.rank(),
                                            place_on_node(communicator, options.debug).number);
  return options;
}

class DnsModel final : public Model {
 public:
  DnsModel(const RunRequest& request, const Communicator& communicator)
      : options_(read_options(request, communicator)), simulation_(communicator, options_) {}

  const Communicator& communicator() const override { return simulation_.communicator(); }
  RunSettings settings() const override {
    return {"dns",
            0,
            options_.time.end,
            options_.time.max_steps,
            options_.output,
            options_.run,
            options_.telemetry,
            options_.debug,
            options_.resolved()};
  }
  Timers& timers() override { return simulation_.timers(); }

  void log_beginning() const override {
    const auto& cells = options_.grid.cells;
    log::info("{}: {} x {} x {} cells, {} diffusion, {} rank(s) as {}, in {}",
              options_.problem_name, cells[0], cells[1], cells[2], options_.flow.diffusion,
              communicator().size(), pencil::to_string(simulation_.tuning().processes),
              simulation_.flow().schedule());
    const std::string table = simulation_.tuning().table();
    if (!table.empty()) log::info("process grids and exchanges that were tried:\n{}", table);
  }

  void initialise() override { simulation_.initialise(); }
  OutputProgress read_checkpoint(const std::string& path) override {
    return read_dns_checkpoint(simulation_, path);
  }

  double time() const override { return simulation_.time(); }
  std::int64_t step_count() const override { return simulation_.step_count(); }
  void prepare_step() override { simulation_.measure(); }
  void measure() override { simulation_.measure(); }
  double stable_dt() const override { return simulation_.stable_dt(); }
  void step(double dt) override { simulation_.step(dt); }

  std::string history_header() const override {
    std::string names =
        "step,time,dt,kinetic_u,kinetic_v,kinetic_w,mean_u,mean_v,mean_w,max_u,max_v,max_w,"
        "divergence,force,wall_shear_lower,wall_shear_upper";
    if (simulation_.flow().has_scalar())
      names += ",scalar_mean,scalar_flux_lower,scalar_flux_upper";
    return names;
  }
  std::string history_row(double dt) const override {
    const dns::Totals& t = simulation_.totals();
    std::string row =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", simulation_.step_count(),
                    simulation_.time(), dt, t.kinetic[0], t.kinetic[1], t.kinetic[2], t.mean[0],
                    t.mean[1], t.mean[2], t.largest[0], t.largest[1], t.largest[2], t.divergence,
                    simulation_.flow().mean_force(), t.wall_shear[0], t.wall_shear[1]);
    if (simulation_.flow().has_scalar())
      row += fmt::format(",{},{},{}", t.scalar_mean, t.scalar_flux[0], t.scalar_flux[1]);
    return row;
  }

  std::int64_t cell_updates() const override { return simulation_.cell_updates(); }
  void report_step(telemetry::Recorder&, telemetry::StepFacts& facts) const override {
    const auto& cells = options_.grid.cells;
    facts.leaf_cells = std::int64_t{cells[0]} * cells[1] * cells[2];
    facts.own_leaf_cells = simulation_.domain().box.cells();
    facts.own_work = static_cast<double>(facts.own_leaf_cells);
  }
  std::string status() const override {
    return fmt::format("energy {:.4g} div {:.1e}", simulation_.totals().kinetic_energy(),
                       simulation_.totals().scaled_divergence);
  }

  // Statistics so far go with every snapshot.
  void write_snapshot(const std::string& path) override {
    write_dns_snapshot(simulation_, path);
    write_statistics_beside(path);
  }
  void write_checkpoint(const OutputProgress& progress, const std::string& path) override {
    write_dns_checkpoint(simulation_, progress, path);
    write_statistics_beside(path);
  }

 private:
  void write_statistics_beside(const std::string& path) const {
    simulation_.statistics().write(std::filesystem::path(path).parent_path().string());
  }

  DnsOptions options_;
  DnsSimulation simulation_;
};

}  // namespace

int run_dns(const RunRequest& request) {
  DnsModel model(request, Communicator::world());
  return run(model, request);
}

int check_dns(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  const DnsOptions options = read_options(request, communicator);
  DnsSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  const double step = simulation.stable_dt();
  const double steps = std::min(options.time.end / step, 1.0 * options.time.max_steps);
  const auto& cells = options.grid.cells;
  const double count = static_cast<double>(cells[0]) * cells[1] * cells[2];
  const double cost = 1e-9 * k_nanoseconds[static_cast<int>(options.flow.diffusion_kind())];
  const double memory = communicator.max(static_cast<double>(memory_use().peak));
  if (communicator.is_root()) {
    fmt::print("{}\n# {:.4g} cells on ranks as {}; memory of the largest rank: {:.0f} MB\n",
               options.resolved(), count, pencil::to_string(simulation.tuning().processes),
               1e-6 * memory);
    fmt::print("# about {:.0f} steps of {:.3g}, if the flow stays as fast as at first: {:.2g} s\n",
               steps, step, steps * count * cost / communicator.size());
  }
  return k_done;
}

}  // namespace octant::driver
