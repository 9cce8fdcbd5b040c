#include "telemetry/parquet_file.hpp"

#include <algorithm>
#include <exception>

#include "core/error.hpp"
#include "telemetry/parquet_io.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry {

namespace {

// Compression levels: windows, written while a run waits, and merged files.
constexpr int k_fast = 1, k_small = 6;

constexpr std::int64_t k_most_rows_per_group = 1 << 20;

// Runs a step on a file; converts exceptions to a RunError with the file name.
template <class Step>
auto on_file(const char* what, const std::string& path, const Step& step) {
  try {
    return step();
  } catch (const std::exception& error) {
    throw RunError("cannot {} the file '{}': {}", what, path, error.what());
  }
}

// First rows of a group to be copied into another file.
struct Part {
  const parquet::Input* file;
  std::size_t group;
  std::int64_t rows;
};

// Copies a row group to another file without changing its bytes.
void copy_group(const parquet::Input& file, std::size_t group, parquet::Output& output) {
  output.begin_group(file.rows(group));
  for (std::size_t number = 0; number < file.schema().size(); ++number)
    output.add(file.schema()[number], file.stored(number, group));
  output.end_group();
}

// Writes parts as a row group.
void write_group(std::span<const Part> parts, parquet::Output& output) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  const std::vector<Column>& schema = parts.front().file->schema();
  output.begin_group(rows);
  for (std::size_t number = 0; number < schema.size(); ++number) {
    Column column = schema[number];
    for (const Part& part : parts) part.file->append(column, number, part.group, part.rows);
    output.add(column);
  }
  output.end_group();
}

void require_same_columns(const std::vector<parquet::Input>& files) {
  for (const parquet::Input& file : files)
    if (file.schema() != files.front().schema())
      throw RunError("the files have different numbers of columns, {} and {}",
                     files.front().schema().size(), file.schema().size());
}

std::vector<Part> parts_of(const std::vector<parquet::Input>& files, std::int64_t rows_of_first) {
  std::vector<Part> parts;
  std::int64_t left = rows_of_first;
  for (const parquet::Input& file : files) {
    for (std::size_t group = 0; group < file.groups(); ++group) {
      parts.push_back({&file, group, std::min(left, file.rows(group))});
      left -= parts.back().rows;
    }
    left = std::numeric_limits<std::int64_t>::max();
  }
  return parts;
}

}  // namespace

void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata) {
  on_file("write", path, [&] {
    parquet::Output output(path, k_fast);
    output.begin_group(parquet::rows_of(columns.front()));
    for (const Column& column : columns) output.add(column);
    output.end_group();
    output.finish(metadata);
  });
}

void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata, std::int64_t rows_of_first, Storage storage) {
  on_file("write", path, [&] {
    const std::vector<parquet::Input> files(inputs.begin(), inputs.end());
    require_same_columns(files);
    parquet::Output output(path, k_small);
    std::vector<Part> held;
    std::int64_t rows = 0;
    for (const Part& part : parts_of(files, rows_of_first)) {
      if (rows > 0 && rows + part.rows > k_most_rows_per_group) {
        write_group(held, output);
        held.clear();
        rows = 0;
      }
      held.push_back(part);
      rows += part.rows;
    }
    if (held.empty()) throw RunError("the table has no columns");
    write_group(held, output);
    output.finish(metadata, storage);
  });
}

void join_parquet(std::span<const std::string> inputs, const std::string& path,
                  const Metadata& metadata) {
  on_file("write", path, [&] {
    const std::vector<parquet::Input> files(inputs.begin(), inputs.end());
    require_same_columns(files);
    parquet::Output output(path, k_small);
    for (const parquet::Input& file : files)
      for (std::size_t group = 0; group < file.groups(); ++group) copy_group(file, group, output);
    output.finish(metadata);
  });
}

Metadata parquet_metadata(const std::string& path) {
  return on_file("read", path, [&] { return parquet::Input(path).metadata(); });
}

std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names) {
  return on_file("read", path, [&] {
    const parquet::Input file(path);
    std::vector<Column> columns;
    for (const std::string& name : names) columns.push_back(file.column(name));
    return columns;
  });
}

}  // namespace octant::telemetry
