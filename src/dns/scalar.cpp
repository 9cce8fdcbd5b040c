#include "dns/scalar.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "dns/kernels.hpp"
#include "dns/operators.hpp"

namespace octant::dns {

namespace {

const char* end_name(int end) { return end == 0 ? "lower" : "upper"; }

}  // namespace

void declare(ParameterSchema& schema, ScalarOptions& o) {
  schema.add("scalar.enabled", o.enabled,
             {.meaning = "Transport of a scalar, such as temperature, by the flow"});
  schema.add("scalar.diffusivity", o.diffusivity,
             {.unit = "length^2 / time", .meaning = "Diffusivity of the scalar", .above = 0.0});
  schema.add(
      "scalar.buoyancy", o.buoyancy,
      {.unit = "velocity / time",
       .meaning =
           "Buoyant acceleration along z per unit of the scalar (Boussinesq approximation)"});
  schema.add("scalar.reference", o.reference,
             {.meaning = "Reference value of the scalar, at which buoyancy vanishes"});
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    schema.add(
        fmt::format("scalar.boundary_{}", name), o.boundary[axis],
        {.meaning = fmt::format(
             "Boundary conditions for the scalar at the lower and upper {} boundaries: prescribed "
             "value, or zero flux (insulated); ignored at periodic and outflow boundaries",
             name)});
    schema.add(fmt::format("scalar.values_{}", name), o.values[axis],
               {.meaning = fmt::format(
                    "Boundary values of the scalar at the lower and upper {} boundaries", name)});
  }
}

ScalarSides ScalarOptions::sides(const Boundaries& boundaries) const {
  ScalarSides sides;
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    if (boundary[axis].size() != 2 || values[axis].size() != 2)
      throw InputError(
          "scalar.boundary_{0} and scalar.values_{0} have {1} and {2} entries; expected two each, "
          "for the lower and upper boundaries",
          name, boundary[axis].size(), values[axis].size());
    for (int end = 0; end < 2; ++end) {
      const Side side = boundaries.side(axis, end);
      const bool insulated = boundary[axis][end] == ScalarSideKind::insulated;
      if (side == Side::inflow && insulated)
        throw InputError(
            "scalar.boundary_{0}: the {1} boundary is an inflow, where the scalar is prescribed; "
            "expected \"value\"",
            name, end_name(end));
      Condition condition = insulated ? Condition::neumann : Condition::dirichlet;
      if (side == Side::outflow) condition = Condition::neumann;
      if (side == Side::periodic) condition = Condition::periodic;
      sides[axis][end] = {condition, values[axis][end]};
    }
  }
  return sides;
}

pencil::PoissonProblem scalar_problem(const Grid& grid, const ScalarSides& sides) {
  const auto along = [&](int axis) {
    return pencil::AxisConditions{sides[axis][0].condition, sides[axis][1].condition,
                                  pencil::Location::centre};
  };
  return {grid.dx,
          grid.dy,
          along(0),
          along(1),
          centre_z_matrix(grid, sides[2][0].condition, sides[2][1].condition),
          along(2).allows_constant()};
}

// The ghost value is 2 value - interior.
double scalar_source(const Domain& d, const ScalarSides& sides, int axis, int end, double factor) {
  const ScalarSide& side = sides[axis][end];
  if (!d.ends(axis, end) || side.condition != Condition::dirichlet) return 0.0;
  const int last = d.nz - 1;
  const double square = axis < 2   ? d.grid.spacing(axis) * d.grid.spacing(axis)
                        : end == 0 ? d.dz_cell[0] * d.dz_face[-1]
                                   : d.dz_cell[last] * d.dz_face[last];
  return 2.0 * factor * side.value / square;
}

// The scalar is interpolated linearly between cell centres.
BuoyancyWeights buoyancy_weights(const Domain& d, const ScalarOptions& options, const Stage& stage,
                                 int k) {
  const double both = d.dz_cell[k] + d.dz_cell[k + 1];
  const double strength = 0.5 * stage.gamma * options.buoyancy;
  return {strength * d.dz_cell[k + 1] / both, strength * d.dz_cell[k] / both,
          2.0 * strength * options.reference};
}

namespace {

template <Diffusion diffusion>
struct PredictScalarRows {
  FieldView t, rhs, result;
  VelocityViews velocity;
  const ScalarOperator* operators;
  Stage stage;

  KOKKOS_FUNCTION ScalarCell<diffusion> operator()(int k, int j) const {
    const auto& [u, v, w] = velocity;
    return {operators[k],
            stage,
            {t.row(k, j), t.row(k, j + 1), t.row(k, j - 1), t.row(k + 1, j), t.row(k - 1, j),
             u.row(k, j), v.row(k, j), v.row(k, j - 1), w.row(k, j), w.row(k - 1, j), rhs.row(k, j),
             result.row(k, j)}};
  }
};

struct BuoyancyRows {
  FieldView t, old, w;
  const BuoyancyWeights* weights;

  KOKKOS_FUNCTION Buoyancy operator()(int k, int j) const { return of_row(k, j, weights[k]); }
  KOKKOS_FUNCTION Buoyancy of_row(int k, int j, const BuoyancyWeights& plane) const {
    const auto [here, above, none] = plane;
    return {t.row(k, j), old.row(k, j), t.row(k + 1, j), old.row(k + 1, j), here,
            above,       none,          w.row(k, j)};
  }
};

}  // namespace

template <Place place>
Scalar<place>::Scalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
                      const typename Parts::Solvers& solvers)
    : domain_(domain),
      options_(options),
      sides_(options.sides(domain.boundaries)),
      diffusion_(diffusion),
      fields_{typename Parts::Values(domain.box), typename Parts::Values(domain.box)},
      rhs_(domain.box),
      operators_(domain.nz),
      weights_(domain.nz) {
  for (int k = 0; k < domain.nz; ++k)
    operators_[k] = scalar_operator(domain, options.diffusivity, k);
  operators_.send();
  if (diffusion == Diffusion::implicit_z) along_z_.emplace(Parts::along_z(domain, solvers));
  if (diffusion == Diffusion::implicit_all)
    along_all_.emplace(domain.pencils, scalar_problem(domain.grid, sides_), solvers);
}

template <Place place>
void Scalar<place>::advance(const VelocityViews& velocity, typename Parts::AllGhosts& ghosts,
                            const Stage& stage) {
  switch (diffusion_) {
    case Diffusion::explicit_all: predict<Diffusion::explicit_all>(velocity, stage); break;
    case Diffusion::implicit_z: predict<Diffusion::implicit_z>(velocity, stage); break;
    case Diffusion::implicit_all: predict<Diffusion::implicit_all>(velocity, stage); break;
  }
  std::swap(now_, before_);
  if (diffusion_ != Diffusion::explicit_all) diffuse(stage);
  ghosts.fill(*now_, k_scalar);
}

template <Place place>
template <Diffusion diffusion>
void Scalar<place>::predict(const VelocityViews& velocity, const Stage& stage) {
  [[maybe_unused]] const Launch<place> launch{};
  launch_cells<Space>("dns: scalar", {domain_.nx, domain_.ny, domain_.nz},
                      PredictScalarRows<diffusion>{view_of(*now_), view_of(rhs_), view_of(*before_),
                                                   velocity, operators_.data(), stage});
}

template <Place place>
void Scalar<place>::diffuse(const Stage& stage) {
  const double factor = stage.implicit * options_.diffusivity * stage.gamma;
  {
    [[maybe_unused]] const Launch<place> launch{};
    for (int axis = along_all_ ? 0 : 2; axis < 3; ++axis)
      for (int end = 0; end < 2; ++end)
        add_beside<Space>(view(), axis, end, scalar_source(domain_, sides_, axis, end, factor));
  }
  if (along_z_) {
    along_z_->set_matrix(helmholtz(
        centre_z_matrix(domain_.grid, sides_[2][0].condition, sides_[2][1].condition), -factor));
    solve(*along_z_);
  } else {
    along_all_->set_operator(1.0, -factor);
    solve(*along_all_);
  }
}

template <Place place>
template <class Solver>
void Scalar<place>::solve(Solver& solver) {
  if constexpr (place == Place::host) solver.solve(*now_);
  else solver.solve(view());
}

template <Place place>
void Scalar<place>::add_source(const FieldView& w, const Stage& stage) {
  if (options_.buoyancy == 0.0) return;
  const int planes = domain_.unknowns(k_w, 2);
  for (int k = 0; k < planes; ++k) weights_[k] = buoyancy_weights(domain_, options_, stage, k);
  launch_cells<Space>("dns: buoyancy", {domain_.nx, domain_.ny, planes},
                      BuoyancyRows{view(), view_of(*before_), w, weights_.send()});
}

template <Place place>
void Scalar<place>::add_source(const Team& team, const FieldView& w, int k, const Stage& stage) {
  if (options_.buoyancy == 0.0 || k >= domain_.unknowns(k_w, 2)) return;
  const BuoyancyRows rows{view(), view_of(*before_), w, nullptr};
  const BuoyancyWeights weights = buoyancy_weights(domain_, options_, stage, k);
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j) for_each_cell(domain_.nx, rows.of_row(k, j, weights));
}

template class Scalar<Place::host>;
template class Scalar<Place::device>;

}  // namespace octant::dns
