#include "telemetry/step_tables.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::telemetry {

namespace {

// Reading the CPU time takes about a microsecond: shorter pieces than this are assumed to be all
// CPU time. The next longer piece compensates for the difference.
constexpr std::int64_t k_shortest_asked_for = 20'000;

}  // namespace

void PhaseTable::begin(std::int64_t now, std::int32_t name) {
  OCTANT_REQUIRE(scopes_.size() <= 1, "a step was started inside {} scopes", scopes_.size() - 1);
  entries_.clear();
  copies_.clear();
  row_of_key_.clear();
  scopes_.clear();
  charged_until_ = now;
  cpu_charged_until_ = thread_cpu_ns();
  scopes_.push_back({find(Phase::other, name, -1, now), -1, now});
  entries_[0].calls = 1;
}

void PhaseTable::end(std::int64_t now) {
  charge(entries_[scopes_.back().entry], now);
  entries_[0].total_ns = now - scopes_[0].start_ns;
}

std::size_t PhaseTable::find(Phase phase, std::int32_t name, std::int8_t level, std::int64_t now) {
  std::int32_t parent = -1;
  if (!scopes_.empty()) {
    parent = innermost_task();
    const Entry& around = entries_[scopes_.back().entry];
    if (around.phase == phase && around.name == name && around.level == level)
      return scopes_.back().entry;
  }
  // A step has fewer than 2^24 tasks, and a window fewer than 2^24 names.
  const auto key = static_cast<std::uint64_t>(parent) << 40 |
                   static_cast<std::uint64_t>(name) << 16 |
                   static_cast<std::uint64_t>(static_cast<std::uint8_t>(level)) << 8 |
                   static_cast<std::uint64_t>(phase);
  const auto [entry, is_new] = row_of_key_.try_emplace(key, entries_.size());
  if (is_new)
    entries_.push_back(
        {.phase = phase, .level = level, .name = name, .parent = parent, .start_ns = now});
  return entry->second;
}

void PhaseTable::charge(Entry& entry, std::int64_t now) {
  const std::int64_t passed = now - charged_until_;
  entry.self_ns += passed;
  charged_until_ = now;
  const std::int64_t cpu_now = passed < k_shortest_asked_for
                                   ? cpu_charged_until_ + passed
                                   : std::max(thread_cpu_ns(), cpu_charged_until_);
  entry.cpu_ns += cpu_now - cpu_charged_until_;
  cpu_charged_until_ = cpu_now;
}

void PhaseTable::enter(std::int64_t now, Phase phase, std::int32_t name, int level) {
  charge(entries_[scopes_.back().entry], now);
  const auto own_level = level < 0 ? scopes_.back().level : static_cast<std::int8_t>(level);
  const bool blocks = phase == Phase::collective || phase == Phase::wait;
  const bool is_part = blocks && innermost() == phase;
  const std::size_t entry = is_part ? scopes_.back().entry : find(phase, name, own_level, now);
  entries_[entry].calls += is_part ? 0 : 1;
  entries_[entry].open += 1;
  scopes_.push_back({entry, own_level, now});
}

PhaseTable::Ended PhaseTable::leave(std::int64_t now) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  Entry& entry = entries_[scope.entry];
  charge(entry, now);
  if (--entry.open == 0) entry.total_ns += now - scope.start_ns;
  return {entry.phase, entry.level, entry.name, static_cast<std::int32_t>(scope.entry),
          scope.start_ns};
}

void PhaseTable::lap(std::int64_t now, Phase phase, std::int32_t name) {
  const std::int64_t begun = charged_until_;
  Entry& entry = entries_[find(phase, name, scopes_.back().level, begun)];
  charge(entry, now);
  entry.calls += 1;
  entry.total_ns += now - begun;
}

void PhaseTable::count(std::int64_t cells, std::int64_t bytes) {
  entries_[scopes_.back().entry].cells += cells;
  entries_[scopes_.back().entry].bytes += bytes;
}

void PhaseTable::copied(TransferKind transfer, TransferDirection direction, std::int64_t bytes) {
  const std::size_t entry = scopes_.back().entry;
  const auto is_same_part = [&](const Entry& known) {
    return known.name == entries_[entry].name && known.level == entries_[entry].level;
  };
  auto row = std::find_if(copies_.begin(), copies_.end(), [&](const Copies& known) {
    return known.transfer == transfer && known.direction == direction &&
           is_same_part(entries_[known.entry]);
  });
  if (row == copies_.end()) row = copies_.insert(row, {entry, transfer, direction});
  row->copies += 1;
  row->bytes += bytes;
}

std::int64_t PhaseTable::self_ns(Phase phase) const {
  std::int64_t sum = 0;
  for (const Entry& entry : entries_)
    if (entry.phase == phase) sum += entry.self_ns;
  return sum;
}

std::int64_t MessageTable::add(std::int32_t component, int level, const MessageReport& message) {
  const Key key{component, message.peer, message.received};
  MessageRow& row = rows_[key];
  row.component = component;
  row.peer = message.peer;
  row.received = message.received;
  row.wait_ns += message.waited_ns;
  if (message.peer < 0) return -1;
  row.messages += 1;
  row.bytes += message.bytes;
  row.post_ns += message.posted_ns - message.started_ns;
  return counts_[{key, level}]++;
}

}  // namespace octant::telemetry
