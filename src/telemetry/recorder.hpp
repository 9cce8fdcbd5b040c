// The face of telemetry/: the recorder of a run.
//
// It observes the run (core/observer.hpp) and the Kokkos kernels, adds up what it hears by step,
// level, phase and name, and writes a window of steps at a time as Parquet files, which
// docs/telemetry.md describes. Memory grows with the rows of a window, never with events.
#pragma once

#include <cstdint>
#include <string>

#include "telemetry/archive.hpp"
#include "telemetry/kernel_table.hpp"
#include "telemetry/message_table.hpp"
#include "telemetry/phase_table.hpp"
#include "telemetry/telemetry_options.hpp"
#include "telemetry/trigger.hpp"

namespace octant::telemetry {

// What is known of a step once it has been taken.
struct StepFacts {
  double time = 0.0, dt = 0.0;  // at its beginning, and its length, in code units
  double seconds = 0.0;         // the same on all ranks
  bool regridded = false, rebalanced = false;
  int finest_level = 0;
  std::int64_t blocks = 0, leaf_cells = 0, updates = 0;              // of the whole run
  std::int64_t own_blocks = 0, own_leaf_cells = 0, own_updates = 0;  // of this rank
  double own_work = 0.0;                                             // in work units
};

struct BlockFacts {
  int level = 0;
  std::uint64_t key = 0;
  int updates = 0;
  double cost_ns = 0.0, work = 0.0;
};

struct PlacementFacts {
  int level = -1;
  std::string policy;
  double cplx_x = 0.0;
  double makespan_before = 0.0, makespan_after = 0.0;
  std::int64_t blocks_moved = 0, bytes_moved = 0;
  double off_rank_share = 0.0, off_node_share = 0.0;
  std::int64_t duration_ns = 0;
};

// Where a kernel runs: in the default execution space, which is the host's or a device's, or in the
// host's beside that of a device.
enum class KernelPlace { host, device, host_beside_device };

// Collective functions say so; they are the only ones that talk to other ranks.
class Recorder final : public Observer {
 public:
  // Throws InputError for a trigger that cannot be understood or a folder that cannot be written.
  // Collective.
  Recorder(const TelemetryOptions& options, const RunFacts& facts, const Ranks& ranks);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The run's directory has another name from here on.
  void set_directory(const std::string& directory) { archive_.set_directory(directory); }

  // A step begins, and the one before ends; observes from the first one on. Writes the window if it
  // is full. Throws RunError on all ranks if that fails. Collective.
  void begin_step(std::int64_t step);
  // About the step under way; on all ranks, once.
  void describe_step(const StepFacts& facts) { facts_ = facts; }
  void add_block(const BlockFacts& facts);
  void add_placement(const PlacementFacts& facts);  // rank 0
  // Writes the steps that have ended and merges the files so far: at a checkpoint. Collective.
  void merge();
  // Ends the last step, writes and merges what is left. Collective.
  void finish();
  // Observes nothing from here on; scopes that are open may still end.
  void stop();

  // --- Observer ---
  void enter(Phase phase, std::string_view name, int level) override;
  void leave() override;
  void lap(Phase phase, std::string_view name) override;
  void count(std::int64_t cells, std::int64_t bytes) override;
  void copied(Cargo cargo, Way way, std::int64_t bytes) override;
  void messages(std::string_view component, int level,
                std::span<const MessageReport> done) override;

  // Around the launch of a kernel; gives what its end is told by. A kernel that runs on the host
  // is a scope of its own where nothing else says what the time is for.
  std::uint64_t begin_kernel(std::string_view name, KernelPlace place);
  void end_kernel(std::uint64_t launch);
  // What kernels of that name are about to work through.
  void announce_kernel(std::string_view name, const KernelWork& work);

 private:
  void end_step(std::int64_t now);
  void add_rank_row(std::int64_t now);
  void add_step_row(std::int64_t now);
  void look_at_trigger(std::int64_t now);
  void add_event(const EventRow& event);
  void write_window();
  void take_kernels(std::int64_t last);
  LaunchRow launch_of(std::string_view name);
  bool window_is_full() const;
  std::int64_t run_time(std::int64_t now) const { return now + alignment_.offset_ns - origin_; }

  TelemetryOptions options_;
  Ranks ranks_;
  Archive archive_;
  Trigger trigger_;
  PhaseTable phases_;
  KernelTable kernels_;
  MessageTable messages_;
  Window window_;     // of the steps that have ended
  Window open_step_;  // rows of the step under way; their names count in window_
  StepFacts facts_;
  Alignment alignment_;
  std::int64_t origin_ = 0;  // the run's start on rank 0's clock
  std::int64_t step_ = -1, first_step_ = -1, step_start_ = 0, step_cpu_ = 0;
  int detailed_steps_ = 0;             // that are still to come, by the trigger
  std::size_t detailed_launches_ = 0;  // in this window
  bool detailed_ = false, step_is_open_ = false, kernel_is_open_ = false;
  double window_seconds_ = 0.0;
};

}  // namespace octant::telemetry
