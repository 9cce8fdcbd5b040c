#include "bench/block_history.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "telemetry/parquet_file.hpp"

namespace octant::bench {

using namespace telemetry;

namespace {

struct Row {
  std::int64_t step;
  int segment;
  RecordedBlock block;

  auto place() const { return std::tuple(step, block.level, block.key); }
};

template <class To>
std::vector<To> converted(const Column& column) {
  return std::visit(
      [](const auto& values) -> std::vector<To> {
        if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Texts>) return {};
        else return {values.begin(), values.end()};
      },
      column.values);
}

void append_rows(const std::string& path, std::vector<Row>& rows) {
  const std::vector<std::string> names{"step", "segment", "level",  "key",
                                       "rank", "updates", "cost_ns"};
  const auto columns = read_parquet(path, names);
  const auto step = converted<std::int64_t>(columns[0]);
  const auto segment = converted<int>(columns[1]), level = converted<int>(columns[2]);
  const auto key = converted<std::uint64_t>(columns[3]);
  const auto rank = converted<int>(columns[4]), updates = converted<int>(columns[5]);
  const auto cost = converted<double>(columns[6]);
  for (std::size_t n = 0; n < step.size(); ++n)
    rows.push_back({step[n], segment[n], {level[n], key[n], rank[n], updates[n], cost[n]}});
}

}  // namespace

std::vector<RecordedStep> read_block_history(const std::string& run) {
  const std::string folder = run + "/telemetry";
  std::vector<Row> rows;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("blocks-") && name.ends_with(".parquet"))
        append_rows(entry.path().string(), rows);
    }
  if (rows.empty())
    throw InputError(
        "{}: there are no block records (telemetry/blocks-*.parquet); expected the directory of an "
        "AMR run with telemetry.enabled = true",
        run);
  std::map<std::int64_t, int> newest;
  for (const Row& row : rows) newest[row.step] = std::max(newest[row.step], row.segment);
  std::erase_if(rows, [&](const Row& row) { return row.segment != newest[row.step]; });
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.place() < b.place(); });
  // An interrupted merge leaves files whose rows are duplicated in another file; remove the
  // duplicates.
  const auto end = std::unique(rows.begin(), rows.end(),
                               [](const Row& a, const Row& b) { return a.place() == b.place(); });
  std::vector<RecordedStep> steps;
  for (auto row = rows.begin(); row != end; ++row) {
    if (steps.empty() || steps.back().step != row->step) steps.push_back({row->step, {}});
    steps.back().blocks.push_back(row->block);
  }
  return steps;
}

}  // namespace octant::bench
