// Interface of telemetry/: the recorder of a run.
//
// The recorder observes the run (core/observer.hpp) and the Kokkos kernels, sums the reports by
// step, level, phase and name, and writes a window of steps at a time as Parquet files, described
// in docs/telemetry.md. Memory grows with the rows of a window, not with the number of events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "telemetry/archive.hpp"
#include "telemetry/kernel_table.hpp"
#include "telemetry/step_tables.hpp"
#include "telemetry/telemetry_options.hpp"

namespace octant::telemetry {

// Data of a completed step.
struct StepFacts {
  double time = 0.0, dt = 0.0;  // time at the start of the step, and its length, in code units
  double seconds = 0.0;         // same on all ranks
  bool regridded = false, rebalanced = false;
  int finest_level = 0;
  std::int64_t blocks = 0, leaf_cells = 0, updates = 0;              // sums over all ranks
  std::int64_t own_blocks = 0, own_leaf_cells = 0, own_updates = 0;  // values of this rank
  double own_work = 0.0;                                             // in work units
  double own_data_bytes = 0.0;                                       // fields and particles
};

// Block with its cost in a step.
struct BlockFacts {
  int level = 0;
  std::uint64_t key = 0;
  int updates = 0;
  double cost_ns = 0.0, work = 0.0;
  // Components of cost_ns; the rest is that of sweeps.
  double gravity_ns = 0.0, cells_ns = 0.0, particles_ns = 0.0, interactions_ns = 0.0;
};

// Result of a load-balancing policy.
struct PlacementFacts {
  int level = -1;
  std::string policy;
  double cplx_x = 0.0;
  double makespan_before = 0.0, makespan_after = 0.0;
  std::int64_t blocks_moved = 0, bytes_moved = 0;
  double off_rank_share = 0.0, off_node_share = 0.0;
  std::int64_t duration_ns = 0;
};

// Execution space of a kernel: the default one, on the host or on a device, or the host space of a
// program whose default is a device.
enum class KernelPlace { host, device, host_beside_device };

// Recorder of a run. Collective functions are marked as such; only they communicate with other
// ranks.
class Recorder final : public Observer {
 public:
  // Throws InputError for an invalid trigger or a folder that cannot be written. Collective.
  Recorder(const TelemetryOptions& options, const RunFacts& attributes, const Ranks& ranks);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Sets the function that makes this recorder the observer of the process in begin_step(), and
  // that stop() calls with null. By default, it sets Observer::current().
  void connect_by(std::function<void(Observer*)> connect) { connect_ = std::move(connect); }

  // Changes the run's directory.
  void set_directory(const std::string& directory) { archive_.set_directory(directory); }

  // Ends the previous step and begins a new one; observation starts with the first step. Writes the
  // window if it is full. Throws RunError on all ranks on failure. Collective.
  void begin_step(std::int64_t step);
  // Describes the current step; once, on all ranks.
  void describe_step(const StepFacts& attributes) { facts_ = attributes; }
  // Adds a block of the current step.
  void add_block(const BlockFacts& attributes);
  void add_placement(const PlacementFacts& attributes);  // rank 0
  // Writes the completed steps and merges the files so far, at a checkpoint. Collective.
  void merge();
  // Ends the last step, writes and merges the remaining rows. Collective.
  void finish();
  // Stops the observation; open scopes may still end.
  void stop();

  // --- Observer ---
  void enter(Phase phase, std::string_view name, int level) override;
  void leave() override;
  void lap(Phase phase, std::string_view name) override;
  void count(std::int64_t cells, std::int64_t bytes) override;
  void copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes) override;
  void messages(std::string_view component, int level,
                std::span<const MessageReport> done) override;

  // Begins a kernel; must be called around its launch. Returns the number for end_kernel(). A
  // kernel on the host outside of other scopes opens a scope of its own.
  std::uint64_t begin_kernel(std::string_view name, KernelPlace where);
  // Ends a kernel.
  void end_kernel(std::uint64_t launch);
  // Announces the work of the next kernels of that name.
  void record_kernel_work(std::string_view name, const KernelWork& work);

 private:
  void end_step(std::int64_t now);
  void add_rank_row(std::int64_t now);
  void add_step_row(std::int64_t now);
  void check_trigger(std::int64_t now);
  void add_event(const EventRow& event);
  void write_window();
  void take_kernels(std::int64_t last);
  LaunchRow launch_of(std::string_view name);
  bool is_sampled();
  bool window_is_full() const;
  std::int64_t run_time(std::int64_t now) const { return now + alignment_.offset_ns - origin_; }

  TelemetryOptions options_;
  Ranks ranks_;
  Archive archive_;
  Trigger trigger_;
  PhaseTable phases_;
  KernelTable kernels_;
  MessageTable messages_;
  Window window_;     // completed steps
  Window open_step_;  // rows of the current step; their names are in window_
  StepFacts facts_;
  Alignment alignment_;
  std::int64_t origin_ = 0;  // start of the run on the clock of rank 0
  std::int64_t step_ = -1, first_step_ = -1, step_start_ = 0, step_cpu_ = 0;
  std::uint64_t sampling_ = 0;         // state of a linear congruential generator
  int detailed_steps_ = 0;             // number of steps still to record in detail, by the trigger
  std::size_t detailed_launches_ = 0;  // in this window
  bool is_observing_ = false, detailed_ = false, step_is_open_ = false, kernel_is_open_ = false;
  double window_seconds_ = 0.0;
  std::function<void(Observer*)> connect_ = [this](Observer* observer) {
    // Another run of the process may have become the observer meanwhile.
    if (observer != nullptr || current() == this) set_current(observer);
  };
};

// Reports the Kokkos kernels that this thread launches to a recorder, by Kokkos' hooks; null
// disconnects it. Has no effect if the environment variable KOKKOS_TOOLS_LIBS names a tool, or with
// an emulated device memory, which use the hooks. They do not wait for kernels (comm/runtime.cpp).
void watch_kernels(Recorder* recorder);

}  // namespace octant::telemetry
