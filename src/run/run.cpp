#include "run/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/files.hpp"
#include "run/machine.hpp"
#include "run/memory_need.hpp"
#include "run/run_control.hpp"
#include "run/run_files.hpp"
#include "run/run_folder.hpp"
#include "run/timers.hpp"
#include "run/watchdog.hpp"

namespace octant {

// Executes one run from its parameters to its exit code.
class Run::Loop {
 public:
  Loop(Model& model, const RunRequest& request, Signals signals)
      : model_(model),
        communicator_(model.communicator()),
        settings_(model.settings()),
        output_(settings_.output),
        folder_(communicator_, output_.directory, output_mode_of(request)),
        control_(settings_.run, output_.directory, communicator_, signals == Signals::of_the_run) {
    const bool restart = !request.restart.empty();
    communicator_.collective_try(
        [&] { log::start(communicator_.rank(), communicator_.is_root() ? file("log.txt") : ""); });
    if (settings_.run.watchdog > 0.0)
      watchdog_ = std::make_unique<Watchdog>(settings_.run.watchdog, communicator_.rank());
    const Machine machine = machine_of(communicator_);
    begin_telemetry(restart, machine);
    model_.log_start();
    log_machine(machine);
    if (restart) go_on(request.restart);
    else model_.initialise();
    start_time_ = restart ? std::min(0.0, model_.time()) : model_.time();
    write_parameters();
    history_.emplace(model_, folder_.path(), earlier_history_);
    if (watchdog_) watchdog_->pause();
  }

  // Lets the watchdog, if there is one, watch until the end of the scope.
  class Watched {
   public:
    explicit Watched(Watchdog* watchdog) : watchdog_(watchdog) {
      if (watchdog_) watchdog_->resume();
    }
    ~Watched() {
      if (watchdog_) watchdog_->pause();
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    Watchdog* watchdog_;
  };

  // Runs an action that may fail. A failure is logged with instructions to continue the run.
  template <class Action>
  auto explained(const Action& action) {
    const Watched watched(watchdog_.get());
    try {
      return action();
    } catch (const RunError&) {
      if (!restart_.empty())
        log::warn("{}: the run ends; --restart {} continues from step {}", folder_.path(), restart_,
                  checkpoint_step_);
      throw;
    }
  }

  bool step(double latest) {
    if (!has_begun_) begin();
    if (finished() || code_ == k_stopped_early) return false;
    const UserRequests requests = control_.poll(output_, step_seconds_);
    if (requests.dump) snapshot();
    if (requests.stop) {
      log::info("stopping at step {}: {}", model_.step_count(), requests.reason);
      checkpoint();
      code_ = k_stopped_early;
      return false;
    }
    coarse_step(latest);
    commit();
    if (snapshot_is_due()) snapshot();
    if (cutouts_are_due()) cutouts();
    if (checkpoint_is_due_) checkpoint();
    return true;
  }

  void write_snapshot() {
    if (!has_begun_) begin();
    snapshot();
  }

  void write_checkpoint() {
    if (!has_begun_) begin();
    checkpoint();
  }

  int finish() {
    if (!has_begun_) begin();
    finish(code_);
    return code_;
  }

 private:
  void begin() {
    has_begun_ = true;
    if (model_.step_count() > 0) return;
    snapshot();
    if (output_.cutout_interval > 0.0) cutouts();
  }

  static OutputMode output_mode_of(const RunRequest& request) {
    if (request.overwrite) return OutputMode::replace;
    return request.restart.empty() ? OutputMode::create : OutputMode::resume;
  }

  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }

  void go_on(const std::string& requested) {
    const std::string path = find_checkpoint(communicator_, requested, output_.directory);
    progress_ = read_checkpoint(model_, path);
    require_newest_checkpoint(communicator_, path, folder_.path());
    folder_.supersede_snapshots(progress_.next_snapshot, progress_.next_cutout);
    // A directory is the output of another code. The root alone writes the history.
    if (communicator_.is_root() && !std::filesystem::is_directory(path))
      earlier_history_ = std::filesystem::path(path).replace_filename("history.csv").string();
    checkpoint_step_ = model_.step_count();
    restart_ = requested;
    log::info("restarted from {} at step {}, {}", path, model_.step_count(), model_.when());
    warn_if_done();
  }

  // Warns if a restarted run has nothing to do because its checkpoint is at or beyond the end.
  void warn_if_done() const {
    if (model_.step_count() >= settings_.max_steps)
      log::warn(
          "nothing to do: the restart is at step {}, and time.max_steps = {} counts from the "
          "beginning of that run; increase time.max_steps",
          model_.step_count(), settings_.max_steps);
    else if (reached(settings_.end))
      log::warn(
          "nothing to do: the restart is at {}, which is at or after the end of the run; increase "
          "time.end or set a later cosmology.end",
          model_.when());
  }

  void write_parameters() const {
    WholeFile whole(communicator_, file("run.toml"));
    communicator_.collective_try([&] {
      if (!communicator_.is_root()) return;
      PosixFile part(whole.part_path(), PosixFile::Mode::update);
      part.write_at(0, std::as_bytes(std::span(settings_.resolved)));
      part.sync();
    });
    whole.commit();
  }

  // Replaces the previous run in the directory after this run's first step.
  void commit() {
    if (!folder_.is_temporary()) return;
    folder_.commit();
    if (recording_) recording_->set_directory(folder_.path());
  }

  void begin_telemetry(bool restart, const Machine& machine) {
    recorder_ = make_recorder(communicator_, settings_, folder_.path(), restart, machine);
    recording_ = recorder_.get();
    if (recording_ && watchdog_)
      recording_->connect_by([this](Observer* observer) { watchdog_->forward_to(observer); });
  }

  static void log_machine(const Machine& machine) {
    log::info("{}", machine.describe());
    for (const std::string& warning : machine.warnings()) log::warn("{}", warning);
  }

  // Runs a step of telemetry. An error of its files ends the recording, not the run.
  void with_recorder(const std::function<void(telemetry::Recorder&)>& step) {
    if (!recording_) return;
    try {
      step(*recording_);
    } catch (const RunError& error) {
      log::warn("{}; the run continues without telemetry", error.what());
      recording_->stop();
      recording_ = nullptr;
    }
  }

  // Returns true if a time is reached up to rounding.
  bool reached(double time) const { return model_.time() >= time - 1e-14 * std::abs(time); }

  bool finished() const {
    return reached(settings_.end) || model_.step_count() >= settings_.max_steps;
  }

  // Progress of the run by time or by steps, whichever is larger.
  double progress_fraction() const {
    const double by_time = (model_.time() - start_time_) / (settings_.end - start_time_);
    const double by_steps = static_cast<double>(model_.step_count()) /
                            static_cast<double>(std::max<std::int64_t>(1, settings_.max_steps));
    return std::clamp(std::max(by_time, by_steps), 0.0, 1.0);
  }

  void coarse_step(double latest) {
    if (watchdog_) watchdog_->set_step(model_.step_count());
    with_recorder([&](auto& recorder) { recorder.begin_step(model_.step_count()); });
    Clock clock;
    const double share = progress_fraction();
    telemetry::StepFacts attributes{.time = model_.time()};
    model_.prepare_step();
    const double dt = next_dt(latest);
    if (model_.step_count() % output_.history_interval == 0) history_->append(model_, dt);
    const std::int64_t own_updates = model_.cell_updates(), updates = model_.all_cell_updates();
    model_.step(dt);
    settings_.debug.delay_step(clock.seconds());
    agree_on_step(clock.seconds(), control_.seconds());
    time_left_.add(progress_fraction() - share, step_seconds_);
    attributes.own_updates = model_.cell_updates() - own_updates;
    attributes.updates = model_.all_cell_updates() - updates;
    log_step(dt, static_cast<double>(attributes.updates));
    if (recording_) record(attributes, dt);
  }

  // Takes maxima over ranks for the step that took `seconds` and ended `run_seconds` after the
  // start.
  void agree_on_step(double seconds, double run_seconds) {
    const bool due = output_.checkpoint_interval > 0.0 && !finished() &&
                     run_seconds - last_checkpoint_seconds_ >= output_.checkpoint_interval;
    double most[] = {seconds, static_cast<double>(scarce_memory_use().current), due ? 1.0 : 0.0};
    communicator_.max_in_place(std::span<double>(most));
    step_seconds_ = most[0];
    memory_ = most[1];
    checkpoint_is_due_ = most[2] > 0.0;
    if (checkpoint_is_due_) last_checkpoint_seconds_ = run_seconds;
  }

  void record(telemetry::StepFacts& attributes, double dt) {
    attributes.dt = dt;
    attributes.seconds = step_seconds_;
    model_.report_step(*recording_, attributes);
    recording_->describe_step(attributes);
  }

  // Returns the longest stable step that does not pass the end, an output time or `latest`. It may
  // be infinite, as when the last particle has left the domain.
  double next_dt(double latest) const {
    const double dt = model_.stable_dt(), time = model_.time();
    // time.max_steps may end the run long before time.end. Steps far shorter than in any
    // realistic run still indicate a broken state.
    constexpr double k_shortest_fraction = 1e-25;
    const auto steps = static_cast<double>(settings_.max_steps - model_.step_count());
    const double farthest = std::min(settings_.end, std::abs(time) + steps * dt);
    if (std::isnan(dt) || dt <= 1e-14 * std::max(farthest, std::abs(time)) ||
        dt <= k_shortest_fraction * settings_.end)
      throw RunError(
          "step {}, time {}: the time step {} is too small to reach time.end = {}: the maximum "
          "signal speed is too high, or time.end is too large",
          model_.step_count(), time, dt, settings_.end);
    // A snapshot that is overdue because its interval was reduced is written after the step.
    const double left = std::min({settings_.end, next_snapshot_time(), latest}) - time;
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
    {
      const auto timing = model_.timers().time("output", Phase::io);
      const auto paths =
          model_.write_snapshot(file(fmt::format("snap_{:05d}", progress_.next_snapshot)));
      ++progress_.next_snapshot;
      progress_.last_snapshot_time = model_.time();
      log::info("wrote {} at {}", fmt::join(paths, ", "), model_.when());
    }
    if (output_.cutout_interval == 0.0) cutouts();
  }

  bool cutouts_are_due() const {
    if (output_.cutout_interval == 0.0) return false;
    const auto passed = [&](double time) {
      return std::floor(time / output_.cutout_interval + 1e-9);
    };
    return passed(model_.time()) > passed(progress_.last_cutout_time);
  }

  void cutouts() {
    if (!output_.has_cutouts()) return;
    const auto timing = model_.timers().time("output", Phase::io);
    const auto paths = model_.write_cutouts(folder_.path(), progress_.next_cutout);
    ++progress_.next_cutout;
    progress_.last_cutout_time = model_.time();
    log::info("wrote {} at {}", fmt::join(paths, ", "), model_.when());
  }

  void checkpoint() {
    const auto timing = model_.timers().time("output", Phase::io);
    commit();
    const std::string stem = file(fmt::format("checkpoint_{:05d}", progress_.next_checkpoint));
    ++progress_.next_checkpoint;
    history_->sync(communicator_);
    model_.write_checkpoint(progress_, stem);
    checkpoint_step_ = model_.step_count();
    restart_ = "latest";
    if (communicator_.is_root()) remove_old_checkpoints(folder_.path(), output_.checkpoint_keep);
    with_recorder([](auto& recorder) { recorder.merge(); });
    log::info("wrote {}.h5 at {}", stem, model_.when());
  }

  void log_step(double dt, double updates) const {
    const std::string state = model_.status();
    const double share = progress_fraction();
    log::status("step {} {:.0f} % {} dt {:.3g} {} {:.2f} M cells/s {:.0f} MB {} left",
                model_.step_count(), 100.0 * share, model_.when(), dt, state,
                1e-6 * updates / step_seconds_, 1e-6 * memory_,
                in_words(time_left_.seconds(1.0 - share)));
    log::debug("step {} time {} dt {} {}", model_.step_count(), model_.time(), dt, state);
  }

  void finish(ExitCode code) {
    commit();
    model_.measure();
    history_->append(model_, 0.0);
    if (code == k_done) write_final_state();
    history_->sync(communicator_);
    with_recorder([](auto& recorder) { recorder.finish(); });
    const std::string table = timing_table(model_.timers(), communicator_);
    const auto memory = scarce_memory_use();
    const double least = communicator_.min(static_cast<double>(memory.peak));
    const double most = communicator_.max(static_cast<double>(memory.peak));
    const auto updates = static_cast<double>(model_.all_cell_updates());
    const double sweeping = communicator_.max(model_.timers().total_seconds());
    log::info("{}", table);
    log::info("{}", memory_table(communicator_, static_cast<double>(model_.leaf_cells())));
    model_.log_end();
    log::info(
        "{:.4g} cell updates, {:.2f} million per second; peak memory per rank {:.0f} to {:.0f} "
        "MB",
        updates, 1e-6 * updates / sweeping, 1e-6 * least, 1e-6 * most);
    if (code != k_done) return;
    log::info("done: {} after {} steps", model_.when(), model_.step_count());
    report_results();
  }

  // Writes the final snapshot and checkpoint unless they exist.
  void write_final_state() {
    const bool is_shown =
        progress_.next_snapshot > 0 && progress_.last_snapshot_time == model_.time();
    if (!is_shown) snapshot();
    if (output_.final_checkpoint && checkpoint_step_ != model_.step_count()) checkpoint();
  }

  // Reports the directory of the results to the program that started this one, if it requested
  // that, for plots.
  void report_results() const {
    const char* asked = std::getenv("OCTANT_DONE_FILE");
    if (asked == nullptr || !communicator_.is_root() || output_.pictures.empty()) return;
    try {
      PosixFile file(asked, PosixFile::Mode::update);
      if (file.size() > 0) throw RunError("'{}' is not empty", asked);
      const std::string line = folder_.path() + "\n";
      file.write_at(0, std::as_bytes(std::span(line)));
    } catch (const RunError& error) {
      log::warn("OCTANT_DONE_FILE: {}; no plots are created", error.what());
    }
  }

  Model& model_;
  Communicator communicator_;
  RunSettings settings_;
  OutputOptions output_;  // run control may change its intervals
  RunFolder folder_;
  RunControl control_;
  OutputProgress progress_;
  bool has_begun_ = false;
  ExitCode code_ = k_done;
  std::int64_t checkpoint_step_ = -1;  // step of the newest checkpoint; -1: none
  std::string restart_;                // --restart argument to continue after a failure
  std::string earlier_history_;        // history.csv of the run that is continued
  std::optional<History> history_;
  // Time 0, or that of a new run's first state; 0 or earlier for restarts.
  double start_time_ = 0.0;
  TimeLeft time_left_;
  double step_seconds_ = 0.0, memory_ = 0.0;  // of the slowest and the fullest rank
  bool checkpoint_is_due_ = false;
  double last_checkpoint_seconds_ = 0.0;
  std::unique_ptr<Watchdog> watchdog_;  // null without run.watchdog; outlives the recorder
  std::unique_ptr<telemetry::Recorder> recorder_;
  telemetry::Recorder* recording_ = nullptr;  // null: nothing is recorded
};

ModelKind model_of(const RunRequest& request, const Communicator& communicator) {
  std::optional<ModelKind> model;
  request.files->share(communicator, [&] {
    const auto name = ParameterSchema::peek_text(request.files->parameter_file(request.file),
                                                 request.file, "model", request.overrides);
    model = name ? value_named<ModelKind>(*name) : ModelKind::amr;
    if (!model) throw InputError("model = \"{}\": expected \"amr\" or \"dns\"", *name);
  });
  return *model;
}

Run::Run(Model& model, const RunRequest& request, Signals signals)
    : loop_(std::make_unique<Loop>(model, request, signals)) {}
Run::~Run() = default;

bool Run::step(double latest) {
  return loop_->explained([&] { return loop_->step(latest); });
}
void Run::snapshot() {
  loop_->explained([&] { loop_->write_snapshot(); });
}
void Run::checkpoint() {
  loop_->explained([&] { loop_->write_checkpoint(); });
}
int Run::finish() {
  return loop_->explained([&] { return loop_->finish(); });
}

int run(Model& model, const RunRequest& request) {
  Run run(model, request);
  while (run.step()) {
  }
  return run.finish();
}

}  // namespace octant
