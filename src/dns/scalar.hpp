// A scalar that the flow carries and that may drive it by its buoyancy (Boussinesq): temperature.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/named.hpp"
#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/kernels.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::dns {

// What holds at a side: the scalar's value, or that none of it passes.
enum class ScalarSideKind { value, insulated };
constexpr auto names_of(ScalarSideKind) { return std::array{"value", "insulated"}; }

// The parameters `scalar.*`.
struct ScalarOptions {
  bool enabled = false;
  double diffusivity = 1e-2;
  double buoyancy = 0.0, reference = 0.0;
  // Below and above along x, y, z.
  static inline const std::vector<ScalarSideKind> k_values{ScalarSideKind::value,
                                                           ScalarSideKind::value};
  std::array<std::vector<ScalarSideKind>, 3> boundary{k_values, k_values, k_values};
  std::array<std::vector<double>, 3> values{{{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}};

  // What holds at the sides. Throws InputError for lists that have not two entries.
  ScalarSides sides(const Boundaries& boundaries) const;
};
void declare(ParameterSchema& schema, ScalarOptions& options);

// The implicit solve along all axes, and what the value at a side adds to the cells beside it: 0
// where a rank does not end there, or where the scalar has no value on it.
pencil::PoissonProblem scalar_problem(const Grid& grid, const ScalarSides& sides);
double scalar_source(const Domain& domain, const ScalarSides& sides, int axis, int end,
                     double factor);

// What w on the upper faces of plane k gains in a stage: a part of the scalar's old and new values
// on either side, less what has no buoyancy.
struct BuoyancyWeights {
  double here, above, none;
};
BuoyancyWeights buoyancy_weights(const Domain& domain, const ScalarOptions& options,
                                 const Stage& stage, int k);

// Central differences that keep the sum of squares, and the same Runge-Kutta stages and treatment
// of diffusion as the velocity. A stage advances the scalar first; the velocity then feels the mean
// of its old and new buoyancy.
class Scalar {
 public:
  // Collective.
  Scalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
         const pencil::PoissonOptions& poisson);

  Field& field() { return *now_; }
  const Field& field() const { return *now_; }
  const ScalarOptions& options() const { return options_; }

  // Advances by a stage with the velocity at its beginning. Collective.
  void advance(const State& state, Ghosts& ghosts, const Stage& stage);

  // Adds the buoyancy of the stage to the predicted w in this thread's rows of plane k, one place
  // lower.
  void push(const Team& team, State& state, int k, const Stage& stage) const;

 private:
  void predict(const State& state, const Stage& stage);
  template <Diffusion diffusion>
  void predict(const Team& team, const State& state, const Stage& stage);
  void diffuse(const Stage& stage);

  const Domain& domain_;
  ScalarOptions options_;
  ScalarSides sides_;
  Diffusion diffusion_;
  Field fields_[2], rhs_;
  Field *now_ = &fields_[0], *before_ = &fields_[1];
  std::unique_ptr<pencil::FieldTridiagonal> along_z_;
  std::unique_ptr<pencil::PoissonSolver> along_all_;
};

}  // namespace octant::dns
