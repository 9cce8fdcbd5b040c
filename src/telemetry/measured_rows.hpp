// Rows of the tables in docs/telemetry.md during collection. Names are indices into the NameList of
// the window. Times are on the clock of rank 0, since the start of the run.
#pragma once

#include <cstdint>

#include "core/observer.hpp"

namespace octant::telemetry {

// Row of a step of the run.
struct StepRow {
  std::int64_t step = 0;
  double time = 0.0, dt = 0.0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t blocks = 0, leaf_cells = 0, updates = 0;
  std::int8_t finest_level = 0;
  bool regridded = false, rebalanced = false;
};

// Row of a rank in a step.
struct RankRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, node = 0;
  std::int64_t start_ns = 0, end_ns = 0, cpu_ns = 0;
  std::int64_t memory_bytes = 0, memory_peak_bytes = 0, data_bytes = 0, device_bytes = 0;
  std::int64_t blocks = 0, leaf_cells = 0, updates = 0;
  double work = 0.0;
};

// Time of a scope in a step, by phase, name and level.
struct PhaseRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0;
  std::int32_t task = 0, parent = -1;  // number of the task within its step and rank
  std::int8_t level = -1;
  Phase phase = Phase::other;
  std::int32_t calls = 0;
  std::int64_t start_ns = 0, total_ns = 0, self_ns = 0, cpu_ns = 0;
  std::int64_t cells = 0, bytes = 0;
};

// Kernel times in the default execution space; work is 0 if it was not announced.
struct KernelRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0, part = 0, task = 0;
  std::int8_t level = -1;
  std::int32_t calls = 0;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::int64_t items = 0, bytes = 0, operations = 0;
};

// Single kernel launch.
struct LaunchRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0, part = 0, task = 0;
  std::int8_t level = -1;
  bool detailed = false, sampled = false;  // tables that contain it: launches, samples
  std::int64_t start_ns = 0, duration_ns = 0;
};

// Single execution of a task or kernel, chosen at random.
struct SampleRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0, task = 0;
  std::int8_t level = -1;
  bool is_kernel = false;
  std::int64_t start_ns = 0, duration_ns = 0;
};

// Messages of a component to, or from, a rank in a step.
struct MessageRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, peer = 0, component = 0;
  bool received = false;
  std::int32_t messages = 0;
  std::int64_t bytes = 0, wait_ns = 0;
  std::int64_t post_ns = 0;  // delays of the postings since the start of the exchange, summed
};

// Copies between host and device in a step.
struct CopyRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0;
  std::int8_t level = -1;
  TransferKind transfer = TransferKind::fields;
  TransferDirection direction = TransferDirection::to_device;
  std::int32_t copies = 0;
  std::int64_t bytes = 0;
};

// Block with its cost.
struct BlockRow {
  std::int64_t step = 0;
  std::int32_t rank = 0;
  std::int8_t level = 0;
  std::int16_t updates = 0;
  std::uint64_t key = 0;
  float cost_ns = 0.0F, work = 0.0F;
  // Components of cost_ns; the rest is that of sweeps.
  float gravity_ns = 0.0F, cells_ns = 0.0F, particles_ns = 0.0F, interactions_ns = 0.0F;
};

// Result of a load-balancing policy.
struct PlacementRow {
  std::int64_t step = 0;
  std::int8_t level = -1;
  std::int32_t policy = 0;
  float cplx_x = 0.0F;
  double makespan_before = 0.0, makespan_after = 0.0;
  std::int64_t blocks_moved = 0, bytes_moved = 0;
  double off_rank_share = 0.0, off_node_share = 0.0;
  std::int64_t duration_ns = 0;
};

// Individual scope or message.
struct EventRow {
  std::int64_t step = 0;
  std::int32_t rank = 0, name = 0;
  std::int8_t level = -1;
  Phase phase = Phase::other;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::int32_t peer = -1;
  std::int64_t sequence = -1, bytes = 0;
};

}  // namespace octant::telemetry
