// A transfer function of the potential from a file.
#pragma once

#include <string>
#include <vector>

namespace octant::gravity {

// Factors by wave number and scale factor. The file has numbers between blanks or commas, '#'
// begins a comment: first a line of ascending scale factors, then lines of a wave number, ascending
// from one to the next, and as many factors as there are scale factors.
class TransferTable {
 public:
  // Wave numbers in the file are in units of `unit`. Throws InputError, naming file and line.
  TransferTable(const std::string& path, double unit);

  // Linear in log k and a between the entries; beyond the table that of its nearest end. k > 0.
  double operator()(double k, double a) const;

 private:
  std::vector<double> scale_factors_, log_k_;
  std::vector<std::vector<double>> factors_;  // [wave number][scale factor]
};

}  // namespace octant::gravity
