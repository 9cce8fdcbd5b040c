// Tables of numbers in text files, and what lies between their entries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octant {

// The numbers of a line, and where it is: "table.txt:3".
struct NumberLine {
  std::string place;
  std::vector<double> numbers;
};

// The lines of a file that hold numbers, between blanks or commas; '#' begins a comment. Throws
// InputError, naming file and line, or the parameter that asks for the file.
std::vector<NumberLine> read_number_lines(const std::string& path, const std::string& parameter);

// Where x lies among ascending values, of which there must be one: after which of them, and how far
// on to the next one. What is beyond them is at the nearest end.
struct PlaceInTable {
  std::size_t below, above;
  double weight;  // of the one above

  double between(double a, double b) const { return a + weight * (b - a); }
};
PlaceInTable place_in_table(const std::vector<double>& values, double x);

}  // namespace octant
