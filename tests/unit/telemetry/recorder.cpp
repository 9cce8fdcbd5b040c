#include "telemetry/recorder.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <Kokkos_Core.hpp>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/observer.hpp"
#include "parquet_table.hpp"
#include "telemetry/parquet_io.hpp"

namespace octant::telemetry {
namespace {

namespace fs = std::filesystem;

// Outside of the tests' bodies, where nvcc takes no KOKKOS_LAMBDA.
void run_kernel(const char* name) { Kokkos::parallel_for(name, 3, KOKKOS_LAMBDA(int){}); }

class Recording : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder());
    attributes.directory = folder();
    attributes.model = "amr";
    attributes.block_size = 8;
  }
  void TearDown() override { fs::remove_all(folder()); }

  static std::string folder() {
    return (fs::temp_directory_path() / fmt::format("octant_recording_{}", ::getpid())).string();
  }
  std::vector<std::string> files(const std::string& table) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder() + "/telemetry"))
      if (entry.path().filename().string().find(table) != std::string::npos)
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  ParquetTable only_table(const std::string& table) const {
    const auto names = files(table);
    OCTANT_REQUIRE(names.size() == 1, "{} files of {}", names.size(), table);
    return ParquetTable(folder() + "/telemetry/" + names[0]);
  }

  // Steps with a scope each.
  void record(int first, int end) const {
    Recorder recorder(options, attributes, alone());
    for (int step = first; step < end; ++step) {
      recorder.begin_step(step);
      {
        const Observed sweep(Phase::compute, "sweep", 1);
        sweep.count(512);
      }
      recorder.add_block({.level = 1, .key = 77, .updates = 2, .cost_ns = 1500.0, .work = 1024.0});
      recorder.describe_step({.time = 0.5 * step, .dt = 0.5, .own_blocks = 1, .own_work = 1024.0});
    }
    recorder.finish();
  }

  TelemetryOptions options;
  RunFacts attributes;
};

TEST_F(Recording, rows_come_back_as_they_were_told) {
  record(0, 3);
  const ParquetTable steps = only_table("steps"), blocks = only_table("blocks");
  ASSERT_EQ(steps.rows(), 3);
  EXPECT_EQ(steps.number("step", 2), 2.0);
  EXPECT_EQ(steps.number("time", 2), 1.0);
  EXPECT_EQ(steps.number("segment", 0), 0.0);
  EXPECT_EQ(blocks.number("key", 1), 77.0);
  EXPECT_EQ(blocks.number("cost_ns", 1), 1500.0);
  EXPECT_EQ(blocks.number("updates", 1), 2.0);
  EXPECT_EQ(blocks.metadata("octant.schema"), "1");
  EXPECT_EQ(blocks.metadata("octant.block_size"), "8");
  EXPECT_EQ(blocks.metadata("octant.run").size(), 16U);

  const ParquetTable phases = only_table("phases");
  bool found = false;
  for (int row = 0; row < phases.rows(); ++row)
    if (phases.text("name", row) == "sweep") {
      found = true;
      EXPECT_EQ(phases.text("phase", row), "compute");
      EXPECT_EQ(phases.number("level", row), 1.0);
      EXPECT_EQ(phases.number("cells", row), 512.0);
    }
  EXPECT_TRUE(found);
}

TEST_F(Recording, self_times_of_a_step_add_up_to_its_duration) {
  record(0, 4);
  const ParquetTable ranks = only_table("ranks"), phases = only_table("phases");
  for (int step = 0; step < 4; ++step) {
    double self = 0.0;
    for (int row = 0; row < phases.rows(); ++row)
      if (phases.number("step", row) == step) self += phases.number("self_ns", row);
    EXPECT_EQ(self, ranks.number("end_ns", step) - ranks.number("start_ns", step));
    if (step == 0) continue;
    EXPECT_EQ(ranks.number("start_ns", step), ranks.number("end_ns", step - 1));
  }
}

TEST_F(Recording, kernels_are_phases_where_no_scope_says_what_they_are_for) {
  Recorder recorder(options, attributes, alone());
  recorder.begin_step(0);
  run_kernel("a kernel");
  run_kernel("pack");
  {
    const Observed scope(Phase::regrid, "regrid");
    run_kernel("hidden");
  }
  recorder.describe_step({});
  recorder.finish();
  const ParquetTable phases = only_table("phases");
  std::map<std::string, std::string> phase_of;
  for (int row = 0; row < phases.rows(); ++row)
    phase_of[phases.text("name", row)] = phases.text("phase", row);
  EXPECT_EQ(phase_of["a kernel"], "compute");
  EXPECT_EQ(phase_of["pack"], "pack");
  EXPECT_EQ(phase_of["regrid"], "regrid");
  EXPECT_FALSE(phase_of.contains("hidden"));
}

TEST_F(Recording, kernels_tell_how_long_they_ran_and_what_was_announced_of_them) {
  options.detail = Detail::full;
  Recorder recorder(options, attributes, alone());
  for (int step = 0; step < 2; ++step) {
    recorder.begin_step(step);
    const Observed scope(Phase::regrid, "regrid", 3);
    record_kernel_work("flags", 3, {.bytes = 16.0, .operations = 2.5});
    run_kernel("flags");
    run_kernel("flags");
    run_kernel("Kokkos::View::initialization [some array]");
  }
  recorder.finish();
  const ParquetTable kernels = only_table("kernels"), launches = only_table("launches");
  ASSERT_EQ(kernels.rows(), 4);
  EXPECT_EQ(launches.rows(), 6);
  EXPECT_EQ(kernels.number("step", 2), 1.0);
  EXPECT_EQ(kernels.text("name", 2), "flags");
  EXPECT_EQ(kernels.text("part", 2), "regrid");
  EXPECT_EQ(kernels.number("level", 2), 3.0);
  EXPECT_EQ(kernels.number("calls", 2), 2.0);
  EXPECT_EQ(kernels.number("items", 2), 3.0);
  EXPECT_EQ(kernels.number("bytes", 2), 48.0);
  EXPECT_EQ(kernels.number("operations", 2), 7.0) << "whole ones";
  EXPECT_GT(kernels.number("duration_ns", 2), 0.0);
  EXPECT_EQ(kernels.text("name", 3), "Kokkos");
  EXPECT_EQ(kernels.number("items", 3), 0.0);
  EXPECT_GE(launches.number("start_ns", 3), kernels.number("start_ns", 2));
}

int g_fences = 0;

TEST_F(Recording, hooks_wait_for_no_kernel) {
  namespace tools = Kokkos::Tools::Experimental;
  Recorder recorder(options, attributes, alone());
  recorder.begin_step(0);
  tools::set_begin_fence_callback([](const char*, std::uint32_t, std::uint64_t*) { ++g_fences; });
  Kokkos::fence("a fence that is seen");
  EXPECT_GT(g_fences, 0);
  g_fences = 0;
  run_kernel("a kernel");
  tools::set_begin_fence_callback(nullptr);
  EXPECT_EQ(g_fences, 0);
}

TEST_F(Recording, every_window_is_a_file_until_they_are_merged) {
  options.window = 4;
  {
    Recorder recorder(options, attributes, alone());
    for (int step = 0; step < 10; ++step) {
      recorder.begin_step(step);
      recorder.describe_step({});
    }
    EXPECT_EQ(files("ranks"), (std::vector<std::string>{"ranks-00000000-00000003-n0000.parquet",
                                                        "ranks-00000004-00000007-n0000.parquet"}));
    recorder.merge();
    EXPECT_EQ(files("ranks"), (std::vector<std::string>{"ranks-00000000-00000008-n0000.parquet"}));
    recorder.finish();
  }
  EXPECT_EQ(files("ranks"), (std::vector<std::string>{"ranks-00000000-00000009-n0000.parquet"}));
  const ParquetTable ranks = only_table("ranks");
  ASSERT_EQ(ranks.rows(), 10);
  for (int row = 0; row < 10; ++row) EXPECT_EQ(ranks.number("step", row), row);
}

// Compressing all that a long run has recorded would take minutes at its end.
TEST_F(Recording, the_end_of_a_long_run_copies_what_is_compressed_already) {
  constexpr int k_steps = 6, k_blocks = 100'000;
  Recorder recorder(options, attributes, alone());
  std::uint64_t random = 1;
  for (int step = 0; step < k_steps; ++step) {
    recorder.begin_step(step);
    for (int n = 0; n < k_blocks; ++n) {
      random = 6364136223846793005U * random + 1442695040888963407U;
      recorder.add_block({.level = 0, .key = random, .updates = 1});
    }
    recorder.describe_step({});
    recorder.merge();
  }
  recorder.finish();
  const auto path_of = [](const std::string& name) { return folder() + "/telemetry/" + name; };
  const auto name = files("blocks");
  ASSERT_EQ(name, (std::vector<std::string>{"blocks-00000000-00000005-n0000.parquet"}));
  const parquet::Input blocks(path_of(name[0])), ranks(path_of(files("ranks")[0]));
  EXPECT_EQ(blocks.groups(), 6U);
  EXPECT_EQ(only_table("blocks").rows(), k_steps * k_blocks);
  EXPECT_EQ(ranks.groups(), 1U);  // small tables are decompressed and merged
  EXPECT_EQ(only_table("ranks").rows(), k_steps);
}

TEST_F(Recording, a_merge_in_a_step_leaves_that_step_to_the_next_file) {
  Recorder recorder(options, attributes, alone());
  for (int step = 0; step < 3; ++step) {
    recorder.begin_step(step);
    recorder.add_block({.level = 0, .key = 1, .updates = 1});
    recorder.describe_step({});
  }
  recorder.merge();
  EXPECT_EQ(files("blocks"), (std::vector<std::string>{"blocks-00000000-00000001-n0000.parquet"}));
  EXPECT_EQ(only_table("blocks").rows(), 2);
  EXPECT_EQ(only_table("ranks").rows(), 2);
  recorder.finish();
  EXPECT_EQ(only_table("blocks").rows(), 3);
  EXPECT_EQ(only_table("ranks").rows(), 3);
}

TEST_F(Recording, a_restart_is_the_next_segment_of_the_same_run) {
  record(0, 4);
  const std::string run = only_table("steps").metadata("octant.run");
  attributes.restart = true;
  record(2, 5);
  const ParquetTable again(folder() + "/telemetry/steps-00000002-00000004-n0000.parquet");
  EXPECT_EQ(again.metadata("octant.run"), run);
  EXPECT_EQ(again.metadata("octant.segment"), "1");
  EXPECT_EQ(again.number("segment", 0), 1.0);
  EXPECT_EQ(files("steps").size(), 2U);
}

TEST_F(Recording, a_new_run_removes_what_an_earlier_one_left) {
  record(0, 9);
  std::ofstream(folder() + "/telemetry/.steps-00000009-00000012-n0000.parquet.part") << "half";
  record(0, 2);
  EXPECT_EQ(files("steps"), (std::vector<std::string>{"steps-00000000-00000001-n0000.parquet"}));
}

TEST_F(Recording, events_are_kept_in_full_detail_and_number_messages) {
  options.detail = Detail::full;
  Recorder recorder(options, attributes, alone());
  recorder.begin_step(0);
  const MessageReport message{.peer = 3, .received = true, .bytes = 80, .waited_ns = 10};
  for (int n = 0; n < 2; ++n) recorder.messages("ghosts", 1, std::span(&message, 1));
  recorder.messages("ghosts", 2, std::span(&message, 1));
  recorder.describe_step({});
  recorder.finish();
  const ParquetTable events = only_table("events"), messages = only_table("messages");
  ASSERT_EQ(events.rows(), 3);
  EXPECT_EQ(events.number("sequence", 0), 0.0);
  EXPECT_EQ(events.number("sequence", 1), 1.0);
  EXPECT_EQ(events.number("sequence", 2), 0.0) << "of another level";
  EXPECT_EQ(events.text("phase", 0), "wait");
  EXPECT_EQ(events.number("peer", 0), 3.0);
  ASSERT_EQ(messages.rows(), 1);
  EXPECT_EQ(messages.text("direction", 0), "receive");
  EXPECT_EQ(messages.number("messages", 0), 3.0);
  EXPECT_EQ(messages.number("bytes", 0), 240.0);
  EXPECT_EQ(messages.number("wait_ns", 0), 30.0);
}

TEST_F(Recording, the_number_of_events_is_bounded) {
  options.detail = Detail::full;
  Recorder recorder(options, attributes, alone());
  recorder.begin_step(0);
  for (int n = 0; n < 70'000; ++n) const Observed scope(Phase::compute, "tiny");
  recorder.describe_step({});
  recorder.finish();
  const ParquetTable events = only_table("events");
  EXPECT_EQ(events.rows(), 65'536);
  EXPECT_EQ(events.metadata("octant.events_dropped"), "4464");
}

TEST_F(Recording, tasks_have_parents_and_kernels_name_their_task) {
  Recorder recorder(options, attributes, alone());
  for (int step = 0; step < 2; ++step) {
    recorder.begin_step(step);
    for (const char* around : {"sweep", "regrid"}) {
      const Observed outer(Phase::regrid, around, 1);
      const Observed inner(Phase::compute, "ghosts");
      run_kernel("fill");
    }
    recorder.describe_step({});
  }
  recorder.finish();
  const ParquetTable phases = only_table("phases"), kernels = only_table("kernels");
  ASSERT_EQ(phases.rows(), 10);
  const double parents[] = {-1, 0, 1, 0, 3};
  for (int row = 0; row < 10; ++row) {
    EXPECT_EQ(phases.number("task", row), row % 5);
    EXPECT_EQ(phases.number("parent", row), parents[row % 5]);
  }
  ASSERT_EQ(kernels.rows(), 4);
  for (int row = 0; row < 4; ++row) {
    EXPECT_EQ(kernels.text("part", row), "ghosts");
    EXPECT_EQ(kernels.number("task", row), row % 2 == 0 ? 2 : 4);
    EXPECT_EQ(kernels.number("calls", row), 1);
  }
}

TEST_F(Recording, one_execution_in_a_hundred_is_a_sample) {
  constexpr int k_scopes = 40'000, k_kernels = 10'000;
  Recorder recorder(options, attributes, alone());
  recorder.begin_step(7);
  {
    const Observed around(Phase::regrid, "around", 2);
    for (int n = 0; n < k_scopes; ++n) const Observed scope(Phase::compute, "tiny");
    for (int n = 0; n < k_kernels; ++n) run_kernel("a kernel");
  }
  recorder.describe_step({});
  recorder.finish();
  const ParquetTable samples = only_table("samples");
  std::map<std::string, int> count;
  for (int row = 0; row < samples.rows(); ++row) {
    const std::string name = samples.text("name", row);
    if (name == "around") continue;
    count[name] += 1;
    EXPECT_EQ(samples.text("kind", row), name == "tiny" ? "task" : "kernel");
    EXPECT_EQ(samples.number("task", row), name == "tiny" ? 2 : 1);
    EXPECT_EQ(samples.number("level", row), 2);
    EXPECT_EQ(samples.number("step", row), 7);
    EXPECT_GE(samples.number("duration_ns", row), 0);
  }
  EXPECT_NEAR(count["tiny"], 400, 80);
  EXPECT_NEAR(count["a kernel"], 100, 40);
  EXPECT_TRUE(files("events").empty());
  EXPECT_TRUE(files("launches").empty());
}

TEST_F(Recording, a_trigger_turns_on_full_detail_for_some_steps) {
  options.trigger = "step > 20 ms";
  options.trigger_steps = 2;
  Recorder recorder(options, attributes, alone());
  for (int step = 0; step < 6; ++step) {
    recorder.begin_step(step);
    const Observed scope(Phase::compute, "sweep");
    if (step == 1) ::usleep(30'000);
  }
  recorder.finish();
  const ParquetTable events = only_table("events");
  std::set<double> steps;
  for (int row = 0; row < events.rows(); ++row) steps.insert(events.number("step", row));
  EXPECT_EQ(steps, (std::set<double>{2.0, 3.0}));
}

TEST_F(Recording, ranks_have_arrays_in_device_memory) {
  constexpr std::int64_t k_bytes = 3000;
  start_memory_account();
  const std::int64_t before = device_memory_use().current;
  const char on_host = 0, on_device = 0;
  count_array("on the host", &on_host, k_bytes);
  record(0, 1);
  EXPECT_EQ(only_table("ranks").number("device_bytes", 0), static_cast<double>(before));
  count_array("on a device", &on_device, k_bytes, true);
  fs::remove_all(folder());
  record(0, 1);
  EXPECT_EQ(only_table("ranks").number("device_bytes", 0), static_cast<double>(before + k_bytes));
  forget_array(&on_device);
  forget_array(&on_host);
}

TEST_F(Recording, a_folder_that_cannot_be_made_is_refused) {
  fs::create_directories(folder());
  std::ofstream(folder() + "/telemetry") << "a file in its place";
  EXPECT_THROW(Recorder(options, attributes, alone()), InputError);
}

TEST_F(Recording, a_file_that_cannot_be_written_is_an_error_that_names_it) {
  const Column column{"step", std::vector<std::int64_t>{1, 2}};
  const std::string path = folder() + "/missing/steps.parquet";
  try {
    write_parquet(path, std::span(&column, 1), {});
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

TEST_F(Recording, nobody_observes_once_a_recorder_is_gone) {
  {
    Recorder recorder(options, attributes, alone());
    recorder.begin_step(0);
    EXPECT_EQ(Observer::current(), &recorder);
  }
  EXPECT_EQ(Observer::current(), nullptr);
  run_kernel("unheard");
}

TEST(Window, packed_windows_add_up_with_their_own_names) {
  Window first, second, all;
  first.names.number("unused");
  first.phases.push_back({.step = 1, .rank = 0, .name = first.names.number("sweep")});
  second.phases.push_back({.step = 1, .rank = 1, .name = second.names.number("sweep")});
  second.messages.push_back({.step = 1, .rank = 1, .component = second.names.number("ghosts")});
  second.kernels.push_back(
      {.name = second.names.number("sweep"), .part = second.names.number("ghosts")});
  second.events_dropped = 5;
  auto bytes = first.packed();
  const auto more = second.packed();
  bytes.insert(bytes.end(), more.begin(), more.end());
  all.append_packed(bytes);
  ASSERT_EQ(all.phases.size(), 2U);
  EXPECT_EQ(all.phases[0].name, all.phases[1].name);
  EXPECT_EQ(all.names.names()[all.phases[1].name], "sweep");
  EXPECT_EQ(all.names.names()[all.messages[0].component], "ghosts");
  EXPECT_EQ(all.names.names()[all.kernels[0].name], "sweep");
  EXPECT_EQ(all.names.names()[all.kernels[0].part], "ghosts");
  EXPECT_EQ(all.events_dropped, 5);
}

TEST(Window, parts_by_steps_hold_all_rows_once_and_know_their_names) {
  Window whole;
  const std::int32_t sweep = whole.names.number("sweep");
  for (std::int64_t step = 3; step < 10; ++step) {
    whole.phases.push_back({.step = step, .name = sweep});
    whole.blocks.push_back({.step = step});
  }
  const Window early = whole.between(3, 5), late = whole.between(6, 9);
  EXPECT_EQ(early.phases.size(), 3U);
  EXPECT_EQ(late.phases.front().step, 6);
  EXPECT_EQ(late.names.names()[late.phases.front().name], "sweep");
  EXPECT_EQ(early.bytes() + late.bytes(), whole.bytes());
  EXPECT_EQ(whole.bytes(), 7 * static_cast<std::int64_t>(sizeof(PhaseRow) + sizeof(BlockRow)));
}

}  // namespace
}  // namespace octant::telemetry
