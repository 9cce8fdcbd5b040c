// Numerical tables: text files, interpolation and output rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octant {

// Numbers of a line, and the location of the line, such as "table.txt:3".
struct NumberLine {
  std::string location;
  std::vector<double> numbers;
};

// Throws InputError if the path is that of a pipe, a device or a socket, which could block the
// program or be read only once. Directories and missing paths are accepted; the caller must check
// them.
void reject_special_file(const std::string& path);

// Function that returns the content of a text file; nothing if the file cannot be read. Runs pass
// functions for which rank 0 alone opens the file (io/input_files.hpp).
using TextReader = std::function<std::optional<std::string>(const std::string& path)>;

// TextReader that opens the file on the calling rank. Returns nothing for directories and missing
// files. Throws InputError for pipes, devices and sockets.
std::optional<std::string> read_text_file(const std::string& path);

// Reads the lines of a file with numbers separated by blanks or commas; '#' begins a comment.
// Throws InputError with file and line, or with the parameter that specifies the file.
std::vector<NumberLine> read_number_lines(const std::string& path, const std::string& parameter,
                                          const TextReader& read);

// Interval of x among ascending values, with the weight of linear interpolation. An x outside the
// values is clamped to the nearest.
struct TableInterval {
  std::size_t below, above;
  double weight;  // weight of the value at `above`

  // Interpolates linearly between the value a at `below` and the value b at `above`.
  double between(double a, double b) const { return a + weight * (b - a); }
};
// Finds the interval of x among at least one value.
TableInterval find_interval(const std::vector<double>& values, double x);

// Row of a table of numbers, such as history.csv, with the names of its columns. Names and numbers
// are added together, so that header and rows always agree.
class Columns {
 public:
  void add(const std::string& name, double value);  // shortest digits that read back exactly
  // Adds an integer.
  void add(const std::string& name, std::int64_t value);
  // Adds name_x, name_y and name_z.
  void add_vector(const std::string& name, std::span<const double, 3> components);
  // Adds name_0, name_1, ...
  void add_numbered(const std::string& name, std::span<const std::int64_t> values);

  // Names separated by commas, in the order of addition.
  const std::string& names() const { return names_; }
  // Values separated by commas, in the order of addition.
  const std::string& values() const { return values_; }

 private:
  std::string names_, values_;
};

}  // namespace octant
