#include "bench/device_model_bench.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "amr/amr_simulation.hpp"
#include "amr/schedule_model.hpp"
#include "bench/command.hpp"
#include "bench/hydro_case.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

struct ModelRequest {
  HydroCase hydro_case{.block_size = 8};
  std::vector<int> tiles{1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  int min_steps = 7;
  double seconds = 0.25;
  std::string file;
};

// Numbers of blocks along each axis of a box with `blocks` blocks, as close to a cube as possible.
std::array<int, 3> box_of(int blocks) {
  const auto divisor = [](int number, double below) {
    int d = std::max(1, static_cast<int>(below + 1e-6));
    while (number % d != 0) --d;
    return d;
  };
  const int z = divisor(blocks, std::cbrt(blocks)), layer = blocks / z;
  const int y = divisor(layer, std::sqrt(layer));
  return {layer / y, y, z};
}

// Level swept with one schedule, step by step.
class Level {
 public:
  Level(const Communicator& communicator, HydroCase hydro_case, const std::string& schedule,
        int tiles)
      : options_(options_with(hydro_case, schedule, tiles)), simulation_(communicator, options_) {
    simulation_.initialise();
    step();  // first touch of all memory
    sweeps_.clear();
  }

  // Takes a step and returns its seconds.
  double step() {
    const auto swept = [&] { return simulation_.timers().seconds("sweep"); };
    const double before = swept();
    simulation_.measure();
    simulation_.step(simulation_.stable_dt());
    const double seconds = swept() - before;
    sweeps_.push_back(seconds / static_cast<double>(stages()));
    return seconds;
  }

  // Minimum time, which is least disturbed by other programs.
  double sweep_seconds() const { return *std::ranges::min_element(sweeps_); }

 private:
  static AmrOptions options_with(HydroCase& hydro_case, const std::string& schedule, int tiles) {
    hydro_case.schedule = schedule;
    return level_options(hydro_case, box_of(tiles));
  }
  std::size_t stages() const { return hydro::stages(options_.hydro.integrator).size(); }

  AmrOptions options_;
  AmrSimulation simulation_;
  std::vector<double> sweeps_;
};

// Measures both schedules alternately, so that disturbances affect both.
MeasuredSweeps measure_size(const Communicator& communicator, const ModelRequest& request,
                            int tiles) {
  Level host(communicator, request.hydro_case, "host", tiles);
  Level device(communicator, request.hydro_case, "device", tiles);
  double seconds = 0.0;
  for (int n = 0; n < request.min_steps || seconds < request.seconds; ++n)
    seconds += host.step() + device.step();
  return {Kokkos::DefaultExecutionSpace().concurrency(), tiles, host.sweep_seconds(),
          device.sweep_seconds()};
}

std::vector<MeasuredSweeps> measure_sizes(const Communicator& communicator,
                                          const ModelRequest& request) {
  std::vector<MeasuredSweeps> measured;
  for (const int tiles : request.tiles)
    measured.push_back(measure_size(communicator, request, tiles));
  return measured;
}

// Relative loss of the model's choice against the faster schedule.
double loss(const ScheduleModel& model, const MeasuredSweeps& size) {
  const double chosen = model.in_batches(size.tiles) ? size.device : size.host;
  return chosen / std::min(size.host, size.device) - 1.0;
}

void write_model(const ModelRequest& request, const std::vector<MeasuredSweeps>& measured) {
  if (request.file.empty()) return;
  std::ofstream file(request.file);
  const HydroCase& c = request.hydro_case;
  file << fmt::format(
      "# Sweeps of tiles of {0}^3 cells by {1}, {2}, {3}, {4}: octant bench device-model\n# "
      "threads, tiles, seconds with the host schedule, seconds with the device schedule\n",
      c.block_size, c.scheme, c.reconstruction, c.limiter, c.riemann);
  for (const MeasuredSweeps& size : measured)
    file << fmt::format("{} {} {:.4g} {:.4g}\n", size.threads, size.tiles, size.host, size.device);
  if (!file.flush())
    throw InputError(
        "--model {}: the file cannot be written; check the directory and its permissions",
        request.file);
}

constexpr const char* k_model_row = "{:>6} {:>12} {:>12} {:>8} {:>8}";

void report_sizes(const ScheduleModel& model, const std::vector<MeasuredSweeps>& measured,
                  Report& report) {
  const LaunchesAndRounds &host = model.host().fitted(), &device = model.device().fitted();
  report.line(fmt::format(
      "host   {:.4g} s + {:.4g} s per {} tile(s)\n"
      "device {:.4g} s + {:.4g} s per tile\n",
      host.fixed, host.per_round, host.tiles_per_round, device.fixed, device.per_round));
  report.line(fmt::format(k_model_row, "tiles", "host us", "device us", "choice", "loss"));
  double most = 0.0;
  for (const MeasuredSweeps& size : measured) {
    const double lost = loss(model, size);
    const std::string choice = model.in_batches(size.tiles) ? "device" : "host";
    most = std::max(most, lost);
    report.line(fmt::format(k_model_row, size.tiles, fmt::format("{:.1f}", 1e6 * size.host),
                            fmt::format("{:.1f}", 1e6 * size.device), choice,
                            fmt::format("{:.1f} %", 100.0 * lost)));
    report.add(JsonObject()
                   .add("threads", size.threads)
                   .add("tiles", size.tiles)
                   .add("host_seconds", size.host)
                   .add("device_seconds", size.device)
                   .add("choice", choice)
                   .add("loss", lost));
  }
  report.line(fmt::format("\nlargest loss {:.1f} %", 100.0 * most));
}

void declare(Options& options, ModelRequest& request) {
  HydroCase& hydro_case = request.hydro_case;
  options.text("--scheme", hydro_case.scheme, "Time integration");
  options.text("--reconstruction", hydro_case.reconstruction, "Spatial reconstruction");
  options.text("--limiter", hydro_case.limiter, "Slope limiter of plm");
  options.text("--riemann", hydro_case.riemann, "Riemann solver");
  options.number("--block-size", hydro_case.block_size, 8, 16,
                 "Number of cells along each side of a block: 8 or 16");
  options.counts("--tiles", request.tiles, "Level sizes, in numbers of tiles");
  options.count("--steps", request.min_steps,
                "Minimum number of steps per size and schedule in a round");
  options.number("--seconds", request.seconds, 0.0, 1e3,
                 "Minimum time of sweeps per size in a round [s]");
  options.file("--model", request.file, "File of the measured timings, for execution.model");
}

void measure_all(const ModelRequest& request, const Communicator& communicator, Report& report) {
  if (communicator.size() > 1)
    throw InputError("octant bench device-model runs on one rank, not on {}", communicator.size());
  if (request.hydro_case.block_size != 8 && request.hydro_case.block_size != 16)
    throw InputError("--block-size {}: expected 8 or 16", request.hydro_case.block_size);
  if (std::filesystem::exists(request.file))
    throw InputError(
        "--model {}: the file already exists; choose another name, or move the file aside",
        request.file);
  const std::vector<MeasuredSweeps> measured = measure_sizes(communicator, request);
  write_model(request, measured);
  const ScheduleModel model(measured, measured.front().threads);
  // Repeated measurements, because the model fits its own input exactly.
  report_sizes(model, measure_sizes(communicator, request), report);
}

}  // namespace

int device_model_bench(const std::vector<std::string>& words) {
  return run_command<ModelRequest>("device-model",
                                   "Sweeps with both schedules for several level sizes", declare,
                                   measure_all, words);
}

}  // namespace octant::bench
