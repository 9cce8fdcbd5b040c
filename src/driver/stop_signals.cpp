#include "driver/stop_signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
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
// Signals that a StopSignals has left ignored at its end: the next one heeds them again.
bool g_left_ignored[NSIG] = {};
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
  const bool ignored_from_the_start = before.sa_handler == SIG_IGN && !g_left_ignored[signal];
  if (ignored_from_the_start && handler == heed) return;
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  ::sigaction(signal, &wanted, nullptr);
}

void unblock(const auto& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// One of our signals that the parent has blocked and somebody has sent to it; 0 if there is none,
// or the system does not tell.
int held_by_parent() {
  std::ifstream status("/proc/" + std::to_string(::getppid()) + "/status");
  std::string word;
  while (status >> word && word != "ShdPnd:") {
  }
  std::uint64_t pending = 0;
  status >> std::hex >> pending;
  for (const int signal : k_wishes)
    if (status && (pending >> (signal - 1) & 1) != 0) return signal;
  return 0;
}

}  // namespace

void ignore_signals_of_writes() {
  for (const int signal : k_failed_writes) handle(signal, SIG_IGN);
}

StopSignals::StopSignals(bool is_root) : is_root_(is_root) {
  g_received = 0;
  g_first_urgent_ns = 0;
  g_speaks = is_root;
  ignore_signals_of_writes();
  for (const int signal : k_wishes) handle(signal, heed);
  unblock(k_wishes);
}

StopSignals::~StopSignals() {
  for (const int signal : k_wishes) {
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler != heed) continue;
    std::signal(signal, is_urgent(signal) ? SIG_DFL : SIG_IGN);
    g_left_ignored[signal] = !is_urgent(signal);
  }
}

int StopSignals::received() const {
  if (const int signal = g_received) return signal;
  return is_root_ ? held_by_parent() : 0;
}

}  // namespace octant::driver
