// A Parquet file that is being written: it gets its name at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "telemetry/parquet_file.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry::parquet {

class Output {
 public:
  // `effort`: of compression, as deflated() takes it. Functions throw RunError that tells the
  // reason.
  Output(const std::string& path, int effort);
  ~Output();  // removes what is not finished
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Columns of equal length; the second time, of the same names and types in the same order.
  void write(std::span<const Column> columns);
  void finish(const Metadata& metadata);

 private:
  void write_group(std::span<const Column> columns, std::int64_t first, std::int64_t rows);
  Thrift::Structure write_chunk(const Column& column, std::int64_t first, std::int64_t rows);
  void write_page(int type, int encoding, std::int64_t count, std::span<const std::byte> values);
  void write_bytes(std::span<const std::byte> bytes);

  std::string path_, part_;
  int effort_;
  std::ofstream file_;
  std::int64_t rows_ = 0, bytes_ = 0, uncompressed_ = 0;  // so far
  Thrift::List schema_, groups_;
  bool done_ = false;
};

}  // namespace octant::telemetry::parquet
