// What accelerates a flow from place to place and in time: expressions of the parameter file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "dns/domain.hpp"
#include "dns/kernels.hpp"

namespace octant::dns {

// The parameters `sources.*`. Must stay where it is once it is prepared.
class BodyForce {
 public:
  void declare(ParameterSchema& schema);
  bool is_wanted() const { return !texts_.empty(); }
  // Understands the expressions. Throws InputError.
  void prepare(const Grid& grid, double viscosity);

  bool changes_with_time() const { return uses("t"); }
  // Force per mass along an axis at a place. Throws RunError where that is no finite number.
  double at(int component, const Vector& place, double time) const;
  // Whether it is the same in all cells of a row.
  bool is_even_along_x() const { return !uses("x") && !uses("r"); }
  // Whether it is 0 everywhere.
  bool spares(int component) const;

 private:
  bool uses(const std::string& variable) const;

  std::vector<std::string> texts_;
  Vector centre_{};
  Definitions definitions_;
  std::vector<Expression> force_;
  mutable ExpressionPoint point_;  // what the names in expressions stand for
};

// The force at one time, on the faces of this rank's cells where a component is unknown.
class ForceFields {
 public:
  // `force`, which is prepared, and `domain` must outlive this.
  ForceFields(const Domain& domain, const BodyForce& force);

  // Returns whether values have changed. Throws RunError on all ranks. Collective.
  bool set_time(double time);
  // Null where no force acts along the axis.
  const Field* along(int component) const {
    return values_[component] ? &*values_[component] : nullptr;
  }
  // The largest absolute values on this rank.
  const Vector& largest() const { return largest_; }

  // Adds a stage's push to the predicted velocity in this thread's rows of plane k, one place
  // lower.
  void push(const Team& team, State& state, int k, const Stage& stage) const;

 private:
  void fill(int component, double time);

  const Domain& domain_;
  const BodyForce& force_;
  std::array<std::optional<Field>, k_components> values_;
  Vector largest_{};
  bool is_filled_ = false;
};

// velocity + gamma force, in a cell of a row.
struct ForcePush {
  const double* force;
  double gamma;
  double* velocity;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { velocity[i] += gamma * force[i]; }
};

}  // namespace octant::dns
