#include "dns/stretching.hpp"

#include <cmath>
#include <fstream>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant::dns {

namespace {

// Maps s in [0, 1], uniform, to z / L in [0, 1]. The factor is not zero.
using Mapping = double (*)(double s, double factor);

double tanh_both(double s, double g) {
  return 0.5 * (1.0 + std::tanh((s - 0.5) * g) / std::tanh(0.5 * g));
}
double tanh_lower(double s, double g) { return 1.0 + std::tanh((s - 1.0) * g) / std::tanh(g); }
double tanh_upper(double s, double g) { return std::tanh(s * g) / std::tanh(g); }
double cosine(double s, double) { return 0.5 * (1.0 - std::cos(M_PI * s)); }

struct NamedMapping {
  const char* name;
  Mapping map;
};
constexpr NamedMapping k_mappings[] = {{"tanh", tanh_both},
                                       {"tanh_lower", tanh_lower},
                                       {"tanh_upper", tanh_upper},
                                       {"cosine", cosine}};

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
  if (!in.eof()) throw InputError("{}: what follows number {} is no number", path, faces.size());
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

}  // namespace

std::vector<std::string> stretching_names() {
  std::vector<std::string> names{"uniform"};
  for (const NamedMapping& mapping : k_mappings) names.emplace_back(mapping.name);
  names.emplace_back("file");
  return names;
}

std::vector<double> z_faces(const GridOptions& options) {
  if (options.stretching == "file") return faces_from_file(options);
  const int cells = options.cells[2];
  Mapping map = [](double s, double) { return s; };
  for (const NamedMapping& mapping : k_mappings)
    if (options.stretching == mapping.name && options.stretching_factor > 0.0) map = mapping.map;
  std::vector<double> faces(cells + 1);
  for (int k = 0; k <= cells; ++k)
    faces[k] = options.size[2] * map(static_cast<double>(k) / cells, options.stretching_factor);
  return faces;
}

}  // namespace octant::dns
