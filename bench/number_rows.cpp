#include "bench/number_rows.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/error.hpp"

namespace octant::bench {

std::vector<std::vector<double>> read_rows(const std::string& path, std::size_t columns) {
  std::ifstream file(path);
  if (!file) throw InputError("cannot read {}; check that the file exists", path);
  std::vector<std::vector<double>> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::vector<double> row;
    for (double value; words >> value;) row.push_back(value);
    if (row.empty() && number == 1) continue;
    if (row.size() != columns || !words.eof())
      throw InputError("{}, line {}: \"{}\" is not {} number(s)", path, number, line, columns);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw InputError("{}: contains no numbers", path);
  return rows;
}

}  // namespace octant::bench
