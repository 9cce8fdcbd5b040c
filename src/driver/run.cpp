#include "driver/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "driver/checkpoints.hpp"
#include "driver/command_line.hpp"
#include "driver/history.hpp"
#include "driver/recording.hpp"
#include "driver/run_control.hpp"

namespace octant::driver {

namespace {

// One run from its parameters to its exit code.
class Run {
 public:
  Run(Model& model, const RunRequest& request)
      : model_(model),
        communicator_(model.communicator()),
        settings_(model.settings()),
        output_(settings_.output),
        directory_(output_.directory) {
    prepare_directory(!request.restart.empty());
    recorder_ = make_recorder(communicator_, settings_, !request.restart.empty());
    model_.log_beginning();
    if (request.restart.empty()) {
      model_.initialise();
    } else {
      const std::string path = find_checkpoint(communicator_, request.restart, directory_);
      progress_ = read_checkpoint(model_, path);
      log::info("restarted from {} at step {}, {}", path, model_.step_count(), model_.when());
    }
  }

  int run() {
    History history(model_, directory_);
    RunControl control(settings_.run, directory_, communicator_);
    if (model_.step_count() == 0) snapshot();
    ExitCode code = k_done;
    while (!finished()) {
      const Wishes wishes = control.look(output_, step_seconds_);
      if (wishes.dump) snapshot();
      if (wishes.stop) {
        log::info("stopping at step {}: {}", model_.step_count(), wishes.reason);
        checkpoint();
        code = k_stopped_early;
        break;
      }
      coarse_step(history, control);
      if (snapshot_is_due()) snapshot();
      if (checkpoint_is_due_) checkpoint();
    }
    finish(history, code);
    return code;
  }

 private:
  void prepare_directory(bool restart) {
    communicator_.agree([&] {
      if (!communicator_.is_root()) return;
      std::error_code error;
      std::filesystem::create_directories(directory_, error);
      if (error)
        throw InputError("output.directory = \"{}\": cannot be made: {}", directory_,
                         error.message());
      std::ofstream resolved(directory_ + "/run.toml");
      resolved << settings_.resolved;
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

  // Times that a step was to end at are reached up to rounding.
  bool reached(double time) const { return model_.time() >= time - 1e-14 * std::abs(time); }

  bool finished() const {
    return reached(settings_.end) || model_.step_count() >= settings_.max_steps;
  }

  void coarse_step(History& history, const RunControl& control) {
    if (recorder_) recorder_->begin_step(model_.step_count());
    Clock clock;
    telemetry::StepFacts facts{.time = model_.time()};
    model_.prepare_step();
    const double dt = next_dt();
    if (model_.step_count() % output_.history_interval == 0) history.append(model_, dt);
    const std::int64_t updates = model_.cell_updates();
    model_.step(dt);
    agree_on_step(clock.seconds(), control.seconds());
    facts.own_updates = model_.cell_updates() - updates;
    facts.updates = communicator_.sum(facts.own_updates);
    log_step(dt, static_cast<double>(facts.updates));
    if (recorder_) record(facts, dt);
  }

  // The slowest rank's view of the step that took `seconds`, `run_seconds` after the beginning.
  void agree_on_step(double seconds, double run_seconds) {
    const bool due = output_.checkpoint_interval > 0.0 && !finished() &&
                     run_seconds - last_checkpoint_seconds_ >= output_.checkpoint_interval;
    double most[] = {seconds, static_cast<double>(memory_use().current), due ? 1.0 : 0.0};
    communicator_.max_in_place(std::span<double>(most));
    step_seconds_ = most[0];
    memory_ = most[1];
    checkpoint_is_due_ = most[2] > 0.0;
    if (checkpoint_is_due_) last_checkpoint_seconds_ = run_seconds;
  }

  void record(telemetry::StepFacts& facts, double dt) {
    facts.dt = dt;
    facts.seconds = step_seconds_;
    model_.report_step(*recorder_, facts);
    recorder_->describe_step(facts);
  }

  // The longest stable step that does not pass the end or an output time.
  double next_dt() const {
    const double dt = model_.stable_dt(), time = model_.time();
    OCTANT_REQUIRE(std::isfinite(dt) && dt > 1e-14 * std::max(settings_.end, std::abs(time)),
                   "step {}, time {}: the time step {} is no step at all; some signal is far too "
                   "fast",
                   model_.step_count(), time, dt);
    // A snapshot that a shorter interval has made overdue is written after the step.
    const double left = std::min(settings_.end, next_snapshot_time()) - time;
    return left > 0.0 && left <= dt * (1.0 + 1e-12) ? left : dt;
  }

  double next_snapshot_time() const {
    double next = settings_.end;
    if (output_.snapshot_interval > 0.0) {
      const double interval = output_.snapshot_interval;
      next = std::min(
          next, (std::floor(progress_.last_snapshot_time / interval + 1e-9) + 1.0) * interval);
    }
    for (const double time : output_.snapshot_times)
      if (time > progress_.last_snapshot_time + 1e-12 * std::abs(time)) next = std::min(next, time);
    return next;
  }

  bool snapshot_is_due() const { return !finished() && reached(next_snapshot_time()); }

  void snapshot() {
    const auto timing = model_.timers().time("output", Phase::io);
    const std::string path = fmt::format("{}/snap_{:05d}.h5", directory_, progress_.next_snapshot);
    model_.write_snapshot(path);
    ++progress_.next_snapshot;
    progress_.last_snapshot_time = model_.time();
    log::info("wrote {} at {}", path, model_.when());
  }

  void checkpoint() {
    const auto timing = model_.timers().time("output", Phase::io);
    const std::string path =
        fmt::format("{}/checkpoint_{:05d}.h5", directory_, progress_.next_checkpoint);
    ++progress_.next_checkpoint;
    model_.write_checkpoint(progress_, path);
    if (communicator_.is_root()) remove_old_checkpoints(directory_, output_.checkpoint_keep);
    if (recorder_) recorder_->merge();
    log::info("wrote {} at {}", path, model_.when());
  }

  void log_step(double dt, double updates) const {
    const std::string state = model_.status();
    const double left = (settings_.end - model_.time()) / dt * step_seconds_;
    log::status("step {} {} dt {:.3g} {} {:.2f} M cells/s {:.0f} MB {:.0f} s left",
                model_.step_count(), model_.when(), dt, state, 1e-6 * updates / step_seconds_,
                1e-6 * memory_, left);
    log::debug("step {} time {} dt {} {}", model_.step_count(), model_.time(), dt, state);
  }

  void finish(History& history, ExitCode code) {
    model_.measure();
    history.append(model_, 0.0);
    if (code == k_done) snapshot();
    if (recorder_) recorder_->finish();
    const std::string table = timing_table(model_.timers(), communicator_);
    const auto memory = memory_use();
    const double least = communicator_.min(static_cast<double>(memory.peak));
    const double most = communicator_.max(static_cast<double>(memory.peak));
    const auto updates = static_cast<double>(communicator_.sum(model_.cell_updates()));
    const double sweeping = communicator_.max(model_.timers().total_seconds());
    log::info("{}", table);
    model_.log_end();
    log::info(
        "{:.4g} cell updates, {:.2f} million per second; peak memory per rank {:.0f} to {:.0f} "
        "MB",
        updates, 1e-6 * updates / sweeping, 1e-6 * least, 1e-6 * most);
    if (code != k_done) return;
    log::info("done: {} after {} steps", model_.when(), model_.step_count());
    announce_results();
  }

  // Tells who started the program, if it asked, where there are results to make pictures of.
  void announce_results() const {
    const char* file = std::getenv("OCTANT_DONE_FILE");
    if (file != nullptr && communicator_.is_root() && !output_.pictures.empty())
      std::ofstream(file) << directory_ << '\n';
  }

  Model& model_;
  Communicator communicator_;
  RunSettings settings_;
  OutputOptions output_;  // run control may change its intervals
  std::string directory_;
  OutputProgress progress_;
  double step_seconds_ = 0.0, memory_ = 0.0;  // of the slowest and the fullest rank
  bool checkpoint_is_due_ = false;
  double last_checkpoint_seconds_ = 0.0;
  std::unique_ptr<telemetry::Recorder> recorder_;  // null: nothing is recorded
};

}  // namespace

int run(Model& model, const RunRequest& request) { return Run(model, request).run(); }

}  // namespace octant::driver
