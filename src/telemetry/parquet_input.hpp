// A Parquet file that Octant has written, and is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "telemetry/parquet_file.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry::parquet {

class Input {
 public:
  // Functions throw RunError that tells the reason.
  explicit Input(const std::string& path);

  Metadata metadata() const;
  const std::vector<Column>& schema() const { return schema_; }  // columns without rows

  // Rows are stored in groups; columns of one of them, and of all.
  std::size_t groups() const;
  std::vector<Column> columns(std::size_t group);
  Column column(const std::string& name);

 private:
  void append_chunk(Column& column, std::size_t group, std::size_t place);
  std::vector<std::byte> bytes_at(std::int64_t offset, std::int64_t count);

  std::ifstream file_;
  std::int64_t size_ = 0;
  Thrift description_;
  std::vector<Column> schema_;
};

}  // namespace octant::telemetry::parquet
