// A run from its first step to its last: where steps end, what it writes and when, how it is asked
// to stop, and how it goes on from a checkpoint. The model is a clock.
#include "run/run.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "../io/scratch.hpp"
#include "commands/command_line.hpp"
#include "core/error.hpp"
#include "core/log.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

using SteppedRun = Run;  // a test has a function Run of its own

constexpr double k_endless = std::numeric_limits<double>::infinity();

// Its state is the time, the number of steps, and a number that depends on all steps before.
class ClockModel final : public Model {
 public:
  explicit ClockModel(const RunSettings& settings) : settings_(settings) {}

  std::function<double(double)> dt_at = [](double) { return 0.1; };
  std::vector<double> snapshot_times, cutout_times, step_ends;
  bool fails_to_begin = false;

  const Communicator& communicator() const override { return world_; }
  RunSettings settings() const override { return settings_; }
  Timers& timers() override { return timers_; }
  void log_start() const override { log::info("a clock runs"); }

  void initialise() override {
    if (fails_to_begin) throw InputError("the clock has no spring");
  }
  OutputProgress read_checkpoint(const std::string& path) override {
    const Hdf5Reader file(world_, path);
    time_ = file.attribute<double>("/header", "time");
    value_ = file.attribute<double>("/header", "value");
    steps_ = file.attribute<std::int64_t>("/header", "step");
    const auto counts = file.attribute<std::vector<std::int64_t>>("/header", "next");
    const auto times = file.attribute<std::vector<double>>("/header", "last");
    return {counts[0], counts[1], times[0], counts[2], times[1]};
  }

  double time() const override { return time_; }
  std::int64_t step_count() const override { return steps_; }
  void prepare_step() override {}
  void measure() override {}
  double stable_dt() const override { return dt_at(time_); }
  void step(double dt) override {
    time_ += dt;
    value_ = std::sin(value_ + dt);
    ++steps_;
    step_ends.push_back(time_);
  }

  Columns history(double dt) const override {
    Columns row;
    row.add("step", steps_);
    row.add("time", time_);
    row.add("dt", dt);
    row.add("value", value_);
    return row;
  }
  std::int64_t cell_updates() const override { return 8 * steps_; }
  std::int64_t all_cell_updates() const override { return cell_updates() * world_.size(); }
  std::int64_t leaf_cells() const override { return 8; }
  void report_step(telemetry::Recorder&, telemetry::StepFacts&) const override {}
  std::string status() const override { return "ticks"; }

  Paths write_snapshot(const std::string& stem) override {
    snapshot_times.push_back(time_);
    return write(stem, {});
  }
  Paths write_cutouts(const std::string& directory, std::int64_t number) override {
    cutout_times.push_back(time_);
    return write(fmt::format("{}/slice_z0_{:05d}", directory, number), {});
  }
  void write_checkpoint(const OutputProgress& progress, const std::string& stem) override {
    write(stem, progress);
  }

 private:
  Paths write(const std::string& stem, const OutputProgress& p) const {
    Hdf5Writer file(world_, stem + ".h5");
    file.group("/header");
    file.attribute("/header", "time", time_);
    file.attribute("/header", "value", value_);
    file.attribute("/header", "step", steps_);
    file.attribute("/header", "next",
                   std::vector<std::int64_t>{p.next_snapshot, p.next_checkpoint, p.next_cutout});
    file.attribute("/header", "last",
                   std::vector<double>{p.last_snapshot_time, p.last_cutout_time});
    file.commit();
    return {stem + ".h5"};
  }

  Communicator world_ = Communicator::world();
  RunSettings settings_;
  Timers timers_;
  double time_ = 0.0, value_ = 0.5;
  std::int64_t steps_ = 0;
};

class Runs : public testing::Test {
 protected:
  Runs() {
    settings_.model = ModelKind::amr;
    settings_.block_size = 0;
    settings_.end = 1.0;
    settings_.max_steps = 1000;
    settings_.output.directory = scratch_.path("run");
    settings_.telemetry.enabled = false;
    settings_.resolved = "[time]\nend = 1.0\n";
  }
  ~Runs() override { log::start(0, "", log::Level::warn); }

  std::string path(const std::string& name) const { return scratch_.path("run/" + name); }
  // All ranks look before any goes on.
  bool exists(const std::string& name) const {
    world_.barrier();
    const bool found = fs::exists(path(name));
    world_.barrier();
    return found;
  }
  // The text of a file.
  std::string text_of(const std::string& name) const {
    world_.barrier();
    std::ifstream file(path(name));
    std::string text{std::istreambuf_iterator<char>(file), {}};
    world_.barrier();
    return text;
  }
  std::size_t lines_of(const std::string& name) const {
    const std::string text = text_of(name);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  // The root's file, for all ranks.
  void put(const std::string& name, const std::string& text) const {
    if (world_.is_root()) std::ofstream(path(name)) << text;
    world_.barrier();
  }
  bool log_has(const std::string& part) const {
    return text_of("log.txt").find(part) != std::string::npos;
  }

  // Runs a clock to its end.
  int run_to_end(const RunRequest& request = {}) {
    ClockModel model(settings_);
    return run(model, request);
  }
  template <class Error>
  std::string error_of_run(const RunRequest& request) {
    try {
      run_to_end(request);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  void expect_times(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], expected[n], 1e-14) << n;
  }

  Communicator world_ = Communicator::world();
  Scratch scratch_{world_};
  RunSettings settings_;
};

RunRequest restart_from(const std::string& checkpoint) {
  RunRequest request;
  request.restart = checkpoint;
  return request;
}
const RunRequest k_latest = restart_from("latest");

RunRequest replacing() {
  RunRequest request;
  request.overwrite = true;
  return request;
}

TEST_F(Runs, end_their_steps_at_snapshots_and_at_the_end) {
  settings_.output.snapshot_interval = 0.25;
  settings_.output.snapshot_times = {0.6};
  ClockModel model(settings_);
  EXPECT_EQ(run(model, {}), k_done);
  const std::vector<double> due{0.0, 0.25, 0.5, 0.6, 0.75, 1.0};
  expect_times(model.snapshot_times, due);
  expect_times(model.step_ends, {0.1, 0.2, 0.25, 0.35, 0.45, 0.5, 0.6, 0.7, 0.75, 0.85, 0.95, 1.0});
  for (std::size_t n = 0; n < due.size(); ++n)
    EXPECT_TRUE(exists(fmt::format("snap_{:05d}.h5", n))) << n;
  EXPECT_FALSE(exists("snap_00006.h5"));
  EXPECT_TRUE(exists("checkpoint_00000.h5"));
  EXPECT_EQ(text_of("run.toml"), settings_.resolved);
  EXPECT_EQ(lines_of("history.csv"), 1u + 12u + 1u);  // header, steps, final state
  EXPECT_TRUE(log_has("a clock runs"));
  EXPECT_TRUE(log_has("done: time 1 after 12 steps"));
}

TEST_F(Runs, write_history_and_cutouts_at_their_own_intervals) {
  settings_.output.history_interval = 4;
  settings_.output.cutout_interval = 0.25;
  settings_.output.slices = {"z = 0"};
  settings_.output.final_checkpoint = false;
  ClockModel model(settings_);
  EXPECT_EQ(run(model, {}), k_done);
  EXPECT_EQ(model.step_ends.size(), 10u);  // cut-outs leave steps as long as they are
  expect_times(model.cutout_times, {0.0, 0.3, 0.5, 0.8, 1.0});
  expect_times(model.snapshot_times, {0.0, 1.0});
  EXPECT_EQ(lines_of("history.csv"), 1u + 3u + 1u);  // steps 0, 4 and 8
  EXPECT_FALSE(exists("checkpoint_00000.h5"));
}

TEST_F(Runs, take_steps_for_a_caller_up_to_a_time) {
  ClockModel model(settings_);
  SteppedRun run(model, {}, Signals::of_the_program);
  EXPECT_TRUE(run.step(0.05));
  EXPECT_EQ(model.time(), 0.05);
  EXPECT_TRUE(run.step(0.25));
  EXPECT_EQ(model.time(), 0.15000000000000002);
  EXPECT_TRUE(run.step(0.25));
  EXPECT_EQ(model.time(), 0.25);
  run.snapshot();
  run.checkpoint();
  EXPECT_TRUE(exists("checkpoint_00000.h5"));
  expect_times(model.snapshot_times, {0.0, 0.25});
  EXPECT_EQ(run.finish(), k_done);
  EXPECT_EQ(model.snapshot_times.size(), 2u);  // that of the final state is there
  EXPECT_FALSE(exists("checkpoint_00001.h5"));
}

TEST_F(Runs, end_after_the_largest_number_of_steps_and_go_on_to_the_same_history) {
  settings_.output.snapshot_interval = 0.25;
  EXPECT_EQ(run_to_end(), k_done);
  const std::string whole = text_of("history.csv");
  const Hdf5Reader expected(world_, path("checkpoint_00000.h5"));
  settings_.output.directory = scratch_.path("run/parts");
  for (const int steps : {5, 9, 1000}) {
    settings_.max_steps = steps;
    EXPECT_EQ(run_to_end(steps == 5 ? RunRequest{} : k_latest), k_done);
  }
  // The final states of the parts have rows with the step 0 in column dt, which the next part
  // replaces.
  EXPECT_EQ(text_of("parts/history.csv"), whole);
  const Hdf5Reader found(world_, path("parts/checkpoint_00002.h5"));
  for (const char* name : {"time", "value"})
    EXPECT_EQ(found.attribute<double>("/header", name),
              expected.attribute<double>("/header", name));
}

TEST_F(Runs, give_rows_of_an_earlier_history_the_columns_of_now) {
  settings_.max_steps = 2;
  EXPECT_EQ(run_to_end(), k_done);
  put("history.csv", "step,dt,time\n0,0.1,0\n1,0.1,0.1\n2,0,0.2\n");  // without the value
  settings_.max_steps = 3;
  EXPECT_EQ(run_to_end(k_latest), k_done);
  const std::string text = text_of("history.csv");
  EXPECT_TRUE(text.starts_with("step,time,dt,value\n0,0,0.1,0\n1,0.1,0.1,0\n2,0.2,0.1,0.6"))
      << text;
  EXPECT_EQ(lines_of("history.csv"), 1u + 3u + 1u);
}

TEST_F(Runs, refuse_a_folder_that_holds_a_run_and_checkpoints_that_are_not_there) {
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(error_of_run<InputError>(k_latest), "--restart latest: there is no checkpoint_*.h5 in");
  settings_.max_steps = 2;
  settings_.output.checkpoint_interval = 1e-9;
  EXPECT_EQ(run_to_end(), k_done);
  expect(error_of_run<InputError>({}), "already contains a run; to continue it: --restart");
  expect(error_of_run<InputError>(restart_from(path("checkpoint_00000.h5"))),
         "contains a run whose newest checkpoint is checkpoint_00001.h5");
  expect(error_of_run<InputError>(restart_from(path("none.h5"))), "none.h5");
}

TEST_F(Runs, that_replace_another_one_move_it_aside_once_they_stand) {
  EXPECT_EQ(run_to_end(), k_done);
  const std::string first = text_of("history.csv");
  {
    ClockModel broken(settings_);
    broken.fails_to_begin = true;
    EXPECT_THROW(run(broken, replacing()), InputError);
  }
  EXPECT_EQ(text_of("history.csv"), first);
  EXPECT_FALSE(exists("../run.old-1"));
  EXPECT_FALSE(exists("../run.new-1"));
  settings_.end = 0.5;
  EXPECT_EQ(run_to_end(replacing()), k_done);
  EXPECT_EQ(text_of("../run.old-1/history.csv"), first);
  EXPECT_EQ(lines_of("history.csv"), 1u + 5u + 1u);
  EXPECT_FALSE(exists("../run.new-1"));
}

TEST_F(Runs, that_go_on_from_before_their_last_snapshots_put_those_aside) {
  settings_.output.snapshot_interval = 0.25;
  settings_.output.final_checkpoint = false;
  {
    ClockModel model(settings_);
    SteppedRun run(model, {});
    while (run.step())
      if (model.step_count() == 4) run.checkpoint();
    EXPECT_EQ(run.finish(), k_done);
  }
  EXPECT_EQ(run_to_end(k_latest), k_done);
  for (const int n : {2, 3, 4})
    EXPECT_TRUE(exists(fmt::format("snapshots.superseded-1/snap_{:05d}.h5", n))) << n;
  EXPECT_FALSE(exists("snapshots.superseded-1/snap_00001.h5"));
  EXPECT_TRUE(exists("snap_00004.h5"));
  EXPECT_TRUE(log_has("moved snapshots written after the checkpoint, starting with 2"));
}

TEST_F(Runs, keep_their_newest_checkpoints_and_name_the_one_before_a_damaged_one) {
  settings_.output.checkpoint_interval = 1e-9;
  settings_.output.checkpoint_keep = 3;
  EXPECT_EQ(run_to_end(), k_done);  // ten steps
  for (int n = 0; n < 10; ++n)
    EXPECT_EQ(exists(fmt::format("checkpoint_{:05d}.h5", n)), n >= 7) << n;
  if (world_.is_root()) fs::resize_file(path("checkpoint_00009.h5"), 1000);
  world_.barrier();
  const std::string message = error_of_run<InputError>(k_latest);
  EXPECT_NE(message.find("The previous checkpoint is " + path("checkpoint_00008.h5")),
            std::string::npos)
      << message;
}

TEST_F(Runs, obey_the_control_file_and_remove_it) {
  ClockModel model(settings_);
  SteppedRun run(model, {});
  EXPECT_TRUE(run.step());
  put("control.toml", "dump = true\nsnapshot_interval = 0.15\n");
  EXPECT_TRUE(run.step());
  EXPECT_FALSE(exists("control.toml"));
  expect_times(model.snapshot_times, {0.0, 0.1, 0.15});
  EXPECT_TRUE(run.step());
  EXPECT_TRUE(run.step());
  expect_times(model.step_ends, {0.1, 0.15, 0.25, 0.3});
  expect_times(model.snapshot_times, {0.0, 0.1, 0.15, 0.3});
  put("control.toml", "stop = true\n");
  EXPECT_FALSE(run.step());
  EXPECT_FALSE(run.step());
  EXPECT_EQ(run.finish(), k_stopped_early);
  EXPECT_TRUE(exists("checkpoint_00000.h5"));
  EXPECT_TRUE(log_has("stopping at step 4: requested by the control file"));
  EXPECT_EQ(model.time(), model.step_ends.back());
}

TEST_F(Runs, leave_a_control_file_with_a_fault_where_it_is) {
  ClockModel model(settings_);
  SteppedRun run(model, {});
  EXPECT_TRUE(run.step());
  for (const char* text : {"stop = \"now\"\n", "halt = true\n", "stop = \n"}) {
    put("control.toml", text);
    EXPECT_TRUE(run.step()) << text;
    EXPECT_TRUE(run.step()) << text;  // one warning
    EXPECT_EQ(text_of("control.toml"), text);
  }
  const std::string log = text_of("log.txt");
  std::size_t warnings = 0, at = 0;
  while ((at = log.find("the control file is ignored until it changes", at)) != std::string::npos)
    ++warnings, ++at;
  EXPECT_EQ(warnings, 3u);
  put("control.toml", "stop = true\n");
  EXPECT_FALSE(run.step());
  EXPECT_EQ(run.finish(), k_stopped_early);
}

TEST_F(Runs, stop_before_the_walltime_is_over) {
  settings_.run.walltime = 60.0;
  settings_.run.walltime_margin = 60.0;
  EXPECT_EQ(run_to_end(), k_stopped_early);
  EXPECT_TRUE(exists("checkpoint_00000.h5"));
  EXPECT_TRUE(log_has("run.walltime is nearly reached"));
  settings_.run.walltime_margin = 1.0;
  EXPECT_EQ(run_to_end(k_latest), k_done);
}

TEST_F(Runs, stop_where_a_signal_reaches_one_rank) {
  for (const int signal : {SIGUSR1, SIGHUP, SIGTERM, SIGUSR1}) {  // each run in its turn
    ClockModel model(settings_);
    SteppedRun run(model, replacing());
    EXPECT_TRUE(run.step());
    if (world_.rank() == world_.size() - 1) std::raise(signal);
    EXPECT_FALSE(run.step());
    EXPECT_EQ(run.finish(), k_stopped_early);
    EXPECT_TRUE(log_has(fmt::format("signal {}", signal)));
  }
}

TEST_F(Runs, refuse_steps_that_come_nowhere_near_the_end) {
  for (const double dt : {0.0, 1e-30, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    ClockModel model(settings_);
    model.dt_at = [dt](double time) { return time < 0.15 ? 0.1 : dt; };
    try {
      run(model, replacing());
      FAIL() << dt;
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("step 2, time 0.2: the time step "),
                std::string::npos)
          << error.what();
    }
  }
  ClockModel free(settings_);  // nothing limits its steps
  free.dt_at = [](double) { return k_endless; };
  EXPECT_EQ(run(free, replacing()), k_done);
  expect_times(free.step_ends, {1.0});
}

TEST_F(Runs, record_telemetry_of_their_steps_where_it_is_enabled) {
  settings_.telemetry.enabled = true;
  EXPECT_EQ(run_to_end(), k_done);
  world_.barrier();
  std::size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(path("telemetry")))
    tables += entry.path().extension() == ".parquet";
  EXPECT_GT(tables, 0u);
}

TEST_F(Runs, tell_whoever_asked_where_results_for_pictures_are) {
  settings_.output.pictures = {"plot"};
  const std::string asked = scratch_.path("done");
  if (world_.is_root()) std::ofstream(asked) << "";
  world_.barrier();
  ::setenv("OCTANT_DONE_FILE", asked.c_str(), 1);
  EXPECT_EQ(run_to_end(), k_done);
  EXPECT_EQ(text_of("../done"), settings_.output.directory + "\n");
  EXPECT_EQ(run_to_end(replacing()), k_done);  // the file is not empty: left as it is
  ::unsetenv("OCTANT_DONE_FILE");
  EXPECT_EQ(text_of("../done"), settings_.output.directory + "\n");
  EXPECT_TRUE(log_has("no plots are created"));
}

}  // namespace

}  // namespace octant
