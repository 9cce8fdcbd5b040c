#include "commands/models.hpp"

#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/log.hpp"
#include "dns_model/dns_simulation.hpp"
#include "output/octant_format.hpp"
#include "run/commands.hpp"
#include "run/machine.hpp"
#include "run/memory_need.hpp"

namespace octant {

namespace {

DnsOptions read_dns_options(const RunRequest& request, const Communicator& communicator) {
  auto options = read_options<DnsOptions>(request, communicator);
  options.slowness = options.debug.slowness(communicator.rank(),
                                            find_node_of_rank(communicator, options.debug).number);
  require_memory(communicator, DnsSimulation::min_bytes(options) / communicator.size(), "the flow",
                 "grid.cells");
  request.files->clear();
  return options;
}

void add_velocity(Columns& columns, const std::string& name, const dns::Vector& values) {
  for (int component = 0; component < 3; ++component)
    columns.add(name + "_" + "uvw"[component], values[component]);
}

// Adds values of the lower and the upper side along z.
void add_sides(Columns& columns, const std::string& name, const std::array<double, 2>& values) {
  columns.add(name + "_lower", values[0]);
  columns.add(name + "_upper", values[1]);
}

class DnsModel final : public Model {
 public:
  DnsModel(const RunRequest& request, const Communicator& communicator)
      : options_(read_dns_options(request, communicator)), simulation_(communicator, options_) {}

  DnsSimulation& simulation() { return simulation_; }
  const Communicator& communicator() const override { return simulation_.communicator(); }
  RunSettings settings() const override {
    return {options_.model,     0,
            options_.time.end,  options_.time.max_steps,
            options_.output,    options_.run,
            options_.telemetry, options_.debug,
            options_.resolved()};
  }
  Timers& timers() override { return simulation_.timers(); }

  void log_start() const override {
    const auto& cells = options_.grid.cells;
    log::info("{}: {} x {} x {} cells, {} diffusion, {} rank(s) as {}, in {}{}",
              options_.problem_name, cells[0], cells[1], cells[2], name_of(options_.flow.diffusion),
              communicator().size(), pencil::to_string(simulation_.tuning().processes),
              simulation_.flow().schedule(),
              options_.flow.pencil_axis == Axis::z ? ", pencils along z" : "");
    const std::string table = simulation_.tuning().table();
    if (!table.empty())
      log::info("timings of process grids and communication backends:\n{}", table);
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

  Columns history(double dt) const override {
    const dns::Totals& t = simulation_.totals();
    Columns columns;
    columns.add("step", simulation_.step_count());
    columns.add("time", simulation_.time());
    columns.add("dt", dt);
    add_velocity(columns, "kinetic", t.kinetic);
    add_velocity(columns, "mean", t.mean);
    add_velocity(columns, "max", t.largest);
    columns.add("divergence", t.divergence);
    columns.add("force", simulation_.flow().mean_force());
    add_sides(columns, "wall_shear", t.wall_shear);
    if (simulation_.flow().has_scalar()) {
      columns.add("scalar_mean", t.scalar_mean);
      add_sides(columns, "scalar_flux", t.scalar_flux);
    }
    return columns;
  }

  std::int64_t cell_updates() const override { return simulation_.cell_updates(); }
  std::int64_t all_cell_updates() const override { return simulation_.all_cell_updates(); }
  std::int64_t leaf_cells() const override {
    const auto& [x, y, z] = options_.grid.cells;
    return std::int64_t{x} * y * z;
  }
  void report_step(telemetry::Recorder&, telemetry::StepFacts& attributes) const override {
    attributes.leaf_cells = leaf_cells();
    attributes.own_leaf_cells = simulation_.domain().box.cells();
    attributes.own_work = static_cast<double>(attributes.own_leaf_cells);
  }
  std::string status() const override {
    return fmt::format("energy {:.4g} div {:.1e}", simulation_.totals().kinetic_energy(),
                       simulation_.totals().scaled_divergence);
  }

  // Writes a snapshot, and the current statistics to the same directory.
  Paths write_snapshot(const std::string& stem) override {
    const Paths paths = write_in_formats(options_.formats, options_.output.formats,
                                         dns_snapshot_contents(simulation_), stem);
    write_statistics_beside(stem);
    return paths;
  }
  Paths write_cutouts(const std::string& directory, std::int64_t number) override {
    const GridContents whole = dns_snapshot_contents(simulation_);
    Paths paths;
    for (const Plane& plane : options_.output.planes())
      paths.push_back(
          write_octant_file(slice_contents(whole, plane), plane.stem(directory, number)));
    return paths;
  }
  void write_checkpoint(const OutputProgress& progress, const std::string& stem) override {
    // Statistics are written before the checkpoint: if the run is interrupted in between, a restart
    // from the previous checkpoint writes them again.
    write_statistics_beside(stem);
    write_dns_checkpoint(simulation_, progress, stem);
  }

 private:
  void write_statistics_beside(const std::string& path) const {
    simulation_.statistics().write(std::filesystem::path(path).parent_path().string());
  }

  DnsOptions options_;
  DnsSimulation simulation_;
};

}  // namespace

OpenModel make_dns_model(const RunRequest& request, const Communicator& communicator) {
  auto model = std::make_unique<DnsModel>(request, communicator);
  DnsSimulation& simulation = model->simulation();
  return {.model = std::move(model), .dns = &simulation};
}

int run_dns(const RunRequest& request) {
  DnsModel model(request, Communicator::world());
  return run(model, request);
}

}  // namespace octant
