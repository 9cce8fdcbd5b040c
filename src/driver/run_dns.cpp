#include "driver/run_dns.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/log.hpp"
#include "driver/dns_simulation.hpp"
#include "driver/dns_snapshot.hpp"
#include "driver/memory_need.hpp"
#include "driver/recording.hpp"

namespace octant::driver {

namespace {

DnsOptions read_options(const RunRequest& request, const Communicator& communicator) {
  DnsOptions options;
  communicator.agree([&] {
    options = DnsOptions::from_file(request.file, request.overrides);
    if (!request.output.empty()) options.output.directory = request.output;
  });
  options.slowness = options.debug.slowness(communicator.rank(),
                                            place_on_node(communicator, options.debug).number);
  require_memory(communicator, DnsSimulation::least_bytes(options) / communicator.size(),
                 "the flow", "grid.cells");
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

}  // namespace octant::driver
