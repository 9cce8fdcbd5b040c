#include "driver/run_amr.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "driver/command_line.hpp"
#include "driver/history.hpp"
#include "driver/run_control.hpp"
#include "driver/snapshot.hpp"

namespace octant::driver {

namespace {

// One run from its parameter file to its exit code.
class AmrRun {
 public:
  AmrRun(const RunRequest& request, const Communicator& communicator)
      : communicator_(communicator),
        options_(read_options(request, communicator)),
        output_(options_.output),
        directory_(output_.directory),
        simulation_(communicator, options_) {
    prepare_directory(!request.restart.empty());
    log_beginning();
    if (request.restart.empty()) {
      simulation_.initialise();
    } else {
      const std::string path = find_checkpoint(communicator, request.restart, directory_);
      progress_ = read_checkpoint(simulation_, path);
      log::info("restarted from {} at step {}, time {}", path, simulation_.step_count(),
                simulation_.time());
    }
  }

  int run() {
    History history(simulation_, directory_, simulation_.step_count() > 0);
    RunControl control(options_.run, directory_, communicator_);
    if (simulation_.step_count() == 0) snapshot();
    ExitCode code = k_done;
    while (!finished()) {
      const Wishes wishes = control.look(output_, step_seconds_);
      if (wishes.dump) snapshot();
      if (wishes.stop) {
        log::info("stopping at step {}: {}", simulation_.step_count(), wishes.reason);
        checkpoint();
        code = k_stopped_early;
        break;
      }
      coarse_step(history);
      if (snapshot_is_due()) snapshot();
      if (checkpoint_is_due(control.seconds())) checkpoint();
    }
    finish(history, code);
    return code;
  }

 private:
  static AmrOptions read_options(const RunRequest& request, const Communicator& communicator) {
    AmrOptions options;
    communicator.agree([&] {
      options = AmrOptions::from_file(request.file, request.overrides);
      if (!request.output.empty()) options.output.directory = request.output;
    });
    return options;
  }

  void prepare_directory(bool restart) {
    communicator_.agree([&] {
      if (!communicator_.is_root()) return;
      std::error_code error;
      std::filesystem::create_directories(directory_, error);
      if (error)
        throw InputError("output.directory = \"{}\": cannot be made: {}", directory_,
                         error.message());
      std::ofstream resolved(directory_ + "/run.toml");
      resolved << options_.resolved();
      resolved.flush();
      if (!resolved)
        throw InputError(
            "output.directory = \"{}\": run.toml cannot be written there; check its "
            "permissions and the space left",
            directory_);
      if (!restart) remove_old_checkpoints(directory_, 0);
    });
    communicator_.agree(
        [&] { log::start(communicator_.rank(), communicator_.is_root() ? log_path() : ""); });
  }

  std::string log_path() const { return directory_ + "/log.txt"; }

  void log_beginning() const {
    const auto& cells = options_.mesh.base_cells;
    log::info("{}: base grid {} x {} x {}, blocks of {}^3, levels 0 to {}, {} rank(s)",
              options_.problem_name, cells[0], cells[1], cells[2], options_.mesh.block_size,
              options_.mesh.max_level, communicator_.size());
    const auto extent = mesh::Geometry(options_.mesh).extent(0);
    if (std::int64_t{extent[0]} * extent[1] * extent[2] < communicator_.size())
      log::warn("{} base blocks for {} ranks: some ranks are idle until the mesh refines",
                extent[0] * extent[1] * extent[2], communicator_.size());
  }

  bool finished() const {
    return simulation_.time() >= options_.time.end * (1.0 - 1e-14) ||
           simulation_.step_count() >= options_.time.max_steps;
  }

  void coarse_step(History& history) {
    Clock clock;
    simulation_.adapt();
    simulation_.measure();
    const double dt = next_dt();
    if (simulation_.step_count() % output_.history_interval == 0) history.append(simulation_, dt);
    const std::int64_t updates = simulation_.cell_updates();
    simulation_.step(dt);
    step_seconds_ = communicator_.max(clock.seconds());
    log_step(dt, static_cast<double>(communicator_.sum(simulation_.cell_updates() - updates)));
  }

  // The longest stable step that does not pass the end or an output time.
  double next_dt() const {
    const double dt = simulation_.stable_dt(), time = simulation_.time();
    OCTANT_REQUIRE(std::isfinite(dt) && dt > 1e-14 * std::max(options_.time.end, time),
                   "step {}, time {}: the time step {} is no step at all; some signal is far too "
                   "fast",
                   simulation_.step_count(), time, dt);
    const double next = std::min(options_.time.end, next_snapshot_time());
    return next - time <= dt * (1.0 + 1e-12) ? next - time : dt;
  }

  double next_snapshot_time() const {
    double next = options_.time.end;
    if (output_.snapshot_interval > 0.0) {
      const double interval = output_.snapshot_interval;
      next = std::min(
          next, (std::floor(progress_.last_snapshot_time / interval + 1e-9) + 1.0) * interval);
    }
    for (const double time : output_.snapshot_times)
      if (time > progress_.last_snapshot_time) next = std::min(next, time);
    return next;
  }

  bool snapshot_is_due() const {
    return !finished() && simulation_.time() >= next_snapshot_time() * (1.0 - 1e-14);
  }

  bool checkpoint_is_due(double seconds) {
    const bool due = output_.checkpoint_interval > 0.0 && !finished() &&
                     seconds - last_checkpoint_seconds_ >= output_.checkpoint_interval;
    if (!communicator_.any(due)) return false;
    last_checkpoint_seconds_ = seconds;
    return true;
  }

  void snapshot() {
    const auto timing = simulation_.timers().time("output");
    const std::string path = fmt::format("{}/snap_{:05d}.h5", directory_, progress_.next_snapshot);
    write_snapshot(simulation_, path);
    ++progress_.next_snapshot;
    progress_.last_snapshot_time = simulation_.time();
    log::info("wrote {} at time {:.6g}", path, simulation_.time());
  }

  void checkpoint() {
    const auto timing = simulation_.timers().time("output");
    const std::string path =
        fmt::format("{}/checkpoint_{:05d}.h5", directory_, progress_.next_checkpoint);
    ++progress_.next_checkpoint;
    write_checkpoint(simulation_, progress_, path);
    if (communicator_.is_root()) remove_old_checkpoints(directory_, output_.checkpoint_keep);
    log::info("wrote {} at time {:.6g}", path, simulation_.time());
  }

  void log_step(double dt, double updates) const {
    const auto memory = memory_use();
    const double most = communicator_.max(static_cast<double>(memory.current));
    std::string blocks;
    for (const auto count : simulation_.totals().blocks) blocks += fmt::format(" {}", count);
    const double left = (options_.time.end - simulation_.time()) / dt * step_seconds_;
    log::status("step {} t {:.5g} dt {:.3g} blocks{} {:.2f} M cells/s {:.0f} MB {:.0f} s left",
                simulation_.step_count(), simulation_.time(), dt, blocks,
                1e-6 * updates / step_seconds_, 1e-6 * most, left);
    log::debug("step {} time {} dt {} blocks{}", simulation_.step_count(), simulation_.time(), dt,
               blocks);
  }

  void finish(History& history, ExitCode code) {
    simulation_.measure();
    history.append(simulation_, 0.0);
    if (code == k_done) snapshot();
    const std::string table = timing_table(simulation_.timers(), communicator_);
    const auto memory = memory_use();
    const double least = communicator_.min(static_cast<double>(memory.peak));
    const double most = communicator_.max(static_cast<double>(memory.peak));
    const auto updates = static_cast<double>(communicator_.sum(simulation_.cell_updates()));
    const double sweeping = communicator_.max(simulation_.timers().total_seconds());
    log::info("{}", table);
    log::info(
        "{:.4g} cell updates, {:.2f} million per second; peak memory per rank {:.0f} to {:.0f} "
        "MB",
        updates, 1e-6 * updates / sweeping, 1e-6 * least, 1e-6 * most);
    if (code != k_done) return;
    log::info("done: time {:.6g} after {} steps", simulation_.time(), simulation_.step_count());
    announce_results();
  }

  // Tells who started the program, if it asked, where there are results to make pictures of.
  void announce_results() const {
    const char* file = std::getenv("OCTANT_DONE_FILE");
    if (file != nullptr && communicator_.is_root() && !output_.pictures.empty())
      std::ofstream(file) << directory_ << '\n';
  }

  Communicator communicator_;
  AmrOptions options_;
  OutputOptions output_;
  std::string directory_;
  AmrSimulation simulation_;
  OutputProgress progress_;
  double step_seconds_ = 0.0, last_checkpoint_seconds_ = 0.0;
};

}  // namespace

int run_amr(const RunRequest& request) { return AmrRun(request, Communicator::world()).run(); }

}  // namespace octant::driver
