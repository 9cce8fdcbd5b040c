// Reads a Parquet file back, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace octant::telemetry {

class ParquetTable {
 public:
  explicit ParquetTable(const std::string& path);

  int rows() const { return rows_; }
  double number(const std::string& column, int row) const { return numbers_.at(column).at(row); }
  const std::string& text(const std::string& column, int row) const {
    return texts_.at(column).at(row);
  }
  const std::string& metadata(const std::string& key) const { return metadata_.at(key); }

 private:
  int rows_ = 0;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::vector<std::string>> texts_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace octant::telemetry
