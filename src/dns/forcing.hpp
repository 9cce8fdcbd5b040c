// Forcing of a flow: along dns.forcing_axis, and by `sources.*`.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/expression.hpp"
#include "dns/domain.hpp"
#include "dns/kernels.hpp"

namespace octant::dns {

// Returns the component whose mean is kept, or -1.
inline int kept_component(const FlowParameters& parameters) {
  return parameters.forcing == Forcing::bulk_velocity ? index_of(parameters.forcing_axis) : -1;
}

// Returns the force per unit mass of a constant pressure gradient.
inline Vector body_force(const FlowParameters& parameters) {
  Vector force{};
  if (parameters.forcing == Forcing::pressure_gradient)
    force[index_of(parameters.forcing_axis)] = parameters.pressure_gradient;
  return force;
}

// Returns the uniform addition to the predicted velocity that gives it the mean dns.bulk_velocity;
// `sum` is that of velocity times height of the cell over this rank's cells. Collective.
inline double missing_velocity(const Domain& domain, const FlowParameters& parameters,
                               ReproducibleSum& sum) {
  reproducible_sum(domain.pencils.communicator(), std::span(&sum, 1));
  const double cell = domain.grid.dx * domain.grid.dy;
  return parameters.bulk_velocity - sum.to_double() * cell / domain.grid.volume();
}

// Adds the wall friction of implicit diffusion to the sum for missing_velocity: the predicted
// velocity contains one half of that diffusion, and the other half sums up to the friction. factor
// = nu gamma / 2 with Crank-Nicolson, and 0 with backward Euler, which is used where walls differ
// suddenly from the flow and the present friction is far from the new one. sum_of_row(k, j) is that
// of a row of the forced component of the present velocity, for the rows on either side of walls
// along z, and along y where that is implicit.
template <class SumOfRow>
void add_wall_friction(const Domain& d, bool along_y, double factor, const SumOfRow& sum_of_row,
                       ReproducibleSum& sum) {
  const auto add = [&](double outside, double inside, double scale) {
    sum += factor * scale * (outside - inside);
  };
  const int ny = d.ny, nz = d.nz;
  if (d.ends(2, 0))
    for (int j = 0; j < ny; ++j) add(sum_of_row(-1, j), sum_of_row(0, j), 1.0 / d.dz_face[-1]);
  if (d.ends(2, 1))
    for (int j = 0; j < ny; ++j)
      add(sum_of_row(nz, j), sum_of_row(nz - 1, j), 1.0 / d.dz_face[nz - 1]);
  if (!along_y) return;
  const double dy2 = d.grid.dy * d.grid.dy;
  for (int k = 0; k < nz; ++k) {
    const double scale = d.dz_cell[k] / dy2;
    if (d.ends(1, 0)) add(sum_of_row(k, -1), sum_of_row(k, 0), scale);
    if (d.ends(1, 1)) add(sum_of_row(k, ny), sum_of_row(k, ny - 1), scale);
  }
}

// Body force of the parameters `sources.*`. Must not move in memory once it is prepared.
class BodyForce {
 public:
  // Declares the parameters sources.*; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // True if a parameter sets a force.
  bool is_wanted() const { return !texts_.empty(); }
  // Compiles the expressions. Throws InputError.
  void prepare(const Grid& grid, double viscosity);

  // True if an expression contains the time.
  bool changes_with_time() const { return uses("t"); }
  // Returns the force per unit mass along an axis. Throws RunError if it is not finite.
  double at(int component, const Vector& place, double time) const;
  // Returns true if the force is the same in all cells of a row.
  bool is_even_along_x() const { return !uses("x") && !uses("r"); }
  // Returns true if the force along this axis is 0 everywhere.
  bool spares(int component) const;

 private:
  bool uses(const std::string& variable) const;

  std::vector<std::string> texts_;
  Vector centre_{};
  Definitions definitions_;
  std::vector<Expression> force_;
  mutable ExpressionPoint point_;  // values of variables in expressions
};

// Body force at one time, on those faces of this rank's cells where the velocity component is
// solved for.
class ForceFields {
 public:
  // `force` must be prepared; it and `domain` must outlive this object.
  ForceFields(const Domain& domain, const BodyForce& force);

  // Returns true if values have changed. Throws RunError on all ranks. Collective.
  bool set_time(double time);
  // Returns the force along an axis, or null if there is none.
  const Field* along(int component) const {
    return values_[component] ? &*values_[component] : nullptr;
  }
  // Largest absolute values on this rank.
  const Vector& largest() const { return largest_; }

  // Adds a stage's force to the predicted velocity in this thread's rows of plane k, at plane
  // offset -1.
  void add_force(const Team& team, State& state, int k, const Stage& stage) const;

 private:
  void fill(int component, double time);

  const Domain& domain_;
  const BodyForce& force_;
  std::array<std::optional<Field>, k_components> values_;
  Vector largest_{};
  bool is_filled_ = false;
};

// Adds gamma force to the velocity in a cell of a row.
struct ForcePush {
  const double* force;
  double gamma;
  double* velocity;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { velocity[i] += gamma * force[i]; }
};

}  // namespace octant::dns
