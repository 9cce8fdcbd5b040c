// Forcing of a flow: along dns.forcing_axis, and body forces of the parameters `sources.*`.
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

// Returns the component whose mean is prescribed, or -1.
inline int prescribed_mean_component(const FlowParameters& parameters) {
  return parameters.forcing == Forcing::bulk_velocity ? index_of(parameters.forcing_axis) : -1;
}

// Returns the force per unit mass of a constant pressure gradient.
inline Vector body_force(const FlowParameters& parameters) {
  Vector force{};
  if (parameters.forcing == Forcing::pressure_gradient)
    force[index_of(parameters.forcing_axis)] = parameters.pressure_gradient;
  return force;
}

// Returns the uniform addition to the predicted velocity that makes its mean dns.bulk_velocity.
// `sum` is the sum of velocity times cell height over this rank's cells. Collective.
inline double missing_velocity(const Domain& domain, const FlowParameters& parameters,
                               ReproducibleSum& sum) {
  reproducible_sum(domain.pencils.communicator(), std::span(&sum, 1));
  const double cell = domain.grid.dx * domain.grid.dy;
  return parameters.bulk_velocity - sum.to_double() * cell / domain.grid.volume();
}

// Adds the wall friction of implicit diffusion to the sum for missing_velocity(). The predicted
// velocity contains half of the implicit diffusion; the sum of the other half is the friction.
// `factor` is nu gamma / 2 with Crank-Nicolson, and 0 with backward Euler, which is used for a
// sudden change of wall values, when the present friction differs much from the new one.
// sum_of_row(k, j) returns the sum over a row of the forced component of the present velocity, for
// the rows on either side of walls along z and, if `along_y`, along y.
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

// Body force of the parameters `sources.*`. The object must not move in memory after prepare().
class BodyForce {
 public:
  // Declares the parameters sources.*; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // True if a parameter sets a force.
  bool is_wanted() const { return !texts_.empty(); }
  // Compiles the expressions; `read_text` reads tables. Throws InputError for invalid ones.
  void prepare(const Grid& grid, double viscosity, const TextReader& read_text = read_text_file);

  // True if an expression contains the time.
  bool changes_with_time() const { return uses("t"); }
  // Returns the force per unit mass along an axis. Throws RunError if it is not finite.
  double at(int component, const Vector& place, double time) const;
  // Returns true if the force is the same in all cells of a row.
  bool is_uniform_along_x() const { return !uses("x") && !uses("r"); }
  // Returns true if the force along axis `component` is 0 everywhere.
  bool vanishes(int component) const;

 private:
  bool uses(const std::string& variable) const;

  std::vector<std::string> texts_;
  Vector centre_{};
  Definitions definitions_;
  std::vector<Expression> force_;
  mutable ExpressionPoint point_;  // values of variables in expressions
};

// Body force at one time, on the faces of this rank's cells whose velocity is an unknown.
class ForceFields {
 public:
  // `force` must be prepared; it and `domain` must outlive this object.
  ForceFields(const Domain& domain, const BodyForce& force);

  // Evaluates the force; returns true if values have changed. Throws RunError on all ranks if a
  // value is not finite. Collective.
  bool set_time(double time);
  // Returns the force along an axis, or null if there is none.
  const Field* along(int component) const {
    return values_[component] ? &*values_[component] : nullptr;
  }
  // Largest absolute force along each axis on this rank.
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
