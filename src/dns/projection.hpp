// Pressure correction: projects the velocity and updates the pressure (eq. 4-6, 9, 10).
#pragma once

#include <vector>

#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/kernels.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Returns the order in which planes of the correction are eliminated: that in which the plane
// schedule computes them.
pencil::Sweep pressure_sweep(Diffusion diffusion);

// Changes by one stage: velocity -= gamma dt grad phi, plus `forcing` for component `forced` (-1:
// none); pressure += phi + implicit_z d2 phi/dz2 + implicit_xy (d2/dx2 + d2/dy2) phi.
struct CorrectionStep {
  double gamma_dt, implicit_z = 0.0, implicit_xy = 0.0;
  int forced = -1;
  double forcing = 0.0;  // in this plane
};
// Returns the step of a stage; `forcing` is added to the component whose mean is kept, if any.
CorrectionStep correction_step(const FlowParameters& parameters, const Stage& stage,
                               double forcing);

// Projection in sweeps over the planes. Work that needs rows or planes of other ranks, or of the
// other side of the domain, is listed in tasks and deferred until after an exchange.
class Projection {
 public:
  // Prepares the pressure solver. Collective.
  Projection(const Domain& domain, const Ghosts& ghosts, const pencil::PoissonOptions& options,
             Diffusion diffusion);

  // Passes div u* / (gamma dt) of plane k, with the faces of u* on the domain's boundaries, to the
  // solver, in the order of its sweep. All threads of a team call forward and backward together,
  // for their rows, with a barrier between one plane and the next.
  void forward(const Team& team, State& state, int k, int plane_offset, double gamma_dt);
  // Adds the rows that need the velocity below them, after its exchange. Called by one thread.
  void forward_deferred(const State& state, int plane_offset, double gamma_dt);
  // Completes the solver's systems across ranks. Collective; called by one thread.
  void exchange() { solver_.exchange(); }
  // Computes the correction of plane k with its local ghosts, in the opposite order.
  void backward(const Team& team, int k);
  // Fills the ghosts from other ranks, after the last backward. Collective.
  void fill_ghosts(Ghosts& ghosts);

  // Parts of a row to correct: components of the velocity, and the pressure.
  enum Part : unsigned { part_u = 1, part_v = 2, part_w = 4, part_p = 8, all_parts = 15 };
  // Parts of a row.
  struct RowTask {
    int k, j;
    unsigned parts;
  };
  // Corrects plane k, from `plane_offset` to plane offset 0, except deferred parts. Needs plane k +
  // 1 of the correction, and k - 1 where diffusion is implicit. Includes adjacent faces on lower
  // outflow sides of the domain. Fills ghosts in x.
  void correct(const Team& team, State& state, int k, int plane_offset, const CorrectionStep& step);
  // Corrects some parts of a row; at plane offset 0, deferred ones.
  void correct(State& state, const RowTask& task, int plane_offset, const CorrectionStep& step);
  // Rows whose correction needs other ranks, with these parts.
  const std::vector<RowTask>& deferred_corrections() const { return deferred_corrections_; }

  // Seconds and data of the solver so far.
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
  // True if the values beside this rank's rows or planes come from an exchange.
  bool south_is_deferred_, north_is_deferred_, below_is_deferred_, above_is_deferred_;
  bool keeps_all_;  // all planes of the correction; else those at the ends, and three more
  bool has_edges_;
  pencil::PoissonSolver solver_;
  Field phi_;
  Field edges_;  // first and last row of phi in all planes, where others need them after the sweep
  std::ptrdiff_t rhs_stride_;
  pencil::Buffer rhs_;  // one plane, and a row of each thread
  struct Row {
    int k, j;
  };
  std::vector<Row> deferred_divergences_;
  std::vector<RowTask> deferred_corrections_;
};

}  // namespace octant::dns
