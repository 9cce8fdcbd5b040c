#include "run/watchdog.hpp"

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

namespace octant {

namespace {

constexpr double k_period = 0.5;  // seconds between two checks
constexpr double k_wait_factor =
    3.0;  // longest time of waiting for others / longest time of a task
// Seconds between the reports of waiting ranks 0, 1, 2-3, 4-7, ...: the first report usually ends
// all processes.
constexpr double k_report_interval = 5.0;
constexpr std::size_t k_usual_depth = 32;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

// The log is not used, because the main thread may hold its lock.
[[noreturn]] void end_with(const std::string& message) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, message.data(), message.size());
  std::_Exit(1);
}

}  // namespace

Watchdog::Watchdog(double seconds, int rank) : limit_(seconds), rank_(rank) {
  activities_.reserve(k_usual_depth);
  Observer::set_current(this);
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (Observer::current() == this) Observer::set_current(nullptr);
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void Watchdog::forward_to(Observer* next) { next_ = next; }

void Watchdog::resume() {
  Observer::set_current(this);
  ++changes_;
  is_paused_ = false;
}

void Watchdog::enter(Phase phase, std::string_view name, int level) {
  {
    const std::lock_guard lock(mutex_);
    Activity& activity = activities_.emplace_back();
    activity.phase = phase;
    activity.level = level;
    std::copy_n(name.begin(), std::min(name.size(), activity.name.size() - 1),
                activity.name.begin());
  }
  ++changes_;
  if (next_) next_->enter(phase, name, level);
}

void Watchdog::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (!activities_.empty()) activities_.pop_back();
  }
  ++changes_;
  if (next_) next_->leave();
}

void Watchdog::lap(Phase phase, std::string_view name) {
  ++changes_;
  if (next_) next_->lap(phase, name);
}

void Watchdog::count(std::int64_t cells, std::int64_t bytes) {
  if (next_) next_->count(cells, bytes);
}

void Watchdog::copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes) {
  ++changes_;
  if (next_) next_->copied(transfer, direction, bytes);
}

void Watchdog::messages(std::string_view component, int level,
                        std::span<const MessageReport> done) {
  ++changes_;
  if (next_) next_->messages(component, level, done);
}

void Watchdog::watch() {
  double idle = 0.0;
  std::uint64_t seen = changes_;
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, std::chrono::duration<double>(k_period), [&] { return is_ended_; })) {
    const std::uint64_t changes = changes_;
    idle = changes == seen && !is_paused_ ? idle + k_period : 0.0;
    seen = changes;
    check(idle);
  }
}

// Requires the mutex to be locked.
void Watchdog::check(double idle_seconds) const {
  if (idle_seconds < limit_) return;
  const double longest_wait =
      k_wait_factor * limit_ + k_report_interval * std::bit_width(static_cast<unsigned>(rank_));
  if (waits() && idle_seconds < longest_wait) return;
  const std::string when =
      step_ < 0 ? "before the first step" : fmt::format("step {}", step_.load());
  const std::string place =
      fmt::format("octant: {}, rank {} (process {} on {})", when, rank_, ::getpid(), host_name());
  constexpr std::string_view k_advice =
      "the run is ended; --restart latest continues from the newest checkpoint, and a larger "
      "run.watchdog permits longer tasks\n";
  if (waits())
    end_with(fmt::format(
        "{}: has waited for other ranks for {:g} s, {:g} times run.watchdog, in {}, and "
        "no rank has reported a task of its own: a process or node is stopped, or the "
        "network has failed; {}",
        place, idle_seconds, k_wait_factor, describe_activity(), k_advice));
  end_with(fmt::format("{}: no progress for {:g} s (run.watchdog) in {}; {}", place, limit_,
                       describe_activity(), k_advice));
}

bool Watchdog::waits() const {
  if (activities_.empty()) return false;
  const Phase phase = activities_.back().phase;
  return phase == Phase::wait || phase == Phase::collective;
}

std::string Watchdog::describe_activity() const {
  std::string text;
  for (const Activity& activity : activities_) {
    if (!text.empty()) text += " > ";
    text += fmt::format("'{}' ({}", activity.name.data(), to_string(activity.phase));
    if (activity.level >= 0) text += fmt::format(", level {}", activity.level);
    text += ")";
  }
  return text.empty() ? "no named task" : text;
}

}  // namespace octant
