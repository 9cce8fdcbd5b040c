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
    schema.add(fmt::format("scalar.boundary_{}", name), o.boundary[axis],
               {.meaning = fmt::format(
                    "Boundary conditions of the scalar on the lower and upper sides along {}, "
                    "except periodic and outflow sides: prescribed value, or zero flux (insulated)",
                    name)});
    schema.add(fmt::format("scalar.values_{}", name), o.values[axis],
               {.meaning = fmt::format(
                    "Boundary values of the scalar on the lower and upper sides along {}", name)});
  }
}

ScalarSides ScalarOptions::sides(const Boundaries& boundaries) const {
  ScalarSides sides;
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    if (boundary[axis].size() != 2 || values[axis].size() != 2)
      throw InputError(
          "scalar.boundary_{0} and scalar.values_{0} have {1} and {2} entries; expected "
          "two each, below and above",
          name, boundary[axis].size(), values[axis].size());
    for (int end = 0; end < 2; ++end) {
      const Side side = boundaries.side(axis, end);
      const bool insulated = boundary[axis][end] == ScalarSideKind::insulated;
      if (side == Side::inflow && insulated)
        throw InputError(
            "scalar.boundary_{0}: the {1} side is an inflow, where the scalar has a "
            "value; expected \"value\"",
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

// The ghost beyond such a side is 2 value - inside.
double scalar_source(const Domain& d, const ScalarSides& sides, int axis, int end, double factor) {
  const ScalarSide& side = sides[axis][end];
  if (!d.ends(axis, end) || side.condition != Condition::dirichlet) return 0.0;
  const int last = d.nz - 1;
  const double square = axis < 2   ? d.grid.spacing(axis) * d.grid.spacing(axis)
                        : end == 0 ? d.dz_cell[0] * d.dz_face[-1]
                                   : d.dz_cell[last] * d.dz_face[last];
  return 2.0 * factor * side.value / square;
}

// Linear between the centres.
BuoyancyWeights buoyancy_weights(const Domain& d, const ScalarOptions& options, const Stage& stage,
                                 int k) {
  const double both = d.dz_cell[k] + d.dz_cell[k + 1];
  const double strength = 0.5 * stage.gamma * options.buoyancy;
  return {strength * d.dz_cell[k + 1] / both, strength * d.dz_cell[k] / both,
          2.0 * strength * options.reference};
}

Scalar::Scalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
               const pencil::PoissonOptions& poisson)
    : domain_(domain),
      options_(options),
      sides_(options.sides(domain.boundaries)),
      diffusion_(diffusion),
      fields_{Field(domain.box), Field(domain.box)},
      rhs_(domain.box) {
  if (diffusion == Diffusion::implicit_z)
    along_z_ = std::make_unique<pencil::FieldTridiagonal>(
        domain.pencils, domain.grid.cells[2], domain.boundaries.periodic(2), poisson.tridiagonal);
  if (diffusion == Diffusion::implicit_all)
    along_all_ = std::make_unique<pencil::PoissonSolver>(
        domain.pencils, scalar_problem(domain.grid, sides_), poisson);
}

void Scalar::advance(const State& state, Ghosts& ghosts, const Stage& stage) {
  predict(state, stage);
  std::swap(now_, before_);
  if (diffusion_ != Diffusion::explicit_all) diffuse(stage);
  const Ghosted all[] = {{now_, k_scalar}};
  ghosts.fill(all);
}

void Scalar::predict(const State& state, const Stage& stage) {
  pencil::in_team("dns: scalar", [&](const Team& team) {
    switch (diffusion_) {
      case Diffusion::explicit_all: return predict<Diffusion::explicit_all>(team, state, stage);
      case Diffusion::implicit_z: return predict<Diffusion::implicit_z>(team, state, stage);
      case Diffusion::implicit_all: return predict<Diffusion::implicit_all>(team, state, stage);
    }
  });
}

template <Diffusion diffusion>
void Scalar::predict(const Team& team, const State& state, const Stage& stage) {
  const std::ptrdiff_t row = now_->row_stride(), plane = now_->plane_stride();
  const Range own = team.share(domain_.ny);
  for (int k = 0; k < domain_.nz; ++k) {
    const ScalarOperator o = scalar_operator(domain_, options_.diffusivity, k);
    for (int j = own.begin; j < own.end; ++j) {
      const double *t = now_->row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j);
      const ScalarRows rows{t, t + row, t - row, t + plane, t - plane,      state.u.row(k, j),
                            v, v - row, w,       w - plane, rhs_.row(k, j), before_->row(k, j)};
      for_each_cell(domain_.nx, ScalarCell<diffusion>{o, stage, rows});
    }
  }
}

void Scalar::diffuse(const Stage& stage) {
  const double factor = stage.implicit * options_.diffusivity * stage.gamma;
  for (int axis = along_all_ ? 0 : 2; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      const double amount = scalar_source(domain_, sides_, axis, end, factor);
      if (amount == 0.0) continue;
      const int cells[3] = {domain_.nx, domain_.ny, domain_.nz};
      int begin[3] = {0, 0, 0}, stop[3] = {cells[0], cells[1], cells[2]};
      begin[axis] = end == 0 ? 0 : cells[axis] - 1;
      stop[axis] = begin[axis] + 1;
      for (int k = begin[2]; k < stop[2]; ++k)
        for (int j = begin[1]; j < stop[1]; ++j)
          for (int i = begin[0]; i < stop[0]; ++i) (*now_)(i, j, k) += amount;
    }
  if (along_z_) {
    along_z_->set_matrix(helmholtz(
        centre_z_matrix(domain_.grid, sides_[2][0].condition, sides_[2][1].condition), -factor));
    along_z_->solve(*now_);
  } else {
    along_all_->set_operator(1.0, -factor);
    along_all_->solve(*now_);
  }
}

void Scalar::push(const Team& team, State& state, int k, const Stage& stage) const {
  if (options_.buoyancy == 0.0 || k >= domain_.unknowns(k_w, 2)) return;
  const auto [here, above, none] = buoyancy_weights(domain_, options_, stage, k);
  const std::ptrdiff_t plane = now_->plane_stride();
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j) {
    const double *t = now_->row(k, j), *old = before_->row(k, j);
    for_each_cell(domain_.nx, Buoyancy{t, old, t + plane, old + plane, here, above, none,
                                       state.w.row(k, j, -1)});
  }
}

}  // namespace octant::dns
