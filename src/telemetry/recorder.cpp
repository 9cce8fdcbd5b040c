#include "telemetry/recorder.hpp"

#include "core/clock.hpp"
#include "core/memory.hpp"

namespace octant::telemetry {

namespace {

constexpr std::size_t k_most_events = 65'536;           // per rank and window
constexpr std::uint64_t k_untimed = ~std::uint64_t{0};  // marks an untimed kernel launch
constexpr std::uint64_t k_sampling = 100;               // mean number of executions per sample
constexpr const char* k_rest = "step";                  // name of the time outside of all scopes

// Shortens names of Kokkos' own kernels, which contain the array name: too many names.
std::string_view kernel_name(std::string_view name) {
  return name.starts_with("Kokkos::") ? "Kokkos" : name;
}

Phase kernel_phase(std::string_view name) {
  if (name.starts_with("pack")) return Phase::pack;
  if (name.starts_with("unpack")) return Phase::unpack;
  return Phase::compute;
}

}  // namespace

Recorder::Recorder(const TelemetryOptions& options, const RunFacts& attributes, const Ranks& ranks)
    : options_(options),
      ranks_(ranks),
      archive_(attributes, ranks),
      trigger_(options.trigger),
      kernels_(make_kernel_events()) {
  alignment_ = ranks_.align_clocks();
  std::string origin = std::to_string(now());
  ranks_.broadcast(origin);
  origin_ = std::stoll(origin);
  sampling_ = static_cast<std::uint64_t>(ranks_.rank);
}

Recorder::~Recorder() { stop(); }

void Recorder::stop() {
  if (!is_observing_) return;
  is_observing_ = false;
  connect_(nullptr);
  watch_kernels(nullptr);
}

void Recorder::begin_step(std::int64_t step) {
  const std::int64_t begun = now();
  if (step_is_open_) end_step(begun);
  else watch_kernels(this);
  connect_(this);
  is_observing_ = true;
  step_ = step;
  step_start_ = begun;
  step_cpu_ = process_cpu_ns();
  step_is_open_ = true;
  facts_ = {};
  detailed_ = options_.detail == Detail::full || detailed_steps_-- > 0;
  phases_.begin(begun, window_.names.number(k_rest));
  if (first_step_ < 0) first_step_ = step;
  else if (window_is_full()) write_window();
}

bool Recorder::window_is_full() const {
  return step_ - first_step_ >= options_.window || window_seconds_ >= options_.window_seconds;
}

void Recorder::end_step(std::int64_t now) {
  phases_.end(now);
  kernels_.poll();
  std::int32_t task = 0;
  for (const PhaseTable::Entry& e : phases_.entries()) {
    window_.phases.push_back({.step = step_,
                              .rank = ranks_.rank,
                              .name = e.name,
                              .task = task++,
                              .parent = e.parent,
                              .level = e.level,
                              .phase = e.phase,
                              .calls = e.calls,
                              .start_ns = run_time(e.start_ns),
                              .total_ns = e.total_ns,
                              .self_ns = e.self_ns,
                              .cpu_ns = e.cpu_ns,
                              .cells = e.cells,
                              .bytes = e.bytes});
  }
  for (const PhaseTable::Copies& c : phases_.copies()) {
    const PhaseTable::Entry& scope = phases_.entries()[c.entry];
    window_.copies.push_back({.step = step_,
                              .rank = ranks_.rank,
                              .name = scope.name,
                              .level = scope.level,
                              .transfer = c.transfer,
                              .direction = c.direction,
                              .copies = c.copies,
                              .bytes = c.bytes});
  }
  messages_.take_rows([&](MessageRow row) {
    row.step = step_;
    row.rank = ranks_.rank;
    window_.messages.push_back(row);
  });
  window_.append(open_step_);
  open_step_.clear();
  add_rank_row(now);
  if (ranks_.rank == 0) add_step_row(now);
  if (trigger_.is_set()) check_trigger(now);
  window_seconds_ += facts_.seconds;
  step_is_open_ = false;
}

void Recorder::add_rank_row(std::int64_t now) {
  const MemoryUse memory = memory_use();
  window_.ranks.push_back({.step = step_,
                           .rank = ranks_.rank,
                           .node = ranks_.node,
                           .start_ns = run_time(step_start_),
                           .end_ns = run_time(now),
                           .cpu_ns = process_cpu_ns() - step_cpu_,
                           .memory_bytes = memory.current,
                           .memory_peak_bytes = memory.peak,
                           .data_bytes = static_cast<std::int64_t>(facts_.own_data_bytes),
                           .device_bytes = device_memory_use().current,
                           .blocks = facts_.own_blocks,
                           .leaf_cells = facts_.own_leaf_cells,
                           .updates = facts_.own_updates,
                           .work = facts_.own_work});
}

void Recorder::add_step_row(std::int64_t now) {
  window_.steps.push_back({.step = step_,
                           .time = facts_.time,
                           .dt = facts_.dt,
                           .start_ns = run_time(step_start_),
                           .end_ns = run_time(now),
                           .blocks = facts_.blocks,
                           .leaf_cells = facts_.leaf_cells,
                           .updates = facts_.updates,
                           .finest_level = static_cast<std::int8_t>(facts_.finest_level),
                           .regridded = facts_.regridded,
                           .rebalanced = facts_.rebalanced});
}

void Recorder::check_trigger(std::int64_t now) {
  const std::int64_t own =
      trigger_.phase() ? phases_.self_ns(*trigger_.phase()) : now - step_start_;
  if (trigger_.fires(1e-9 * ranks_.max(static_cast<double>(own))))
    detailed_steps_ = options_.trigger_steps;
}

void Recorder::add_block(const BlockFacts& attributes) {
  open_step_.blocks.push_back({.step = step_,
                               .rank = ranks_.rank,
                               .level = static_cast<std::int8_t>(attributes.level),
                               .updates = static_cast<std::int16_t>(attributes.updates),
                               .key = attributes.key,
                               .cost_ns = static_cast<float>(attributes.cost_ns),
                               .work = static_cast<float>(attributes.work),
                               .gravity_ns = static_cast<float>(attributes.gravity_ns),
                               .cells_ns = static_cast<float>(attributes.cells_ns),
                               .particles_ns = static_cast<float>(attributes.particles_ns),
                               .interactions_ns = static_cast<float>(attributes.interactions_ns)});
}

void Recorder::add_placement(const PlacementFacts& attributes) {
  open_step_.placement.push_back({.step = step_,
                                  .level = static_cast<std::int8_t>(attributes.level),
                                  .policy = window_.names.number(attributes.policy),
                                  .cplx_x = static_cast<float>(attributes.cplx_x),
                                  .makespan_before = attributes.makespan_before,
                                  .makespan_after = attributes.makespan_after,
                                  .blocks_moved = attributes.blocks_moved,
                                  .bytes_moved = attributes.bytes_moved,
                                  .off_rank_share = attributes.off_rank_share,
                                  .off_node_share = attributes.off_node_share,
                                  .duration_ns = attributes.duration_ns});
}

void Recorder::write_window() {
  const Observed observed(Phase::io, "telemetry");
  const std::int64_t last = step_is_open_ ? step_ - 1 : step_;
  take_kernels(last);
  archive_.write(window_, first_step_, last, alignment_.error_ns);
  window_.clear();
  window_seconds_ = 0.0;
  first_step_ = step_;
  alignment_ = ranks_.align_clocks();
}

void Recorder::take_kernels(std::int64_t last) {
  kernels_.take(
      last,
      [this](KernelRow row) {
        row.start_ns = run_time(row.start_ns);
        window_.kernels.push_back(row);
      },
      [this](LaunchRow row) {
        row.start_ns = run_time(row.start_ns);
        if (row.detailed) window_.launches.push_back(row);
        if (!row.sampled) return;
        window_.samples.push_back({.step = row.step,
                                   .rank = row.rank,
                                   .name = row.name,
                                   .task = row.task,
                                   .level = row.level,
                                   .is_kernel = true,
                                   .start_ns = row.start_ns,
                                   .duration_ns = row.duration_ns});
      });
  detailed_launches_ = 0;
}

void Recorder::merge() {
  const Observed observed(Phase::io, "telemetry");
  if (first_step_ < step_) write_window();
  archive_.merge();
}

void Recorder::finish() {
  if (!step_is_open_) return;
  stop();
  end_step(now());
  write_window();
  archive_.merge_all();
}

// --- Observer ----------------------------------------------------------------------------------

void Recorder::enter(Phase phase, std::string_view name, int level) {
  phases_.enter(now(), phase, window_.names.number(name), level);
}

void Recorder::leave() {
  const std::int64_t ended = now();
  const PhaseTable::Ended scope = phases_.leave(ended);
  if (is_sampled())
    open_step_.samples.push_back({.step = step_,
                                  .rank = ranks_.rank,
                                  .name = scope.name,
                                  .task = scope.task,
                                  .level = scope.level,
                                  .start_ns = run_time(scope.start_ns),
                                  .duration_ns = ended - scope.start_ns});
  if (!detailed_) return;
  add_event({.step = step_,
             .rank = ranks_.rank,
             .name = scope.name,
             .level = scope.level,
             .phase = scope.phase,
             .start_ns = run_time(scope.start_ns),
             .duration_ns = ended - scope.start_ns});
}

// Chooses one execution in k_sampling at random: a fixed interval could match the period of a step.
bool Recorder::is_sampled() {
  sampling_ = sampling_ * 6364136223846793005U + 1442695040888963407U;
  return (sampling_ >> 33) % k_sampling == 0;
}

void Recorder::lap(Phase phase, std::string_view name) {
  phases_.lap(now(), phase, window_.names.number(name));
}

void Recorder::count(std::int64_t cells, std::int64_t bytes) { phases_.count(cells, bytes); }

void Recorder::copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes) {
  phases_.copied(transfer, direction, bytes);
}

void Recorder::messages(std::string_view component, int level,
                        std::span<const MessageReport> done) {
  const std::int32_t name = window_.names.number(component);
  for (const MessageReport& message : done) {
    const std::int64_t sequence = messages_.add(name, level, message);
    if (!detailed_ || message.peer < 0) continue;
    const std::int64_t begun =
        message.received ? message.done_ns - message.waited_ns : message.posted_ns;
    add_event({.step = step_,
               .rank = ranks_.rank,
               .name = name,
               .level = static_cast<std::int8_t>(level),
               .phase = message.received ? Phase::wait : Phase::send,
               .start_ns = run_time(begun),
               .duration_ns = message.done_ns - begun,
               .peer = message.peer,
               .sequence = sequence,
               .bytes = message.bytes});
  }
}

void Recorder::add_event(const EventRow& event) {
  if (window_.events.size() + open_step_.events.size() < k_most_events)
    open_step_.events.push_back(event);
  else ++open_step_.events_dropped;
}

LaunchRow Recorder::launch_of(std::string_view name) {
  return {.step = step_,
          .rank = ranks_.rank,
          .name = window_.names.number(kernel_name(name)),
          .part = phases_.innermost_name(),
          .task = phases_.innermost_task(),
          .level = phases_.innermost_level()};
}

void Recorder::record_kernel_work(std::string_view name, const KernelWork& work) {
  kernels_.add_work(launch_of(name), work);
}

std::uint64_t Recorder::begin_kernel(std::string_view name, KernelPlace where) {
  LaunchRow launch = launch_of(name);
  if (where != KernelPlace::device && phases_.innermost() == Phase::other) {
    kernel_is_open_ = true;
    enter(kernel_phase(name), kernel_name(name), -1);
  }
  if (where == KernelPlace::host_beside_device) return k_untimed;
  launch.sampled = is_sampled();
  launch.detailed = detailed_ && detailed_launches_ < k_most_events;
  if (launch.detailed) ++detailed_launches_;
  else if (detailed_) ++open_step_.events_dropped;
  return kernels_.begin(launch);
}

void Recorder::end_kernel(std::uint64_t launch) {
  if (launch != k_untimed) kernels_.end(launch);
  if (!kernel_is_open_) return;
  kernel_is_open_ = false;
  leave();
}

}  // namespace octant::telemetry
