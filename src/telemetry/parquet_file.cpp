#include "telemetry/parquet_file.hpp"

#include <algorithm>
#include <exception>

#include "core/error.hpp"
#include "telemetry/parquet_input.hpp"
#include "telemetry/parquet_output.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry {

namespace {

// Of windows, which are written while a run waits, and of merged files.
constexpr int k_fast = 1, k_small = 6;

constexpr std::int64_t k_rows_at_once = 1 << 20;

// Runs a step on a file; whatever it throws becomes a RunError that names the file.
template <class Step>
auto on_file(const char* what, const std::string& path, const Step& step) {
  try {
    return step();
  } catch (const std::exception& error) {
    throw RunError(
        "cannot {} the telemetry file '{}': {}; check the space left and the permissions, or run "
        "with telemetry.enabled = false",
        what, path, error.what());
  }
}

// Rows of several files, on their way into one.
class Merger {
 public:
  explicit Merger(const std::string& path) : output_(path, k_small) {}

  void add(const std::string& input, std::int64_t rows) {
    parquet::Input file(input);
    if (held_.empty()) held_ = file.schema();
    for (std::size_t group = 0; group < file.groups(); ++group) {
      const std::vector<Column> columns = file.columns(group);
      const std::int64_t some = std::min(rows, parquet::rows_of(columns.front()));
      hold(columns, some);
      rows -= some;
    }
  }
  void finish(const Metadata& metadata) {
    write_held();
    output_.finish(metadata);
  }

 private:
  void hold(const std::vector<Column>& columns, std::int64_t rows) {
    if (columns.size() != held_.size())
      throw RunError("{} columns after {}", columns.size(), held_.size());
    for (std::size_t n = 0; n < columns.size(); ++n)
      parquet::append_rows(held_[n], columns[n], rows);
    if (parquet::rows_of(held_.front()) >= k_rows_at_once) write_held();
  }
  void write_held() {
    output_.write(held_);
    for (Column& column : held_) column = parquet::empty_column(column.name, column.values.index());
  }
  parquet::Output output_;
  std::vector<Column> held_;
};

}  // namespace

void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata) {
  on_file("write", path, [&] {
    parquet::Output output(path, k_fast);
    output.write(columns);
    output.finish(metadata);
  });
}

void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata, std::int64_t rows_of_first) {
  on_file("write", path, [&] {
    Merger merger(path);
    std::int64_t rows = rows_of_first;
    for (const std::string& input : inputs) {
      merger.add(input, rows);
      rows = std::numeric_limits<std::int64_t>::max();
    }
    merger.finish(metadata);
  });
}

Metadata parquet_metadata(const std::string& path) {
  return on_file("read", path, [&] { return parquet::Input(path).metadata(); });
}

std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names) {
  return on_file("read", path, [&] {
    parquet::Input file(path);
    std::vector<Column> columns;
    for (const std::string& name : names) columns.push_back(file.column(name));
    return columns;
  });
}

}  // namespace octant::telemetry
