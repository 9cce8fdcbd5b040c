#include "comm/exchanger.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <Kokkos_Core.hpp>

#ifdef OCTANT_MPI
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#include "comm/auto_tuner.hpp"
#include "comm/comm_options.hpp"
#include "comm/communicator.hpp"
#include "comm/transport.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/parameters.hpp"

namespace octant {

void declare(ParameterSchema& schema, CommOptions& options) {
  schema.add("comm.exchange", options.exchange,
             {.meaning = "Communication backend for exchanges between ranks; auto: times all "
                         "backends and uses the fastest"});
  schema.add(
      "comm.trial_calls", options.trial_calls,
      {.meaning = "Number of exchanges with each backend before comm.exchange = \"auto\" "
                  "first chooses a backend; the first exchange with each backend is not timed",
       .min = 2});
  schema.add("comm.probe_interval", options.probe_interval,
             {.meaning = "Number of exchanges between two probes of the other backends by "
                         "comm.exchange = \"auto\"",
              .min = 1});
  schema.add("comm.probe_calls", options.probe_calls,
             {.meaning = "Number of exchanges in each probe of a backend by comm.exchange = "
                         "\"auto\"; the first exchange of a probe is not timed",
              .min = 2});
  schema.add("comm.overlap", options.overlap,
             {.meaning = "Overlap of communication and computation; false: blocking waits for all "
                         "messages, to measure the benefit of the overlap"});
  schema.add("comm.staging", options.staging,
             {.meaning = "Staging of GPU messages through host memory: only where the MPI library "
                         "cannot access GPU memory (auto), or always"});
  schema.add(
      "debug.late_rank", options.late_rank,
      {.meaning = "Rank that delays its sends by debug.late_seconds in every exchange; -1: none",
       .min = -1});
  schema.add("debug.late_seconds", options.late_seconds,
             {.unit = "s",
              .meaning = "Delay added to the sends from debug.late_rank in every exchange",
              .min = 0.0});
}

namespace {

template <class T>
auto device_view(T* bytes, std::size_t count) {
  return Kokkos::View<T*, DeviceMemory, Kokkos::MemoryUnmanaged>(bytes, count);
}

// Returns true if this MPI library reports that it accepts pointers to device memory.
bool mpi_takes_device_memory() {
#if defined(OCTANT_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  // Cray MPICH has no query for device memory
  const char* cray = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  return cray != nullptr && std::strcmp(cray, "1") == 0;
#endif
}

// Staging of messages in device memory. If the MPI library cannot access device memory, packed
// buffers are copied through pinned host memory.
class StagedBuffers {
 public:
  StagedBuffers(Buffers buffers, Staging staging) : buffers_(buffers), staging_(staging) {}

  // Waits for kernels that write the sent data or read the receive buffer.
  void await_kernels() const {
    if (buffers_ == Buffers::of_device) Kokkos::fence("comm: messages are packed");
  }

  // Returns true if this backend needs host buffers. Forwarding combines messages on the host.
  bool needed(Backend backend) const {
    static const bool direct = k_device_is_host || mpi_takes_device_memory();
    if (buffers_ == Buffers::of_host) return false;
    return staging_ == Staging::always || !direct ||
           (!k_device_is_host && backend == Backend::ksection);
  }

  // leaving() copies the sent data to the host, valid until the next call; arriving() returns a
  // host receive buffer, which may be filled after kernels have been waited for.
  const std::byte* leaving(const std::byte* send, std::size_t bytes) {
    std::byte* const copy = grow(sent_, bytes);
    if (bytes > 0)  // a copy, even an empty one, would wait for kernels
      copy_to_host(TransferKind::messages, host_view(copy, bytes), device_view(send, bytes));
    return copy;
  }
  std::byte* arriving(std::size_t bytes) { return grow(received_, bytes); }
  // Copies received data to its destination, queued after the running kernels.
  void deliver(std::byte* receive, std::size_t bytes) const {
    if (bytes == 0) return;
    queue_to_device(TransferKind::messages, device_view(receive, bytes),
                    host_view(static_cast<const std::byte*>(received_.data()), bytes));
  }

  // Host buffer with the copy of the sent data.
  const void* outbox() const { return sent_.data(); }

  // Copies the data that a rank sends to itself, without staging.
  void copy_own(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (bytes == 0) return;
    if (k_device_is_host || buffers_ == Buffers::of_host) return copy_payload(to, from, bytes);
    copy_within(device_view(to, bytes), device_view(from, bytes));
  }

 private:
  using Pinned = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

  // Ensures a minimum size.
  static std::byte* grow(Pinned& array, std::size_t bytes) {
    if (array.size() < bytes)
      array = Pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "staged messages"), bytes);
    return array.data();
  }

  Buffers buffers_;
  Staging staging_;
  Pinned sent_, received_;
};

// Adds the wall-clock time until the end of the scope to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

namespace {

// Tuners of former exchangers between all ranks of the run, by component, level and options. An
// exchanger on a new mesh continues with the tuner of its predecessor: the times of a similar
// exchange are better than none, and trials require reductions over ranks. All ranks create and
// destroy exchangers in the same order.
std::map<std::string, AutoTuner>& former_tuners() {
  static std::map<std::string, AutoTuner> tuners;
  return tuners;
}

}  // namespace

struct Exchanger::State {
  ~State();
  State(std::string component_name, const Communicator& ranks, const CommOptions& options,
        int level, Buffers buffers);

  ExchangeCount& count() { return counts[static_cast<int>(backend)]; }
  Transport& transport() { return *transports[static_cast<int>(backend)]; }
  void choose_backend();
  void post(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
            std::size_t item_bytes);
  enum class Sends { finish, leave };
  void complete(Sends sends);
  void end();

  std::string component;
  int level;
  Communicator communicator;
  bool overlap;                    // if false, an exchange is complete when its start returns
  double delay;                    // artificial delay of this rank's sends in seconds
  std::optional<AutoTuner> tuner;  // none if the backend is fixed or there is one rank
  std::string tuner_name;          // in former_tuners(); empty: not kept
  Backend backend;
  std::array<std::unique_ptr<Transport>, k_backends> transports;
  std::array<ExchangeCount, k_backends> counts;
  bool under_way = false, is_complete = false;
  double seconds = 0.0;  // time of the current exchange inside calls of this class, in seconds
  MessageLog log;
  StagedBuffers staged;
  struct {
    std::byte* receive = nullptr;  // receive buffer on the host; null if messages are not staged
    std::size_t bytes = 0;
  } delivery;
  PendingSends draining;
};

Exchanger::State::State(std::string component_name, const Communicator& ranks,
                        const CommOptions& options, int mesh_level, Buffers buffers)
    : component(std::move(component_name)),
      level(mesh_level),
      communicator(ranks),
      overlap(options.overlap),
      delay(options.late_rank == mpi::rank(*mpi::world()) ? options.late_seconds : 0.0),
      backend(options.exchange.value_or(Backend::p2p)),
      staged(buffers, options.staging) {
  if (!options.exchange && ranks.size() > 1) {
    if (&ranks.handle() == mpi::world().get())
      tuner_name = fmt::format("{} {} {} {} {}", component, level, options.trial_calls,
                               options.probe_interval, options.probe_calls);
    const auto former = former_tuners().find(tuner_name);
    if (former != former_tuners().end()) tuner = former->second;
    else tuner.emplace(options, backends_for(ranks.size()));
  }
  const int tag = mpi::new_tag(ranks.handle());
  for (int n = 0; n < k_backends; ++n) {
    transports[n] = make_transport(k_all_backends[n], tag);
    counts[n].component = level < 0 ? component : fmt::format("{} level {}", component, level);
    counts[n].backend = k_all_backends[n];
  }
}

// A tuner in its trial does not replace one that has ended its trial.
Exchanger::State::~State() {
  if (!tuner || tuner_name.empty()) return;
  const auto [former, is_new] = former_tuners().try_emplace(tuner_name, *tuner);
  if (!is_new && (tuner->phase() != AutoTuner::Phase::trial ||
                  former->second.phase() == AutoTuner::Phase::trial))
    former->second = *tuner;
}

void Exchanger::State::choose_backend() {
  if (!tuner) return;
  if (tuner->decision_due()) {
    BackendTimes times = tuner->times();
    communicator.max_in_place(std::span<double>(times));
    tuner->decide(times);
  }
  backend = tuner->backend();
}

Exchanger::Exchanger(std::string component, const Communicator& communicator,
                     const CommOptions& options, int level, Buffers buffers)
    : state_(std::make_unique<State>(std::move(component), communicator, options, level, buffers)) {
}

Exchanger::~Exchanger() = default;
Exchanger::Exchanger(Exchanger&&) noexcept = default;
Exchanger& Exchanger::operator=(Exchanger&&) noexcept = default;

void Exchanger::start_bytes(const ExchangePlan& plan, const std::byte* send, std::byte* receive,
                            std::size_t item_bytes, Direction direction) {
  OCTANT_REQUIRE(!state_->under_way,
                 "an exchange of {} was started before the previous one was finished",
                 state_->component);
  state_->choose_backend();
  state_->under_way = true;
  state_->is_complete = false;
  state_->seconds = 0.0;
  state_->post(plan.flow(direction), send, receive, item_bytes);
  if (!state_->overlap) state_->complete(State::Sends::finish);
}

void Exchanger::State::post(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
                            std::size_t item_bytes) {
  const Stopwatch stopwatch(seconds);  // includes the backend's preparation of the plan
  const Observed observed(Phase::send, component, level);
  log.begin();
  flow.prepare(backend);
  if (flow.items_sent() + flow.items_received() > 0) staged.await_kernels();
  if (delay > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  delivery = {};
  if (staged.needed(backend)) {
    delivery = {receive, static_cast<std::size_t>(flow.items_received()) * item_bytes};
    if (!draining.is_free(staged.outbox())) draining.wait();
    send = staged.leaving(send, static_cast<std::size_t>(flow.items_sent()) * item_bytes);
    receive = staged.arriving(delivery.bytes);
  }
  const Traffic traffic = transport().start(flow, send, receive, item_bytes, log);
  // the k-section backend also delivers data from a rank to itself
  if (backend != Backend::ksection) {
    const OwnSegment& own = flow.own();
    const auto bytes = static_cast<std::size_t>(own.count) * item_bytes;
    if (delivery.receive)
      copy_payload(receive + own.receive_begin * item_bytes, send + own.send_begin * item_bytes,
                   bytes);
    else
      staged.copy_own(receive + own.receive_begin * item_bytes, send + own.send_begin * item_bytes,
                      bytes);
  }
  observed.count(0, traffic.bytes);
  count().exchanges += 1;
  count().messages += traffic.messages;
  count().partners = std::max(count().partners, traffic.partners);
  count().bytes += traffic.bytes;
}

void Exchanger::progress() {
  if (!state_->under_way || state_->is_complete) return;
  const Stopwatch stopwatch(state_->seconds);
  state_->transport().progress();
}

void Exchanger::State::complete(Sends sends) {
  OCTANT_REQUIRE(under_way, "an exchange of {} was finished but had not been started", component);
  if (is_complete) return;
  const Stopwatch stopwatch(seconds);
  const Observed observed(Phase::wait, component, level);
  transport().receive(log);
  if (delivery.receive) staged.deliver(delivery.receive, delivery.bytes);
  if (sends == Sends::finish) transport().finish_sends(log);
  else transport().leave_sends(draining);
  is_complete = true;
}

void Exchanger::State::end() {
  log.report(component, level);
  under_way = false;
  count().seconds += seconds;
  if (tuner) tuner->record(seconds);
}

void Exchanger::finish() {
  state_->complete(State::Sends::finish);
  state_->end();
}

void Exchanger::finish_receives() {
  state_->complete(State::Sends::leave);
  state_->end();
}

bool Exchanger::drained(const void* send) { return state_->draining.is_free(send); }

void Exchanger::wait_sends() { state_->draining.wait(); }

bool Exchanger::under_way() const { return state_->under_way; }

Backend Exchanger::backend() const { return state_->backend; }

std::vector<ExchangeCount> Exchanger::report() const {
  std::vector<ExchangeCount> used;
  for (const ExchangeCount& count : state_->counts)
    if (count.exchanges > 0) used.push_back(count);
  return used;
}

}  // namespace octant
