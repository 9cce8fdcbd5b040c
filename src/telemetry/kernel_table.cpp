#include "telemetry/kernel_table.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace octant::telemetry {

KernelClock::KernelClock(std::unique_ptr<KernelEvents> events, ReportSpan report)
    : events_(std::move(events)), report_(std::move(report)), is_open_(events_->pairs()) {}

std::uint64_t KernelClock::begin() {
  if (next_ - oldest_ == is_open_.size()) {
    const int pair = pair_of(oldest_);
    OCTANT_REQUIRE(!is_open_[pair], "kernels are nested more than {} deep", is_open_.size());
    events_->wait_for(pair);
    report_oldest();
  }
  const int pair = pair_of(next_);
  is_open_[pair] = true;
  events_->begin(pair);
  return next_++;
}

void KernelClock::end(std::uint64_t launch) {
  events_->end(pair_of(launch));
  is_open_[pair_of(launch)] = false;
}

void KernelClock::poll() {
  while (oldest_ < next_ && !is_open_[pair_of(oldest_)] && events_->has_passed(pair_of(oldest_)))
    report_oldest();
}

void KernelClock::finish() {
  while (oldest_ < next_) {
    OCTANT_REQUIRE(!is_open_[pair_of(oldest_)], "a kernel was started but not finished");
    events_->wait_for(pair_of(oldest_));
    report_oldest();
  }
  events_->align();
}

void KernelClock::report_oldest() { report_(events_->span(pair_of(oldest_++))); }

namespace {

// Key of a row within a step; the task determines the part. A step has fewer than 2^24 tasks.
template <class Row>
std::uint64_t key_of(const Row& row) {
  return static_cast<std::uint64_t>(row.name) << 32 | static_cast<std::uint64_t>(row.task) << 8 |
         static_cast<std::uint64_t>(static_cast<std::uint8_t>(row.level));
}

// Moves the rows of steps up to `last` out of `rows`, in order.
template <class Row>
void move_rows(std::vector<Row>& rows, std::int64_t last,
               const std::function<void(const Row&)>& to) {
  const auto kept = std::stable_partition(rows.begin(), rows.end(),
                                          [last](const Row& row) { return row.step <= last; });
  std::for_each(rows.begin(), kept, to);
  rows.erase(rows.begin(), kept);
}

}  // namespace

KernelTable::KernelTable(std::unique_ptr<KernelEvents> events)
    : clock_(std::move(events), [this](const KernelEvents::Span& span) { add(span); }) {}

std::uint64_t KernelTable::begin(const LaunchRow& launch) {
  const std::uint64_t number = clock_.begin();
  pending_.push_back({find(launch), launch});
  rows_[pending_.back().row].calls += 1;
  return number;
}

void KernelTable::add_work(const LaunchRow& launch, const KernelWork& work) {
  KernelRow& row = rows_[find(launch)];
  row.items += work.items;
  row.bytes += work.bytes;
  row.operations += work.operations;
}

std::size_t KernelTable::find(const LaunchRow& launch) {
  if (launch.step != step_) row_of_kernel_.clear();
  step_ = launch.step;
  const auto [entry, is_new] = row_of_kernel_.try_emplace(key_of(launch), rows_.size());
  if (is_new)
    rows_.push_back({.step = launch.step,
                     .rank = launch.rank,
                     .name = launch.name,
                     .part = launch.part,
                     .task = launch.task,
                     .level = launch.level});
  return entry->second;
}

void KernelTable::add(const KernelEvents::Span& span) {
  Launch& launch = pending_.front();
  KernelRow& row = rows_[launch.row];
  if (row.start_ns == 0) row.start_ns = span.start_ns;
  row.duration_ns += span.duration_ns;
  if (launch.attributes.detailed || launch.attributes.sampled) {
    launch.attributes.start_ns = span.start_ns;
    launch.attributes.duration_ns = span.duration_ns;
    launches_.push_back(launch.attributes);
  }
  pending_.pop_front();
}

void KernelTable::take(std::int64_t last, const std::function<void(const KernelRow&)>& kernel,
                       const std::function<void(const LaunchRow&)>& launch) {
  clock_.finish();
  move_rows<KernelRow>(rows_, last, [&](const KernelRow& row) {
    if (row.calls > 0) kernel(row);  // 0: announced, but not launched
  });
  move_rows(launches_, last, launch);
  row_of_kernel_.clear();
  for (std::size_t n = 0; n < rows_.size(); ++n) row_of_kernel_.emplace(key_of(rows_[n]), n);
}

}  // namespace octant::telemetry
