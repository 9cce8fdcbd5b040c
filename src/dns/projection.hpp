// The pressure correction, and what it does to velocity and pressure (eq. 4-6, 9, 10).
#pragma once

#include <optional>

#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/runge_kutta.hpp"
#include "pencil/poisson.hpp"

namespace octant::dns {

// Sweeps follow the planes as they are solved. Rows and planes beside those of other ranks, or of
// the other side of the domain, come late: what the first needs of them is done after an exchange.
// The order in which planes of the correction are eliminated: that in which a stage of host threads
// makes them.
pencil::Sweep pressure_sweep(Diffusion diffusion);

class Projection {
 public:
  // Collective.
  Projection(const Domain& domain, const Ghosts& ghosts, const pencil::PoissonOptions& options,
             Diffusion diffusion);

  // Threads of a team call these together, and work on their rows; a barrier must lie between one
  // plane and the next.
  //
  // div u* / (gamma dt) of plane k, handed to the solver; in the order of its sweep. Late, by one
  // thread's call: what waits for the velocity below the first row and plane.
  void forward(const Team& team, const State& state, int k, int slide, double gamma_dt);
  void forward_late(const State& state, int slide, double gamma_dt);
  void exchange() { solver_.exchange(); }
  // The correction of plane k with those of its ghosts that this rank knows, in the opposite order.
  void backward(const Team& team, int k);
  // After the last backward: the ghosts that other ranks know. Collective.
  void fill_ghosts(Ghosts& ghosts);

  // What one stage adds: velocity -= gamma dt grad phi, and `forcing` to component `forced` (-1:
  // none); pressure += phi + implicit_z d2 phi/dz2 + implicit_xy (d2/dx2 + d2/dy2) phi.
  struct Step {
    double gamma_dt, implicit_z = 0.0, implicit_xy = 0.0;
    int forced = -1;
    double forcing = 0.0;  // in this plane
  };
  // Corrects plane k, which moves home from its place; plane k + 1 of the correction must be known,
  // and k - 1 too where diffusion is implicit. Faces beside it on lower sides of the domain where
  // fluid leaves come with it. Ghosts in x are filled. Late: at home, what waits for other ranks'
  // corrections.
  void correct(const Team& team, State& state, int k, int slide, const Step& step);
  void correct_late(State& state, int k, const Step& step);

  pencil::PoissonReport report() const { return solver_.report(); }
  std::size_t bytes() const {
    return solver_.bytes() + phi_.bytes() + edges_.bytes() + rhs_.size() * sizeof(double);
  }

 private:
  double* row(int k, int j) { return phi_.row(slot(k), j); }
  int slot(int k) const;
  double* rhs_row(int n) { return rhs_.data() + n * rhs_stride_; }
  void divergence(const Team& team, const State& state, int k, int slide, double gamma_dt,
                  Range rows, double* first);
  void fill_side(const Team& team, int end);
  void correct_rows(State& state, int k, Range rows, int slide, const Step& step, bool late);
  void correct_lower_faces(State& state, int k, Range rows, int slide, double gamma_dt);
  void update_pressure(State& state, int k, int j, const Step& step);

  const Domain& domain_;
  const Ghosts& ghosts_;
  Diffusion diffusion_;
  bool south_is_late_, north_is_late_, below_is_late_, above_is_late_;
  bool keeps_all_;  // planes of the correction; else those at the ends, and three more
  bool has_edges_;
  pencil::PoissonSolver solver_;
  Field phi_;
  Field edges_;  // first and last row of phi in all planes, where others need them after the sweep
  std::ptrdiff_t rhs_stride_;
  pencil::Buffer rhs_;  // one plane, and a row of each thread
};

// The step of a stage; `forcing` is what is added to the component whose mean is kept, if any.
Projection::Step correction_step(const FlowParameters& parameters, const Stage& stage,
                                 double forcing);

}  // namespace octant::dns
