// The pressure correction, and what it does to velocity and pressure (eq. 4-6, 9, 10).
#pragma once

#include <optional>

#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "pencil/poisson.hpp"

namespace octant::dns {

// Rows of the correction in one plane and its neighbours.
class Projection {
 public:
  // `keeps_all`: the correction is held for all planes, not for three at a time. Collective.
  Projection(const Domain& domain, const Ghosts& ghosts, const pencil::PoissonOptions& options,
             bool keeps_all);

  // div u* / (gamma dt) of plane k, handed to the solver; in the order of its sweep.
  void forward(const State& state, int k, int slide, double gamma_dt);
  void exchange() { solver_.exchange(); }
  // The correction of plane k, in the opposite order.
  void backward(int k) { solver_.backward(k, row(k, 0), phi_.row_stride()); }
  // Its ghosts in x and y, if y is local.
  void fill_plane(int k);
  // The planes beyond the boundaries, when the planes inside have been solved, if z is local.
  void fill_side(int end);
  // All ghosts of all planes, if keeps_all. Collective.
  void fill_all(Ghosts& ghosts);

  // What one stage adds: velocity -= gamma dt grad phi, and `forcing` to component `forced` (-1:
  // none); pressure += phi + implicit_z d2 phi/dz2 + implicit_xy (d2/dx2 + d2/dy2) phi.
  struct Step {
    double gamma_dt, implicit_z = 0.0, implicit_xy = 0.0;
    int forced = -1;
    double forcing = 0.0;  // in this plane
  };
  // Corrects plane k, which moves home from its place; plane k + 1 of the correction must be known,
  // and k - 1 too where diffusion is implicit. Ghosts in x are filled.
  void correct(State& state, int k, int slide, const Step& step);

  double* row(int k, int j) { return phi_.row(keeps_all_ ? k : (k + 4) % 3 - 1, j); }
  pencil::PoissonReport report() const { return solver_.report(); }
  std::size_t bytes() const { return solver_.bytes() + phi_.bytes() + rhs_.bytes(); }

 private:
  const Domain& domain_;
  const Ghosts& ghosts_;
  bool keeps_all_;
  pencil::PoissonSolver solver_;
  Field phi_;  // all planes, or three
  Field rhs_;  // one plane
};

}  // namespace octant::dns
