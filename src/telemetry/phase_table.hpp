// Where the time of a step goes: nested scopes, added up by level, phase and name.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/observer.hpp"

namespace octant::telemetry {

// Times are points on Observer::now(). Every moment of a step belongs to exactly one row: that of
// the innermost scope, or "other" where there is none.
class PhaseTable {
 public:
  struct Entry {
    Phase phase;
    std::int8_t level;
    std::int32_t name;
    std::int32_t calls = 0;
    std::int64_t start_ns = 0, total_ns = 0, self_ns = 0, cpu_ns = 0, cells = 0, bytes = 0;
    int open = 0;  // scopes that have begun and not ended
  };

  // Copies between host and device within an entry's scopes.
  struct Copies {
    std::size_t entry;
    Cargo cargo;
    Way way;
    std::int32_t copies = 0;
    std::int64_t bytes = 0;
  };

  // A scope that has ended.
  struct Ended {
    Phase phase;
    std::int8_t level;
    std::int32_t name;
    std::int64_t start_ns;
  };

  // A step begins; the name is that of the time outside of all scopes. No scope may be open.
  void begin(std::int64_t now, std::int32_t name);
  // It ends; its rows stay until the next begin.
  void end(std::int64_t now);

  // level < 0: that of the scope around it. A collective call inside of a collective scope is part
  // of it, which tells its purpose.
  void enter(std::int64_t now, Phase phase, std::int32_t name, int level);
  Ended leave(std::int64_t now);
  void lap(std::int64_t now, Phase phase, std::int32_t name);
  void count(std::int64_t cells, std::int64_t bytes);
  void copied(Cargo cargo, Way way, std::int64_t bytes);

  Phase innermost() const { return entries_[scopes_.back().entry].phase; }
  std::int32_t innermost_name() const { return entries_[scopes_.back().entry].name; }
  std::int8_t innermost_level() const { return scopes_.back().level; }

  // Times of one row add up to those inside it: total_ns, and of all rows to the step's: self_ns.
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Copies>& copies() const { return copies_; }
  // The time of all rows of a phase.
  std::int64_t self_ns(Phase phase) const;

 private:
  struct Scope {
    std::size_t entry;
    std::int8_t level;
    std::int64_t start_ns;
  };
  std::size_t find(Phase phase, std::int32_t name, std::int8_t level, std::int64_t now);
  void charge(Entry& entry, std::int64_t now);

  std::vector<Entry> entries_;
  std::vector<Copies> copies_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::vector<Scope> scopes_;
  std::int64_t charged_until_ = 0, cpu_charged_until_ = 0;
};

}  // namespace octant::telemetry
