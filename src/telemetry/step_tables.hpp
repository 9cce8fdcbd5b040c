// Distribution of the time of a step: nested scopes, summed by task.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/observer.hpp"
#include "telemetry/measured_rows.hpp"

namespace octant::telemetry {

// Times of a step by task. Times are those of Observer::now(). A task is a level, phase and name
// within its parent task; the whole step is task 0. Every moment of a step belongs to exactly one
// task: that of the innermost scope, or the step outside of all scopes.
class PhaseTable {
 public:
  // Row of a task.
  struct Entry {
    Phase phase;
    std::int8_t level;
    std::int32_t name;
    std::int32_t parent = -1;  // index of the enclosing task; -1: none
    std::int32_t calls = 0;
    std::int64_t start_ns = 0, total_ns = 0, self_ns = 0, cpu_ns = 0, cells = 0, bytes = 0;
    int open = 0;  // number of open scopes
  };

  // Copies between host and device within scopes of the name and level of an entry.
  struct Copies {
    std::size_t entry;
    TransferKind transfer;
    TransferDirection direction;
    std::int32_t copies = 0;
    std::int64_t bytes = 0;
  };

  // Completed scope.
  struct Ended {
    Phase phase;
    std::int8_t level;
    std::int32_t name, task;
    std::int64_t start_ns;
  };

  // Begins a step; `name` is that of the time outside of all scopes. No scope may be open.
  void begin(std::int64_t now, std::int32_t name);
  // Ends the step; its rows remain until the next begin.
  void end(std::int64_t now);

  // Opens a scope; level < 0: that of the enclosing scope. A collective call inside a collective
  // scope is part of it, because the latter names the purpose.
  void enter(std::int64_t now, Phase phase, std::int32_t name, int level);
  // Closes the innermost scope.
  Ended leave(std::int64_t now);
  // Assigns the time since the last report to this phase and name.
  void lap(std::int64_t now, Phase phase, std::int32_t name);
  // Adds work to the innermost scope.
  void count(std::int64_t cells, std::int64_t bytes);
  // Adds a copy between host and device to the innermost scope.
  void copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes);

  // Phase of the innermost scope.
  Phase innermost() const { return entries_[scopes_.back().entry].phase; }
  // Name of the innermost scope.
  std::int32_t innermost_name() const { return entries_[scopes_.back().entry].name; }
  // Level of the innermost scope.
  std::int8_t innermost_level() const { return scopes_.back().level; }
  // Number of the innermost scope's task.
  std::int32_t innermost_task() const { return static_cast<std::int32_t>(scopes_.back().entry); }

  // Tasks, parents before their children. total_ns includes nested scopes; self_ns of all tasks
  // adds up to the time of the step.
  const std::vector<Entry>& entries() const { return entries_; }
  // Copies by task.
  const std::vector<Copies>& copies() const { return copies_; }
  // Total time of all rows of a phase.
  std::int64_t self_ns(Phase phase) const;

 private:
  struct Scope {
    std::size_t entry;
    std::int8_t level;
    std::int64_t start_ns;
  };
  // Returns the task of a level, phase and name within the innermost scope: the innermost task
  // itself if it has these.
  std::size_t find(Phase phase, std::int32_t name, std::int8_t level, std::int64_t now);
  void charge(Entry& entry, std::int64_t now);

  std::vector<Entry> entries_;
  std::vector<Copies> copies_;
  std::unordered_map<std::uint64_t, std::size_t> row_of_key_;
  std::vector<Scope> scopes_;
  std::int64_t charged_until_ = 0, cpu_charged_until_ = 0;
};

// Messages of a rank in a step, and its waiting times by partner.
class MessageTable {
 public:
  // Adds a message; returns its number among those of this component, level, peer and direction
  // since the start of the run, which is the same at both ends. -1 without a peer.
  std::int64_t add(std::int32_t component, int level, const MessageReport& message);

  // Calls take(row) for every component, peer and direction of the step, with step and rank unset;
  // then clears them.
  template <class Take>
  void take_rows(const Take& take) {
    for (const auto& [key, row] : rows_) take(row);
    rows_.clear();
  }

 private:
  struct Key {
    std::int32_t component, peer;
    bool received;
    auto operator<=>(const Key&) const = default;
  };
  struct Channel {
    Key key;
    int level;
    auto operator<=>(const Channel&) const = default;
  };
  std::map<Key, MessageRow> rows_;
  std::map<Channel, std::int64_t> counts_;
};

}  // namespace octant::telemetry
