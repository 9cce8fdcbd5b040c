#include "driver/stop_signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include <unistd.h>

namespace octant::driver {

namespace {

constexpr int k_wishes[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
constexpr int k_failed_writes[] = {SIGPIPE, SIGXFSZ};
constexpr std::int64_t k_same_wish_ns = 1'000'000'000;

// What the handler knows; it may use nothing but such atomics.
std::atomic<int> g_received{0};
std::atomic<std::int64_t> g_first_urgent_ns{0};
std::atomic<bool> g_speaks{false};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void say_that_it_was_heard() {
  constexpr std::string_view text =
      "\nthe run ends with a checkpoint after this step (once more: at once, without one)\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

bool is_urgent(int signal) { return signal == SIGTERM || signal == SIGINT; }

void heed(int signal) {
  if (is_urgent(signal)) {
    std::int64_t first = 0;
    const std::int64_t now = now_ns();
    const bool again = !g_first_urgent_ns.compare_exchange_strong(first, now);
    if (again && now - first >= k_same_wish_ns) {
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
  }
  if (g_received.exchange(signal) == 0 && g_speaks) say_that_it_was_heard();
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {
  }, wanted{};
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN && handler == heed) return;
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  ::sigaction(signal, &wanted, nullptr);
}

}  // namespace

StopSignals::StopSignals(bool speaks) {
  g_received = 0;
  g_first_urgent_ns = 0;
  g_speaks = speaks;
  for (const int signal : k_failed_writes) handle(signal, SIG_IGN);
  for (const int signal : k_wishes) handle(signal, heed);
}

StopSignals::~StopSignals() {
  for (const int signal : k_wishes) {
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler == heed) std::signal(signal, is_urgent(signal) ? SIG_DFL : SIG_IGN);
  }
}

int StopSignals::received() const { return g_received; }

}  // namespace octant::driver
