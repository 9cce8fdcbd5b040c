// One row of a table of numbers, such as history.csv, with the names of its columns. Whoever knows
// a number adds its name with it, so that the header and the rows of a table cannot disagree.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace octant {

class Columns {
 public:
  void add(const std::string& name, double value);  // in as many digits as tell it from all others
  void add(const std::string& name, std::int64_t value);
  // name_x, name_y and name_z.
  void add_vector(const std::string& name, std::span<const double, 3> components);
  // name_0, name_1, ...
  void add_numbered(const std::string& name, std::span<const std::int64_t> values);

  // Separated by commas, in the order in which they were added.
  const std::string& names() const { return names_; }
  const std::string& values() const { return values_; }

 private:
  std::string names_, values_;
};

}  // namespace octant
