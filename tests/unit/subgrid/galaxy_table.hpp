// Tables of reference numbers in the folder galaxy/ of OCTANT_DATA.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace octant::subgrid {

using GalaxyRow = std::map<std::string, double>;

// The rows of a table, by the names in its first line; comments are skipped. None where there is no
// such folder. Fails the test if the file is missing there.
inline std::optional<std::vector<GalaxyRow>> read_galaxy_table(const std::string& name) {
  const char* data = std::getenv("OCTANT_DATA");
  const std::string folder = std::string(data == nullptr ? "/nonexistent" : data) + "/galaxy/";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  std::ifstream file(folder + name);
  EXPECT_TRUE(file) << folder << name << " cannot be read";
  std::vector<std::string> names;
  std::vector<GalaxyRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::vector<std::string> words;
    for (std::string cell; std::getline(cells, cell, ',');) words.push_back(cell);
    if (names.empty()) {
      names = words;
      continue;
    }
    GalaxyRow row;
    for (std::size_t n = 0; n < names.size(); ++n) row[names[n]] = std::stod(words.at(n));
    rows.push_back(row);
  }
  EXPECT_FALSE(rows.empty()) << folder << name << " holds no numbers";
  return rows;
}

}  // namespace octant::subgrid
