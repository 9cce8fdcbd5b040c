// Incompressible flow: velocity and pressure on this rank's pencil, advanced in time.
//
//   Wray's three-stage Runge-Kutta scheme with incremental pressure correction and symmetry-
//   preserving second-order differences; see Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun.
//   316 (2025) 109811, eq. 3-11.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dns/domain.hpp"
#include "dns/flow_meter.hpp"
#include "dns/forcing.hpp"
#include "dns/kernels.hpp"
#include "dns/scalar.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Seconds that this rank spent in the parts of its steps.
struct StepSeconds {
  double momentum = 0, diffusion = 0, poisson = 0, correction = 0, ghosts = 0, scalar = 0;
};

// Interface of the schedules, which order the work of a time step. All schedules use the same
// arithmetic in kernels and, on a host, give bitwise equal results.
class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual const char* name() const = 0;  // value of dns.schedule

  // Velocity and pressure in host memory with their ghosts, copied from the device if necessary.
  virtual State& state() = 0;
  // Scalar in host memory with its ghosts, if there is one.
  virtual Field& scalar() = 0;
  // Fills the ghosts after the caller has written to the cells of state() or scalar(). Collective.
  virtual void complete() = 0;

  // Sets the body force of later stages. `force` must not move in memory.
  virtual void set_force(const ForceFields& force) = 0;

  // Advances by stage n of a Runge-Kutta step, with coefficients `stage`. Returns the velocity that
  // was added to keep the mean if dns.forcing = "bulk_velocity", otherwise 0. Collective.
  virtual double advance(int n, const Stage& stage) = 0;

  // Returns sums and extrema of the present state on this rank.
  virtual FlowMeasures measure() = 0;

  // Times of the parts of all steps of this rank so far.
  virtual const StepSeconds& seconds() const = 0;
  // Times and traffic of the pressure solver so far.
  virtual pencil::PoissonReport poisson_report() const = 0;
  // Times and traffic of the implicit-diffusion solvers so far.
  virtual pencil::PoissonReport diffusion_report() const = 0;
  // Messages and bytes of halo exchanges so far.
  virtual std::vector<ExchangeCount> halo_report() const = 0;
  // Traffic so far of transposes to whole rows for sums and for the host's copy, which only fields
  // in pencils along z need.
  virtual pencil::TransposeTraffic row_report() const { return {}; }
};

// Creates the plane schedule of host threads. `domain` must outlive the schedule. Collective.
std::unique_ptr<Schedule> make_plane_schedule(const Domain& domain,
                                              const FlowParameters& parameters,
                                              const ScalarOptions& scalar,
                                              const pencil::PoissonOptions& solvers,
                                              const CommOptions& comm);
// Creates the batch schedule, with all planes at once in the memory of Kokkos' default execution
// space, which is host memory in a build without a GPU. `domain` must outlive the schedule.
// Collective.
std::unique_ptr<Schedule> make_batch_schedule(const Domain& domain,
                                              const FlowParameters& parameters,
                                              const ScalarOptions& scalar,
                                              const pencil::PoissonOptions& solvers,
                                              const CommOptions& comm);

// Returns true if a flow uses the batch schedule, which dns.schedule = "auto" selects on a GPU and
// for dns.pencil_axis = "z". Throws InputError for dns.schedule = "planes" with pencils along z.
bool in_batches(const FlowParameters& parameters);

// Incompressible flow and its time step: velocity, pressure and an optional scalar on this rank's
// pencil.
class Flow {
 public:
  // Allocates the flow. `domain` and `force`, which may be null, must outlive the flow. Collective.
  Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
       const pencil::PoissonOptions& solvers, const CommOptions& comm,
       const BodyForce* force = nullptr);

  // Returns the state in host memory, copied from the device if necessary. Callers that change
  // cells of the state or of the scalar must then call complete(), which fills the ghosts.
  State& state() { return schedule_->state(); }
  // State in host memory, for reading.
  const State& state() const { return schedule_->state(); }
  // Fills the ghosts of state and scalar. Collective.
  void complete() { schedule_->complete(); }
  // True if the flow transports a scalar.
  bool has_scalar() const { return scalar_.enabled; }
  // Scalar in host memory. Requires has_scalar().
  Field& scalar() { return schedule_->scalar(); }
  // Scalar in host memory, for reading.
  const Field& scalar() const { return schedule_->scalar(); }

  // Sets the time at the beginning of the next step (default 0), on which the body force may
  // depend. Collective.
  void set_time(double time);
  // Advances by one time step. Collective.
  void step(double dt);

  // Number of following steps with implicit diffusion by backward Euler, applied in each stage.
  // Such steps damp oscillations that last hundreds of steps with Crank-Nicolson.
  int damped_steps() const { return damped_steps_; }
  // Sets the number of following steps with backward Euler.
  void set_damped_steps(int steps) { damped_steps_ = steps; }

  // Mean force per unit mass along the forcing axis in the last step.
  double mean_force() const { return mean_force_; }
  void set_mean_force(double force) { mean_force_ = force; }  // used for restarts

  // Largest absolute values of the body force on this rank, at the beginning of the next step.
  Vector largest_force() const { return force_ ? force_->largest() : Vector{}; }
  // Returns sums and extrema of the state on this rank.
  FlowMeasures measure() const { return schedule_->measure(); }

  // Name of the schedule, as in dns.schedule.
  const char* schedule() const { return schedule_->name(); }
  // Part of the domain on this rank.
  const Domain& domain() const { return domain_; }
  // Parameters of the flow.
  const FlowParameters& parameters() const { return parameters_; }
  // Parameters of the scalar.
  const ScalarOptions& scalar_options() const { return scalar_; }
  // Times of the parts of all steps of this rank so far.
  const StepSeconds& seconds() const { return schedule_->seconds(); }
  // Times and traffic of the pressure solver so far.
  pencil::PoissonReport poisson_report() const { return schedule_->poisson_report(); }
  // Times and traffic of the implicit-diffusion solvers so far.
  pencil::PoissonReport diffusion_report() const { return schedule_->diffusion_report(); }
  // Messages and bytes of halo exchanges so far.
  std::vector<ExchangeCount> halo_report() const { return schedule_->halo_report(); }
  // Traffic of transposes to whole rows so far.
  pencil::TransposeTraffic row_report() const { return schedule_->row_report(); }

 private:
  void update_force(double time);

  const Domain& domain_;
  FlowParameters parameters_;
  ScalarOptions scalar_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<ForceFields> force_;  // null if there is none
  double time_ = 0.0, mean_force_ = 0.0;
  int damped_steps_ = 0;
};

// Global quantities of a flow. Means are volume means; results do not depend on the number of
// ranks.
struct Totals {
  Vector kinetic{};                    // mean of q^2 / 2 of each component q
  Vector mean{};                       // mean of each component
  Vector largest{};                    // largest absolute value of each component
  Vector force{};                      // largest absolute body force along each axis
  double divergence = 0.0;             // largest absolute value of div u
  double scaled_divergence = 0.0;      // divergence / advection_rate
  double advection_rate = 0.0;         // largest |u|/dx + |v|/dy + |w|/dz
  std::array<double, 2> wall_shear{};  // viscosity du/dz at the lower and upper side along z

  double scalar_mean = 0.0;             // mean of the scalar
  double scalar_range = 0.0;            // range of the scalar, with values at the sides
  std::array<double, 2> scalar_flux{};  // -diffusivity d/dz of the scalar at both sides along z

  // Mean kinetic energy per unit mass.
  double kinetic_energy() const { return kinetic[0] + kinetic[1] + kinetic[2]; }
};

// Computes the totals. Throws RunError, naming a cell and its values, if the state is not finite.
// Collective.
Totals measure(const Flow& flow);

// Returns cfl times the longest stable step by linear theory: explicit advection and diffusion must
// stay within sqrt(3) and 2.51, the limits of Wray's scheme on the imaginary and the real axis. The
// velocities are those of the flow, walls, inflows and outflows, including their change by the
// forcing within the step. The advection limit also holds for fluid that buoyancy accelerates from
// rest. Infinite if nothing moves or will move.
double stable_step(const Flow& flow, const Totals& totals, double cfl);

// Returns true if, along an axis with implicit diffusion, a tangential velocity or the scalar jumps
// between a side and the adjacent cells: the side's value differs from the linear extrapolation of
// the two nearest cells by more than three times the difference of these cells. Resolved boundary
// layers and noise have no such jump. Reads the ghosts. Collective.
bool has_sudden_walls(Flow& flow);

// Returns true if dt is so long that Crank-Nicolson changes the sign of the stiffest mode of
// implicit diffusion in a stage. Shorter steps need no damping and are more accurate without it.
bool needs_damping(const Flow& flow, double dt);

}  // namespace octant::dns
