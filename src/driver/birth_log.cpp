#include "driver/birth_log.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "telemetry/parquet_file.hpp"
#include "telemetry/parquet_reader.hpp"

namespace octant::driver {

namespace {

// Rank 0 holds no more rows than these at a time.
constexpr std::uint64_t k_rows_at_once = 1 << 17;

std::string log_in(const std::string& directory) { return directory + "/stars_formed.parquet"; }

}  // namespace

void BirthLog::add(const std::vector<subgrid::StarBirth>& births, std::int64_t step, double time,
                   double scale_factor) {
  for (const subgrid::StarBirth& star : births) rows_.push_back({star, step, time, scale_factor});
}

void BirthLog::write(const Communicator& communicator, const std::string& directory) {
  if (!telemetry::parquet_is_available()) return rows_.clear();
  constexpr auto k_none = std::numeric_limits<std::uint64_t>::max();
  std::sort(rows_.begin(), rows_.end(),
            [](const Row& a, const Row& b) { return a.star.id < b.star.id; });
  std::vector<std::string> parts;
  auto next = rows_.cbegin();
  for (;;) {
    const std::uint64_t first = communicator.min(next == rows_.cend() ? k_none : next->star.id);
    if (first == k_none) break;
    const auto end = std::find_if(
        next, rows_.cend(), [&](const Row& row) { return row.star.id - first >= k_rows_at_once; });
    const std::vector<int> to_root(end - next, 0);
    auto here = route(communicator, std::span<const int>(to_root),
                      std::span<const Row>(&*next, to_root.size()));
    parts.push_back(fmt::format("{}/.stars_formed_{}.parquet", directory, parts.size()));
    communicator.agree([&] {
      if (communicator.is_root()) write_rows(parts.back(), std::move(here.items));
    });
    next = end;
  }
  rows_.clear();
  const std::string path = log_in(directory);
  const bool is_whole = rows_of_earlier_ == k_all_rows;
  if (parts.empty() && (earlier_.empty() || (earlier_ == path && is_whole))) return;
  communicator.agree([&] {
    if (communicator.is_root()) merge(parts, path);
  });
  earlier_ = path;
  rows_of_earlier_ = k_all_rows;
}

void BirthLog::write_rows(const std::string& path, std::vector<Row> rows) const {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.star.id < b.star.id; });
  std::vector<telemetry::Column> columns;
  const auto add = [&]<class Get>(const std::string& name, const Get& get) {
    std::vector<std::decay_t<decltype(get(rows.front()))>> values;
    std::transform(rows.begin(), rows.end(), std::back_inserter(values), get);
    columns.push_back({name, std::move(values)});
  };
  add("id", [](const Row& row) { return row.star.id; });
  add("step", [](const Row& row) { return row.step; });
  add("time", [](const Row& row) { return row.time; });
  add("scale_factor", [](const Row& row) { return row.scale_factor; });
  add("level", [](const Row& row) { return row.star.level; });
  for (int d = 0; d < 3; ++d)
    add(fmt::format("position_{}", "xyz"[d]), [d](const Row& row) { return row.star.position[d]; });
  for (int d = 0; d < 3; ++d)
    add(fmt::format("velocity_{}", "xyz"[d]), [d](const Row& row) { return row.star.velocity[d]; });
  add("mass", [](const Row& row) { return row.star.mass; });
  add("metallicity", [](const Row& row) { return row.star.metallicity; });
  add("hydrogen_density", [](const Row& row) { return row.star.hydrogen; });
  add("temperature_over_mu", [](const Row& row) { return row.star.temperature; });
  telemetry::write_parquet(path, columns, {});
}

// On rank 0. The parts end.
void BirthLog::merge(const std::vector<std::string>& parts, const std::string& path) {
  std::vector<std::string> inputs;
  if (!earlier_.empty() && std::filesystem::is_regular_file(earlier_)) inputs.push_back(earlier_);
  else if (!earlier_.empty())
    log::warn("{} is gone: {} begins with the stars that formed since the restart", earlier_, path);
  inputs.insert(inputs.end(), parts.begin(), parts.end());
  if (inputs.empty()) return;
  const bool goes_on = inputs.front() == earlier_;
  telemetry::merge_parquet(inputs, path, {{"table", "stars_formed"}},
                           goes_on ? rows_of_earlier_ : k_all_rows);
  for (const std::string& part : parts) std::remove(part.c_str());
}

void BirthLog::go_on(const Communicator& communicator, const std::string& directory,
                     std::int64_t step) {
  const std::string path = log_in(directory);
  bool is_there = false;
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    is_there = telemetry::parquet_is_available() && std::filesystem::is_regular_file(path);
    if (!is_there) return;
    const std::string wanted[] = {"step"};
    const auto columns = telemetry::read_parquet(path, wanted);
    const auto& steps = std::get<std::vector<std::int64_t>>(columns.front().values);
    rows_of_earlier_ = std::lower_bound(steps.begin(), steps.end(), step) - steps.begin();
  });
  communicator.broadcast(rows_of_earlier_);
  if (communicator.any(is_there)) earlier_ = path;
}

}  // namespace octant::driver
