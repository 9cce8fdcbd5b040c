// Tables of reference values in the folder that OCTANT_DATA names.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/reference_path.hpp"

namespace octant::subgrid {

// A row of text, by the names of its columns.
class ReferenceRow {
 public:
  explicit ReferenceRow(std::map<std::string, std::string> words) : words_(std::move(words)) {}

  const std::string& text(const std::string& column) const { return words_.at(column); }
  double number(const std::string& column) const { return std::stod(text(column)); }

 private:
  std::map<std::string, std::string> words_;
};

// The rows of a table, with the names of columns in its first line; lines that begin with # are
// left out. None without the file. Fails the test if there are no rows.
inline std::optional<std::vector<ReferenceRow>> reference_table(const std::string& name) {
  const std::string path = reference_path(name);
  if (path.empty()) return std::nullopt;
  std::ifstream file(path);
  std::vector<std::string> columns;
  std::vector<ReferenceRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words;
    std::istringstream text(line);
    for (std::string word; std::getline(text, word, ',');) words.push_back(word);
    if (columns.empty()) {
      columns = words;
      continue;
    }
    std::map<std::string, std::string> row;
    for (std::size_t n = 0; n < columns.size(); ++n) row[columns[n]] = words.at(n);
    rows.emplace_back(std::move(row));
  }
  EXPECT_FALSE(rows.empty()) << path << " contains no rows";
  return rows;
}

}  // namespace octant::subgrid
