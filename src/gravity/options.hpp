// The parameters `gravity.*`.
#pragma once

#include <string>

namespace octant {
class ParameterSchema;
}

namespace octant::gravity {

struct GravityOptions {
  bool enabled = false;
  std::string base = "auto";           // how level 0 is solved
  std::string laplacian = "discrete";  // that Fourier transforms invert
  std::string transfer = "";           // file of a TransferTable; none if empty
  double tolerance = 1e-4;
  int max_cycles = 60;
  double constant = 1.0;  // G in code units
  int gradient_order = 4;
};

void declare(ParameterSchema& schema, GravityOptions& options);

}  // namespace octant::gravity
