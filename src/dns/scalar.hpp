// Scalar that the flow transports, such as temperature, with optional buoyancy (Boussinesq).
#pragma once

#include <array>
#include <optional>
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

// Boundary condition of the scalar at a side: prescribed value, or zero flux.
enum class ScalarSideKind { value, insulated };
// Names of the conditions.
constexpr auto names_of(ScalarSideKind) { return std::array{"value", "insulated"}; }

// Parameters `scalar.*`.
struct ScalarOptions {
  bool enabled = false;
  double diffusivity = 1e-2;
  double buoyancy = 0.0, reference = 0.0;
  // Lower and upper boundaries along x, y, z.
  static inline const std::vector<ScalarSideKind> k_values{ScalarSideKind::value,
                                                           ScalarSideKind::value};
  std::array<std::vector<ScalarSideKind>, 3> boundary{k_values, k_values, k_values};
  std::array<std::vector<double>, 3> values{{{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}};

  // Returns the conditions at all sides. Throws InputError unless each list has two entries, and
  // for insulated inflow sides.
  ScalarSides sides(const Boundaries& boundaries) const;
};
// Declares the parameters scalar.*. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, ScalarOptions& options);

// Returns the Helmholtz problem of the scalar with implicit diffusion along all axes.
pencil::PoissonProblem scalar_problem(const Grid& grid, const ScalarSides& sides);
// Returns `factor` times the contribution of the prescribed boundary value to the second derivative
// in the cells at that side; 0 if this rank does not adjoin the side or no value is prescribed.
double scalar_source(const Domain& domain, const ScalarSides& sides, int axis, int end,
                     double factor);

// Weights of a stage's buoyancy in w on the upper faces of plane k: weights of the old and new
// scalar below and above the face, and the subtracted constant of the reference value.
struct BuoyancyWeights {
  double here, above, none;
};
// Returns the buoyancy weights for plane k.
BuoyancyWeights buoyancy_weights(const Domain& domain, const ScalarOptions& options,
                                 const Stage& stage, int k);

// Types of a scalar's fields and solvers, here in host memory.
template <Place place>
struct ScalarParts {
  using Values = Field;
  using AllGhosts = Ghosts;
  using Solvers = pencil::PoissonOptions;
  using AlongZ = pencil::FieldTridiagonal;
  using AlongAll = pencil::PoissonSolver;
  // Creates the solver along z.
  static AlongZ along_z(const Domain& d, const Solvers& solvers) {
    return {d.pencils, d.grid.cells[2], d.boundaries.periodic(2), solvers.tridiagonal};
  }
};
// Types of a scalar's fields and solvers in device memory.
template <>
struct ScalarParts<Place::device> {
  using Values = DeviceField;
  using AllGhosts = BatchGhosts;
  using Solvers = pencil::BatchedOptions;
  using AlongZ = pencil::BatchedTridiagonal;
  using AlongAll = pencil::BatchedPoisson;
  // Creates the solver along z.
  static AlongZ along_z(const Domain& d, const Solvers& solvers) {
    return {d.pencils, d.grid.cells[2], d.boundaries.periodic(2), solvers};
  }
};

// Transported scalar, with central differences that conserve the sum of squares, and the same
// Runge-Kutta stages and treatment of diffusion as the velocity. A stage advances the scalar first;
// the mean of the old and new buoyancy is then added to the velocity.
template <Place place>
class Scalar {
 public:
  using Parts = ScalarParts<place>;
  // Allocates the scalar. Collective.
  Scalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
         const typename Parts::Solvers& solvers);

  // Values of the scalar in host or device memory.
  typename Parts::Values& field() { return *now_; }
  // View of the values.
  FieldView view() { return view_of(*now_); }

  // Advances by a stage, with the velocity at the beginning of the stage. Collective.
  void advance(const VelocityViews& velocity, typename Parts::AllGhosts& ghosts,
               const Stage& stage);

  // Adds the buoyancy of the stage to the predicted w in all planes. Does not wait.
  void add_source(const FieldView& w, const Stage& stage);
  // Adds the buoyancy of the stage in a thread's rows of plane k.
  void add_source(const Team& team, const FieldView& w, int k, const Stage& stage);

 private:
  using Space = SpaceOf<place>;
  template <Diffusion diffusion>
  void predict(const VelocityViews& velocity, const Stage& stage);
  void diffuse(const Stage& stage);
  template <class Solver>
  void solve(Solver& solver);

  const Domain& domain_;
  ScalarOptions options_;
  ScalarSides sides_;
  Diffusion diffusion_;
  typename Parts::Values fields_[2], rhs_;
  typename Parts::Values *now_ = &fields_[0], *before_ = &fields_[1];
  PlaneTable<ScalarOperator, Space> operators_;
  PlaneTable<BuoyancyWeights, Space> weights_;
  std::optional<typename Parts::AlongZ> along_z_;
  std::optional<typename Parts::AlongAll> along_all_;
};

extern template class Scalar<Place::host>;
extern template class Scalar<Place::device>;

}  // namespace octant::dns
