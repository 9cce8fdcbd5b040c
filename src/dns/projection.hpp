// Pressure correction: projects the velocity and updates the pressure (eq. 4-6, 9, 10).
#pragma once

#include <vector>

#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/kernels.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Returns the order in which planes of the correction are eliminated, which is the order in which
// the plane schedule computes them.
pencil::Sweep pressure_sweep(Diffusion diffusion);

// Coefficients of the correction in a stage: velocity -= gamma dt grad phi, plus `forcing` for
// component `forced` (-1: none); pressure += phi + implicit_z d2 phi/dz2 + implicit_xy (d2/dx2 +
// d2/dy2) phi.
struct CorrectionStep {
  double gamma_dt, implicit_z = 0.0, implicit_xy = 0.0;
  int forced = -1;
  double forcing = 0.0;  // addition to the forced component in this plane
};
// Returns the coefficients of a stage; `forcing` is added to the component with prescribed mean.
CorrectionStep correction_step(const FlowParameters& parameters, const Stage& stage,
                               double forcing);

// Projection in sweeps over planes. Work that needs rows or planes of other ranks, or of the
// opposite side of the domain, is listed in tasks and deferred until after an exchange.
class Projection {
 public:
  // Prepares the pressure solver. Collective.
  Projection(const Domain& domain, const Ghosts& ghosts, const pencil::PoissonOptions& options,
             Diffusion diffusion);

  // Sets the faces of u* on the domain's boundaries and passes div u* / (gamma dt) of plane k to
  // the solver. Planes must be in the order of the solver's sweep. All threads of a team call
  // forward() and backward(), for their rows, with a barrier between planes.
  void forward(const Team& team, State& state, int k, int plane_offset, double gamma_dt);
  // Passes the deferred rows to the solver, after the velocity below them has been exchanged.
  // Called by one thread.
  void forward_deferred(const State& state, int plane_offset, double gamma_dt);
  // Completes the solver's systems across ranks. Collective; called by one thread.
  void exchange() { solver_.exchange(); }
  // Computes the correction of plane k and its local ghosts. Planes must be in the opposite order.
  void backward(const Team& team, int k);
  // Fills the ghosts of the correction from other ranks, after the last backward(). Collective.
  void fill_ghosts(Ghosts& ghosts);

  // Parts of a row to correct: components of the velocity, and the pressure.
  enum Part : unsigned { part_u = 1, part_v = 2, part_w = 4, part_p = 8, all_parts = 15 };
  // Correction of some parts of a row.
  struct RowTask {
    int k, j;
    unsigned parts;
  };
  // Corrects plane k, from `plane_offset` to plane offset 0, except deferred parts. Needs plane
  // k + 1 of the correction, and k - 1 if diffusion is implicit. Includes adjacent faces on lower
  // outflow sides of the domain. Fills ghosts in x.
  void correct(const Team& team, State& state, int k, int plane_offset, const CorrectionStep& step);
  // Corrects the parts of a row that `task` lists; deferred tasks are executed at plane offset 0.
  void correct(State& state, const RowTask& task, int plane_offset, const CorrectionStep& step);
  // Tasks of all rows with parts whose correction needs other ranks.
  const std::vector<RowTask>& deferred_corrections() const { return deferred_corrections_; }

  // Times and traffic of the solver so far.
  pencil::PoissonReport report() const { return solver_.report(); }

 private:
  double* row(int k, int j) { return phi_.row(slot(k), j); }
  int slot(int k) const;
  double* rhs_row(int n) { return rhs_.data() + n * rhs_stride_; }
  void divergence(const Team& team, const State& state, int k, int plane_offset, double gamma_dt,
                  Range rows, double* first);
  void close(const Team& team, State& state, int k, int plane_offset);
  void fill_side(const Team& team, int end);
  void correct_lower_faces(State& state, int k, Range rows, int plane_offset, double gamma_dt);
  void update_pressure(State& state, int k, int j, const CorrectionStep& step);
  // Returns the parts of a row whose correction needs other ranks.
  unsigned waiting(int k, int j) const;
  void list_deferred_tasks();

  const Domain& domain_;
  const Ghosts& ghosts_;
  Diffusion diffusion_;
  // True if the values adjacent to this rank's rows or planes come from an exchange.
  bool south_is_deferred_, north_is_deferred_, below_is_deferred_, above_is_deferred_;
  bool keeps_all_;  // true: phi_ stores all planes; false: the end planes and three others
  bool has_edges_;
  pencil::PoissonSolver solver_;
  Field phi_;
  Field edges_;  // first and last row of phi in all planes, for other ranks after the sweep
  std::ptrdiff_t rhs_stride_;
  pencil::Buffer rhs_;  // right-hand side: one plane, and one row per thread
  struct Row {
    int k, j;
  };
  std::vector<Row> deferred_divergences_;
  std::vector<RowTask> deferred_corrections_;
};

}  // namespace octant::dns
