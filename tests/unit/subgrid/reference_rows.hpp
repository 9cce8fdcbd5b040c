// Tables of reference values in the folder that OCTANT_DATA names.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace octant::subgrid {

// Where a file of the reference data is; empty without OCTANT_DATA.
inline std::string reference_file(const std::string& name) {
  const char* folder = std::getenv("OCTANT_DATA");
  const std::string path = folder ? std::string(folder) + "/" + name : "";
  return std::ifstream(path) ? path : "";
}

// Rows of text by the names of their columns. Lines that begin with # are left out.
class ReferenceRows {
 public:
  explicit ReferenceRows(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#")) continue;
      std::vector<std::string> words;
      std::istringstream text(line);
      for (std::string word; std::getline(text, word, ',');) words.push_back(word);
      if (names_.empty())
        for (const std::string& word : words) names_.emplace(word, names_.size());
      else rows_.push_back(words);
    }
    OCTANT_REQUIRE(!rows_.empty(), "{} holds no rows", path);
  }

  std::size_t size() const { return rows_.size(); }
  const std::string& text(std::size_t row, const std::string& column) const {
    return rows_[row].at(names_.at(column));
  }
  double number(std::size_t row, const std::string& column) const {
    return std::stod(text(row, column));
  }

 private:
  std::map<std::string, std::size_t> names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace octant::subgrid
