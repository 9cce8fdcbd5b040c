#include "run/run_control.hpp"

#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/names.hpp"
#include "core/own_files.hpp"

namespace octant {

namespace {

constexpr int k_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
constexpr int k_failed_writes[] = {SIGPIPE, SIGXFSZ};
constexpr std::int64_t k_same_request_ns = 1'000'000'000;

// State of the signal handler, which may use only lock-free atomics.
std::atomic<int> g_received{0};
std::atomic<std::int64_t> g_first_urgent_ns{0};
std::atomic<bool> g_speaks{false};
// Signals that a destroyed StopSignals has left ignored; the next object handles them again.
bool g_left_ignored[NSIG] = {};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void acknowledge_signal() {
  constexpr std::string_view text =
      "\nthe run will stop with a checkpoint after this step (repeat to stop at once, without a "
      "checkpoint)\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

bool is_urgent(int signal) { return signal == SIGTERM || signal == SIGINT; }

void handle_signal(int signal) {
  if (is_urgent(signal)) {
    std::int64_t first = 0;
    const std::int64_t now = now_ns();
    const bool again = !g_first_urgent_ns.compare_exchange_strong(first, now);
    if (again && now - first >= k_same_request_ns) {
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
  }
  if (g_received.exchange(signal) == 0 && g_speaks) acknowledge_signal();
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {
  }, wanted{};
  ::sigaction(signal, nullptr, &before);
  const bool ignored_from_the_start = before.sa_handler == SIG_IGN && !g_left_ignored[signal];
  if (ignored_from_the_start && handler == handle_signal) return;
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

// Returns a stop signal that the parent process has blocked and that is pending there; 0 if there
// is none, or if unknown.
int held_by_parent() {
  std::ifstream status("/proc/" + std::to_string(::getppid()) + "/status");
  std::string word;
  while (status >> word && word != "ShdPnd:") {
  }
  std::uint64_t pending = 0;
  status >> std::hex >> pending;
  for (const int signal : k_signals)
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
  for (const int signal : k_signals) handle(signal, handle_signal);
  unblock(k_signals);
}

StopSignals::~StopSignals() {
  for (const int signal : k_signals) {
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler != handle_signal) continue;
    std::signal(signal, is_urgent(signal) ? SIG_DFL : SIG_IGN);
    g_left_ignored[signal] = !is_urgent(signal);
  }
}

int StopSignals::received() const {
  if (const int signal = g_received) return signal;
  return is_root_ ? held_by_parent() : 0;
}

namespace {

// The control file is removed when applied, so its name must not be a path, or that of another file
// of the run.
std::string fault_of_control_file(const std::string& name) {
  constexpr std::string_view k_ending = ".toml";
  if (!is_file_name(name)) return "is not a plain file name";
  if (name.size() <= k_ending.size() || !name.ends_with(k_ending)) return "does not end with .toml";
  return name == "run.toml" ? "is the name of another file of the run" : "";
}

}  // namespace

void declare(ParameterSchema& schema, RunOptions& o) {
  schema.add("run.walltime", o.walltime,
             {.unit = "s",
              .meaning = "Wall-clock limit; the run writes a checkpoint and stops before reaching "
                         "it; 0: no limit",
              .min = 0});
  schema.add(
      "run.walltime_margin", o.walltime_margin,
      {.unit = "s",
       .meaning =
           "Safety margin: time before run.walltime at which the run writes a checkpoint and stops",
       .min = 0});
  schema.add("run.watchdog", o.watchdog,
             {.unit = "s",
              .meaning = "Longest time without any begun or completed task of a rank, after which "
                         "the run ends with a message that names the rank and its task; three "
                         "times as long while the rank waits for others; must exceed the longest "
                         "task, such as writing a checkpoint; 0: no limit",
              .min = 0});
  schema.add(
      "run.control_file", o.control_file,
      {.meaning =
           "Name of the control file in the output directory, which is read at every step and "
           "removed once applied; entries: stop = true, dump = true, or new intervals for [output]",
       .expected = "a file name such as control.toml: letters, digits, '_', '-' and '.', "
                   "with the ending .toml, and not run.toml",
       .fault = fault_of_control_file});
}

RunControl::RunControl(const RunOptions& options, const std::string& directory,
                       const Communicator& communicator, bool handles_signals)
    : options_(options),
      control_path_(directory + "/" + options.control_file),
      communicator_(communicator) {
  if (handles_signals) signals_.emplace(communicator.is_root());
}

void RunControl::read_control_file(ControlUpdate& update) {
  constexpr std::size_t k_most_bytes = 1 << 16;
  const FileContent file(control_path_, k_most_bytes);
  if (file.identity().empty() || file.identity() == refused_) return;
  ParameterSchema schema;
  bool stop = false, dump = false;
  schema.add("stop", stop, {.meaning = "Request to write a checkpoint and end the run"});
  schema.add("dump", dump, {.meaning = "Request to write a snapshot after the current step"});
  schema.add("snapshot_interval", update.snapshot_interval,
             {.unit = "time", .meaning = "New value of output.snapshot_interval"});
  schema.add("checkpoint_interval", update.checkpoint_interval,
             {.unit = "s", .meaning = "New value of output.checkpoint_interval"});
  try {
    if (!file.is_read()) throw InputError("{}: {}", control_path_, file.reason());
    schema.read_text(file.text(), control_path_);
    update.stop = stop;
    update.dump = dump;
    file.remove();
    log::info("applied control file {}", control_path_);
  } catch (const InputError& error) {
    // A typing error must not end a long run.
    log::warn("{}; the control file is ignored until it changes", error.what());
    refused_ = file.identity();
    update.snapshot_interval = update.checkpoint_interval = -1.0;
  }
}

UserRequests RunControl::poll(OutputOptions& output, double step_seconds) {
  ControlUpdate update;
  if (communicator_.is_root()) {
    read_control_file(update);
    const double last_moment = options_.walltime - options_.walltime_margin - 2.0 * step_seconds;
    update.by_walltime = options_.walltime > 0.0 && clock_.seconds() > last_moment;
  }
  update.signal = signals_ ? signals_->received() : 0;
  double known[] = {update.stop,
                    update.dump,
                    update.by_walltime,
                    update.signal,
                    update.snapshot_interval,
                    update.checkpoint_interval};
  communicator_.max_in_place(std::span<double>(known));
  update = {known[0], known[1], known[2], known[3], known[4], known[5]};
  if (update.snapshot_interval >= 0.0) output.snapshot_interval = update.snapshot_interval;
  if (update.checkpoint_interval >= 0.0) output.checkpoint_interval = update.checkpoint_interval;

  UserRequests requests{.stop = update.stop + update.by_walltime + update.signal > 0.0,
                        .dump = update.dump > 0.0,
                        .reason = ""};
  if (update.stop > 0.0) requests.reason = "requested by the control file";
  if (update.by_walltime > 0.0) requests.reason = "run.walltime is nearly reached";
  if (update.signal > 0.0)
    requests.reason = fmt::format("signal {}", static_cast<int>(update.signal));
  return requests;
}

}  // namespace octant
