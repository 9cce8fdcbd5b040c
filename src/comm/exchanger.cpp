#include "comm/exchanger.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "comm/auto_tuner.hpp"
#include "comm/drain_queue.hpp"
#include "comm/flow.hpp"
#include "comm/payload.hpp"
#include "comm/staging.hpp"
#include "comm/transport.hpp"
#include "core/error.hpp"

namespace octant {

namespace {

// Adds the time until the end of the scope.
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

struct Exchanger::State {
  State(std::string component_name, const Communicator& ranks, const CommOptions& options,
        int level, Buffers buffers);

  ExchangeCount& count() { return counts[static_cast<int>(backend)]; }
  Transport& transport() { return *transports[static_cast<int>(backend)]; }
  void choose_backend();
  void post(const Flow& flow, const std::byte* send, std::byte* receive, std::size_t item_bytes);
  enum class Sends { finish, leave };
  void complete(Sends sends);
  void end();

  std::string component;
  int level;
  Communicator communicator;
  bool overlap;                    // or else an exchange is complete when its start returns
  double delay;                    // of this rank's sends, in seconds
  std::optional<AutoTuner> tuner;  // none if the backend is forced, or there is nobody to talk to
  Backend backend;
  std::array<std::unique_ptr<Transport>, k_backends> transports;
  std::array<ExchangeCount, k_backends> counts;
  bool under_way = false, is_complete = false;
  double seconds = 0.0;  // of the exchange under way, inside our calls
  MessageLog log;
  StagedBuffers staged;
  struct {
    std::byte* receive = nullptr;  // null: not staged
    std::size_t bytes = 0;
  } delivery;
  DrainQueue draining;
};

Exchanger::State::State(std::string component_name, const Communicator& ranks,
                        const CommOptions& options, int level, Buffers buffers)
    : component(std::move(component_name)),
      level(level),
      communicator(ranks),
      overlap(options.overlap),
      delay(options.late_rank == mpi::rank(*mpi::world()) ? options.late_seconds : 0.0),
      backend(options.exchange.value_or(Backend::p2p)),
      staged(buffers, options.staging) {
  if (!options.exchange && ranks.size() > 1) tuner.emplace(options, backends_for(ranks.size()));
  const int tag = mpi::new_tag(ranks.handle());
  for (int n = 0; n < k_backends; ++n) {
    transports[n] = make_transport(k_all_backends[n], tag);
    counts[n].component = level < 0 ? component : fmt::format("{} level {}", component, level);
    counts[n].backend = k_all_backends[n];
  }
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
  OCTANT_REQUIRE(!state_->under_way, "an exchange of {} is started before the last one is finished",
                 state_->component);
  state_->choose_backend();
  state_->under_way = true;
  state_->is_complete = false;
  state_->seconds = 0.0;
  state_->post(plan.flow(direction), send, receive, item_bytes);
  if (!state_->overlap) state_->complete(State::Sends::finish);
}

void Exchanger::State::post(const Flow& flow, const std::byte* send, std::byte* receive,
                            std::size_t item_bytes) {
  const Stopwatch stopwatch(seconds);  // a backend also pays for what it makes of each plan
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
  if (backend != Backend::ksection) {  // which delivers all by itself
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
  OCTANT_REQUIRE(under_way, "an exchange of {} is finished but was not started", component);
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

void Exchanger::drain() { state_->draining.wait(); }

bool Exchanger::under_way() const { return state_->under_way; }

Backend Exchanger::backend() const { return state_->backend; }

std::vector<ExchangeCount> Exchanger::report() const {
  std::vector<ExchangeCount> used;
  for (const ExchangeCount& count : state_->counts)
    if (count.exchanges > 0) used.push_back(count);
  return used;
}

}  // namespace octant
