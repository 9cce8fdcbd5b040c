// Maclaurin spheroid: a uniform spheroid with analytic potential (Chandrasekhar 1969, Ellipsoidal
// Figures of Equilibrium, section 19) for comparison with the numerical potential. The spheroid has
// the angular velocity of equilibrium.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/number_file.hpp"
#include "core/parameters.hpp"
#include "gravity/stored_potential.hpp"
#include "mesh/add_totals.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

constexpr int k_pieces = 8;  // samples per axis of cells at the surface

// Spheroid of equatorial radius a and polar radius c < a, centred on the origin.
struct Spheroid {
  double a = 1.0, c = 0.75, density = 1.0, G = 1.0;

  KOKKOS_INLINE_FUNCTION bool contains(double x, double y, double z) const {
    return (x * x + y * y) / (a * a) + z * z / (c * c) < 1.0;
  }

  // Potential and its derivatives along R and z. With the confocal coordinate l, 0 inside and
  // otherwise the root of R^2 / (a^2 + l) + z^2 / (c^2 + l) = 1, and w = asin(a e / sqrt(a^2 + l)),
  //   phi = -pi G rho a^2 c (I(l) - R^2 A(l) - z^2 C(l)).
  struct Value {
    double potential, along_R, along_z;
  };
  KOKKOS_INLINE_FUNCTION Value at(double R, double z) const {
    const double f2 = a * a - c * c, f = Kokkos::sqrt(f2), s = R * R + z * z;
    double l = 0.0;
    if (!contains(R, 0.0, z)) {
      const double b = a * a + c * c - s, d = a * a * c * c - R * R * c * c - z * z * a * a;
      l = 0.5 * (Kokkos::sqrt(b * b - 4.0 * d) - b);
    }
    const double root = Kokkos::sqrt(c * c + l), w = Kokkos::atan(f / root);
    const double A = (w - f * root / (a * a + l)) / (f2 * f);
    const double C = 2.0 * (f / root - w) / (f2 * f);
    const double unit = std::numbers::pi * G * density * a * a * c;
    return {-unit * (2.0 * w / f - R * R * A - z * z * C), 2.0 * unit * R * A, 2.0 * unit * z * C};
  }

  // Squared angular velocity in equilibrium.
  double squared_rotation() const {
    const Value equator = at(a, 0.0), pole = at(0.0, c);
    return equator.along_R / a - pole.along_z * c / (a * a);
  }
};

// Contributions of a cell: squares of exact values and of errors, to be summed, then the relative
// error of the potential, whose maximum is taken.
struct ErrorTerms {
  enum { potential2, error2, force2, force_error2, mass_force2, mass_force_error2, sums };
  enum { largest = sums, count };
  static constexpr int parts = 1;

  mesh::CellRange cells;
  mesh::BlockField potential;
  gravity::VectorField acceleration;
  mesh::BlockLayout layout;
  const double* gas;
  Spheroid spheroid;
  double centre[3];

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* terms) const {
    const auto place = cells.centre(cell);
    const double x = place[0] - centre[0], y = place[1] - centre[1], z = place[2] - centre[2];
    const double R = Kokkos::sqrt(x * x + y * y);
    const Spheroid::Value exact = spheroid.at(R, z);
    const double along_R = R > 0.0 ? -exact.along_R / R : 0.0;
    const double g[3] = {along_R * x, along_R * y, -exact.along_z};
    const double error = *potential.at(cell) - exact.potential;
    terms[potential2] = exact.potential * exact.potential;
    terms[error2] = error * error;
    terms[force2] = terms[force_error2] = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double off = acceleration.at(cell)[d * acceleration.stride_component] - g[d];
      terms[force2] += g[d] * g[d];
      terms[force_error2] += off * off;
    }
    const double density = gas[layout.offset(cell)];
    terms[mass_force2] = density * terms[force2];
    terms[mass_force_error2] = density * terms[force_error2];
    terms[largest] = Kokkos::abs(error / exact.potential);
  }
};

class Maclaurin final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.radius", spheroid_.a,
               {.unit = "length", .meaning = "Equatorial radius of the spheroid", .above = 0.0});
    schema.add("problem.axis_ratio", axis_ratio_,
               {.meaning = "Ratio of polar to equatorial radius", .min = 0.01, .max = 0.999});
    schema.add("problem.density", spheroid_.density,
               {.unit = "density", .meaning = "Density of the spheroid", .above = 0.0});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the spheroid"});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "problem.density", .meaning = "Ambient density", .above = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    spheroid_.G = setup.require_gravity("maclaurin");
    for (int axis = 0; axis < 3; ++axis) {
      if (setup.geometry.periodic(axis))
        throw InputError(
            "problem.name = \"maclaurin\": the analytic potential is that of an isolated spheroid; "
            "expected mesh.boundary_{} = [\"outflow\", \"outflow\"]",
            static_cast<char>('x' + axis));
      if (centre_[axis] - spheroid_.a < setup.geometry.lower()[axis] ||
          centre_[axis] + spheroid_.a > setup.geometry.upper()[axis])
        throw InputError(
            "problem.radius = {}: the spheroid does not fit into the domain along {}; enlarge the "
            "domain (mesh.lower, mesh.upper)",
            spheroid_.a, static_cast<char>('x' + axis));
    }
    spheroid_.c = axis_ratio_ * spheroid_.a;
    rotation_ = std::sqrt(spheroid_.squared_rotation());
    // Central pressure p_c of p = p_c (1 - R^2 / a^2 - z^2 / c^2).
    central_pressure_ =
        0.5 * spheroid_.density * spheroid_.at(0.0, spheroid_.c).along_z * spheroid_.c;
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    const double x = centre[0] - centre_[0], y = centre[1] - centre_[1], z = centre[2] - centre_[2];
    const double share = fraction_inside(x, y, z, cell_size);
    GasState gas;
    gas.density = spheroid_.density * (share + (1.0 - share) * ambient_density_);
    const double a2 = spheroid_.a * spheroid_.a, c2 = spheroid_.c * spheroid_.c;
    const double inside = 1.0 - (x * x + y * y) / a2 - z * z / c2;
    gas.pressure = central_pressure_ * (std::max(inside, 0.0) + ambient_density_);
    if (share > 0.0) gas.velocity = {-rotation_ * y, rotation_ * x, 0.0};
    return gas;
  }

  void measure(const ProblemContext& context) override {
    if (!context.potential) return;
    const mesh::Mesh& mesh = context.mesh;
    std::array<ReproducibleSum, ErrorTerms::sums> sums;
    double largest = 0.0;
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const mesh::CellRange cells = mesh.leaf_cells(level);
      const ErrorTerms terms{
          .cells = cells,
          .potential = context.potential->field(level, gravity::Field::potential),
          .acceleration = context.potential->acceleration(level),
          .layout = mesh.layout(),
          .gas = mesh.fields(level).blocks(mesh::LevelFields::k_now),
          .spheroid = spheroid_,
          .centre = {centre_[0], centre_[1], centre_[2]}};
      const double volume = mesh.geometry().cell_volume(level);
      const auto [error] = mesh::add_totals("maclaurin", cells, terms, volume, sums);
      largest = std::max(largest, error);
    }
    reproducible_sum(mesh.communicator(), std::span<ReproducibleSum>(sums));
    const auto ratio = [&](int error, int exact) {
      return std::sqrt(sums[error].to_double() / sums[exact].to_double());
    };
    errors_ = {ratio(ErrorTerms::error2, ErrorTerms::potential2), mesh.communicator().max(largest),
               ratio(ErrorTerms::force_error2, ErrorTerms::force2),
               ratio(ErrorTerms::mass_force_error2, ErrorTerms::mass_force2)};
  }

  // Adds errors relative to exact values: root mean squares over the domain, the maximum, and the
  // error of the force on the mass; and the exact potential at the centre.
  void add_columns(Columns& columns) const override {
    columns.add("exact_central_potential", spheroid_.at(0.0, 0.0).potential);
    columns.add("potential_error", errors_.potential);
    columns.add("largest_potential_error", errors_.largest);
    columns.add("force_error", errors_.force);
    columns.add("mass_force_error", errors_.force_on_mass);
  }

 private:
  double fraction_inside(double x, double y, double z, double size) const {
    int inside = 0;
    for (int n = 0; n < k_pieces * k_pieces * k_pieces; ++n) {
      const auto offset = [&](int place) {
        return ((place % k_pieces + 0.5) / k_pieces - 0.5) * size;
      };
      inside += spheroid_.contains(x + offset(n), y + offset(n / k_pieces),
                                   z + offset(n / k_pieces / k_pieces));
    }
    return static_cast<double>(inside) / (k_pieces * k_pieces * k_pieces);
  }

  Spheroid spheroid_;
  double axis_ratio_ = 0.75, ambient_density_ = 1e-8;
  Position centre_{0.0, 0.0, 0.0};
  double rotation_ = 0.0, central_pressure_ = 1.0;
  struct {
    double potential, largest, force, force_on_mass;
  } errors_{};
};

}  // namespace

std::unique_ptr<Problem> make_maclaurin() { return std::make_unique<Maclaurin>(); }

}  // namespace octant::problems
