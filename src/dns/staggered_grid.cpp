#include "dns/staggered_grid.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant::dns {

namespace {

// Maps s in [0, 1], uniform, to z / L in [0, 1]. The factor is not zero.
using Mapping = double (*)(double s, double factor);

double uniform(double s, double) { return s; }
double tanh_both(double s, double g) {
  return 0.5 * (1.0 + std::tanh((s - 0.5) * g) / std::tanh(0.5 * g));
}
double tanh_lower(double s, double g) { return 1.0 + std::tanh((s - 1.0) * g) / std::tanh(g); }
double tanh_upper(double s, double g) { return std::tanh(s * g) / std::tanh(g); }
double cosine(double s, double) { return 0.5 * (1.0 - std::cos(M_PI * s)); }

// In the order of Stretching, up to `file`.
constexpr Mapping k_mappings[] = {uniform, tanh_both, tanh_lower, tanh_upper, cosine};

std::vector<double> faces_from_file(const GridOptions& options) {
  const std::string& path = options.stretching_file;
  const int expected = options.cells[2] + 1;
  std::ifstream in(path);
  if (!in)
    throw InputError(
        "grid.stretching_file = \"{}\": cannot be read; expected a text file with {} "
        "positions of faces",
        path, expected);
  std::vector<double> faces;
  for (double z; in >> z;) faces.push_back(z);
  if (!in.eof())
    throw InputError("{}: the entry after number {} is not a number", path, faces.size());
  if (std::ssize(faces) != expected)
    throw InputError(
        "{}: it has {} numbers, but grid.cells[2] = {} needs the positions of {} faces", path,
        faces.size(), options.cells[2], expected);
  for (std::size_t k = 1; k < faces.size(); ++k)
    if (!(faces[k] > faces[k - 1]))
      throw InputError("{}: number {} is {}, which does not exceed {} before it; faces ascend",
                       path, k + 1, faces[k], faces[k - 1]);
  const double length = options.size[2];
  if (std::abs(faces.front()) > 1e-10 * length || std::abs(faces.back() - length) > 1e-10 * length)
    throw InputError("{}: the faces reach from {} to {}; expected 0 to grid.size[2] = {}", path,
                     faces.front(), faces.back(), length);
  return faces;
}

// Powers of these, as flow rates and spectra need them, are numbers.
constexpr double k_shortest = 1e-50, k_longest = 1e50;
// Extent over the smallest spacing. The smallest eigenvalue of the pressure equation is about
// (pi spacing / extent)^2 of the largest: 1e-13, of which rounding errors of 2e-16 are 0.2 %.
constexpr double k_most_spacings = 1e7;

void require_resolved_lengths(const Grid& grid) {
  double shortest = std::min(grid.dx, grid.dy);
  for (int k = 0; k < grid.cells[2]; ++k) shortest = std::min(shortest, grid.dz_cell[k]);
  const double longest = *std::max_element(grid.size.begin(), grid.size.end());
  if (longest > k_longest || longest < k_shortest * k_most_spacings)
    throw InputError(
        "grid.size: the longest extent is {}; expected lengths between {} and {}; choose another "
        "unit of length",
        longest, k_shortest * k_most_spacings, k_longest);
  if (shortest * k_most_spacings < longest)
    throw InputError(
        "grid.size, grid.cells, grid.stretching: the longest extent is {} and the smallest spacing "
        "of faces {}; expected a ratio of {} at most, beyond which the pressure equation is lost "
        "in rounding errors",
        longest, shortest, k_most_spacings);
}

}  // namespace

std::vector<double> z_faces(const GridOptions& options) {
  if (options.stretching == Stretching::file) return faces_from_file(options);
  const int cells = options.cells[2];
  const bool is_mapped = options.stretching_factor > 0.0;
  const Mapping map = is_mapped ? k_mappings[static_cast<int>(options.stretching)] : uniform;
  std::vector<double> faces(cells + 1);
  for (int k = 0; k <= cells; ++k)
    faces[k] = options.size[2] * map(static_cast<double>(k) / cells, options.stretching_factor);
  return faces;
}

ZLine ZLine::part(int first, int count) const {
  ZLine line(count);
  for (int k = -1; k <= count; ++k) line[k] = (*this)[first + k];
  return line;
}

Grid::Grid(const GridOptions& options, bool z_periodic)
    : cells(options.cells),
      size(options.size),
      dx(size[0] / cells[0]),
      dy(size[1] / cells[1]),
      face(cells[2]),
      centre(cells[2]),
      dz_cell(cells[2]),
      dz_face(cells[2]) {
  const int n = cells[2];
  const std::vector<double> faces = z_faces(options);
  for (int k = 0; k < n; ++k)
    dz_cell[k] = options.stretching == Stretching::uniform ? size[2] / n : faces[k + 1] - faces[k];
  dz_cell[-1] = dz_cell[z_periodic ? n - 1 : 0];
  dz_cell[n] = dz_cell[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) dz_face[k] = 0.5 * (dz_cell[k] + dz_cell[k + 1]);
  dz_face[n] = dz_face[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) face[k] = faces[k + 1];
  face[n] = face[n - 1] + dz_cell[n];
  for (int k = -1; k <= n; ++k) centre[k] = face[k] - 0.5 * dz_cell[k];
  require_resolved_lengths(*this);
}

}  // namespace octant::dns
