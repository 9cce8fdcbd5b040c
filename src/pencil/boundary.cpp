#include "pencil/boundary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::pencil {

std::string to_string(Condition condition) {
  switch (condition) {
    case Condition::periodic: return "periodic";
    case Condition::dirichlet: return "dirichlet";
    case Condition::neumann: return "neumann";
  }
  return "?";
}

bool AxisConditions::allows_constant() const {
  return lower != Condition::dirichlet && upper != Condition::dirichlet;
}

std::string to_string(const AxisConditions& conditions) {
  constexpr const char* k_places[] = {"in centres", "on faces", "on inner faces"};
  return fmt::format("{}-{} {}", to_string(conditions.lower), to_string(conditions.upper),
                     k_places[static_cast<int>(conditions.location)]);
}

void check_conditions(const AxisConditions& conditions, const std::string& axis) {
  if ((conditions.lower == Condition::periodic) == (conditions.upper == Condition::periodic))
    return;
  throw InputError("the boundaries along {} are {} and {}: either both or neither must be periodic",
                   axis, to_string(conditions.lower), to_string(conditions.upper));
}

int unknowns(int entries, const AxisConditions& conditions) {
  if (conditions.periodic() || conditions.location == Location::centre) return entries;
  const bool walls =
      conditions.lower == Condition::dirichlet && conditions.upper == Condition::dirichlet;
  return walls || conditions.location == Location::inner_face ? entries - 1 : entries;
}

namespace {

// Returns the phase theta of each eigenvalue -(2 sin(theta) / spacing)^2, in units of pi.
std::vector<double> phases(const AxisConditions& conditions, int n) {
  const bool lower = conditions.lower == Condition::dirichlet;
  const bool upper = conditions.upper == Condition::dirichlet;
  const bool centre = conditions.location == Location::centre;
  const bool face = conditions.location == Location::face;
  const bool inner = conditions.location == Location::inner_face;
  std::vector<double> phase(n);
  for (int m = 0; m < n; ++m) {
    if (conditions.periodic()) phase[m] = static_cast<double>(std::min(m, n - m)) / n;
    else if (lower != upper) phase[m] = (2.0 * m + 1.0) / (inner ? 4.0 * n + 2.0 : 4.0 * n);
    else if (lower) phase[m] = (m + 1.0) / (2.0 * (centre ? n : n + 1));
    else phase[m] = m / (2.0 * (face ? n - 1 : n));
  }
  return phase;
}

}  // namespace

std::vector<double> eigenvalues(const UniformAxis& axis) {
  std::vector<double> values = phases(axis.conditions, unknowns(axis.entries, axis.conditions));
  for (double& value : values) {
    const double root = 2.0 * std::sin(std::numbers::pi * value) / axis.spacing;
    value = -root * root;
  }
  return values;
}

namespace {

// Control volumes of the unknowns along an axis, and distances between unknowns and to one ghost
// point at each end.
struct StretchedAxis {
  std::vector<double> height;    // height of the control volume of each unknown
  std::vector<double> distance;  // distance from unknown n - 1 to unknown n, for n = 0 .. size
};

StretchedAxis centres(std::span<const double> faces) {
  const auto n = static_cast<int>(faces.size()) - 1;
  const auto height = [&](int k) {
    k = std::clamp(k, 0, n - 1);
    return faces[k + 1] - faces[k];
  };
  StretchedAxis axis;
  for (int k = 0; k < n; ++k) axis.height.push_back(height(k));
  for (int k = 0; k <= n; ++k) axis.distance.push_back(0.5 * (height(k - 1) + height(k)));
  return axis;
}

// Returns the control volumes of faces, which extend from cell centre to cell centre; the distances
// between faces are the heights of cells.
StretchedAxis on_faces(std::span<const double> faces, bool from_lower_boundary) {
  const StretchedAxis cells = centres(faces);
  const auto n = static_cast<int>(cells.height.size());
  const int first = from_lower_boundary ? 0 : 1;
  StretchedAxis axis;
  for (int f = first; f <= n; ++f) axis.height.push_back(cells.distance[f]);
  for (int f = first; f <= n + 1; ++f)
    axis.distance.push_back(cells.height[std::clamp(f - 1, 0, n - 1)]);
  return axis;
}

// Sets the control-volume height and the distances at the periodic boundary.
void close(StretchedAxis& axis, std::span<const double> faces, Location location) {
  const auto n = static_cast<int>(faces.size()) - 1;
  const double first = faces[1] - faces[0], last = faces[n] - faces[n - 1];
  if (location == Location::centre)
    axis.distance.front() = axis.distance.back() = 0.5 * (first + last);
  else axis.height.back() = 0.5 * (first + last), axis.distance.back() = first;
}

}  // namespace

TridiagonalMatrix second_derivative(std::span<const double> faces,
                                    const AxisConditions& conditions) {
  check_conditions(conditions, "z");
  OCTANT_REQUIRE(faces.size() >= 2, "an axis without cells has no second derivative");
  for (std::size_t k = 1; k < faces.size(); ++k)
    if (!(faces[k] > faces[k - 1]))
      throw InputError(
          "cell face {} along z, at {}, is not above the previous one, at {}; expected strictly "
          "increasing positions",
          k, faces[k], faces[k - 1]);
  const bool on_face = conditions.location != Location::centre;
  const bool inner = conditions.location == Location::inner_face;
  StretchedAxis axis =
      on_face ? on_faces(faces, !inner && conditions.lower == Condition::neumann) : centres(faces);
  if (conditions.periodic()) close(axis, faces, conditions.location);
  // A face on the upper boundary is not an unknown if its value is prescribed.
  else if (on_face && (inner || conditions.upper == Condition::dirichlet)) axis.height.pop_back();

  const auto n = static_cast<int>(axis.height.size());
  TridiagonalMatrix matrix{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
                           conditions.periodic()};
  for (int k = 0; k < n; ++k) {
    matrix.lower[k] = 1.0 / (axis.height[k] * axis.distance[k]);
    matrix.upper[k] = 1.0 / (axis.height[k] * axis.distance[k + 1]);
  }
  // The outermost coefficients multiply ghosts, which are eliminated by the boundary conditions
  // (see AxisConditions): in centres, ghost = -interior or interior; on faces, ghost = 0 or the
  // mirrored face; on inner faces, ghost = 0 or interior.
  double lower_wall = 0.0, upper_wall = 0.0;
  const auto close_end = [&](Condition condition, double& outer, double& next, double& wall) {
    if (!on_face && condition == Condition::dirichlet) wall = 2.0 * outer;
    if (on_face && condition == Condition::dirichlet) wall = outer;
    if (on_face && !inner && condition == Condition::neumann) next += outer;
    outer = 0.0;
  };
  if (!conditions.periodic()) {
    close_end(conditions.lower, matrix.lower.front(), matrix.upper.front(), lower_wall);
    close_end(conditions.upper, matrix.upper.back(), matrix.lower.back(), upper_wall);
  }
  for (int k = 0; k < n; ++k) matrix.diagonal[k] = -(matrix.lower[k] + matrix.upper[k]);
  matrix.diagonal.front() -= lower_wall;
  matrix.diagonal.back() -= upper_wall;
  return matrix;
}

}  // namespace octant::pencil
