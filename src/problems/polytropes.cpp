// Stars in equilibrium: a rotating one, and a binary.
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/number_file.hpp"
#include "core/parameters.hpp"
#include "mesh/add_totals.hpp"
#include "problems/problem.hpp"
#include "problems/stars_in_gas.hpp"

namespace octant::problems {

namespace {

// Uniformly rotating star, or a spherical one at rest, from the self-consistent field method: a
// polytrope, or a star of white-dwarf matter or barotropic gas. The star should not change, also
// while it moves.
class RotatingStarProblem final : public StarsInGas {
 public:
  RotatingStarProblem() : StarsInGas("rotating_star") {}

  void declare(ParameterSchema& schema) override {
    schema.add("problem.polytropic_index", index_,
               {.meaning = "Polytropic index n of a star of ideal gas, p = K rho^(1 + 1/n)",
                .min = 0.5,
                .max = 4.0});
    schema.add("problem.mass", star_.mass,
               {.unit = "mass", .meaning = "Mass of the star", .above = 0.0});
    schema.add("problem.radius", star_.radius,
               {.unit = "length",
                .meaning = "Equatorial radius of a star of ideal gas; that of white-dwarf matter "
                           "and barotropic gas follows from the mass",
                .above = 0.0});
    schema.add("problem.axis_ratio", star_.axis_ratio,
               {.meaning = "Ratio of polar to equatorial radius; 1: non-rotating star",
                .max = 1.0,
                .above = 0.0});
    StarsInGas::declare(schema);
  }

 private:
  std::string description() const override {
    if (star_.matter.is_given())
      return fmt::format("{}, mass {:.17g}, axis ratio {:.17g}", star_.matter.description(),
                         star_.mass, star_.axis_ratio);
    return fmt::format("polytropic index {:.17g}, mass {:.17g}, radius {:.17g}, axis ratio {:.17g}",
                       index_, star_.mass, star_.radius, star_.axis_ratio);
  }
  StarModel solve(double G) override {
    star_.matter = matter(index_);
    if (!star_.matter.is_given()) return solve_star(star_, G);
    forbid(index_ == k_index, "problem.polytropic_index", "it determines the pressure");
    StarModel model = solve_star(star_, G);
    const double found = model.stars.front().profile.reach;
    require_found("problem.radius", star_.radius, found);
    star_.radius = found;
    return model;
  }

  static constexpr double k_index = 1.5;  // default
  double index_ = k_index;
  RotatingStar star_{.matter = {}, .mass = 1.0, .radius = 1.0, .axis_ratio = 0.75};
};

// Binary of two synchronously rotating stars on a circular orbit from the self-consistent field
// method. Passive scalars 0 and 1 mark the gas of the first and of the second star.

// Roche potential of two point masses on a circle about their centre of mass in a plane z = const.
struct RochePoints {
  double mass[2], place[2][3];
  double centre[3], separation;
  double inner_point, inner_potential;  // inner Lagrangian point, relative to the first

  static RochePoints of(const double (&mass)[2], const double (&place)[2][3]) {
    RochePoints points{};
    const double total = mass[0] + mass[1];
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      for (int s = 0; s < 2; ++s) points.place[s][d] = place[s][d];
      points.centre[d] = (mass[0] * place[0][d] + mass[1] * place[1][d]) / total;
      square += (place[1][d] - place[0][d]) * (place[1][d] - place[0][d]);
    }
    points.mass[0] = mass[0] / total;
    points.mass[1] = mass[1] / total;
    points.separation = std::sqrt(square);
    points.inner_point = inner_lagrangian_point(mass[1] / mass[0]);
    double inner[3];
    for (int d = 0; d < 3; ++d)
      inner[d] = place[0][d] + points.inner_point * (place[1][d] - place[0][d]);
    points.inner_potential = points.potential(inner);
    return points;
  }

  // Potential in units of G total mass / separation, in the corotating frame.
  KOKKOS_INLINE_FUNCTION double potential(const double (&x)[3]) const {
    double value = 0.0;
    for (int s = 0; s < 2; ++s) value -= mass[s] * separation / distance(s, x);
    const double dx = x[0] - centre[0], dy = x[1] - centre[1];
    return value - 0.5 * (dx * dx + dy * dy) / (separation * separation);
  }
  KOKKOS_INLINE_FUNCTION double distance(int s, const double (&x)[3]) const {
    double square = 0.0;
    for (int d = 0; d < 3; ++d) square += (x[d] - place[s][d]) * (x[d] - place[s][d]);
    return Kokkos::sqrt(square);
  }

  // Returns the index of the star whose Roche lobe contains a position; -1: none. No point of a
  // lobe is farther from its star than the inner Lagrangian point; beyond the orbit, the potential
  // is below that of this point again.
  KOKKOS_INLINE_FUNCTION int lobe_of(const double (&x)[3]) const {
    double along = 0.0;
    for (int d = 0; d < 3; ++d) along += (x[d] - place[0][d]) * (place[1][d] - place[0][d]);
    const int star = along < inner_point * separation * separation ? 0 : 1;
    const double farthest = (star == 0 ? inner_point : 1.0 - inner_point) * separation;
    return distance(star, x) <= farthest && potential(x) <= inner_potential ? star : -1;
  }
};

// Mass and first moment of the gas of a block by star. `Weight` gives the fraction of a cell that
// counts.
template <class Weight>
struct PairTerms {
  static constexpr int sums = 8, count = sums, parts = 1;

  mesh::BlockLayout layout;
  const double* blocks;
  mesh::CellRange cells;
  Weight weight;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* terms) const {
    const auto place = cells.centre(cell);
    const double x[3] = {place[0], place[1], place[2]};
    double mass[2] = {0.0, 0.0};
    weight(blocks + layout.offset(cell), layout.stride_variable, x, mass);
    for (int s = 0; s < 2; ++s) {
      terms[4 * s] = mass[s];
      for (int d = 0; d < 3; ++d) terms[4 * s + 1 + d] = mass[s] * x[d];
    }
  }
};

struct ByTracer {
  int first;  // variable index
  KOKKOS_INLINE_FUNCTION void operator()(const double* gas, std::int32_t stride,
                                         const double (&)[3], double (&mass)[2]) const {
    for (int s = 0; s < 2; ++s) mass[s] = gas[(first + s) * stride];
  }
};

struct ByLobe {
  RochePoints points;
  KOKKOS_INLINE_FUNCTION void operator()(const double* gas, std::int32_t, const double (&x)[3],
                                         double (&mass)[2]) const {
    const int lobe = points.lobe_of(x);
    if (lobe >= 0) mass[lobe] = gas[0];
  }
};

struct Pair {
  double mass[2] = {0.0, 0.0}, place[2][3] = {};
};

template <class Weight>
Pair measured_pair(const mesh::Mesh& mesh, const Weight& weight) {
  using Terms = PairTerms<Weight>;
  std::array<ReproducibleSum, Terms::sums> sums;
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const mesh::CellRange cells = mesh.leaf_cells(level);
    const Terms terms{mesh.layout(), mesh.fields(level).blocks(mesh::LevelFields::k_now), cells,
                      weight};
    mesh::add_totals("measure binary", cells, terms, mesh.geometry().cell_volume(level), sums);
  }
  reproducible_sum(mesh.communicator(), std::span<ReproducibleSum>(sums));
  Pair pair;
  for (int s = 0; s < 2; ++s) {
    pair.mass[s] = sums[4 * s].to_double();
    for (int d = 0; d < 3; ++d) pair.place[s][d] = sums[4 * s + 1 + d].to_double() / pair.mass[s];
  }
  return pair;
}

class Binary final : public StarsInGas {
 public:
  Binary() : StarsInGas("binary") {}

  void declare(ParameterSchema& schema) override {
    schema.add("problem.polytropic_index", index_,
               {.meaning = "Polytropic indices n of both stars of ideal gas, p = K rho^(1 + 1/n)",
                .min = 0.5,
                .max = 4.0});
    schema.add("problem.mass", binary_.mass,
               {.unit = "mass", .meaning = "Total mass of the two stars", .above = 0.0});
    schema.add("problem.mass_ratio", binary_.mass_ratio,
               {.meaning = "Ratio of the mass of the second star to that of the first star",
                .min = 0.01,
                .max = 100.0});
    schema.add("problem.masses", masses_,
               {.unit = "mass",
                .meaning = "Masses of both stars, in place of problem.mass and problem.mass_ratio",
                .above = 0.0});
    schema.add("problem.separation", binary_.separation,
               {.unit = "length",
                .meaning = "Separation of the density maxima of the two stars along x; with "
                           "white-dwarf matter and barotropic gas, an alternative to "
                           "problem.filling",
                .above = 0.0});
    schema.add(
        "problem.filling", filling_,
        {.unit = "distance to the inner Lagrangian point",
         .meaning = "Extent of each star towards its companion, measured from its centre; 1: "
                    "the star reaches the inner Lagrangian point; 1 + f for both stars: a contact "
                    "binary of equal stars, whose surface has the effective potential of the inner "
                    "Lagrangian point plus f times its difference to that of the outer one. With "
                    "white-dwarf matter and "
                    "barotropic gas, the mass determines the extent: give that of one star, 0 for "
                    "the other, and no separation",
         .min = 0.0});
    StarsInGas::declare(schema);
  }

  void prepare(const ProblemSetup& setup) override {
    of_both("problem.polytropic_index", index_);
    binary_.filling = of_both("problem.filling", filling_);
    if (!masses_.empty()) {
      const auto masses = of_both("problem.masses", masses_);
      const double mass = masses[0] + masses[1], ratio = masses[1] / masses[0];
      // A file with all parameters of a run contains both, with the same masses.
      if ((was_set("problem.mass") && binary_.mass != mass) ||
          (was_set("problem.mass_ratio") && binary_.mass_ratio != ratio))
        throw InputError(
            "problem.masses is incompatible with other values of problem.mass and "
            "problem.mass_ratio; remove either");
      binary_.mass = mass;
      binary_.mass_ratio = ratio;
    }
    if (was_set("problem.separation")) check_separation(setup.geometry);
    StarsInGas::prepare(setup);
    const auto traced = setup.hydro.variable_index("scalar_1");
    if (!traced)
      throw InputError(
          "problem.name = \"binary\" requires hydro.scalars = 2, one for the gas of each star");
    first_tracer_ = setup.hydro.first_scalar();
  }

  void measure(const ProblemContext& context) override {
    StarsInGas::measure(context);
    traced_ = measured_pair(context.mesh, ByTracer{first_tracer_});
    in_lobes_ = measured_pair(context.mesh, ByLobe{RochePoints::of(traced_.mass, traced_.place)});
  }

  void add_columns(Columns& columns) const override {
    StarsInGas::add_columns(columns);
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double along = traced_.place[1][d] - traced_.place[0][d];
      square += along * along;
    }
    columns.add("separation", std::sqrt(square));
    for (int s = 0; s < 2; ++s) {
      columns.add(fmt::format("star_{}_mass", s + 1), traced_.mass[s]);
      columns.add(fmt::format("lobe_{}_mass", s + 1), in_lobes_.mass[s]);
      columns.add_vector(fmt::format("star_{}", s + 1), traced_.place[s]);
    }
  }

 private:
  static std::array<double, 2> of_both(const char* name, const std::vector<double>& values) {
    if (values.size() != 2)
      throw InputError("{} has {} numbers; expected one for each of the two stars", name,
                       values.size());
    return {values[0], values[1]};
  }

  // Throws InputError if the domain contains no two points of this separation along x, or if it is
  // smaller than a cell.
  void check_separation(const mesh::Geometry& geometry) const {
    const double cell = geometry.cell_size(geometry.max_level());
    const double width = geometry.upper()[0] - geometry.lower()[0];
    if (binary_.separation > width)
      throw InputError(
          "problem.separation = {:.6g}: exceeds the width of the domain along x, {:.6g}; decrease "
          "it or enlarge the domain (mesh.lower, mesh.upper)",
          binary_.separation, width);
    if (binary_.separation < cell)
      throw InputError(
          "problem.separation = {:.6g}: is smaller than the finest cells, {:.6g}; increase it or "
          "use a smaller domain",
          binary_.separation, cell);
  }

  std::string description() const override {
    const StarMatter& first = binary_.matter[0];
    return fmt::format(
        "{}, mass {:.17g}, mass ratio {:.17g}, separation {:.17g}, filling {:.17g} and {:.17g}",
        first.is_given()
            ? first.description()
            : fmt::format("polytropic index {:.17g} and {:.17g}", index_[0], index_[1]),
        binary_.mass, binary_.mass_ratio, binary_.separation, binary_.filling[0],
        binary_.filling[1]);
  }
  StarModel solve(double G) override {
    for (int s = 0; s < 2; ++s) binary_.matter[s] = matter(index_[s]);
    if (binary_.matter[0].is_given()) return solve_given_matter(G);
    if (!(binary_.filling[0] > 0.0 && binary_.filling[1] > 0.0))
      throw InputError("problem.filling = [{}, {}]: expected positive numbers", binary_.filling[0],
                       binary_.filling[1]);
    return solve_binary(binary_, G);
  }

  // The masses of stars of given matter leave one choice: the separation, or the filling of one.
  // Without filling, problem.filling becomes [0, 0], also in the file with all parameters.
  StarModel solve_given_matter(double G) {
    forbid(index_ == std::vector{k_index, k_index}, "problem.polytropic_index",
           "it determines the pressure");
    if (!was_set("problem.filling")) filling_ = {0.0, 0.0};
    binary_.filling = {filling_[0], filling_[1]};
    const bool has_filling = filling_[0] > 0.0 || filling_[1] > 0.0;
    if (!has_filling && !was_set("problem.separation"))
      throw InputError(
          "problem.name = \"binary\" with {} requires either problem.separation or "
          "problem.filling; the other follows from the masses",
          binary_.matter[0].text());
    if (!has_filling) return solve_binary(binary_, G);
    const bool in_contact = filling_[0] > 1.0 && filling_[1] > 1.0;
    if (!in_contact && filling_[0] > 0.0 && filling_[1] > 0.0)
      throw InputError(
          "problem.filling = [{}, {}]: with {}, expected the filling of one star, and 0 for the "
          "other, which follows from the masses, or two equal numbers above 1",
          filling_[0], filling_[1], binary_.matter[0].text());
    SynchronousBinary binary = binary_;
    binary.separation = 0.0;
    StarModel model = solve_binary(binary, G);
    require_found("problem.separation", binary_.separation, model.separation);
    binary_.separation = model.separation;
    return model;
  }

  static constexpr double k_index = 1.5;  // default
  SynchronousBinary binary_{
      .matter = {}, .mass = 1.0, .mass_ratio = 0.5, .separation = 1.0, .filling = {}};
  std::vector<double> index_{k_index, k_index}, filling_{0.9, 0.9}, masses_;
  int first_tracer_ = 0;
  Pair traced_, in_lobes_;
};

}  // namespace

std::unique_ptr<Problem> make_rotating_star() { return std::make_unique<RotatingStarProblem>(); }

std::unique_ptr<Problem> make_binary() { return std::make_unique<Binary>(); }

}  // namespace octant::problems
