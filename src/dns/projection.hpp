// The pressure correction, and what it does to velocity and pressure (eq. 4-6, 9, 10).
#pragma once

#include <vector>

#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/kernels.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// The order in which planes of the correction are eliminated: that in which a stage of host threads
// makes them.
pencil::Sweep pressure_sweep(Diffusion diffusion);

// What one stage adds: velocity -= gamma dt grad phi, and `forcing` to component `forced` (-1:
// none); pressure += phi + implicit_z d2 phi/dz2 + implicit_xy (d2/dx2 + d2/dy2) phi.
struct CorrectionStep {
  double gamma_dt, implicit_z = 0.0, implicit_xy = 0.0;
  int forced = -1;
  double forcing = 0.0;  // in this plane
};
// That of a stage; `forcing` is what is added to the component whose mean is kept, if any.
CorrectionStep correction_step(const FlowParameters& parameters, const Stage& stage,
                               double forcing);

// Sweeps follow the planes as they are solved. What reads rows or planes of other ranks, or of the
// other side of the domain, waits for an exchange: it is listed in tasks, to be done late.
class Projection {
 public:
  // Collective.
  Projection(const Domain& domain, const Ghosts& ghosts, const pencil::PoissonOptions& options,
             Diffusion diffusion);

  // Threads of a team call these together, and work on their rows; a barrier must lie between one
  // plane and the next.
  //
  // div u* / (gamma dt) of plane k, with the faces of u* on the domain's boundaries, handed to the
  // solver; in the order of its sweep. Late, by one thread's call: the rows that wait for the
  // velocity below them.
  void forward(const Team& team, State& state, int k, int slide, double gamma_dt);
  void forward_late(const State& state, int slide, double gamma_dt);
  void exchange() { solver_.exchange(); }
  // The correction of plane k with those of its ghosts that this rank knows, in the opposite order.
  void backward(const Team& team, int k);
  // After the last backward: the ghosts that other ranks know. Collective.
  void fill_ghosts(Ghosts& ghosts);

  // Parts of a row that are corrected: components of the velocity, and the pressure.
  enum Part : unsigned { part_u = 1, part_v = 2, part_w = 4, part_p = 8, all_parts = 15 };
  struct RowTask {
    int k, j;
    unsigned parts;
  };
  // Corrects plane k, which moves home from its place, but what waits; plane k + 1 of the
  // correction must be known, and k - 1 too where diffusion is implicit. Faces beside it on lower
  // sides of the domain where fluid leaves come with it. Ghosts in x are filled.
  void correct(const Team& team, State& state, int k, int slide, const CorrectionStep& step);
  // Some parts of a row; at home (slide 0), one of those that waited.
  void correct(State& state, const RowTask& row, int slide, const CorrectionStep& step);
  const std::vector<RowTask>& late_corrections() const { return late_corrections_; }

  pencil::PoissonReport report() const { return solver_.report(); }

 private:
  double* row(int k, int j) { return phi_.row(slot(k), j); }
  int slot(int k) const;
  double* rhs_row(int n) { return rhs_.data() + n * rhs_stride_; }
  void divergence(const Team& team, const State& state, int k, int slide, double gamma_dt,
                  Range rows, double* first);
  void close(const Team& team, State& state, int k, int slide);
  void fill_side(const Team& team, int end);
  void correct_lower_faces(State& state, int k, Range rows, int slide, double gamma_dt);
  void update_pressure(State& state, int k, int j, const CorrectionStep& step);
  // The parts of a row whose correction waits for other ranks.
  unsigned waiting(int k, int j) const;
  void list_late_tasks();

  const Domain& domain_;
  const Ghosts& ghosts_;
  Diffusion diffusion_;
  // Whether what lies beside this rank's rows and planes comes late.
  bool south_is_late_, north_is_late_, below_is_late_, above_is_late_;
  bool keeps_all_;  // planes of the correction; else those at the ends, and three more
  bool has_edges_;
  pencil::PoissonSolver solver_;
  Field phi_;
  Field edges_;  // first and last row of phi in all planes, where others need them after the sweep
  std::ptrdiff_t rhs_stride_;
  pencil::Buffer rhs_;  // one plane, and a row of each thread
  struct Row {
    int k, j;
  };
  std::vector<Row> late_divergences_;
  std::vector<RowTask> late_corrections_;
};

}  // namespace octant::dns
