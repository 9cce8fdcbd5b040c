// Interface through which a run reports its activities, for example to telemetry.
//
// Time is reported in nested scopes: an inner one interrupts the outer one. Only the rank's main
// thread reports. Without an observer, a report costs the test of one pointer.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace octant {

// Kinds of activities of a rank.
enum class Phase : std::uint8_t {
  compute,
  pack,
  send,
  wait,
  unpack,
  collective,
  regrid,
  rebalance,
  io,
  other
};
inline constexpr int k_phases = 10;
// Name of a phase in telemetry.
constexpr std::string_view to_string(Phase phase) {
  constexpr std::array<std::string_view, k_phases> k_names{
      "compute",    "pack",   "send",      "wait", "unpack",
      "collective", "regrid", "rebalance", "io",   "other"};
  return k_names[static_cast<std::size_t>(phase)];
}

// Kinds of data copied between host and device (core/memory_transfer.hpp).
enum class TransferKind : std::uint8_t {
  fields,     // cell values of a level or a grid
  particles,  // particles that change their set or rank, or are requested
  messages,   // packed buffers of exchanges
  lists,      // few cells, particles or events that are processed individually
  numbers,    // a few for each block, tile, plane or level
  tables,     // tables for kernels, after regridding or changes of parameters
  files       // contents of files
};
inline constexpr int k_transfer_kinds = 7;
// Name of a kind of data in telemetry.
constexpr std::string_view to_string(TransferKind transfer) {
  constexpr std::array<std::string_view, k_transfer_kinds> k_names{
      "fields", "particles", "messages", "lists", "numbers", "tables", "files"};
  return k_names[static_cast<std::size_t>(transfer)];
}
// Direction of a copy.
enum class TransferDirection : std::uint8_t { to_device, to_host };
inline constexpr int k_transfer_directions = 2;
// Name of a direction in telemetry.
constexpr std::string_view to_string(TransferDirection direction) {
  return direction == TransferDirection::to_host ? "to_host" : "to_device";
}

// Message that this rank sent or received, reported at its completion. Times are those of
// Observer::now().
struct MessageReport {
  int peer = -1;  // -1: unknown
  bool received = false;
  std::int64_t bytes = 0;
  std::int64_t started_ns = 0;  // start of the exchange on this rank
  std::int64_t posted_ns = 0;
  std::int64_t waited_ns = 0;  // time that this rank waited for the message, until `done_ns`
  std::int64_t done_ns = 0;
};

// Receiver of the reports of a run. Names are copied.
class Observer {
 public:
  virtual ~Observer() = default;

  // Nanoseconds of a monotonic clock.
  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  // Begins a scope. If `level` < 0, it has the level of the enclosing scope.
  virtual void enter(Phase phase, std::string_view name, int level) = 0;
  // Ends the innermost scope.
  virtual void leave() = 0;
  // Assigns the time since the last report to this phase and name instead of the innermost scope.
  virtual void lap(Phase phase, std::string_view name) = 0;
  // Adds cells and bytes to the work of the innermost scope.
  virtual void count(std::int64_t cells, std::int64_t bytes) = 0;
  // Reports bytes copied between host and device, or that would be copied if their memories
  // differed.
  virtual void copied(TransferKind /*transfer*/, TransferDirection /*direction*/,
                      std::int64_t /*bytes*/) {}
  // Reports the completed messages of one exchange of a component.
  virtual void messages(std::string_view component, int level,
                        std::span<const MessageReport> done) = 0;

  // Observer of this process; null: none.
  static Observer* current() { return current_; }
  // Sets the observer of this process; null: none.
  static void set_current(Observer* observer) { current_ = observer; }

 private:
  inline static Observer* current_ = nullptr;
};

// Scope that is reported to the observer during the lifetime of the object.
class Observed {
 public:
  Observed(Phase phase, std::string_view name, int level = -1) : observer_(Observer::current()) {
    if (observer_) observer_->enter(phase, name, level);
  }
  ~Observed() {
    if (observer_) observer_->leave();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // Adds work to this scope; not allowed while an inner scope exists.
  void count(std::int64_t cells, std::int64_t bytes = 0) const {
    if (observer_) observer_->count(cells, bytes);
  }

 private:
  Observer* observer_;
};

// Reports a lap, see Observer::lap(); does nothing without observer.
inline void observe_lap(Phase phase, std::string_view name) {
  if (Observer* observer = Observer::current()) observer->lap(phase, name);
}

// Reports a copy; does nothing without observer.
inline void observe_copy(TransferKind transfer, TransferDirection direction, std::int64_t bytes) {
  if (Observer* observer = Observer::current()) observer->copied(transfer, direction, bytes);
}

// --- work of kernels, reported before their launch; profiles compare it with their time ----------

// Costs of one item: a cell, a face, a particle.
struct KernelCost {
  double bytes = 0.0;       // minimum traffic, each value read or written once
  double operations = 0.0;  // floating-point additions, multiplications, divisions, roots
};

// Work of one or several launches.
struct KernelWork {
  std::int64_t items = 0, bytes = 0, operations = 0;
};

// Callback for kernel work; null: none. As for Kokkos' hooks, no user data is passed.
using HearOfKernel = void (*)(std::string_view kernel, const KernelWork& work);
inline HearOfKernel kernel_work_callback = nullptr;

// Reports the work of the next kernel, or kernels, of this name.
inline void record_kernel_work(std::string_view kernel, std::int64_t items,
                               const KernelCost& cost_per_item) {
  if (!kernel_work_callback) return;
  const auto all = [items](double one) {
    return static_cast<std::int64_t>(static_cast<double>(items) * one);
  };
  kernel_work_callback(kernel, {items, all(cost_per_item.bytes), all(cost_per_item.operations)});
}

}  // namespace octant
